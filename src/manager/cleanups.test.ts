// Ending ids in the background: repeated until the store has answered, never past the life of what is to end, and counted
// where nothing else is left but to let it lapse.
import { describe, expect, test } from 'vitest';
import { ask, grant } from '../../test/support/ask.js';
import { pass, watched } from '../../test/support/manager-site.js';
import { settled } from '../../test/support/service-site.js';
import { recordingObserver } from '../../test/support/recording-observer.js';
import { LeaseError } from '../domain/errors.js';
import type { EndRequest } from '../domain/requests.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';
import { Cleanups } from './cleanups.js';
import { StoreLink } from './store-link.js';

function site(): { clock: FakeClock; truth: MemoryStore; store: FaultyStore; cleanups: Cleanups } {
  const clock = new FakeClock();
  const truth = new MemoryStore({ clock });
  const store = new FaultyStore(truth, clock);
  return { clock, truth, store, cleanups: new Cleanups(clock, new StoreLink(store, clock, recordingObserver())) };
}
const cancel = (id: string): EndRequest => ({ id, requestId: 'r', why: 'cancelled' });
const itemsAsked = (store: FaultyStore): number =>
  store.calls.reduce((sum, { call, asked }) => sum + (call === 'end' ? asked.length : 0), 0);
const TTL = 2_000;
const TIMEOUT = 200;

test('S9: a ticket leaves the queue, a grant is released, an acquire not yet seen is refused', async () => {
  const { clock, truth, cleanups } = site();
  const lease = await grant(truth, clock, 'x');
  const ticket = await ask(truth, clock, 'x', { owner: 'second', join: true });
  await truth.acquire([ticket]);
  const unseen = await ask(truth, clock, 'y');
  const ended = await Promise.all([ticket.id, lease.id, unseen.id].map((id) => cleanups.end(cancel(id), TTL, TIMEOUT)));
  expect(ended.map((one) => one?.outcome)).toEqual(['left', 'released', 'noted']);
  expect((await truth.acquire([unseen])).results[0]).toMatchObject({ outcome: 'ended' });
  expect((await truth.list({ limit: 10 })).items).toEqual([]);
});

test('S15: no answer and errors are tried again under the same request id, after pauses that grow', async () => {
  const { clock, truth, store, cleanups } = site();
  const lease = await grant(truth, clock, 'x', { ttlMs: 60_000 });
  store.order({ fault: 'fail', calls: 'end', times: 4 }).order({ fault: 'loseRequest', calls: 'end' });
  const ended = watched(cleanups.end(cancel(lease.id), 60_000, TIMEOUT));
  await pass(clock, 3_000);
  expect(ended.now().value).toMatchObject({ outcome: 'released' });
  const asked = store.calls.filter(({ call }) => call === 'end');
  const [start] = asked;
  expect(asked.map(({ at }) => at - (start?.at ?? 0))).toEqual([0, 50, 150, 350, 750, 750 + TIMEOUT + 800]);
  expect(new Set(asked.flatMap((one) => one.asked))).toHaveProperty('size', 1);
  expect(cleanups.leftToLapse).toBe(0);
});

test('S9: a store that stays away is asked until the id cannot be alive any more, and the id is counted', async () => {
  const { clock, truth, store, cleanups } = site();
  const lease = await grant(truth, clock, 'x', { ttlMs: TTL });
  store.order({ fault: 'fail', calls: 'end', times: Infinity });
  const ended = watched(cleanups.end(cancel(lease.id), TTL, TIMEOUT));
  await pass(clock, TTL + 10_000);
  expect(ended.now()).toEqual({ state: 'done', value: undefined });
  expect(cleanups.leftToLapse).toBe(1);
  const calls = store.count('end');
  await pass(clock, 10_000);
  expect(store.count('end')).toBe(calls);
  expect(clock.pendingTimers).toBe(0);
});

test('a final error is not asked about twice', async () => {
  const { clock, truth, store, cleanups } = site();
  const lease = await grant(truth, clock, 'x');
  store.order({ fault: 'fail', calls: 'end', error: new LeaseError('SHUTTING_DOWN', 'closed'), times: Infinity });
  expect(await cleanups.end(cancel(lease.id), TTL, TIMEOUT)).toBeUndefined();
  expect([store.count('end'), cleanups.leftToLapse]).toEqual([1, 1]);
});

