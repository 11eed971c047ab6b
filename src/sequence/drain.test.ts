// A9 for streams: in the drain nothing new is begun and what is under way may finish; a result that could not be committed by the end of it is
// in the spool (V7).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { streamStage } from '../../test/support/stream-stage.js';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import { connect } from '../connect.js';
import type { Holdfast } from '../holdfast.js';
import { FakeClock } from '../testing/fake-clock.js';
import type { Stream } from './face.js';
import { NumberWork } from './number-work.js';

const stage = streamStage();
let folder: TemporaryFolder;
let leaving: Holdfast;
let stream: Stream<unknown>;
beforeEach(async () => {
  folder = temporaryFolder();
  leaving = await connect(stage.store, { clock: stage.clock, services: 'off', owner: 'leaving' });
  stream = leaving.sequence('orders');
});
afterEach(async () => {
  stage.store.heal();
  await atDiskSpeed(leaving.shutdown());
  folder.remove();
});

async function tick(clock: FakeClock): Promise<void> {
  for (let ms = 0; ms < 1_050; ms += 50) await clock.advance(50);
}

/** Time passes while the disk gets its turns. */
async function atDiskSpeed<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  work.finally(() => over.abort()).catch(() => undefined);
  await until(() => over.signal.aborted);
  return work;
}
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 50_000 && !(await isSo()); turn += 1) {
    await stage.clock.advance(5);
    await nextTurn();
  }
}

const lease = (operationId: string) => stream.lease({ operationId, kind: 'order', ttl: '60s' });
const refused = { code: 'SHUTTING_DOWN' };

describe('A9: in the drain', () => {
  test('numbers that are held are finished, new ones refused, and whoever only waits is told', async () => {
    const [first, second, third] = [await lease('a'), await lease('b'), await lease('c')];
    const waiting = expect(stream.waitFor(9)).rejects.toMatchObject(refused);
    const ordered = second.commit('second', { ordered: true });
    let isDown = false;
    const down = leaving.shutdown({ drain: '30s' }).then(() => (isDown = true));
    await waiting;
    await expect(stream.lease({ operationId: 'd', kind: 'order' })).rejects.toMatchObject(refused);
    await third.renew();
    await third.finished('third');
    await first.commit('first');
    await stage.meanwhile(ordered);
    expect(isDown).toBe(false);
    await third.release();
    await atDiskSpeed(down);
    expect(await stage.states()).toEqual([
      [1, 'committed', 'first'],
      [2, 'committed', 'second'],
      [3, 'gap', undefined],
    ]);
  });

  test('a number whose answer is on its way is given back, and nobody waits for its lease to run out', async () => {
    stage.store.order({ calls: 'sequence.lease', replyMs: 1_500 });
    const leased = expect(lease('a')).rejects.toMatchObject(refused);
    await stage.clock.advance(10);
    await atDiskSpeed(leaving.shutdown());
    await leased;
    expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
  });

  test('S18: however many are held, it goes by the first that is over', async () => {
    const clock = new FakeClock();
    const work = new NumberWork(clock);
    for (let i = 0; i < 200_000; i += 1) work.hold({ deadline: clock.monotonic() + 1_000 + (i % 7) });
    const began = clock.monotonic();
    await stage.meanwhile(Promise.race([work.idle(5_000), tick(clock)]), 10);
    expect(clock.monotonic() - began).toBeLessThan(1_100);
  });

  test('it is over with the last number, and with the drain at the latest', async () => {
    const held = await lease('a');
    const start = stage.clock.monotonic();
    await atDiskSpeed(leaving.shutdown({ drain: '20s' }));
    expect(stage.clock.monotonic() - start).toBeGreaterThanOrEqual(20_000);
    expect(stage.clock.monotonic() - start).toBeLessThan(21_000);
    expect(held.isHeld).toBe(true);
  });

  test('a number that nobody looks at any more keeps it no longer than its deadline', async () => {
    await stream.lease({ operationId: 'a', kind: 'order', ttl: '2s' });
    const start = stage.clock.monotonic();
    await atDiskSpeed(leaving.shutdown({ drain: '20s' }));
    expect(stage.clock.monotonic() - start).toBeLessThan(3_000);
  });
});

describe('A9, V7: a result in hand when the connection is closed', () => {
  beforeEach(() => {
    stream = leaving.sequence('orders', { spool: folder.path });
  });

  test('is waited for where its answer is nearly there, without any drain', async () => {
    const held = await lease('a');
    stage.store.order({ calls: 'sequence.commit', replyMs: 500 });
    const committed = held.commit('done');
    await atDiskSpeed(leaving.shutdown());
    expect(await committed).toEqual({ number: 1, repeated: false });
  });

  test.each(['fail', 'loseRequest'] as const)('goes to the spool where the store is away (%s)', async (fault) => {
    const held = await lease('a');
    stage.store.order({ fault, calls: ['sequence.commit', 'sequence.append'], times: Infinity });
    const committed = held.commit('done').catch((error: unknown) => error);
    await atDiskSpeed(leaving.shutdown());
    expect(await committed).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { spooled: true } });
    stage.store.heal();
    stage.leases.sequence('orders', { spool: folder.path });
    await until(async () => (await stage.stream.watermark()) === 1);
    expect(await stage.states()).toEqual([[1, 'committed', 'done']]);
  });

  test('that is committed only afterwards waits for no answer of a store that is silent', async () => {
    const held = await lease('a');
    await atDiskSpeed(leaving.shutdown());
    stage.store.order({ fault: 'loseRequest', calls: 'sequence.commit' });
    const committed = held.commit('done').catch((error: unknown) => error);
    expect(await committed).toMatchObject({ details: { spooled: true }, cause: refused }); // no time passes
  });

  test('goes there too where it still waited for its turn', async () => {
    const [first, second] = [await stage.lease('a'), await lease('b')];
    const committed = second.commit('done', { ordered: true }).catch((error: unknown) => error as Error);
    await atDiskSpeed(leaving.shutdown({ drain: '1s' }));
    expect(await committed).toMatchObject({ details: { spooled: true }, cause: refused });
    expect(((await committed) as Error).message).toMatch(/^shutdown\(\) was called: the result of b is in the spool/);
    await first.release();
    stage.leases.sequence('orders', { spool: folder.path });
    await until(async () => (await stage.stream.watermark()) === 2);
    expect(await stage.states()).toEqual([
      [1, 'gap', undefined],
      [2, 'committed', 'done'],
    ]);
  });
});
