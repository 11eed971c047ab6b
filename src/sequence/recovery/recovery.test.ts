// Recovery over the memory store on a clock that is told to move: one test for each way a number can be lost, and for each
// way it comes back.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../connect.js';
import type { Holdfast } from '../../holdfast.js';
import { MemoryStore } from '../../stores/memory/index.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { FaultyStore } from '../../testing/faulty-store.js';
import type { SequenceLease, Stream } from '../face.js';

let clock: FakeClock;
let store: FaultyStore;
let leases: Holdfast;
let stream: Stream<unknown>;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FaultyStore(new MemoryStore({ clock }), clock);
  leases = await connect(store, { clock, services: 'off', owner: 'me' });
  stream = leases.sequence('orders');
});
afterEach(async () => {
  store.heal();
  await meanwhile(leases.shutdown(), 100);
});

/** Moves the clock on while the work is under way, by default in steps too short to look like load. */
async function meanwhile<T>(work: Promise<T>, ms = 3_000, stepMs = 5): Promise<T> {
  const done = work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const over = new AbortController();
  done.then(() => over.abort()).catch(() => undefined);
  for (let passed = 0; passed < ms && !over.signal.aborted; passed += stepMs) await clock.advance(stepMs);
  const outcome = await done;
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

const TTL_MS = 10_000;
const lease = (operationId: string, kind = 'order'): Promise<SequenceLease<unknown>> =>
  stream.lease({ operationId, kind, ttl: TTL_MS });
const run = (): Promise<unknown> => meanwhile(stream.recovery.run());
/** Of a promise nobody will settle. */
const never = (): Promise<never> =>
  new Promise<never>(() => {
    // Nobody will.
  });
const states = async (): Promise<unknown[]> =>
  (await stream.peek(1, 100)).map(({ number, state, operation, movedTo }) => [number, state, operation ?? movedTo]);

describe('N3, V2: whoever waits or reads recovers what blocks it', () => {
  test('N3: overrun: the commit fails, the waiter behind makes a gap and goes on', async () => {
    const slow = await lease('slow');
    const next = await stream.lease({ operationId: 'next', kind: 'order' });
    await meanwhile(stream.waitFor(next.number), TTL_MS + 1_000, 10);
    await expect(slow.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'gap' } });
    expect(await states()).toEqual([[1, 'gap', undefined]]);
    expect((await stream.gaps.list())[0]).toMatchObject({ reason: 'Lease expired', operationId: 'slow' });
  });

  test('N3, V2: crash with a finished result: a reader commits it at its own number and sees it', async () => {
    const held = await lease('a');
    await held.finished({ total: 3 });
    const reading = (async () => {
      for await (const item of stream.reader('r').follow()) return item;
      return undefined;
    })();
    expect(await meanwhile(reading, TTL_MS + 1_000, 10)).toMatchObject({
      number: 1,
      state: 'committed',
      operation: { total: 3 },
    });
    expect(await held.commit({ total: 3 })).toEqual({ number: 1, repeated: true });
  });

  test('N2, V1: a commit before recovery got to it wins nothing either: expired is expired', async () => {
    const held = await lease('a');
    await clock.advance(TTL_MS);
    await expect(held.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'expired' } });
    await run();
    await expect(held.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'gap' } });
    expect(await stream.gaps.fill(1, 'a', 'late')).toEqual({ number: 1 });
  });

  test('N1: the process that crashed comes back with its operation before recovery, and goes on', async () => {
    await lease('a');
    await clock.advance(TTL_MS);
    const again = await lease('a');
    await again.commit('after all');
    expect(await states()).toEqual([[1, 'committed', 'after all']]);
  });
});

