// Cleaners, recovery mode and the recovery service, over the memory store on a clock that is told to move.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { never, streamStage, TTL_MS } from '../../../test/support/stream-stage.js';
import { connect } from '../../connect.js';
import { LeaseError } from '../../domain/errors.js';

const stage = streamStage();

describe('V6: cleaners', () => {
  test('V6: they run beside each other after the number is settled; one that throws or hangs is told and let be', async () => {
    const told: string[] = [];
    stage.stream.recovery.cleaner('order', async () => Promise.reject(new Error('no')));
    stage.stream.recovery.cleaner('order', never);
    stage.stream.recovery.cleaner('order', async (operationId) => {
      told.push(`${operationId} ${String((await stage.stream.figures())?.open)}`);
    });
    await stage.lease('a');
    await stage.clock.advance(TTL_MS);
    await stage.meanwhile(stage.stream.recovery.run(), 15_000);
    expect(told).toEqual(['a 0']);
  });

  test('V6: built in: leases by operation id, and the operation’s folder', async () => {
    const root = mkdtempSync(join(tmpdir(), 'holdfast-cleaners-'));
    try {
      for (const name of ['a', 'b']) {
        mkdirSync(join(root, name));
        writeFileSync(join(root, name, 'half'), 'x');
      }
      stage.stream.recovery.cleaner('order', 'leases');
      stage.stream.recovery.cleaner('order', { root });
      await stage.leases.acquire('rows/1', { operationId: 'a', ttl: '1h', renew: 'manual' });
      const other = await stage.leases.acquire('rows/2', { operationId: 'b', ttl: '1h', renew: 'manual' });
      await stage.lease('a');
      await stage.stream.lease({ operationId: '../b', kind: 'order', ttl: TTL_MS });
      await stage.clock.advance(TTL_MS);
      await stage.meanwhile(stage.stream.recovery.run(), 60_000); // the disk takes its own time
      await expect.poll(() => existsSync(join(root, 'a'))).toBe(false);
      expect([await stage.leases.isLocked('rows/1'), await stage.leases.isLocked('rows/2')]).toEqual([false, true]);
      expect(existsSync(join(root, 'b', 'half'))).toBe(true);
      await other.release();
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  describe('V4: nothing is removed while it may still be tried', () => {
    const cleaned: string[] = [];
    const failing = async (): Promise<never> => Promise.reject(new Error('no disk'));
    beforeEach(() => {
      cleaned.length = 0;
      stage.stream.recovery.cleaner('import', async (operationId) => void cleaned.push(operationId));
    });
    const expireWithPartial = async (): Promise<void> => {
      await (await stage.lease('a', 'import')).partial('half');
      await stage.clock.advance(TTL_MS);
    };
    /** Tried until a person has to look. */
    const handOver = async (): Promise<void> => {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await stage.run();
        await stage.clock.advance(5_000);
      }
      expect(await stage.stream.recovery.manual.list()).toHaveLength(1);
    };

    test('V4: a gap that keeps its work has its files until it is filled', async () => {
      await expireWithPartial();
      await stage.run();
      expect([await stage.states(), cleaned]).toEqual([[[1, 'gap', undefined]], []]);
      stage.stream.recovery.rebuild('import', async () => 'whole');
      await stage.clock.advance(60_000);
      await stage.run();
      expect([await stage.states(), cleaned]).toEqual([[[1, 'filled', 'whole']], ['a']]);
    });

    test('V4: what waits for a person has its files, also after a try that found nothing, until it is discarded', async () => {
      await expireWithPartial();
      stage.stream.recovery.rebuild('import', failing);
      await handOver();
      expect(cleaned).toEqual([]);
      stage.stream.recovery.rebuild('import', async () => undefined);
      await stage.stream.recovery.manual.retry('a');
      await stage.run();
      expect(await stage.stream.recovery.manual.list()).toMatchObject([{ attempts: 4 }]);
      expect(cleaned).toEqual([]);
      await stage.stream.recovery.manual.discard('a');
      expect(cleaned).toEqual(['a']);
    });

    test('V4: a person’s order that stores the result ends it too', async () => {
      await (await stage.lease('a', 'import')).finished('whole');
      stage.stream.recovery.step('import', failing);
      await stage.clock.advance(TTL_MS);
      await handOver();
      expect(cleaned).toEqual([]);
      expect(await stage.stream.recovery.manual.retry('a')).toEqual({ outcome: 'stored', number: 1 });
      expect(cleaned).toEqual(['a']);
    });
  });

  test('V6: what is no cleaner is refused', () => {
    expect(() => stage.stream.recovery.cleaner('order', 'files' as never)).toThrow(/'leases' or \{ root \}/);
    expect(() => stage.stream.recovery.rebuild('', async () => 1)).toThrow(/kind/);
    expect(() => stage.stream.recovery.rebuild('x', 5 as never)).toThrow(/takes a function/);
  });
});

test('V5, W3: a client that may not look at recovery mode asks once, and says nothing of it', async () => {
  const warned: unknown[] = [];
  const logger = {
    debug: () => undefined,
    info: () => undefined,
    error: () => undefined,
    warn: (facts: object) => warned.push(facts),
  };
  const other = await connect(stage.store, { clock: stage.clock, services: 'off', logger: logger });
  const error = new LeaseError('FORBIDDEN', "the namespace _holdfast is the server's own: name another");
  stage.store.order({ calls: ['show', 'acquire'], fault: 'fail', times: Infinity, error });
  stage.store.forgetCalls();
  for (const operationId of ['a', 'b', 'c']) {
    await other.sequence('orders').lease({ operationId, kind: 'order', ttl: '1m' });
    await stage.clock.advance(6_000);
  }
  expect([stage.store.count('show'), warned]).toEqual([1, []]);
  await stage.meanwhile(other.shutdown(), 1_000);
});

describe('V5: recovery mode', () => {
  test('V5: more than ten expired at once: leases live twice as long everywhere, until it has been calm for three sweeps', async () => {
    const heard: boolean[] = [];
    stage.stream.recovery.onCascade((on) => heard.push(on));
    const services = await connect(stage.store, { clock: stage.clock, owner: 'with services' });
    services.sequence('orders').recovery.onCascade(() => {
      throw new Error('of the application');
    });
    for (let i = 0; i < 11; i += 1) await stage.lease(`op-${i}`);
    await stage.clock.advance(TTL_MS);
    await stage.run();
    expect(heard).toEqual([true]);
    const elsewhere = services.sequence('orders');
    const held = await elsewhere.lease({ operationId: 'long', kind: 'order', ttl: '60s' });
    expect(Date.parse(held.expiresAt) - Date.parse(held.leasedAt)).toBe(120_000);
    await held.commit(1);
    await stage.leases.shutdown();
    await stage.clock.advance(60_000);
    const after = await elsewhere.lease({ operationId: 'short', kind: 'order', ttl: '60s' });
    expect(Date.parse(after.expiresAt) - Date.parse(after.leasedAt)).toBe(60_000);
    await stage.meanwhile(services.shutdown(), 3_000);
  });
});

test('V5: who only recovers sees too that the overlay of somebody else is gone', async () => {
  const other = await connect(stage.store, { clock: stage.clock, owner: 'other', services: 'off' });
  const heard: boolean[] = [];
  stage.stream.recovery.onCascade((on) => heard.push(on));
  for (const [round, who] of [other.sequence('orders'), stage.stream].entries()) {
    for (let i = 0; i < 11; i += 1) {
      const asked = { stream: 'orders', operationId: `op-${round}-${i}`, kind: 'order', count: 1, owner: 'crashed' };
      await stage.store.sequences!.lease([{ ...asked, ttlMs: TTL_MS }]);
    }
    await stage.clock.advance(TTL_MS);
    await stage.meanwhile(who.recovery.run());
  }
  expect(heard).toEqual([true]);
  await stage.meanwhile(other.shutdown(), 1_000);
  await stage.clock.advance(6_000);
  await stage.run();
  expect(heard).toEqual([true, false]);
});

test('V5: an owner that runs no sweep leaves recovery mode when it has met little for long enough', async () => {
  const heard: boolean[] = [];
  stage.stream.recovery.onCascade((on) => heard.push(on));
  for (let i = 0; i < 11; i += 1) await stage.lease(`op-${i}`);
  await stage.clock.advance(TTL_MS);
  await stage.run();
  await stage.clock.advance(90_000);
  for (let i = 0; i < 6; i += 1) await stage.lease(`more-${i}`); // in recovery mode: twice as long
  await stage.clock.advance(2 * TTL_MS);
  await stage.run();
  await stage.clock.advance(90_000);
  expect(heard).toEqual([true]);
  await stage.clock.advance(180_000);
  expect(heard).toEqual([true, false]);
  const shown = await stage.store.within('_holdfast').show('cascade/namespace:default', 0);
  expect(shown.holders).toEqual([]);
});

test('V5, H2: recovery mode is left when three sweeps in a row were calm; its lease is its trace in the log', async () => {
  const heard: [boolean, number][] = [];
  const services = await connect(stage.store, { clock: stage.clock, owner: 'with services' });
  const began = stage.clock.monotonic();
  services.sequence('orders').recovery.onCascade((on) => heard.push([on, stage.clock.monotonic() - began]));
  for (let i = 0; i < 11; i += 1) await stage.lease(`op-${i}`);
  for (let passed = 0; passed < 200_000; passed += 20) await stage.clock.advance(20);
  expect(heard.map(([on]) => on)).toEqual([true, false]);
  expect(heard[1]![1] - heard[0]![1]).toBeGreaterThan(3 * 28_000);
  expect(await stage.stream.figures()).toMatchObject({ open: 0, gaps: 11 });
  const rows = await stage.store.within('_holdfast').events({ resource: 'cascade/namespace:default', limit: 100 });
  const told = rows.outcome === 'rows' ? rows.rows.map(({ type, owner }) => [type, owner]) : [];
  // H2: the overlay is a lease, and its rows are what is stored of recovery mode.
  expect(told.filter(([type]) => type !== 'lease.renewed')).toEqual([
    ['lease.acquired', 'with services'],
    ['lease.released', 'with services'],
  ]);
  await stage.meanwhile(services.shutdown(), 3_000);
});

test('O1, V1: the service recovers what nobody waits for', async () => {
  const services = await connect(stage.store, { clock: stage.clock, owner: 'with services' });
  const theirs = services.sequence('orders');
  await (await stage.lease('a')).finished('kept');
  for (let passed = 0; passed < 120_000; passed += 10) await stage.clock.advance(10);
  expect(await stage.states()).toEqual([[1, 'committed', 'kept']]);
  expect(theirs.name).toBe('orders');
  await stage.meanwhile(services.shutdown(), 3_000);
});
