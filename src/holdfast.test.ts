// What `connect` answers, as its users meet it: a round of everything over one store, and what it is like afterwards.
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../test/support/temporary-folder.js';
import { managerSite, watched } from '../test/support/manager-site.js';
import { connect } from './connect.js';

describe('a session', () => {
  test('A1, A2, A3, A6, A7, A8, A9: one of each', async () => {
    const site = await managerSite({ namespace: 'shop' });
    const { leases } = site;
    expect([leases.owner, leases.namespace]).toEqual(['alice', 'shop']);
    const lease = await leases.acquire('orders/0');
    expect(await leases.tryAcquire('orders/0')).toMatchObject({ ok: false, refusal: { reason: 'held' } });
    expect(await leases.ensure('orders/0')).toBe(lease);
    expect(await leases.withLease('orders/1', async ({ epoch }) => epoch)).toBeGreaterThan(lease.epoch);
    expect(await leases.get(lease.id)).toMatchObject({ id: lease.id });
    expect((await leases.list()).items).toHaveLength(1);
    expect((await leases.show('orders/0')).holders).toHaveLength(1);
    expect((await leases.history()).items.length).toBeGreaterThan(2);
    expect([await leases.isLocked('orders/0'), await leases.holds('alice', 'orders/0')]).toEqual([true, true]);
    expect(await leases.waitGraph()).toEqual({ tickets: [] });
    expect((await leases.now()).storeNow).toBe(new Date(site.clock.wall()).toISOString());
    expect(await leases.renew([{ id: lease.id, epoch: lease.epoch }])).toMatchObject([{ ok: true }]);
    expect(await leases.revoke({ under: 'orders', reason: 'closing' })).toHaveLength(1);
    expect(await leases.release([{ id: lease.id, epoch: lease.epoch }])).toEqual([{ outcome: 'already_ended' }]);
    expect(await leases.sweep()).toEqual({ expired: 0, overrunMaxMs: 0 });
    expect(await leases.config.get('keep_history')).toBe(true);
    expect(await leases.health()).toMatchObject({ ok: true, held: 0 });
    await leases.shutdown();
  });

  test('A6: `await using` lets go at the end of the block, of leases and of the whole', async () => {
    const site = await managerSite();
    {
      await using leases = await connect(site.store, { clock: site.clock, services: 'off' });
      {
        await using lease = await leases.acquire('x');
        expect(lease.isHeld).toBe(true);
      }
      expect(await site.live()).toEqual([]);
      await leases.acquire('y');
    }
    expect(await site.live()).toEqual([]);
  });

  test('A8: backup is for stores that last', async () => {
    const folder = temporaryFolder();
    const memory = await connect('memory:', { services: 'off' });
    await expect(memory.backup(`${folder.path}/copy.db`)).rejects.toThrow(/nothing to back up/);
    await memory.shutdown();
    const leases = await connect(`sqlite:${folder.path}/leases.db`, { services: 'off' });
    await leases.acquire('x');
    await leases.backup(`${folder.path}/copy.db`);
    await leases.shutdown();
    const copy = await connect(`sqlite:${folder.path}/copy.db`, { services: 'off' });
    expect((await copy.history({ resource: 'x' })).items.length).toBeGreaterThan(0);
    await copy.shutdown();
    folder.remove();
  });

  test('A1: two processes of one file agree', async () => {
    const folder = temporaryFolder();
    const url = `sqlite:${folder.path}/leases.db`;
    const [a, b] = [await connect(url, { services: 'off' }), await connect(url, { services: 'off' })];
    const first = await a.acquire('x');
    expect(await b.tryAcquire('x')).toMatchObject({ ok: false });
    const second = b.acquire('x', { wait: '10s' });
    await first.release();
    expect((await second).epoch).toBeGreaterThan(first.epoch);
    await Promise.all([a.shutdown(), b.shutdown()]);
    folder.remove();
  });
});

describe('the whole of it', () => {
  test('S12: a manager that does nothing costs nothing: no call, no timer', async () => {
    const site = await managerSite();
    await site.pass(60_000);
    expect([site.store.count(), site.clock.pendingTimers]).toEqual([0, 0]);
  });

  test('A2: what withLease and keep take is checked', async () => {
    const { leases } = await managerSite();
    await expect(leases.withLease('x', 'work' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(leases.keep('x', {}, 'work' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('A9: a drain given to releaseOnExit is checked at once', async () => {
    const { leases } = await managerSite();
    expect(() => leases.releaseOnExit({ drain: 'soon' })).toThrow(/drain takes milliseconds/);
    leases.releaseOnExit({ drain: '1s' })();
  });

  test('A9: after a shutdown no stream is opened, also where there was none before', async () => {
    const { leases } = await managerSite();
    await leases.shutdown();
    expect(() => leases.sequence('orders')).toThrow('connect again');
  });

  test('S9, S15: a day of it: a hundred tasks over ten names, errors and losses, and nothing left behind', async () => {
    const site = await managerSite();
    let inside = 0;
    const held = new Set<string>();
    const tasks = Array.from({ length: 100 }, (_, i) => {
      const name = `x/${i % 10}`;
      const work = site.leases.withLease(name, { wait: '5m', ttl: '5s' }, async (lease) => {
        expect(held.has(name)).toBe(false);
        held.add(name);
        inside += 1;
        await new Promise<void>((resolve) => {
          const timer = site.clock.after(200, resolve);
          lease.signal.addEventListener('abort', () => {
            timer.cancel();
            resolve();
          });
        });
        held.delete(name);
      });
      return watched(work);
    });
    for (let i = 0; i < 40; i += 1) {
      const fault = (['fail', 'failAfter', 'loseReply', 'duplicate', 'loseRequest'] as const)[i % 5] ?? 'fail';
      site.store.order({ fault, calls: ['acquire', 'end', 'renew'], times: 2 });
      await site.pass(1_000);
    }
    site.store.heal();
    await site.pass(60_000);
    expect(tasks.filter((task) => task.now().state === 'open')).toEqual([]);
    expect(inside).toBe(100);
    expect(await site.live()).toEqual([]);
    expect([site.leases.held(), site.clock.pendingTimers]).toEqual([[], 0]);
  });
});
