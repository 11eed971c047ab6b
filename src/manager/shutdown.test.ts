// Shutting down (A9): in order, in bounded time whatever the store does, and with nothing left behind that could be let go.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { LeaseError } from '../domain/errors.js';

interface Line {
  readonly level: string;
  readonly message: string;
}

async function loggedSite(): Promise<{ site: ManagerSite; lines: Line[] }> {
  const lines: Line[] = [];
  const at = (level: string) => (_: object, message: string) => void lines.push({ level, message });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { site: await managerSite({ logger }), lines };
}

describe('A9: shutdown', () => {
  test('releases everything in one call, one log line each, sweeps, and leaves no timer', async () => {
    const { site, lines } = await loggedSite();
    const held = await Promise.all(['a', 'b', 'c'].map((name) => site.leases.acquire(name)));
    site.store.forgetCalls();
    await site.leases.shutdown();
    expect(site.store.calls.map(({ call, asked }) => `${call} ${asked.length}`)).toEqual(['end 3', 'sweep 1']);
    expect(lines.map(({ level, message }) => `${level} ${message}`).toSorted()).toEqual([
      'info shutdown: a is released',
      'info shutdown: b is released',
      'info shutdown: c is released',
    ]);
    expect(held.map((lease) => (lease.signal.reason as LeaseError).code)).toEqual(Array(3).fill('SHUTTING_DOWN'));
    expect([site.clock.pendingTimers, await site.live()]).toEqual([0, []]);
  });

  test('under load: a thousand leases in as many calls as batches need', async () => {
    const site = await managerSite();
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => site.leases.acquire(`x/${i}`)));
    site.store.forgetCalls();
    await site.leases.shutdown();
    expect([site.store.count('end'), await site.live()]).toEqual([4, []]);
  });

  test('a second call answers the first one’s promise; afterwards nobody gets anything', async () => {
    const site = await managerSite();
    const first = site.leases.shutdown();
    expect(site.leases.shutdown({ drain: '5s' })).toBe(first);
    await first;
    await expect(site.leases.acquire('x')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expect(site.leases.tryAcquire('x')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expect(site.leases.ensure('x')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expect(site.leases.withLease('x', async () => 1)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test('a drain that is no duration is refused, and nothing has begun', async () => {
    const site = await managerSite();
    await expect(site.leases.shutdown({ drain: 'soon' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await site.leases.acquire('x');
    await site.leases[Symbol.asyncDispose]();
    expect(await site.live()).toEqual([]);
  });

  test('work may finish, renewed meanwhile, up to the drain; who finishes earlier ends it earlier', async () => {
    const site = await managerSite();
    const [a, b] = [await site.leases.acquire('a', { ttl: '2s' }), await site.leases.acquire('b', { ttl: '2s' })];
    const down = watched(site.leases.shutdown({ drain: '60s' }));
    await site.pass(10_000);
    expect([a.isHeld, b.isHeld, down.now().state]).toEqual([true, true, 'open']);
    expect(a.signal.aborted).toBe(false);
    await expect(site.leases.acquire('c')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await a.release();
    await b.release();
    await site.pass(0);
    expect(down.now().state).toBe('done');
  });

  test('what is still held when the drain is over is told by its signal, then released', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('a', { ttl: '2s' });
    const ended: number[] = [];
    lease.signal.addEventListener('abort', () => ended.push(site.store.count('end')));
    const down = watched(site.leases.shutdown({ drain: '5s' }));
    await site.pass(4_990);
    expect(ended).toEqual([]);
    await site.pass(20);
    expect([ended, down.now().state, await site.live()]).toEqual([[0], 'done', []]);
  });

  test('waiters are told at once, and leave the queue', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    const down = watched(site.leases.shutdown());
    await site.pass(0);
    expect(waiting.now().error).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect([down.now().state, await site.live()]).toEqual(['done', []]);
  });

  test.each([0, 5, 50])('while acquiring: a grant on its way is ended, %d ms after it was asked for', async (ms) => {
    const site = await managerSite();
    await (await site.leases.acquire('warm')).release();
    site.store.order({ calls: 'acquire', requestMs: 10, replyMs: 60 });
    const asked = watched(site.leases.acquire('x'));
    if (ms > 0) await site.pass(ms);
    const down = watched(site.leases.shutdown());
    await site.pass(3_000);
    expect([asked.now().state, down.now().state]).toEqual(['failed', 'done']);
    expect(asked.now().error).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(await site.live()).toEqual([]);
  });

  test('while a grant is being told: it is let go again, not forgotten', async () => {
    const site = await managerSite();
    await (await site.leases.acquire('warm')).release();
    for (let turns = 0; turns < 12; turns += 1) {
      const other = await site.join();
      await (await other.leases.acquire('warm')).release();
      const asked = watched(other.leases.acquire(`x/${turns}`));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await other.leases.shutdown();
      await site.pass(0);
      expect([turns, await site.live(), asked.now().value?.isHeld ?? false]).toEqual([turns, [], false]);
    }
  });

  test('a release the caller did not wait for is waited for', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    site.store.order({ calls: 'end', replyMs: 500 });
    const released = watched(lease.release());
    const down = watched(site.leases.shutdown());
    await site.pass(490);
    expect(down.now().state).toBe('open');
    await site.pass(10);
    expect([released.now().state, down.now().state]).toEqual(['done', 'done']);
  });

  test('a lease that is being handed on is waited for, so that its document is answered', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '60s' });
    site.store.order({ calls: 'change', replyMs: 1_500 });
    const document = watched(lease.delegate('successor'));
    const down = watched(site.leases.shutdown({ drain: '10s' }));
    await site.pass(1_400);
    expect(down.now().state).toBe('open');
    await site.pass(200);
    expect([document.now().state, down.now().state]).toEqual(['done', 'done']);
  });

  test('one that is being taken over is let go again', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const document = await (await site.leases.acquire('x', { ttl: '60s' })).delegate('bob');
    other.store.order({ calls: 'change', replyMs: 500 });
    const taken = watched(other.leases.resume(document));
    const down = watched(other.leases.shutdown());
    await site.pass(490);
    expect(down.now().state).toBe('open');
    await site.pass(20);
    expect([taken.now().error, down.now().state]).toEqual([expect.objectContaining({ code: 'SHUTTING_DOWN' }), 'done']);
    expect(await site.live()).toEqual([]);
  });

  test('an abandoned lease is left to lapse, as its holder wished', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    const { signal } = lease;
    lease.abandon();
    await site.leases.shutdown();
    expect(await site.live()).toHaveLength(1);
    expect([lease.isHeld, signal.reason]).toEqual([false, expect.objectContaining({ code: 'SHUTTING_DOWN' })]);
  });
});