describe('V2: the steps', () => {
  test('V2: partial work is rebuilt under a new number, with a note', async () => {
    const held = await lease('a', 'import');
    await held.partial({ ids: [1, 2] });
    await clock.advance(TTL_MS);
    stream.recovery.rebuild('import', async (partial) => ({ rebuilt: partial }));
    expect(await run()).toEqual({ settled: 1, failed: 0, more: false });
    expect(await states()).toEqual([
      [1, 'moved', 2],
      [2, 'committed', { rebuilt: { ids: [1, 2] } }],
    ]);
    expect((await stream.peek(2, 1))[0]?.recovery).toMatchObject({
      originalNumber: 1,
      originalOperationId: 'a',
      type: 'partial_work',
    });
  });

  test('V2: a finished result goes before partial work, a step of one’s own before both', async () => {
    for (const operationId of ['a', 'b']) {
      const held = await lease(operationId, operationId);
      await held.partial(1);
      await held.finished('finished');
    }
    await clock.advance(TTL_MS);
    stream.recovery.rebuild('a', async () => 'rebuilt');
    stream.recovery.step('b', async ({ operationId }) => `own way for ${operationId}`);
    await run();
    expect(await states()).toEqual([
      [1, 'committed', 'finished'],
      [2, 'moved', 3],
      [3, 'committed', 'own way for b'],
    ]);
  });

  test('V2: a recoverer that cannot rebuild leaves a gap; one that can fills it later', async () => {
    const held = await lease('a', 'import');
    await held.partial('half');
    await clock.advance(TTL_MS);
    await run();
    expect(await states()).toEqual([[1, 'gap', undefined]]);
    const other = await connect(store, { clock, services: 'off', owner: 'other' });
    const theirs = other.sequence('orders');
    theirs.recovery.rebuild('import', async (partial) => `whole ${String(partial)}`);
    await clock.advance(60_000);
    await meanwhile(theirs.recovery.run());
    expect(await states()).toEqual([[1, 'filled', 'whole half']]);
  });

  test('V2: ascending, and one failing number never stops the rest', async () => {
    const order: string[] = [];
    for (const operationId of ['a', 'b', 'c']) await (await lease(operationId)).partial(operationId);
    await clock.advance(TTL_MS);
    stream.recovery.rebuild('order', async (partial) => {
      order.push(String(partial));
      if (partial === 'b') throw new Error('no disk');
      return partial;
    });
    expect(await run()).toEqual({ settled: 2, failed: 1, more: false });
    expect(order).toEqual(['a', 'b', 'c']);
    expect(await stream.figures()).toMatchObject({ open: 1, watermark: 1, moved: 2 });
  });
});

describe('V3: load decides', () => {
  const finishOne = async (): Promise<void> => {
    await (await lease('a')).finished('kept');
    await clock.advance(TTL_MS);
  };

  test('V3: a blocked loop makes only gaps and keeps the result, which is filled in when load is low', async () => {
    await finishOne();
    const { after } = clock;
    clock.after = (ms, fn) => after(ms + 300, fn);
    await run();
    clock.after = after;
    expect(await states()).toEqual([[1, 'gap', undefined]]);
    await clock.advance(60_000);
    await run();
    expect(await states()).toEqual([[1, 'filled', 'kept']]);
  });

  test('V3: a slow store is medium load: finished results are put off, partial work is not', async () => {
    await finishOne();
    await (await stream.lease({ operationId: 'b', kind: 'import', ttl: TTL_MS })).partial('half');
    stream.recovery.rebuild('import', async () => 'rebuilt');
    await clock.advance(TTL_MS);
    store.order({ replyMs: 350, times: 20 });
    await meanwhile(Promise.all(Array.from({ length: 8 }, () => stream.watermark())), 2_000);
    store.heal();
    await run();
    expect(await states()).toEqual([
      [1, 'gap', undefined],
      [2, 'moved', 3],
      [3, 'committed', 'rebuilt'],
    ]);
  });
});

describe('V4: retries and the manual queue', () => {
  const failing: [string, (partial: unknown) => Promise<unknown>][] = [
    ['throws', async () => Promise.reject(new Error('no disk'))],
    ['answers what is no JSON', async () => () => 1],
    ['hangs', never],
  ];
  test.each(failing)('V4: a rebuild that %s is tried three times, then a person has to look', async (_how, rebuild) => {
    const held = await lease('a', 'import');
    await held.partial('half');
    await clock.advance(TTL_MS);
    stream.recovery.rebuild('import', rebuild);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await meanwhile(stream.recovery.run(), 70_000, 20);
      await clock.advance(5_000);
      const isLast = attempt === 3;
      expect(await stream.figures()).toMatchObject({ open: isLast ? 0 : 1, manual: isLast ? 1 : 0 });
    }
    const [item] = await stream.recovery.manual.list();
    expect(item).toMatchObject({ number: 1, operationId: 'a', kind: 'import', attempts: 3, partial: 'half' });
    expect(item?.lastError.length).toBeGreaterThan(0);
    stream.recovery.rebuild('import', async () => 'by hand');
    expect(await stream.recovery.manual.retry('a')).toEqual({ outcome: 'queued' });
    await run();
    expect(await states()).toEqual([[1, 'filled', 'by hand']]);
    expect(await stream.recovery.manual.list()).toEqual([]);
    await expect(stream.recovery.manual.discard('a')).rejects.toMatchObject({ code: 'NOT_HELD' });
  });
});

