// Recovery over a store that fails or falls silent while a number is claimed, kept or settled: whoever waits goes on within
// seconds, and nobody does the work of somebody who is at it.
import { beforeEach, describe, expect, test } from 'vitest';
import { streamStage, TTL_MS } from '../../../test/support/stream-stage.js';
import { connect } from '../../connect.js';
import { pause } from '../sequence-link.js';

const stage = streamStage();
/** A claim that nobody knows of has run out by then. */
const SOON_MS = 20_000;

/** How long after its lease expired the waiter behind a number went on. */
async function passedAfter(operationId = 'slow'): Promise<number> {
  const { number } = await stage.lease(operationId);
  const expiresAt = stage.clock.monotonic() + TTL_MS;
  const waiting = stage.stream.waitFor(number + 1).then(() => stage.clock.monotonic());
  return (await stage.meanwhile(waiting, 400_000, 10)) - expiresAt;
}

describe('N3, S15: what fails once holds nobody up', () => {
  test.each(['fail', 'failAfter', 'loseRequest', 'loseReply'] as const)(
    'N3, S15: a settle that fares badly once (%s) is asked again',
    async (fault) => {
      stage.store.order({ calls: 'sequence.settle', fault });
      expect(await passedAfter()).toBeLessThan(6_000);
      expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
    },
  );

  test.each(['fail', 'failAfter', 'loseRequest', 'loseReply'] as const)(
    'N3, V1, S15: a claim that fares badly once (%s) runs out in seconds',
    async (fault) => {
      stage.store.order({ calls: 'sequence.claim', fault });
      expect(await passedAfter()).toBeLessThan(SOON_MS);
      expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
    },
  );
});

describe('V6, S15: the answer to a settle is lost', () => {
  const LOST = ['failAfter', 'loseReply'] as const;
  const loseOne = (fault: (typeof LOST)[number]): void => {
    stage.store.order({ calls: 'sequence.settle', fault });
  };
  const cleaned: string[] = [];
  beforeEach(() => {
    cleaned.length = 0;
    stage.stream.recovery.cleaner('import', async (operationId) => void cleaned.push(operationId));
  });
  const recover = (): Promise<unknown> => stage.meanwhile(stage.stream.recovery.run(), 60_000);

  test.each(LOST)('V6: its cleaners run, whether it was made a gap or stored (%s)', async (fault) => {
    await stage.lease('none', 'import');
    await (await stage.lease('whole', 'import')).finished('done');
    await stage.clock.advance(TTL_MS);
    loseOne(fault);
    await recover();
    expect(cleaned).toEqual(['none', 'whole']);
    await (await stage.lease('again', 'import')).finished('done');
    await stage.clock.advance(TTL_MS);
    loseOne(fault);
    await recover();
    expect(cleaned).toEqual(['none', 'whole', 'again']);
  });

  test.each(LOST)('V4: what is kept, to be tried again or for a person, has its files still (%s)', async (fault) => {
    await (await stage.lease('kept', 'import')).partial('half');
    await stage.clock.advance(TTL_MS);
    loseOne(fault);
    await recover();
    stage.stream.recovery.step('import', async () => Promise.reject(new Error('no disk')));
    await stage.lease('manual', 'import');
    await stage.clock.advance(TTL_MS);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      loseOne(fault);
      await recover();
      await stage.clock.advance(5_000);
    }
    expect(await stage.stream.recovery.manual.list()).toMatchObject([{ operationId: 'manual' }]);
    expect(cleaned).toEqual([]);
  });

  test('V6: of a gap that readers have been shown, stored elsewhere, they run too', async () => {
    await (await stage.lease('a', 'import')).partial('half');
    await stage.clock.advance(TTL_MS);
    await recover();
    await stage.meanwhile(stage.stream.waitFor(2));
    stage.stream.recovery.rebuild('import', async () => 'whole');
    await stage.clock.advance(60_000);
    loseOne('failAfter');
    await recover();
    expect([await stage.states(), cleaned]).toEqual([
      [
        [1, 'gap', 2],
        [2, 'committed', 'whole'],
      ],
      ['a'],
    ]);
  });
});

