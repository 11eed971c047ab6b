// Commits whose store is away or late, with a spool on the disk: what is kept, and what is not.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../connect.js';
import type { LeaseError } from '../../domain/errors.js';
import type { Holdfast } from '../../holdfast.js';
import { MemoryStore } from '../../stores/memory/index.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { FaultyStore } from '../../testing/faulty-store.js';
import type { Stream } from '../face.js';

let folder: string;
let clock: FakeClock;
let store: FaultyStore;
let leases: Holdfast;
let stream: Stream<string>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-spooled-'));
  clock = new FakeClock();
  store = new FaultyStore(new MemoryStore({ clock }), clock);
  leases = await connect(store, { clock, services: 'off', owner: 'me' });
  stream = leases.sequence<string>('orders', { spool: folder });
});
afterEach(async () => {
  store.heal();
  let isDown = false;
  const down = leases.shutdown().finally(() => (isDown = true));
  await until(() => isDown, 50);
  await down;
  rmSync(folder, { recursive: true, force: true });
});

/** Lets the disk go on until it is so, and time too when it is told to. */
async function until(isSo: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
  for (let turn = 0; turn < 50_000; turn += 1) {
    if (await isSo()) return;
    await clock.advance(stepMs);
    await nextTurn();
  }
  throw new Error('it never came about');
}
async function errorOf(work: Promise<unknown>, stepMs = 50): Promise<LeaseError> {
  let error: LeaseError | undefined;
  work.catch((one: unknown) => (error = one as LeaseError));
  await until(() => error !== undefined, stepMs);
  return error!;
}
const inSpool = (): number =>
  readdirSync(folder)
    .map((name) => statSync(join(folder, name)).size)
    .reduce((sum, size) => sum + size, 0);
const states = async () =>
  (await stream.peek(1, 9)).map(({ number, state, operation }) => [number, state, operation ?? '']);

describe('N2, V7: ordered commits', () => {
  const awayAtTheDeadline = { code: 'STORE_UNAVAILABLE', details: { spooled: true }, cause: { code: 'LEASE_LOST' } };

  test.each(['fail', 'loseRequest'] as const)(
    'N2, V7: the deadline comes while the store is away (%s): the result is spooled, and stored when it is back',
    async (fault) => {
      const first = await stream.lease({ operationId: 'a', kind: 'k', ttl: '1h' });
      const second = await stream.lease({ operationId: 'b', kind: 'k', ttl: '10s' });
      store.order({ fault, times: Infinity });
      expect(await errorOf(second.commit('done', { ordered: true }))).toMatchObject(awayAtTheDeadline);
      expect(inSpool()).toBeGreaterThan(0);
      await clock.advance(10_000);
      store.heal();
      await first.release();
      await until(async () => (await stream.watermark()) === 3, 50);
      expect(await states()).toEqual([
        [1, 'gap', ''],
        [2, 'moved', ''],
        [3, 'committed', 'done'],
      ]);
      await until(() => inSpool() === 0, 50);
    },
  );

  test('N2: the deadline comes while the store answers, that it is not its turn: nothing is spooled', async () => {
    await stream.lease({ operationId: 'a', kind: 'k', ttl: '1h' });
    const second = await stream.lease({ operationId: 'b', kind: 'k', ttl: '10s' });
    expect(await errorOf(second.commit('done', { ordered: true }))).toMatchObject({ code: 'LEASE_LOST' });
    expect(inSpool()).toBe(0);
  });

  test('N2: a lease that is lost by the store’s word is not spooled', async () => {
    await stream.lease({ operationId: 'a', kind: 'k', ttl: '1h' });
    const second = await stream.lease({ operationId: 'b', kind: 'k', ttl: '1h' });
    store.order({ calls: 'sequence.barrier', fault: 'loseRequest', times: Infinity });
    const commit = errorOf(second.commit('done', { ordered: true }));
    await (await stream.lease({ operationId: 'b', kind: 'k', ttl: '1h' })).release();
    await expect(second.renew()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await commit).toMatchObject({ code: 'LEASE_LOST', details: { state: 'gap' } });
    expect(inSpool()).toBe(0);
  });

  test('N2: nothing is spooled without a spool, nor in a transaction of the caller', async () => {
    await stream.lease({ operationId: 'a', kind: 'k', ttl: '1h' });
    const inTx = await stream.lease({ operationId: 'b', kind: 'k', ttl: '10s' });
    const bare = await leases.sequence<string>('orders').lease({ operationId: 'c', kind: 'k', ttl: '10s' });
    store.order({ fault: 'fail', times: Infinity });
    const errors = [
      errorOf(inTx.commit('done', { ordered: true, tx: {} }), 25),
      errorOf(bare.commit('done', { ordered: true }), 25),
    ];
    for (const error of errors) expect(await error).toMatchObject({ code: 'LEASE_LOST' });
    expect(inSpool()).toBe(0);
  });
});

test('V7: a kept result whose commit is answered too late stays in the spool, and is moved', async () => {
  const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '10s' });
  const { signal } = held;
  await clock.advance(8_000);
  store.order({ calls: 'sequence.append', fault: 'fail', times: Infinity });
  store.order({ calls: 'sequence.commit', fault: 'fail' });
  store.order({ calls: 'sequence.commit', requestMs: 3_000 });
  const commit = errorOf(held.commit('done'), 0);
  await until(() => store.count('sequence.commit') === 2); // the second leaves in time, and arrives when it has expired
  await clock.advance(3_100);
  expect(await commit).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    details: { spooled: true },
    cause: { code: 'LEASE_LOST' },
  });
  expect([held.isHeld, signal.aborted]).toEqual([false, true]);
  expect(inSpool()).toBeGreaterThan(0);
  store.heal();
  await until(async () => (await stream.watermark()) === 2, 50);
  expect(await states()).toEqual([
    [1, 'moved', ''],
    [2, 'committed', 'done'],
  ]);
});

test('V7: a result that is kept while others are being stored has its turn too', async () => {
  const [first, second] = [
    await stream.lease({ operationId: 'a', kind: 'k', ttl: '1s' }),
    await stream.lease({ operationId: 'b', kind: 'k', ttl: '30d' }),
  ];
  store.order({ calls: 'sequence.commit', fault: 'fail', times: Infinity });
  store.order({ calls: 'sequence.append', replyMs: 4_000 });
  await errorOf(first.commit('one'));
  await until(() => store.count('sequence.append') === 1, 50);
  const asked = store.count('sequence.commit');
  const commit = second.commit('two');
  await until(() => store.count('sequence.commit') === asked + 2); // kept: its own time to be stored comes and goes while the first is under way
  await clock.advance(4_500);
  await until(async () => (await stream.peek(1, 9)).some(({ operation }) => operation === 'two'), 50);
  await until(() => inSpool() === 0, 50);
  store.heal();
  await clock.advance(1_000);
  expect(await commit).toEqual({ number: 2, repeated: true });
});
