// At maxmemory: whoever has to connect first, because it was restarted or because it is a command, does what those who are there may do:
// keep what is held, end it, make it smaller. Only what is new is refused.
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { takeTurn } from '../../src/services/turn.js';
import { systemClock } from '../../src/system-clock.js';
import { onRedis, type RedisSite } from '../support/redis-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const full = { code: 'STORE_UNAVAILABLE', retryable: true, message: expect.stringContaining('maxmemory') as string };

describe.skipIf(isSkipped('redis'))('a Redis that is full', () => {
  let site: RedisSite;
  onRedis(clock, {}, (given) => {
    site = given;
  });
  /** What a process does that connects when the memory is full. */
  async function whenFull(act: (leases: Awaited<ReturnType<typeof connect>>) => Promise<void>): Promise<void> {
    await site.admin.configSet('maxmemory', '1');
    try {
      const leases = await connect(site.server.url, { services: 'off', owner: 'newcomer' });
      await act(leases);
      await leases.shutdown();
    } finally {
      await site.admin.configSet('maxmemory', '0');
    }
  }

  test('A11, A7: a new connection is refused what is new, and may look, renew, release and revoke', async () => {
    const before = await connect(site.server.url, { services: 'off' });
    const [renewed, revoked] = [await before.acquire('renewed'), await before.acquire('revoked')];
    await whenFull(async (leases) => {
      await expect(leases.tryAcquire('new')).rejects.toMatchObject(full);
      expect((await leases.list()).items).toHaveLength(2);
      const { id, epoch } = renewed;
      expect(await leases.renew([{ id, epoch }])).toMatchObject([{ ok: true }]);
      expect(await leases.release([{ id, epoch }])).toMatchObject([{ outcome: 'released' }]);
      expect(await leases.revoke({ resource: 'revoked', reason: 'to make room' })).toMatchObject([{ id: revoked.id }]);
    });
    await before.shutdown();
  });

  test('Q5, A6: a lease is downgraded and delegated: neither takes anything new', async () => {
    const before = await connect(site.server.url, { services: 'off' });
    const [wide, passed] = [await before.acquire('wide'), await before.acquire('passed')];
    await whenFull(async (leases) => {
      await wide.downgrade();
      expect((await leases.get(wide.id))?.parts).toMatchObject([{ mode: 'shared' }]);
      const resumed = await leases.resume(await passed.delegate('newcomer'));
      expect(resumed.epoch).toBeGreaterThan(passed.epoch);
    });
    await before.shutdown();
  });

  test('Q1: a release hands over to who waited before', async () => {
    const before = await connect(site.server.url, { services: 'off' });
    const held = await before.acquire('baton');
    const waiting = before.acquire('baton', { wait: '20s' });
    await expect.poll(async () => (await before.show('baton')).queue).toHaveLength(1);
    await whenFull(async () => {
      await held.release();
      const next = await waiting;
      expect([next.isHeld, next.epoch]).toEqual([true, held.epoch + 1]);
      expect(await next.renew()).toMatchObject({ renewals: 1 });
    });
    await before.shutdown();
  });

  test('O1: a service does not get its turn, which is a lease as well', async () => {
    await whenFull(async () => {
      const terms = { service: 'sweeper', namespace: 'default', everyMs: 30_000, owner: 'newcomer', clock };
      const turn = takeTurn(site.store, { ...terms, signal: new AbortController().signal }, () => expect.unreachable());
      await expect(turn).rejects.toMatchObject(full);
    });
  });

  test('O4: settings are set, such as those that keep less', async () => {
    await whenFull(async (leases) => {
      await leases.config.set('history_retention_days', 1);
      expect(await leases.config.get('history_retention_days')).toBe(1);
    });
  });
});
