// The six causes of the runbook, each really made with processes, servers, proxies and clocks, and found by the doctor; and a
// store where nothing is wrong, of which it says so.
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { diagnose } from '../../src/doctor/diagnose.js';
import { openStore } from '../../src/stores/open-store.js';
import { systemClock } from '../../src/system-clock.js';
import { commandSite } from '../support/command-site.js';
import { examine, found, untilFound } from '../support/examine.js';
import { processSite } from '../support/process-site.js';
import { startCutProxy } from '../support/servers/cut-proxy.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { startSlowProxy } from '../support/servers/slow-proxy.js';
import { StepClock } from '../support/servers/step-clock.js';

const site = processSite();
const command = commandSite();
const clock = systemClock();
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** Nothing but ordinary work: taken, renewed, handed over, given back. */
test('C9: a healthy store is told to be healthy, with what was looked at', async () => {
  const [a, b] = [await site.start('agent-a'), await site.start('agent-b')];
  a.order('acquire', 'one', { resources: 'orders/0', ttl: '1s' });
  await a.line('renewed orders/0');
  b.order('acquire', 'one', { resources: 'orders/0', ttl: '1s' });
  await b.line('queued orders/0');
  a.order('release', 'one');
  await b.line('held one');
  await b.line('renewed orders/0');
  const diagnosis = await examine(site.url);
  expect(diagnosis.findings).toEqual([]);
  expect(diagnosis).toMatchObject({
    verdict: 'well',
    store: 'sqlite',
    looked: { leases: 1, waiting: 0, unanswered: 0 },
  });
  expect(diagnosis.happened).toMatchObject({ 'lease.acquired': 2, 'lease.queued': 1, 'lease.released': 1 });
});

test('C9: owners competing: two take a name from each other, and neither lets go', async () => {
  const [a, b] = [await site.start('agent-a'), await site.start('agent-b')];
  a.order('keep', 'p', { resources: 'orders/0', ttl: '1s' });
  await a.line('held p-1');
  b.order('keep', 'p', { resources: 'orders/0', ttl: '1s' });
  await b.line('queued orders/0');
  const turns = [
    [a, b, 'held p-1'],
    [b, a, 'held p-2'],
    [a, b, 'held p-2'],
  ] as const;
  for (const [holder, next, line] of turns) {
    holder.process.kill('SIGSTOP');
    await next.line(line);
    holder.process.kill('SIGCONT');
    await holder.line('lost p-');
  }
  const finding = await untilFound(site.url, 'owners-competing', 'wrong');
  expect(finding.what).toMatch(
    /^orders\/0 changed owner \d+ times in 5 min, among 2 owners; \d+ times its holder had not/,
  );
  expect(finding.evidence[0]).toMatch(/agent-a \(epoch \d+\) ran out, then agent-b \(epoch \d+\)$/);
  expect(finding).toMatchObject({
    next: 'holdfast history orders/0 --since 5m',
    runbook: 'docs/runbooks/down-to-one.md',
  });
  expect(found(await examine(site.url, { resource: 'orders/1' }), 'owners-competing')).toEqual([]);
  expect(found(await examine(site.url, { resource: 'orders/0' }), 'owners-competing')).toHaveLength(1);
});

