// A projection that is the same everywhere: three writers append to one stream, one is killed in the middle of its work, one
// is cut off from the store with a finished result in its hands; two readers, one killed and started again, write down what
// they see. What they wrote is the same, byte for byte.
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, systemClock } from 'holdfast';
import { openSqlite } from 'holdfast/stores/sqlite';
import { FaultyStore } from 'holdfast/testing';
import { cue, perform, report, start } from './demo-processes.mjs';

const OPERATIONS = 40;
const TTL = '1s';
const folder = () => dirname(process.env.HOLDFAST_STORE.replace(/^sqlite:/, ''));
const replayOf = (name) => join(folder(), `${name}.jsonl`);

async function write(stream, operationId) {
  const lease = await stream.lease({ operationId, kind: 'transfer', ttl: TTL });
  await lease.commit({ operationId, cents: lease.number * 100 });
}

/** Commits a few, then has one result that is finished and one that is not when it is killed. */
async function unlucky(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name });
  const stream = leases.sequence('transfers');
  for (let i = 0; i < 10; i += 1) await write(stream, `${name}-${i}`);
  const finished = await stream.lease({ operationId: `${name}-finished`, kind: 'transfer', ttl: TTL });
  await finished.finished({ operationId: `${name}-finished`, cents: 1 });
  await stream.lease({ operationId: `${name}-begun`, kind: 'transfer', ttl: TTL });
  report(`${name} has finished one operation and begun another, and committed neither`);
  await cue();
}

/** Is cut off from the store for longer than its lease lives, with a result to commit. */
async function cutOff(name) {
  const clock = systemClock();
  const store = new FaultyStore(await openSqlite(process.env.HOLDFAST_STORE, { clock }), clock);
  const leases = await connect(store, { owner: name, clock });
  const spool = join(folder(), 'spool');
  const stream = leases.sequence('transfers', { spool });
  for (let i = 0; i < OPERATIONS; i += 1) {
    if (i !== 10) {
      await write(stream, `${name}-${i}`);
      continue;
    }
    const lease = await stream.lease({ operationId: `${name}-${i}`, kind: 'transfer', ttl: TTL });
    store.order({ fault: 'fail', times: Infinity });
    await lease.commit({ operationId: `${name}-${i}`, cents: 7 }).catch((error) => {
      report(`${name} is cut off from the store; its result is in the spool: ${error.details.spooled}`);
    });
    await cue();
    store.heal();
    await until(async () => readdirSync(spool).every((file) => statSync(join(spool, file)).size === 0));
    report(`${name} can reach the store again, and its result is stored`);
  }
  await leases.shutdown();
  await store.close();
  report(`${name} is done`);
}

async function lucky(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name });
  const stream = leases.sequence('transfers');
  for (let i = 0; i < OPERATIONS; i += 1) await write(stream, `${name}-${i}`);
  await leases.shutdown();
  report(`${name} is done`);
}

/** One line a number. What a line says is written before the cursor moves; a line that is there already is not written again. */
async function reader(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name });
  const file = replayOf(name);
  let written = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  report(`${name} follows${written === 0 ? '' : ' on from where it was'}`);
  for await (const { number, state, operation, done } of leases.sequence('transfers').reader(name).follow()) {
    if (number > written) appendFileSync(file, `${JSON.stringify({ number, state, operation })}\n`);
    written = Math.max(written, number);
    await done();
  }
}

async function until(isSo) {
  while (!(await isSo())) await sleep(20);
}

async function direct() {
  console.log(`three writers and two readers; a number is leased for ${TTL}`);
  const readers = [start('reader', 'gina'), start('reader', 'hana')];
  for (const one of readers) await one.next();
  const dora = start('unlucky', 'dora');
  await dora.next();
  dora.process.kill('SIGKILL');
  await dora.gone;
  console.log('dora is killed with SIGKILL');
  const eric = start('cutOff', 'eric');
  const fay = start('lucky', 'fay');
  await eric.next();
  readers[1].process.kill('SIGKILL');
  await readers[1].gone;
  console.log('hana is killed with SIGKILL, and started again');
  readers[1] = start('reader', 'hana');
  await readers[1].next();
  await sleep(1_500); // eric's lease is over
  eric.cue();
  await eric.next();
  await eric.next();
  await fay.next();

  const leases = await connect(process.env.HOLDFAST_STORE, { services: 'off' });
  const stream = leases.sequence('transfers');
  await until(async () => {
    const { open, leased, readers: cursors } = await stream.figures();
    return open === 0 && cursors.every(({ done }) => done === leased);
  });
  const { leased, gaps } = await stream.figures();
  await leases.shutdown();
  const [first, second] = ['gina', 'hana'].map((name) => readFileSync(replayOf(name)));
  console.log(`${leased} numbers are settled, every operation once; gaps without an operation: ${gaps}`);
  console.log(`the replays of gina and hana are ${first.equals(second) ? 'the same, byte for byte' : 'different'}`);
  const stored = first.toString().match(/"operationId":"[^"]+"/g);
  const expected = 10 + 1 + 2 * OPERATIONS; // of dora's two the finished one is there, the begun one is a gap
  console.log(
    `operations stored: ${stored.length} of ${expected}, each once: ${new Set(stored).size === stored.length}`,
  );
  if (!first.equals(second) || stored.length !== expected || new Set(stored).size !== expected) process.exitCode = 1;
}

await perform(direct, { unlucky, cutOff, lucky, reader });