describe('A9: with the store gone', () => {
  test.each(['fail', 'loseRequest'] as const)(
    '%s: bounded in time, and the error names what is left',
    async (fault) => {
      const { site, lines } = await loggedSite();
      await Promise.all([site.leases.acquire('a', { ttl: '10s' }), site.leases.acquire('b', { ttl: '10s' })]);
      watched(site.leases.acquire('a', { wait: 'forever' }));
      await site.pass(10);
      site.store.order({ fault, times: Infinity });
      const down = watched(site.leases.shutdown());
      await site.pass(6_000);
      expect(down.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { errors: { length: 2 } } });
      expect((down.now().error as LeaseError).message).toMatch(/^shutdown left 2 behind: [ab] could not be released/);
      expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
      await site.pass(6_000);
      const calls = site.store.count();
      await site.pass(60_000);
      expect([site.store.count(), site.clock.pendingTimers]).toEqual([calls, 0]);
    },
  );

  test('frozen in the middle of a renewal', async () => {
    const site = await managerSite();
    await site.leases.acquire('a', { ttl: '10s' });
    await site.pass(5_400);
    site.store.freeze();
    await site.pass(600);
    const down = watched(site.leases.shutdown());
    await site.pass(8_000);
    expect(down.now().state).toBe('failed');
  });

  test('a last sweep that fails is a line in the log, no error', async () => {
    const { site, lines } = await loggedSite();
    site.store.order({ fault: 'fail', calls: 'sweep' });
    await site.leases.shutdown();
    expect(lines).toEqual([{ level: 'warn', message: 'shutdown: the last sweep failed' }]);
  });

  test('services that wait for the store do not keep it waiting', async () => {
    const site = await managerSite();
    const other = await site.join({ services: 'auto' });
    await site.pass(29_000);
    other.store.freeze();
    await site.pass(40_000);
    const down = watched(other.leases.shutdown());
    await site.pass(15_000);
    expect(down.now().state).not.toBe('open');
  });
});
