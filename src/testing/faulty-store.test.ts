// The faulty store: each fault as it is ordered, used up, counted, and none where none was ordered.
import { expect, test } from 'vitest';
import { ask, grant } from '../../test/support/ask.js';
import { pass, watched } from '../../test/support/manager-site.js';
import { LeaseError } from '../domain/errors.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from './fake-clock.js';
import { FaultyStore } from './faulty-store.js';

function site(): { clock: FakeClock; truth: MemoryStore; store: FaultyStore } {
  const clock = new FakeClock();
  const truth = new MemoryStore({ clock });
  return { clock, truth, store: new FaultyStore(truth, clock) };
}

async function liveOn(truth: MemoryStore, name: string): Promise<number> {
  return (await truth.show(name, 1)).holders.length;
}

test('without an order everything goes through, and is counted', async () => {
  const { store, clock } = site();
  const lease = await grant(store, clock, 'x');
  await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'r', why: 'released' }]);
  expect(store.count('acquire')).toBe(1);
  expect(store.count('end')).toBe(1);
  expect(store.calls.map((one) => one.call)).toEqual(['time', 'acquire', 'end']);
  expect(store.calls.at(-1)?.asked).toMatchObject([{ id: lease.id }]);
  expect(store.count()).toBe(3);
  store.forgetCalls();
  expect(store.count()).toBe(0);
});

test('fail: an error and no effect; failAfter: the effect, then an error', async () => {
  const { store, truth, clock } = site();
  const request = await ask(store, clock, 'x');
  store.order({ fault: 'fail', calls: 'acquire' });
  await expect(store.acquire([request])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  expect(await liveOn(truth, 'x')).toBe(0);
  const own = new LeaseError('RATE_LIMITED', 'slowly');
  store.order({ fault: 'failAfter', calls: ['renew', 'acquire'], error: own });
  await expect(store.acquire([request])).rejects.toBe(own);
  expect(await liveOn(truth, 'x')).toBe(1);
  expect((await store.acquire([request])).results[0]).toMatchObject({ outcome: 'granted', again: true });
});

test('a lost request has no effect, a lost reply has; both are silence', async () => {
  const { store, truth, clock } = site();
  const [one, two] = [await ask(store, clock, 'one'), await ask(store, clock, 'two')];
  store.order({ fault: 'loseRequest', calls: 'acquire' }).order({ fault: 'loseReply', calls: 'acquire' });
  const [first, second] = [watched(store.acquire([one])), watched(store.acquire([two]))];
  await pass(clock, 60_000);
  expect([first.now().state, second.now().state]).toEqual(['open', 'open']);
  const { items } = await truth.get([one.id, two.id]);
  expect(items.map((item) => item?.acquiredAt)).toEqual([undefined, expect.any(Number)]);
});

test('a duplicate acts twice, and the first answer counts', async () => {
  const { store, truth, clock } = site();
  const lease = await grant(store, clock, 'x');
  store.order({ fault: 'duplicate', calls: 'renew' });
  const { results } = await store.renew([{ id: lease.id, epoch: lease.epoch, requestId: 'r', callerWall: 0 }]);
  expect(results[0]).toMatchObject({ outcome: 'renewed', renewals: 1 });
  store.order({ fault: 'duplicate', calls: 'end' });
  const ended = await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'e', why: 'released' }]);
  expect(ended.results[0]).toMatchObject({ outcome: 'released', again: false });
  expect((await truth.get([lease.id])).items[0]?.renewals).toBe(1);
});

test('delays on the way in and on the way back, by the clock', async () => {
  const { store, truth, clock } = site();
  const request = await ask(store, clock, 'x');
  store.order({ calls: 'acquire', requestMs: 100, replyMs: 200 });
  const answer = watched(store.acquire([request]));
  await pass(clock, 99);
  expect(await liveOn(truth, 'x')).toBe(0);
  await pass(clock, 1);
  expect(await liveOn(truth, 'x')).toBe(1);
  await pass(clock, 199);
  expect(answer.now().state).toBe('open');
  await pass(clock, 1);
  expect(answer.now().state).toBe('done');
});

test('a frozen store acts, in order, when it is thawed; hints are lost while it is', async () => {
  const { store, truth, clock } = site();
  const woken: string[] = [];
  store.subscribe({ wake: (ids) => void woken.push(...ids) });
  const [one, two] = [await ask(store, clock, 'x'), await ask(store, clock, 'x', { owner: 'second', join: true })];
  store.freeze();
  const [first, second] = [watched(store.acquire([one])), watched(store.acquire([two]))];
  await pass(clock, 5_000);
  expect(first.now().state).toBe('open');
  store.thaw();
  await pass(clock, 0);
  expect(first.now().value?.results[0]?.outcome).toBe('granted');
  expect(second.now().value?.results[0]?.outcome).toBe('queued');
  store.freeze();
  await truth.end([{ id: one.id, requestId: 'e', why: 'cancelled' }]);
  await pass(clock, 0);
  expect(woken).toEqual([]);
});

test('orders are used up oldest first, or stand until healed; wake-ups can be lost by number', async () => {
  const { store, clock } = site();
  const first = new LeaseError('RATE_LIMITED', 'first');
  store.order({ fault: 'fail', calls: 'time', error: first, times: 2 }).order({ fault: 'fail', times: Infinity });
  await expect(store.time()).rejects.toBe(first);
  await expect(store.settings()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(store.time()).rejects.toBe(first);
  await expect(store.time()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  store.heal();
  const woken: string[] = [];
  store.subscribe({ wake: (ids) => void woken.push(...ids) });
  store.loseWakes(1);
  for (const owner of ['one', 'two']) {
    const lease = await grant(store, clock, owner);
    const waiting = await ask(store, clock, owner, { owner: 'waiter', join: true });
    await store.acquire([waiting]);
    await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'e', why: 'released' }]);
    await pass(clock, 0);
    expect(woken).toEqual(owner === 'one' ? [] : [waiting.id]);
  }
});

test('another namespace of it is as faulty, and counted along', async () => {
  const { store } = site();
  const other = store.within('other');
  expect(other.namespace).toBe('other');
  store.order({ fault: 'fail' });
  await expect(other.time()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(store.calls).toMatchObject([{ call: 'time', namespace: 'other' }]);
  await store.close();
  await expect(other.time()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});

test('every call of the port can be ordered to fail', async () => {
  const { store } = site();
  store.order({ fault: 'fail', times: Infinity });
  const calls = [
    ...[store.acquire([]), store.renew([]), store.end([]), store.change([]), store.sweep({ limit: 1 })],
    ...[store.revoke({ target: { owner: 'o' }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: 1 })],
    ...[store.failTicket({ id: 'i', cycle: [] }), store.events({ limit: 1 }), store.settings()],
    ...[store.prune({ olderThanMs: 1, limit: 1 }), store.setSettings({}), store.waitGraph(), store.get([])],
    ...[store.list({ limit: 1 }), store.show('x', 1), store.info(), store.time(), store.migrate({ dryRun: true })],
    store.backup('/nowhere'),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(store.count()).toBe(calls.length);
});
