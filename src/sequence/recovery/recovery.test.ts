// Recovery over the memory store on a clock that is told to move: one test for each way a number can be lost, and for each
// way it comes back.
import { describe, expect, test } from 'vitest';
import { never, streamStage, TTL_MS } from '../../../test/support/stream-stage.js';
import { connect } from '../../connect.js';

const stage = streamStage();

describe('N3, V2: whoever waits or reads recovers what blocks it', () => {
  test('N3: overrun: the commit fails, the waiter behind makes a gap and goes on', async () => {
    const slow = await stage.lease('slow');
    const next = await stage.stream.lease({ operationId: 'next', kind: 'order' });
    await stage.meanwhile(stage.stream.waitFor(next.number), TTL_MS + 1_000, 10);
    await expect(slow.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'gap' } });
    expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
    expect((await stage.stream.gaps.list())[0]).toMatchObject({ reason: 'Lease expired', operationId: 'slow' });
  });

  test('N3, V2: crash with a finished result: a reader commits it at its own number and sees it', async () => {
    const held = await stage.lease('a');
    await held.finished({ total: 3 });
    const reading = (async () => {
      for await (const item of stage.stream.reader('r').follow()) return item;
      return undefined;
    })();
    expect(await stage.meanwhile(reading, TTL_MS + 1_000, 10)).toMatchObject({
      number: 1,
      state: 'committed',
      operation: { total: 3 },
    });
    expect(await held.commit({ total: 3 })).toEqual({ number: 1, repeated: true });
  });

  test('N2, V1: a commit before recovery got to it wins nothing either: expired is expired', async () => {
    const held = await stage.lease('a');
    await stage.clock.advance(TTL_MS);
    await expect(held.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'expired' } });
    await stage.run();
    await expect(held.commit('late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { state: 'gap' } });
    expect(await stage.stream.gaps.fill(1, 'a', 'late')).toEqual({ number: 1 });
  });

  test('N1: the process that crashed comes back with its operation before recovery, and goes on', async () => {
    await stage.lease('a');
    await stage.clock.advance(TTL_MS);
    const again = await stage.lease('a');
    await again.commit('after all');
    expect(await stage.states()).toEqual([[1, 'committed', 'after all']]);
  });
});

describe('V2: the steps', () => {
  test('V2: partial work is rebuilt under a new number, with a note', async () => {
    const held = await stage.lease('a', 'import');
    await held.partial({ ids: [1, 2] });
    await stage.clock.advance(TTL_MS);
    stage.stream.recovery.rebuild('import', async (partial) => ({ rebuilt: partial }));
    expect(await stage.run()).toEqual({ settled: 1, failed: 0, more: false });
    expect(await stage.states()).toEqual([
      [1, 'moved', 2],
      [2, 'committed', { rebuilt: { ids: [1, 2] } }],
    ]);
    expect((await stage.stream.peek(2, 1))[0]?.recovery).toMatchObject({
      originalNumber: 1,
      originalOperationId: 'a',
      type: 'partial_work',
    });
  });

  test('V2: a finished result goes before partial work, a step of one’s own before both', async () => {
    for (const operationId of ['a', 'b']) {
      const held = await stage.lease(operationId, operationId);
      await held.partial(1);
      await held.finished('finished');
    }
    await stage.clock.advance(TTL_MS);
    stage.stream.recovery.rebuild('a', async () => 'rebuilt');
    stage.stream.recovery.step('b', async ({ operationId }) => `own way for ${operationId}`);
    await stage.run();
    expect(await stage.states()).toEqual([
      [1, 'committed', 'finished'],
      [2, 'moved', 3],
      [3, 'committed', 'own way for b'],
    ]);
  });

  test('V2: a recoverer that cannot rebuild leaves a gap; one that can fills it later', async () => {
    const held = await stage.lease('a', 'import');
    await held.partial('half');
    await stage.clock.advance(TTL_MS);
    await stage.run();
    expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
    const other = await connect(stage.store, { clock: stage.clock, services: 'off', owner: 'other' });
    const theirs = other.sequence('orders');
    theirs.recovery.rebuild('import', async (partial) => `whole ${String(partial)}`);
    await stage.clock.advance(60_000);
    await stage.meanwhile(theirs.recovery.run());
    expect(await stage.states()).toEqual([[1, 'filled', 'whole half']]);
  });

  test('V2: ascending, and one failing number never stops the rest', async () => {
    const order: string[] = [];
    for (const operationId of ['a', 'b', 'c']) await (await stage.lease(operationId)).partial(operationId);
    await stage.clock.advance(TTL_MS);
    stage.stream.recovery.rebuild('order', async (partial) => {
      order.push(String(partial));
      if (partial === 'b') throw new Error('no disk');
      return partial;
    });
    expect(await stage.run()).toEqual({ settled: 2, failed: 1, more: false });
    expect(order).toEqual(['a', 'b', 'c']);
    expect(await stage.stream.figures()).toMatchObject({ open: 1, watermark: 1, moved: 2 });
  });
});

describe('V3: load decides', () => {
  const finishOne = async (): Promise<void> => {
    await (await stage.lease('a')).finished('kept');
    await stage.clock.advance(TTL_MS);
  };

  test('V3: a blocked loop makes only gaps and keeps the result, which is filled in when load is low', async () => {
    await finishOne();
    const { after } = stage.clock;
    stage.clock.after = (ms, fn) => after(ms + 300, fn);
    await stage.run();
    stage.clock.after = after;
    expect(await stage.states()).toEqual([[1, 'gap', undefined]]);
    await stage.clock.advance(60_000);
    await stage.run();
    expect(await stage.states()).toEqual([[1, 'filled', 'kept']]);
  });

  test('V3: a slow store is medium load: finished results are put off, partial work is not', async () => {
    await finishOne();
    await (await stage.stream.lease({ operationId: 'b', kind: 'import', ttl: TTL_MS })).partial('half');
    stage.stream.recovery.rebuild('import', async () => 'rebuilt');
    await stage.clock.advance(TTL_MS);
    stage.store.order({ replyMs: 350, times: 20 });
    await stage.meanwhile(Promise.all(Array.from({ length: 8 }, () => stage.stream.watermark())), 2_000);
    stage.store.heal();
    await stage.run();
    expect(await stage.states()).toEqual([
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
    const held = await stage.lease('a', 'import');
    await held.partial('half');
    await stage.clock.advance(TTL_MS);
    stage.stream.recovery.rebuild('import', rebuild);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await stage.meanwhile(stage.stream.recovery.run(), 70_000, 20);
      await stage.clock.advance(5_000);
      const isLast = attempt === 3;
      expect(await stage.stream.figures()).toMatchObject({ open: isLast ? 0 : 1, manual: isLast ? 1 : 0 });
    }
    const [item] = await stage.stream.recovery.manual.list();
    expect(item).toMatchObject({ number: 1, operationId: 'a', kind: 'import', attempts: 3, partial: 'half' });
    expect(item?.lastError.length).toBeGreaterThan(0);
    stage.stream.recovery.rebuild('import', async () => 'by hand');
    expect(await stage.stream.recovery.manual.retry('a')).toEqual({ outcome: 'queued' });
    await stage.run();
    expect(await stage.states()).toEqual([[1, 'filled', 'by hand']]);
    expect(await stage.stream.recovery.manual.list()).toEqual([]);
    await expect(stage.stream.recovery.manual.discard('a')).rejects.toMatchObject({ code: 'NOT_HELD' });
  });
});