describe('V6: cleaners', () => {
  test('V6: they run beside each other after the number is settled; one that throws or hangs is told and let be', async () => {
    const told: string[] = [];
    stream.recovery.cleaner('order', async () => Promise.reject(new Error('no')));
    stream.recovery.cleaner('order', never);
    stream.recovery.cleaner('order', async (operationId) => {
      told.push(`${operationId} ${String((await stream.figures())?.open)}`);
    });
    await lease('a');
    await clock.advance(TTL_MS);
    await meanwhile(stream.recovery.run(), 15_000);
    expect(told).toEqual(['a 0']);
  });

  test('V6: built in: leases by operation id, and the operation’s folder', async () => {
    const root = mkdtempSync(join(tmpdir(), 'holdfast-cleaners-'));
    try {
      for (const name of ['a', 'b']) {
        mkdirSync(join(root, name));
        writeFileSync(join(root, name, 'half'), 'x');
      }
      stream.recovery.cleaner('order', 'leases');
      stream.recovery.cleaner('order', { root });
      await leases.acquire('rows/1', { operationId: 'a', ttl: '1h', renew: 'manual' });
      const other = await leases.acquire('rows/2', { operationId: 'b', ttl: '1h', renew: 'manual' });
      await lease('a');
      await stream.lease({ operationId: '../b', kind: 'order', ttl: TTL_MS });
      await clock.advance(TTL_MS);
      await run();
      await expect.poll(() => existsSync(join(root, 'a'))).toBe(false);
      expect([await leases.isLocked('rows/1'), await leases.isLocked('rows/2')]).toEqual([false, true]);
      expect(existsSync(join(root, 'b', 'half'))).toBe(true);
      await other.release();
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test('V6: what is no cleaner is refused', () => {
    expect(() => stream.recovery.cleaner('order', 'files' as never)).toThrow(/'leases' or \{ root \}/);
    expect(() => stream.recovery.rebuild('', async () => 1)).toThrow(/kind/);
    expect(() => stream.recovery.rebuild('x', 5 as never)).toThrow(/takes a function/);
  });
});

describe('V5: recovery mode', () => {
  test('V5: more than ten expired at once: leases live twice as long everywhere, until it has been calm for three sweeps', async () => {
    const heard: boolean[] = [];
    stream.recovery.onCascade((on) => heard.push(on));
    const services = await connect(store, { clock, owner: 'with services' });
    services.sequence('orders').recovery.onCascade(() => {
      throw new Error('of the application');
    });
    for (let i = 0; i < 11; i += 1) await lease(`op-${i}`);
    await clock.advance(TTL_MS);
    await run();
    expect(heard).toEqual([true]);
    const elsewhere = services.sequence('orders');
    const held = await elsewhere.lease({ operationId: 'long', kind: 'order', ttl: '60s' });
    expect(Date.parse(held.expiresAt) - Date.parse(held.leasedAt)).toBe(120_000);
    await held.commit(1);
    await leases.shutdown();
    await clock.advance(60_000);
    const after = await elsewhere.lease({ operationId: 'short', kind: 'order', ttl: '60s' });
    expect(Date.parse(after.expiresAt) - Date.parse(after.leasedAt)).toBe(60_000);
    await meanwhile(services.shutdown(), 3_000);
  });
});

test('V5: recovery mode is left when three sweeps in a row were calm', async () => {
  const heard: [boolean, number][] = [];
  const services = await connect(store, { clock, owner: 'with services' });
  const began = clock.monotonic();
  services.sequence('orders').recovery.onCascade((on) => heard.push([on, clock.monotonic() - began]));
  for (let i = 0; i < 11; i += 1) await lease(`op-${i}`);
  for (let passed = 0; passed < 200_000; passed += 20) await clock.advance(20);
  expect(heard.map(([on]) => on)).toEqual([true, false]);
  expect(heard[1]![1] - heard[0]![1]).toBeGreaterThan(3 * 28_000);
  expect(await stream.figures()).toMatchObject({ open: 0, gaps: 11 });
  await meanwhile(services.shutdown(), 3_000);
});

test('O1, V1: the service recovers what nobody waits for', async () => {
  const services = await connect(store, { clock, owner: 'with services' });
  const theirs = services.sequence('orders');
  await (await lease('a')).finished('kept');
  for (let passed = 0; passed < 120_000; passed += 10) await clock.advance(10);
  expect(await states()).toEqual([[1, 'committed', 'kept']]);
  expect(theirs.name).toBe('orders');
  await meanwhile(services.shutdown(), 3_000);
});
