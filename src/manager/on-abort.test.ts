// One listener for each signal, however many wait on it; taken back it leaves nothing.
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { managerSite, watched } from '../../test/support/manager-site.js';
import { isTest, readTree } from '../../test/tidy/tree.js';
import { onAbort } from './on-abort.js';

test('everybody is told, each once, and nothing is left', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const take = ['a', 'b', 'c'].map((name) => onAbort(controller.signal, () => void told.push(name)));
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  take[1]?.();
  take[1]?.();
  controller.abort();
  expect(told).toEqual(['a', 'c']);
  for (const back of take) back();
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('the last one taken back takes the listener along; the next one listens anew', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const same = (): void => void told.push('same');
  const [first, second] = [onAbort(controller.signal, same), onAbort(controller.signal, same)];
  first();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  second();
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  onAbort(controller.signal, same);
  controller.abort();
  expect(told).toEqual(['same']);
});

test('who is told may take others back, or ask for more', () => {
  const controller = new AbortController();
  const told: string[] = [];
  onAbort(controller.signal, () => {
    told.push('first');
    back();
  });
  const back = onAbort(controller.signal, () => void told.push('second'));
  controller.abort();
  expect(told).toEqual(['first', 'second']); // it was aborted when both were still waiting
});

test('S9: a hundred waits on one signal are one listener, and one abort ends them all', async () => {
  const site = await managerSite();
  await site.leases.acquire('x');
  const controller = new AbortController();
  const { signal } = controller;
  const waits = Array.from({ length: 100 }, () => watched(site.leases.acquire('x', { signal })));
  await site.pass(10);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  controller.abort();
  await site.pass(10);
  expect(waits.every((wait) => wait.now().state === 'failed')).toBe(true);
  expect(await site.live('pending')).toEqual([]);
});

describe('a signal that lives as long as the process is left as it was', () => {
  const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

  test('Q5: by upgrades, which listen while they wait', async () => {
    const site = await managerSite();
    const { signal } = new AbortController();
    const lease = await site.leases.acquire('x', { mode: 'shared' });
    const other = await site.leases.acquire('x', { mode: 'shared', owner: 'bob' });
    for (let i = 0; i < 3; i += 1) {
      const upgrade = watched(lease.upgrade({ wait: '1s', signal }));
      await site.pass(500);
      expect(listeners(signal)).toBe(1);
      await site.pass(1_000);
      expect([upgrade.now().state, listeners(signal)]).toEqual(['failed', 0]);
    }
    await other.release();
    await lease.upgrade({ signal });
    expect(listeners(signal)).toBe(0);
  });

  test('A8: by watches, which listen while they wait', async () => {
    const site = await managerSite();
    const { signal } = new AbortController();
    for (let i = 0; i < 3; i += 1) {
      const watch = site.leases.watch({ signal })[Symbol.asyncIterator]();
      const next = watched(watch.next());
      await site.pass(100);
      expect(listeners(signal)).toBe(1);
      await site.leases.acquire(`x${i}`);
      await site.pass(500);
      expect(next.now().state).toBe('done');
      await watch.return?.();
      expect(listeners(signal)).toBe(0);
    }
  });

  test('AbortSignal.any is for commands, which end: what it is given keeps an entry for every signal made of it', () => {
    const users = [...readTree('src')].filter(
      ([path, text]) => !isTest(path) && !path.startsWith('src/cli/') && text.includes('AbortSignal.any('),
    );
    expect(users.map(([path]) => path)).toEqual([]);
  });
});
