// The gate in memory: kept while an effect happens, closed to older holders from the moment a newer one is at the door.
import { describe, expect, test } from 'vitest';
import { recordingObserver } from '../../test/support/recording-observer.js';
import { LeaseManager } from '../manager/lease-manager.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryStore } from '../stores/memory/index.js';
import { httpFence } from './http-fence.js';
import { memoryGate } from './memory-gate.js';

function promise(): { done: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { done, resolve };
}
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};

describe('G4: the effect happens while the gate is held', () => {
  test('a newer write waits for an older effect under way, an older one is refused at once', async () => {
    const gate = memoryGate();
    const [slow, journal] = [promise(), [] as string[]];
    const older = gate.during({ resource: 'a', epoch: 41 }, async () => {
      await slow.done;
      journal.push('older');
    });
    const newer = gate.during({ resource: 'a', epoch: 42 }, async () => {
      journal.push('newer');
    });
    await turns();
    await expect(gate.admit({ resource: 'a', epoch: 41 })).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    expect(journal).toEqual([]);
    slow.resolve();
    await Promise.all([older, newer]);
    expect(journal).toEqual(['older', 'newer']);
  });

  test('writes of one epoch, of other names, and shared ones run beside each other', async () => {
    const gate = memoryGate();
    const slow = promise();
    const first = gate.during({ resource: 'a', epoch: 41, mode: 'shared' }, () => slow.done);
    await gate.during({ resource: 'a', epoch: 41 }, async () => undefined);
    await gate.during({ resource: 'a', epoch: 50, mode: 'shared' }, async () => undefined);
    await gate.during({ resource: 'b', epoch: 50 }, async () => undefined);
    slow.resolve();
    await first;
  });

  test('a subtree waits for what is below it, and what is below for the subtree', async () => {
    const gate = memoryGate();
    const [below, above, journal] = [promise(), promise(), [] as string[]];
    const one = gate.during({ resource: 'a/b', epoch: 41 }, () => below.done);
    const two = gate.during({ resource: 'a', epoch: 42, scope: 'subtree' }, async () => {
      journal.push('subtree');
      await above.done;
    });
    await turns();
    expect(journal).toEqual([]);
    below.resolve();
    await one;
    await turns();
    const three = gate.during({ resource: 'a/c', epoch: 43 }, async () => {
      journal.push('below');
    });
    await turns();
    expect(journal).toEqual(['subtree']);
    above.resolve();
    await Promise.all([two, three]);
    expect(journal).toEqual(['subtree', 'below']);
  });

  test('who waited is refused when a still newer holder came meanwhile', async () => {
    const gate = memoryGate();
    const slow = promise();
    const first = gate.during({ resource: 'a', epoch: 41 }, () => slow.done);
    const second = expect(gate.admit({ resource: 'a', epoch: 42 })).rejects.toMatchObject({ details: { current: 43 } });
    const third = gate.admit({ resource: 'a', epoch: 43 });
    slow.resolve();
    await Promise.all([first, second, third]);
  });

  test('a wait ends with its signal, an effect that fails leaves the gate', async () => {
    const gate = memoryGate();
    const slow = promise();
    const first = gate.during({ resource: 'a', epoch: 41 }, async () => {
      await slow.done;
      throw new Error('mine');
    });
    const stop = new AbortController();
    const second = gate.during({ resource: 'a', epoch: 42 }, async () => undefined, { signal: stop.signal });
    const told = [
      expect(second).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' }),
      expect(first).rejects.toThrow('mine'),
    ];
    stop.abort();
    await told[0];
    slow.resolve();
    await told[1];
    await gate.admit({ resource: 'a', epoch: 42 });
    await expect(gate.during({ resource: 'a', epoch: 43 }, undefined as never)).rejects.toThrow(/effect as a function/);
  });

  test('A11, G4: what it remembers has an end, which stays: nobody is told to try again', async () => {
    const gate = memoryGate();
    for (let i = 0; i < 100_000; i += 1) await gate.admit({ resource: `n${i}`, epoch: 1 });
    await expect(gate.admit({ resource: 'more', epoch: 1 })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryable: false,
    });
    await gate.admit({ resource: 'n7', epoch: 2 });
    const headers = { 'holdfast-resource': 'more', 'holdfast-epoch': '1' };
    const problem = await httpFence(gate)(new Request('http://localhost/more', { method: 'PUT', headers }));
    expect([problem?.status, problem?.headers.get('retry-after')]).toEqual([429, null]);
    expect(await problem?.json()).toMatchObject({ code: 'RATE_LIMITED', retryable: false });
  });
});

test('G4, O2: claim closes the gate to the holder before, whose refusal is counted and announced', async () => {
  const clock = new FakeClock();
  const observer = recordingObserver();
  const rejections: string[] = [];
  const defaults = { owner: 'me', renewAt: 0.6, minTtlMs: 0, adaptiveTtlMs: () => 1_000 };
  const watching = { ...observer, guardRejection: (guard: string) => void rejections.push(guard) };
  const manager = new LeaseManager(new MemoryStore({ clock }), clock, defaults, watching);
  const older = await manager.acquire('orders/0', { ttl: 1_000, renew: 'manual' });
  await clock.advance(1_001);
  const newer = await manager.acquire('orders/0', { ttl: 1_000, renew: 'manual' });
  const gate = memoryGate();
  await gate.claim(newer);
  await expect(gate.claim(older)).rejects.toMatchObject({
    code: 'STALE_EPOCH',
    details: { current: newer.epoch, attempted: older.epoch },
  });
  expect(rejections).toEqual(['memoryGate']);
  expect(observer.told).toContainEqual(['conflict']);
  expect(observer.events.at(-1)).toMatchObject({
    type: 'guard.rejected',
    leaseId: older.id,
    data: { guard: 'memoryGate', current: newer.epoch, attempted: older.epoch },
  });
  manager.disconnect();
});
