// A store that does not answer: another process is stopped inside a write transaction of the file, or simply keeps it
// locked. Leases are lost on time by the holder's own clock, no event loop waits for the lock, and when the store is
// back everything goes on.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { monotonic, processSite, type ConnectedChild } from '../support/process-site.js';

const TTL_MS = 1_000;
/** What the loop may lag, beyond what it lags in a process that does nothing at the same time on the same machine. */
const LAG_MS = 50;
const site = processSite();

async function worstLag(child: ConnectedChild, key: string): Promise<number> {
  child.order('lag', key);
  const [worst] = await child.words(`lag ${key}`);
  return Number(worst);
}

describe('a process stopped inside a write transaction', () => {
  test.each([
    ['continues', 'SIGCONT'],
    ['dies', 'SIGKILL'],
  ] as const)(
    'S7, S20: a lease of one second is lost within one second and the loop stays free; when it %s all goes on',
    async (_, ending) => {
      const [holder, idle, asker] = await Promise.all([
        site.start('holder', {}, 'frozen-store-child.mjs'),
        site.start('idle', {}, 'frozen-store-child.mjs'),
        site.start('asker'),
      ]);
      const stopper = site.run('sqlite-child.mjs', site.file, 'stopper');
      await stopper.line('open');
      holder.order('hold', 'door', { resource: 'door', ttl: TTL_MS });
      const [epoch] = await holder.words('held door');
      await holder.line('renewed door');
      await Promise.all([worstLag(holder, 'before'), worstLag(idle, 'before')]);
      stopper.tell('freeze');
      await stopper.line('frozen');
      asker.order('acquire', 'window', { resources: 'window', wait: '20s' });
      const [code, at, sent] = await holder.words('lost door');
      expect(code).toBe('LEASE_LOST');
      expect(Number(at) - Number(sent)).toBeLessThanOrEqual(TTL_MS);
      const [lag, usual] = await Promise.all([worstLag(holder, 'frozen'), worstLag(idle, 'frozen')]);
      expect(lag).toBeLessThanOrEqual(LAG_MS + usual);
      expect(asker.lines.filter((line) => line.startsWith('held'))).toEqual([]);

      stopper.process.kill(ending);
      await asker.line('held window');
      asker.order('acquire', 'door', { resources: 'door', wait: '20s' });
      const [next] = await asker.words('held door');
      expect(Number(next)).toBeGreaterThan(Number(epoch));
      holder.order('hold', 'again', { resource: 'gate', ttl: TTL_MS });
      await holder.line('held again');
    },
  );
});

describe('a file that somebody keeps locked', () => {
  test.each([
    ['the ttl', 1.5 * TTL_MS],
    ['the store itself is patient', 6_000],
  ])(
    'S15, A2: for longer than %s: lost at the deadline, and keep takes it again with a higher epoch',
    async (_, lockedMs) => {
      const child = await site.start('keeper');
      child.order('keep', 'door', { resources: 'door', ttl: TTL_MS });
      const [epoch] = await child.words('held door-1');
      const unlock = site.lock();
      const lockedAt = monotonic();
      const [code, lostAt] = await child.words('lost door-1');
      expect(code).toBe('LEASE_LOST');
      expect(Number(lostAt) - lockedAt).toBeLessThanOrEqual(TTL_MS); // every answered renewal was sent before
      await delay(lockedAt + lockedMs - monotonic());
      expect(child.lines.filter((line) => line.startsWith('held'))).toHaveLength(1);
      unlock();
      const unlockedAt = monotonic();
      const [next, againAt] = await child.words('held door-2');
      expect(Number(next)).toBeGreaterThan(Number(epoch));
      expect(Number(againAt) - unlockedAt).toBeLessThan(5_000);
    },
  );
});