test('A9: what is under way is waited for, up to a bound; after a stop nothing is repeated', async () => {
  const { clock, truth, store, cleanups } = site();
  const lease = await grant(truth, clock, 'x');
  await cleanups.settled(1_000);
  store.order({ calls: 'end', replyMs: 100 });
  const quick = watched(cleanups.end(cancel(lease.id), TTL, TIMEOUT));
  const all = watched(cleanups.settled(1_000));
  await pass(clock, 100);
  expect([quick.now().state, all.now().state]).toEqual(['done', 'done']);

  store.order({ fault: 'fail', calls: 'end', times: Infinity });
  const never = watched(cleanups.end(cancel(lease.id), 3_600_000, TIMEOUT));
  const bounded = watched(cleanups.settled(1_000));
  await pass(clock, 1_000);
  expect([never.now().state, bounded.now().state]).toEqual(['open', 'done']);
  cleanups.stop();
  await pass(clock, 0);
  expect(never.now()).toEqual({ state: 'done', value: undefined });
  const calls = store.count('end');
  await pass(clock, 10_000);
  expect([store.count('end'), clock.pendingTimers]).toEqual([calls, 0]);
});

test('S21: what is ended together leaves in one call', async () => {
  const { clock, truth, store, cleanups } = site();
  const leases = await Promise.all(Array.from({ length: 100 }, (_, i) => grant(truth, clock, `x${i}`)));
  await Promise.all(leases.map(({ id }) => cleanups.end(cancel(id), TTL, TIMEOUT)));
  expect(store.count('end')).toBe(1);
});

describe('S18: a store that stays away', () => {
  const LONG_TTL = 600_000;
  const A_SECOND = 500;

  test('what waits for it has a bound, and so has what it is asked; when it is back the rest is ended at once', async () => {
    const { clock, store, cleanups } = site();
    store.order({ fault: 'fail', calls: 'end', times: Infinity });
    let open = 0;
    const isOver = (): void => void (open -= 1);
    const asked: number[] = [];
    for (let second = 0; second < 40; second += 1) {
      for (let i = 0; i < A_SECOND; i += 1) {
        open += 1;
        cleanups.end(cancel(`${second}-${i}-${'x'.repeat(16)}`), LONG_TTL, TIMEOUT).then(isOver, isOver);
      }
      await settled();
      await clock.advance(1_000);
      expect(open).toBeLessThanOrEqual(10_000);
      asked.push(itemsAsked(store));
      store.forgetCalls();
    }
    expect([open, cleanups.leftToLapse]).toEqual([10_000, 10_000]);
    expect(Math.max(...asked.slice(5))).toBeLessThan(2 * A_SECOND);

    store.heal();
    await pass(clock, 2_000);
    expect([open, cleanups.leftToLapse, itemsAsked(store)]).toEqual([0, 10_000, 10_000]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('one goes on asking every two seconds, and the others wait for its answer', async () => {
    const { clock, store, cleanups } = site();
    store.order({ fault: 'loseRequest', calls: 'end', times: Infinity });
    const ends = Array.from({ length: 10 }, (_, i) =>
      watched(cleanups.end(cancel(`${i}-${'x'.repeat(16)}`), LONG_TTL, TIMEOUT)),
    );
    await pass(clock, 10_000);
    store.forgetCalls();
    await pass(clock, 20_000);
    expect(itemsAsked(store)).toBeLessThanOrEqual(9 + 10);
    store.heal();
    await pass(clock, 2_200);
    expect(ends.map((one) => one.now().value?.outcome)).toEqual(ends.map(() => 'noted'));
    expect(cleanups.leftToLapse).toBe(0);
  });

  test('each is left to lapse when its time has come, however long the others wait', async () => {
    const { clock, store, cleanups } = site();
    store.order({ fault: 'fail', calls: 'end', times: Infinity });
    const [, short] = [LONG_TTL, TTL].map((ttl) =>
      watched(cleanups.end(cancel(`${ttl}-${'x'.repeat(16)}`), ttl, TIMEOUT)),
    );
    await pass(clock, TTL + 10_000);
    expect([short?.now().state, cleanups.leftToLapse]).toEqual(['done', 1]);
  });
});
