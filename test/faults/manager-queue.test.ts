// Many processes that want the same thing: the queue keeps its order, cancelled waiters leave nothing behind, and a cycle
// of waits across processes costs one of them its place and nobody a lease.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LeaseEvent } from '../../src/domain/events.js';
import { monotonic, processSite } from '../support/process-site.js';

const PROCESSES = 8;
const ROUNDS = 12;
/** A ticket that nobody refreshes is gone after 10 s (Q2); one that is given back is gone long before. */
const TICKET_GONE_MS = 11_000;
const GIVEN_BACK_MS = 5_000;
const STORM = { names: 8, lanes: 12, ms: 3_500 };
const LOCKED_MS = 700;
const site = processSite();

test('Q1, S1, S2: eight processes on one name are served in the order they came, one at a time', async () => {
  const owners = Array.from({ length: PROCESSES }, (_, i) => `process-${i}`);
  const children = await Promise.all(owners.map((owner) => site.start(owner, {}, 'manager-load-child.mjs')));
  for (const child of children) child.order('rounds', 'door', { resource: 'door', count: ROUNDS });
  await Promise.all(children.map((child) => child.line('done')));

  const log = (await site.log()).filter((event) => event.resource === 'door');
  const of = (type: string): LeaseEvent[] => log.filter((event) => event.type === type);
  const [queued, acquired] = [of('lease.queued'), of('lease.acquired')];
  expect(acquired).toHaveLength(PROCESSES * ROUNDS);
  expect(queued.length).toBeGreaterThan(PROCESSES * (ROUNDS - 1));
  const hasQueued = new Set(queued.map((event) => event.leaseId));
  const served = acquired.filter((event) => hasQueued.has(event.leaseId));
  expect(served.map((event) => event.leaseId)).toEqual(queued.map((event) => event.leaseId));

  const ends = log.filter((event) => event.type !== 'lease.queued');
  expect(ends.map((event) => event.type)).toEqual(acquired.flatMap(() => ['lease.acquired', 'lease.released']));
  const epochs = acquired.map((event) => event.epoch ?? 0);
  expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  const gaps = acquired.slice(1).map((event, i) => Date.parse(event.at) - Date.parse(of('lease.released')[i]!.at));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
  gaps.sort((a, b) => a - b);
  expect(gaps[gaps.length >> 1]).toBeLessThan(500); // woken, not found by a refresh every 3 s (Q3)
});

test('Q2: a waiter that is stopped holds up the queue for 10 s at most, and joins it again when it is continued', async () => {
  const [holder, head, next] = await Promise.all([site.start('holder'), site.start('head'), site.start('next')]);
  holder.order('acquire', 'door', { resources: 'door' });
  await holder.line('held door');
  for (const waiter of [head, next]) {
    waiter.order('acquire', 'door', { resources: 'door', wait: 'forever' });
    await waiter.line('queued');
  }
  head.order('stop', 'door');
  await head.line('stopping');
  const stoppedAt = monotonic();
  holder.order('release', 'door');
  await next.line('held door');
  expect(monotonic() - stoppedAt).toBeLessThan(TICKET_GONE_MS);
  head.process.kill('SIGCONT');
  await head.line('queued door 2');
  next.order('release', 'door');
  await head.line('held door');
  const log = (await site.log()).filter((event) => event.owner === 'head');
  expect(log.map((event) => `${event.type} ${event.reason ?? ''}`.trim())).toEqual([
    'lease.queued',
    'lease.failed died',
    'lease.queued',
    'lease.acquired',
  ]);
});

test('S9: requests cancelled at any moment, also while the file is locked, leave no ticket and no lease', async () => {
  const owners = ['one', 'two', 'three'];
  const children = await Promise.all(owners.map((owner) => site.start(owner, {}, 'manager-load-child.mjs')));
  for (const child of children) child.order('storm', 'all', STORM);
  await Promise.all(children.map((child) => child.line('storming')));
  const unlock = site.lock();
  await delay(LOCKED_MS);
  unlock();
  const said = await Promise.all(children.map((child) => child.words('stormed all')));
  const overAt = monotonic();
  const ends = said.map(([counts = '{}']) => JSON.parse(counts) as Record<string, number>);
  const kinds = new Set(ends.flatMap((counts) => Object.keys(counts)));
  expect([...kinds].sort()).toEqual(['ACQUIRE_ABORTED', 'ACQUIRE_TIMEOUT', 'released']);
  const leases = await site.look();
  while ((await leases.list()).items.length > 0) {
    expect(monotonic() - overAt).toBeLessThan(GIVEN_BACK_MS);
    await delay(20);
  }
});

test('Q4: of two processes that wait for each other exactly one is told the cycle, and the other goes on', async () => {
  const [ann, ben] = await Promise.all([site.start('ann'), site.start('ben')]);
  const pairs = [
    [ann, 'a', 'b'],
    [ben, 'b', 'a'],
  ] as const;
  for (const [child, own] of pairs) child.order('acquire', own, { resources: own });
  await Promise.all(pairs.map(([child, own]) => child.line(`held ${own}`)));
  const waitedAt = monotonic();
  for (const [child, own, more] of pairs) child.order('acquire', 'more', { resources: more, inside: own, wait: '25s' });
  const victim = await Promise.race(pairs.map(([child]) => child.line('failed more').then(() => child)));
  expect(monotonic() - waitedAt).toBeLessThan(5_000);

  const [code, details = ''] = await victim.words('failed more');
  expect(code).toBe('DEADLOCK');
  const { cycle } = JSON.parse(details) as { cycle: { owner: string; heldBy: string }[] };
  expect(cycle.map((step) => step.owner).sort()).toEqual(['ann', 'ben']);
  expect(cycle.map((step) => step.heldBy).sort()).toEqual(['ann', 'ben']);
  const other = victim === ann ? ben : ann;
  const own = victim === ann ? 'a' : 'b';
  victim.order('check', own);
  expect(await victim.words(`checked ${own}`)).toEqual(['true', '-']);
  victim.order('release', own);
  await other.line('held more');
  expect(other.lines.filter((line) => line.startsWith('failed'))).toEqual([]);
  expect((await site.log()).filter((event) => event.type === 'deadlock.detected')).toHaveLength(1);
});
