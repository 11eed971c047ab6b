// Streams as their users have them, over the memory store on a clock that is told to move.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../connect.js';
import type { Holdfast } from '../holdfast.js';
import { MemoryStore } from '../stores/memory/index.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';
import type { Stream } from './face.js';

type Order = { id: number };

let clock: FakeClock;
let store: FaultyStore;
let leases: Holdfast;
let stream: Stream<Order>;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FaultyStore(new MemoryStore({ clock }), clock);
  leases = await connect(store, { clock, services: 'off', owner: 'me' });
  stream = leases.sequence<Order>('orders');
});
afterEach(async () => {
  store.heal();
  await leases.shutdown();
});

let operations = 0;
const operation = () => ({ operationId: `op-${(operations += 1)}`, kind: 'order' });

/** Moves the clock on while the work is under way. */
async function meanwhile<T>(work: Promise<T>, ms: number): Promise<T> {
  const done = work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  for (let passed = 0; passed < ms; passed += 10) await clock.advance(10);
  const outcome = await done;
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

describe('N1: leasing numbers', () => {
  test('N1: numbers from 1 on, for 2 minutes; the same operation gets the same number', async () => {
    const first = await stream.lease({ operationId: 'a', kind: 'order' });
    expect([first.number, first.numbers, first.kind, first.operationId]).toEqual([1, [1], 'order', 'a']);
    expect(Date.parse(first.expiresAt) - Date.parse(first.leasedAt)).toBe(120_000);
    const again = await stream.lease({ operationId: 'a', kind: 'order' });
    expect([again.number, again.epoch]).toEqual([1, first.epoch]);
    expect((await stream.lease({ ...operation(), count: 3 })).numbers).toEqual([2, 3, 4]);
  });

  test('N1: a settled operation says so, with its outcome', async () => {
    const held = await stream.lease({ operationId: 'a', kind: 'order' });
    await held.commit({ id: 1 });
    await expect(stream.lease({ operationId: 'a', kind: 'order' })).rejects.toMatchObject({
      code: 'SEQUENCE_SETTLED',
      details: { items: [{ number: 1, state: 'committed', operation: { id: 1 } }] },
    });
    await expect(stream.lease({ operationId: 'a', kind: 'other' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test.each([
    [{ operationId: '', kind: 'k' }],
    [{ operationId: 'x', kind: '' }],
    [{ operationId: 'x', kind: 'k', count: 0 }],
    [{ operationId: 'x', kind: 'k', count: 1_001 }],
    [{ operationId: 'x', kind: 'k', ttl: '31d' }],
  ])('N1: refused before anything is sent: %j', async (options) => {
    store.forgetCalls();
    await expect(stream.lease(options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(store.count('sequence.lease')).toBe(0);
  });

  test('N1: a bad name of a stream, and a store without streams, are refused at once', async () => {
    expect(() => leases.sequence('a//b')).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    const bare = new MemoryStore({ clock });
    Object.defineProperty(bare, 'sequences', { value: undefined });
    const other = await connect(bare, { clock, services: 'off' });
    expect(() => other.sequence('orders')).toThrow(/keeps no sequences/);
  });

  test('S15: a lease whose answer was lost is asked for again and found', async () => {
    store.order({ calls: 'sequence.lease', fault: 'loseReply' });
    const held = await meanwhile(stream.lease(operation()), 8_000);
    expect([held.number, held.isHeld]).toEqual([1, true]);
  });
});

describe('S7: how long numbers are trusted', () => {
  test('S7: the signal aborts before the store lets go, without any answer', async () => {
    const held = await stream.lease({ ...operation(), ttl: '10s' });
    const { signal } = held;
    store.freeze();
    await clock.advance(8_900);
    expect([held.isHeld, signal.aborted]).toEqual([true, false]);
    await clock.advance(200);
    expect([held.isHeld, signal.aborted]).toEqual([false, true]);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(() => held.throwIfLost()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });

  test('S7: a renewal moves the deadline; a settled number is not held and its signal stays quiet', async () => {
    const held = await stream.lease({ ...operation(), ttl: '10s' });
    const { signal } = held;
    await clock.advance(5_000);
    await held.renew('60s');
    await clock.advance(20_000);
    expect(held.isHeld).toBe(true);
    await held.commit({ id: 1 });
    await clock.advance(120_000);
    expect([held.isHeld, signal.aborted]).toEqual([false, false]);
    expect(() => held.throwIfLost()).toThrow(expect.objectContaining({ code: 'NOT_HELD' }));
  });

  test('S7: after a suspend nothing is believed until the store has been asked', async () => {
    const held = await stream.lease({ ...operation(), ttl: '60s' });
    clock.stepWall(10_000);
    store.forgetCalls();
    expect(held.isHeld).toBe(false);
    expect(() => held.throwIfLost()).toThrow(/can no longer be trusted/);
    await clock.advance(1);
    expect([held.isHeld, store.count('sequence.progress')]).toEqual([true, 1]);
    expect(Date.parse(held.expiresAt) - Date.parse(held.leasedAt)).toBe(60_000); // being asked prolongs nothing
  });
});

describe('N2: commit', () => {
  test('N2: what was committed is read in order; nothing past an open number is shown', async () => {
    const [first, second] = [await stream.lease(operation()), await stream.lease(operation())];
    expect(await second.commit({ id: 2 })).toEqual({ number: 2, repeated: false });
    expect([await stream.watermark(), await stream.read(1, 10)]).toEqual([0, []]);
    await first.commit({ id: 1 });
    expect((await stream.read(1, 10)).map(({ number, operation: op }) => [number, op])).toEqual([
      [1, { id: 1 }],
      [2, { id: 2 }],
    ]);
    expect(await stream.watermark()).toBe(2);
  });

  test('N2: after its expiry a commit is LEASE_LOST and stores nothing', async () => {
    const held = await stream.lease({ ...operation(), ttl: '10s' });
    await clock.advance(10_000);
    await expect(held.commit({ id: 1 })).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'expired' } });
    expect(await stream.peek(1, 10)).toEqual([]);
  });

  test('N2, S15: a commit whose answer was lost is asked again, and stored once', async () => {
    const held = await stream.lease(operation());
    store.order({ calls: 'sequence.commit', fault: 'failAfter' });
    expect(await meanwhile(held.commit({ id: 1 }), 1_000)).toEqual({ number: 1, repeated: true });
    expect(await stream.read(1, 10)).toHaveLength(1);
  });

  test('N2: with several numbers a commit takes a list of as many', async () => {
    const held = await stream.lease({ ...operation(), count: 2 });
    await expect(held.commit({ id: 1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await held.commit([{ id: 1 }, { id: 2 }]);
    expect(await stream.read(1, 10)).toHaveLength(2);
  });

  test('N2, N3: ordered commits become visible in the order of their numbers', async () => {
    const [first, second] = [await stream.lease(operation()), await stream.lease(operation())];
    let isDone = false;
    const later = second.commit({ id: 2 }, { ordered: true }).then(() => {
      isDone = true;
    });
    await clock.advance(5_000);
    expect(isDone).toBe(false);
    await first.release('no stock');
    await meanwhile(later, 100);
    expect((await stream.read(1, 10)).map(({ state }) => state)).toEqual(['gap', 'committed']);
  });

  test('N2: a caller’s transaction is for stores that have them', async () => {
    const held = await stream.lease(operation());
    await expect(held.commit({ id: 1 }, { tx: {} })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('N3: waitFor', () => {
  test('N3: it resolves when everything below is settled, by a wake-up and not by a poll', async () => {
    const [first] = [await stream.lease(operation()), await stream.lease(operation())];
    const turn = stream.waitFor(2);
    await clock.advance(10);
    await first.commit({ id: 1 });
    const before = clock.monotonic();
    await meanwhile(turn, 20);
    expect(clock.monotonic() - before).toBeLessThan(100);
  });

  test('N3: a wake-up that is lost costs one safety poll', async () => {
    const first = await stream.lease(operation());
    const turn = stream.waitFor(2);
    await clock.advance(10);
    store.loseWakes(Infinity);
    await first.commit({ id: 1 });
    await meanwhile(turn, 2_500);
  });

  test('N3: time and signals end the wait with a clear code', async () => {
    await stream.lease({ operationId: 'slow', kind: 'order' });
    await expect(meanwhile(stream.waitFor(2, { timeout: '1s' }), 1_500)).rejects.toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { watermark: 0, blocker: { number: 1, operationId: 'slow' } },
    });
    const stop = new AbortController();
    const waiting = stream.waitFor(2, { signal: stop.signal });
    stop.abort();
    await expect(meanwhile(waiting, 100)).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' });
    await expect(stream.waitFor(0)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(stream.waitFor(5_000_000)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(stream.waitFor(9, { timeout: 0 })).rejects.toThrow(/still open/);
  });

  test('A9: a shutdown ends every wait', async () => {
    await stream.lease(operation());
    const waiting = stream.waitFor(2);
    waiting.catch(() => undefined);
    await leases.shutdown();
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('N4: gaps', () => {
  test('N4: listed with their facts, filled by their own operation, moved when they were shown', async () => {
    await (await stream.lease({ operationId: 'a', kind: 'order' })).release('no stock');
    await (await stream.lease({ operationId: 'b', kind: 'order' })).release();
    const [gap] = await stream.gaps.list();
    expect(gap).toMatchObject({ number: 1, operationId: 'a', reason: 'no stock', fillable: true, sealed: false });
    expect([await stream.gaps.isGap(1), await stream.gaps.isGap(3)]).toEqual([true, false]);
    expect(await stream.gaps.fill(1, 'a', { id: 1 })).toEqual({ number: 1 });
    await stream.read(1, 10);
    expect(await stream.gaps.fill(2, 'b', { id: 2 })).toEqual({ number: 3 });
    expect((await stream.read(1, 10)).map(({ state, movedTo }) => [state, movedTo])).toEqual([
      ['filled', undefined],
      ['gap', 3],
      ['committed', undefined],
    ]);
  });

  test('N4: what cannot be filled says why', async () => {
    await (await stream.lease({ operationId: 'a', kind: 'order' })).release();
    await (await stream.lease({ operationId: 'b', kind: 'order' })).commit({ id: 2 });
    await expect(stream.gaps.fill(1, 'z', { id: 1 })).rejects.toThrow(/belongs to operation a/);
    await expect(stream.gaps.fill(9, 'z', { id: 1 })).rejects.toThrow(/has never been leased/);
    await expect(stream.gaps.fill(2, 'b', { id: 9 })).rejects.toMatchObject({ code: 'SEQUENCE_SETTLED' });
  });
});

describe('N5: readers', () => {
  test('N5: a reader goes on where it was done, in another process too', async () => {
    for (const id of [1, 2, 3]) await (await stream.lease(operation())).commit({ id });
    for await (const item of stream.reader('projection').follow()) {
      await item.done();
      if (item.number === 2) break;
    }
    const other = await connect(store, { clock, services: 'off' });
    for await (const item of other.sequence<Order>('orders').reader('projection').follow()) {
      expect([item.number, item.operation]).toEqual([3, { id: 3 }]);
      break;
    }
  });

  test('N5: it waits for more and sees it when it comes', async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { number } of stream.reader('r').follow({ signal: stop.signal })) seen.push(number);
    })();
    await clock.advance(100);
    await (await stream.lease(operation())).commit({ id: 1 });
    await clock.advance(20);
    expect(seen).toEqual([1]);
    stop.abort();
    await meanwhile(following, 20);
  });

  test('N5: of two with one name the later wins', async () => {
    await (await stream.lease(operation())).commit({ id: 1 });
    const earlier = stream.reader('r').follow()[Symbol.asyncIterator]();
    const item = (await earlier.next()).value as { done(): Promise<void> };
    await stream.reader('r').follow()[Symbol.asyncIterator]().next();
    await expect(item.done()).rejects.toMatchObject({ code: 'STALE_EPOCH' });
  });

  test('N6: trimming spares what a reader has not been through; reading below it says where to begin', async () => {
    for (const id of [1, 2, 3]) await (await stream.lease(operation())).commit({ id });
    const reader = stream.reader('r');
    for await (const item of reader.follow()) {
      if (item.number === 3) break;
      await item.done();
    }
    expect(await stream.trim(10)).toBe(2);
    await expect(stream.read(1, 10)).rejects.toMatchObject({ details: { trimmedBefore: 3 } });
    await reader.forget();
    expect(await stream.trim(10)).toBe(1);
    expect(await stream.figures()).toMatchObject({ leased: 3, open: 0, watermark: 3, trimmedBefore: 4, readers: [] });
  });
});