describe.each([
  ['redis', startRedis],
  ['postgres', startPostgres],
] as const)('C9: clock skew on %s', (name, start) => {
  test.skipIf(isSkipped(name))('fine to 2 s, a warning above, wrong over 5 s, of every holder', async () => {
    const server = await start();
    undo.push(() => server.remove());
    const skewed = new StepClock(command.folder);
    const take = async (owner: string): Promise<void> => {
      command.env = skewed.env() as Record<string, string>;
      const { code, err } = await command.run('--store', server.url, 'acquire', `of/${owner}`, '--owner', owner);
      expect([code, err]).toEqual([0, '']);
    };
    skewed.step(1_500);
    await take('nearly-right');
    expect((await examine(server.url)).verdict).toBe('well');
    skewed.step(2_000);
    await take('fast');
    const [warning] = found(await examine(server.url), 'clock-skew');
    expect(warning).toMatchObject({
      severity: 'warning',
      what: expect.stringMatching(/^the clock of fast is 3\.\d s ahead/) as string,
    });
    skewed.step(-12_000);
    await take('slow');
    const diagnosis = await examine(server.url);
    const [wrong] = found(diagnosis, 'clock-skew');
    expect(wrong).toMatchObject({ severity: 'wrong', runbook: 'docs/runbooks/fix-clock-skew.md' });
    expect(wrong?.what).toMatch(/^the clock of slow \(and 1 more\) is 8\.\d s behind the store's$/);
    expect(wrong?.evidence).toHaveLength(2);
    expect(diagnosis.verdict).toBe('wrong');
  });

  test.skipIf(isSkipped(name))('of this machine, when it is the store that is off', async () => {
    const server = await start({ stepClock: true });
    undo.push(() => server.remove());
    await (await connect(server.url, { services: 'off' })).shutdown();
    server.clock.step(9_000);
    const [own] = found(await examine(server.url), 'clock-skew').filter(({ what }) => what.includes('this machine'));
    expect(own).toMatchObject({ severity: 'wrong', next: 'date -u' });
  });
});

test.skipIf(isSkipped('redis'))('C9: a partition: cut off past its lease, replaced, and back', async () => {
  const server = await startRedis();
  undo.push(() => server.remove());
  const proxy = await startCutProxy(server.port);
  undo.push(() => proxy.close());
  const a = site.run('manager-child.mjs', `redis://127.0.0.1:${proxy.port}`, 'web1-4242-abc123', '{}');
  await a.line('open');
  a.tell(`keep p ${JSON.stringify({ resources: 'orders/0', ttl: '1s', wait: 'forever' })}`);
  await a.line('renewed orders/0');
  const b = await connect(server.url, { owner: 'web2-4243-def456', services: 'off' });
  undo.push(() => b.shutdown());
  proxy.blackHole();
  proxy.newConnections('refuse');
  await b.acquire('orders/0', { ttl: '1m', wait: '30s' });
  expect(found(await examine(server.url), 'partition')).toEqual([]); // it may as well be dead
  proxy.heal();
  const finding = await untilFound(server.url, 'partition', 'wrong');
  expect(finding.what).toMatch(
    /^web1-4242-abc123 lost orders\/0 to others and came back: the name is of one running instance/,
  );
  expect(finding.evidence).toEqual([
    expect.stringMatching(
      /^orders\/0: epoch \d+ ran out .* ago, web2-4243-def456 has had it since with epoch \d+; web1-/,
    ),
  ]);
  expect(finding.runbook).toBe('docs/runbooks/restart-a-holder.md');
});

test('C9: renewals that do not arrive: under 80 % is wrong', async () => {
  const [well, stopped] = [await site.start('well'), await site.start('stopped')];
  well.order('acquire', 'w', { resources: 'fine', ttl: '3s' });
  await well.line('renewed fine');
  for (const name of ['a', 'b', 'c', 'd', 'e']) stopped.order('acquire', name, { resources: name, ttl: '2s' });
  for (const name of ['a', 'b', 'c', 'd', 'e']) await stopped.line(`renewed ${name}`);
  stopped.process.kill('SIGSTOP');
  const looking = await site.look();
  let expired = 0;
  while (expired < 5) expired += (await looking.sweep()).expired;
  const [finding] = found(await examine(site.url), 'renewals-failing');
  expect(finding?.what).toMatch(
    /^\d+ % of the renewals due in 5 min arrived \(\d+ of \d+, by the records of the leases\)/,
  );
  expect(finding?.evidence[0]).toBe('1 owner: stopped');
  expect(finding?.evidence[1]).toMatch(/^a of stopped ran out .* ago, renewed \d+ times? before$/);
  expect(finding).toMatchObject({ severity: 'wrong', next: 'holdfast ls --owner stopped' });
});

describe('C9: a restarted twin', () => {
  test('two processes of one name reclaim from each other: wrong', async () => {
    const [first, second] = [await site.start('agent-1'), await site.start('agent-1')];
    const order = { resources: 'orders/0', ttl: '500ms', reclaim: true };
    first.order('keep', 'p', order);
    await first.line('held p-1');
    second.order('keep', 'p', order);
    await second.line('held p-1');
    const note = found(await examine(site.url), 'restarted-twin')[0];
    expect(note?.what).toMatch(/agent-1/);
    await first.line('held p-2');
    const finding = await untilFound(site.url, 'restarted-twin', 'wrong');
    expect(finding.what).toMatch(/^two processes go by the name agent-1 and take orders\/0 from each other: \d+ times/);
    expect(finding.runbook).toBe('docs/runbooks/down-to-one.md');
  });

  test('one waits for what its twin holds: a warning', async () => {
    const [first, second] = [await site.start('agent-1'), await site.start('agent-1')];
    first.order('acquire', 'one', { resources: 'orders/0' });
    await first.line('held one');
    second.order('acquire', 'one', { resources: 'orders/0', wait: 'forever' });
    await second.line('queued orders/0');
    const [finding] = found(await examine(site.url), 'restarted-twin');
    expect(finding).toMatchObject({ severity: 'warning', next: 'holdfast show orders/0' });
    expect(finding?.what).toMatch(/^agent-1 waits for orders\/0, which agent-1 holds/);
  });
});

describe('C9: store latency', () => {
  test.skipIf(isSkipped('redis'))('a store that is slower than renewals wait is wrong', async () => {
    const server = await startRedis();
    undo.push(() => server.remove());
    const holder = await connect(server.url, { owner: 'quick', services: 'off' });
    undo.push(() => holder.shutdown());
    const lease = await holder.acquire('orders/0', { ttl: '2s' });
    await lease.renew();
    const proxy = await startSlowProxy(server.port, 120);
    undo.push(() => proxy.close());
    const [finding] = found(await examine(`redis://127.0.0.1:${proxy.port}`), 'store-latency');
    expect(finding?.severity).toBe('wrong');
    expect(finding?.what).toMatch(/^the store needs \d+ ms for a call: longer than renewals wait$/);
    expect(finding?.evidence[1]).toBe('the shortest live lease lives 2 s: its renewals wait 200 ms');
    expect(found(await examine(server.url), 'store-latency')).toEqual([]);
  });

  test.skipIf(isSkipped('redis'))('a store that stops answering is told of in seconds, not waited for', async () => {
    const server = await startRedis();
    undo.push(() => server.remove());
    const store = await openStore(server.url, { clock, namespace: 'default', migrate: 'auto' });
    undo.push(() => store.close());
    server.freeze();
    const startedAt = clock.monotonic();
    const diagnosis = await diagnose(store, { clock });
    expect(clock.monotonic() - startedAt).toBeLessThan(20_000);
    expect(found(diagnosis, 'store-latency')).toMatchObject([
      {
        severity: 'wrong',
        what: 'the store did not answer 2 of 2 calls in 2 s',
        runbook: 'docs/runbooks/store-unavailable.md',
      },
    ]);
    expect(found(diagnosis, 'not-looked-at')[0]?.evidence.join()).toContain('not asked for: the store does not answer');
  });

  test('SQLite: a process that is stopped inside a write is named', async () => {
    const child = await site.start('agent-a');
    child.order('acquire', 'one', { resources: 'orders/0', ttl: '1h' });
    await child.line('held one');
    const unlock = site.lock();
    const [finding] = found(await examine(site.url), 'store-latency');
    expect(finding).toMatchObject({ severity: 'wrong', next: `ps -o pid,stat,etime,args -p ${process.pid}` });
    unlock();
    expect(found(await examine(site.url), 'store-latency')).toEqual([]);
  });
});