test('N3, V2: gaps that are tried again, slowly, hold up nobody who waits for a number', async () => {
  for (const half of ['a', 'b']) {
    for (let i = 0; i < 10; i += 1) await (await stage.lease(`${half}-${i}`, 'import')).partial(i);
    await stage.clock.advance(TTL_MS);
    await stage.run();
  }
  expect(await stage.stream.figures()).toMatchObject({ open: 0, gaps: 20 });
  let rebuilt = 0;
  stage.stream.recovery.rebuild('import', async (partial) => {
    await pause(stage.clock, 50_000);
    rebuilt += 1;
    return partial;
  });
  await stage.clock.advance(60_000);
  for (const operationId of ['first', 'second', 'third']) expect(await passedAfter(operationId)).toBeLessThan(3_000);
  for (let ms = 0; ms < 20 * 51_000; ms += 500) await stage.clock.advance(500);
  expect(rebuilt).toBe(20);
  expect(await stage.stream.figures()).toMatchObject({ open: 0, gaps: 3 });
});

test.each([1, 2])('V1: a claim outlives %i renewals in a row that are not answered', async (times) => {
  const other = await connect(stage.store, { clock: stage.clock, services: 'off', owner: 'other' });
  let rebuilt = 0;
  for (const stream of [stage.stream, other.sequence<unknown>('orders')]) {
    stream.recovery.rebuild('import', async () => {
      rebuilt += 1;
      await pause(stage.clock, 50_000);
      return 'whole';
    });
  }
  await (await stage.lease('a', 'import')).partial('half');
  await stage.clock.advance(TTL_MS);
  stage.store.order({ calls: 'sequence.renewClaims', fault: times === 1 ? 'loseRequest' : 'fail', times });
  const waiting = [stage.stream, other.sequence('orders')].map((stream) => stream.waitFor(2));
  await stage.meanwhile(Promise.all(waiting), 60_000, 10);
  expect(rebuilt).toBe(1);
  expect(await stage.states()).toEqual([
    [1, 'moved', 2],
    [2, 'committed', 'whole'],
  ]);
  await stage.meanwhile(other.shutdown(), 1_000);
});

describe('N3, A9: an orderly shutdown while numbers are recovered', () => {
  /** Another process has claimed six numbers and rebuilds the first. */
  async function leavingWith(rebuildMs: number) {
    const leaving = await connect(stage.store, { clock: stage.clock, services: 'off', owner: 'leaving' });
    const rebuilt: unknown[] = [];
    leaving.sequence<unknown>('orders').recovery.rebuild('import', async (partial) => {
      await pause(stage.clock, rebuildMs);
      rebuilt.push(partial);
      return partial;
    });
    for (let i = 1; i <= 6; i += 1) await (await stage.lease(`op-${i}`, 'import')).partial(i);
    await stage.clock.advance(TTL_MS);
    const waiting = leaving.sequence('orders').waitFor(7);
    waiting.catch(() => undefined);
    await stage.meanwhile(pause(stage.clock, 100));
    return { leaving, rebuilt, waiting };
  }

  test('N3, A9: it ends after the number under way; the others are recovered elsewhere within seconds', async () => {
    const { leaving, rebuilt, waiting } = await leavingWith(500);
    const began = stage.clock.monotonic();
    await stage.meanwhile(leaving.shutdown({ drain: '10s' }), 20_000);
    expect(stage.clock.monotonic() - began).toBeLessThan(1_000);
    expect(rebuilt).toEqual([1]);
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect((await stage.states())[0]).toEqual([1, 'moved', 7]);
    await stage.meanwhile(stage.stream.waitFor(7), 20_000, 10);
    expect(stage.clock.monotonic() - began).toBeLessThan(SOON_MS);
    expect(await stage.stream.figures()).toMatchObject({ open: 0, gaps: 5, moved: 1 });
    expect(await stage.stream.recovery.manual.list()).toEqual([]);
  });

  test('A9: it waits for the number under way no longer than its drain, and a little', async () => {
    const { leaving, rebuilt } = await leavingWith(50_000);
    const began = stage.clock.monotonic();
    await stage.meanwhile(leaving.shutdown({ drain: '10s' }), 60_000, 10);
    expect(stage.clock.monotonic() - began).toBeGreaterThan(9_000);
    expect(stage.clock.monotonic() - began).toBeLessThan(15_000);
    expect(rebuilt).toEqual([]);
  });
});
