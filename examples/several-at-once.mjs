// Several resources at once: two tanks, one lease for both, granted whole or not at all. Names may come in any order:
// nobody holds one tank and waits for the other. A move is written down before it is made; when its mover dies half
// way, the next holder finds the note and finishes the move first.
//
//   node several-at-once.mjs OWNER FOLDER FROM TO [TTL] [MOVES] [PAUSE_MS]      the store: HOLDFAST_STORE
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';

const [owner, folder = '.', from, to, ttl = '30s', moves = '5', pauseMs = '100'] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });

const fileOf = (name) => join(folder, `${name}.json`);
const read = (name) => JSON.parse(readFileSync(fileOf(name), 'utf8'));
function write(name, value) {
  writeFileSync(fileOf(`${name}.new`), JSON.stringify(value));
  renameSync(fileOf(`${name}.new`), fileOf(name));
}

/** Levels, not differences: doing it twice does no harm. */
async function finish(lease, note) {
  const [first, second] = Object.entries(note);
  write(...first);
  console.log(`${owner} is half way, epoch ${lease.epoch}`);
  await sleep(Number(pauseMs), undefined, { signal: lease.signal });
  lease.throwIfLost();
  write(...second);
  rmSync(fileOf('note'));
}

for (let move = 1; move <= Number(moves); move += 1) {
  await leases.withLease([`tanks/${from}`, `tanks/${to}`], { wait: 'forever' }, async (lease) => {
    if (existsSync(fileOf('note'))) {
      console.log(`${owner} finds a move that was not finished, epoch ${lease.epoch}`);
      await finish(lease, read('note'));
    }
    write('note', { [from]: read(from) - 1, [to]: read(to) + 1 });
    await finish(lease, read('note'));
    console.log(`${owner} moved 1 from ${from} to ${to}`);
  });
}
await leases.shutdown();
