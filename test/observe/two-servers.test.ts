// The figures of a namespace (O2): leases of library clients count, two servers say the same, a restart goes on, and
// promtool takes the text. On every store, because each keeps its log in its own way.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Holdfast } from '../../src/index.js';
import { namespaceLines, observingSite, valueIn } from '../support/observing-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

async function startSqlite(): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const folder = temporaryFolder();
  return { url: `sqlite:${join(folder.path, 'leases.db')}`, remove: async () => folder.remove() };
}

describe.each([
  ['sqlite', startSqlite],
  ['postgres', startPostgres],
  ['redis', startRedis],
] as const)('O2: metrics of a namespace on %s', (name, start) => {
  describe.skipIf(name !== 'sqlite' && isSkipped(name))('with a store', () => {
    const site = observingSite();
    const clients: Holdfast[] = [];
    let server: { readonly url: string; remove(): Promise<void> };
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.remove());
    afterEach(async () => {
      for (const client of clients.splice(0)) await client.shutdown();
    });
    const client = async (): Promise<Holdfast> => {
      const leases = await connect(server.url, { services: 'off' });
      clients.push(leases);
      return leases;
    };

    test('O2: leases of library clients count, and two servers agree', async () => {
      const leases = await client();
      await leases.acquire('invoices/held-before', { ttl: '5m' });
      const one = await site.watch(server.url, 'server-1');
      const active = 'active_leases{status="active"}';
      await expect.poll(async () => valueIn(await one.text(), active), { timeout: 20_000 }).toBe(1);
      for (let i = 0; i < 3; i += 1) await leases.withLease(`invoices/${i}`, async () => undefined);
      await leases.acquire('invoices/lapses', { ttl: 300, renew: 'manual' });
      await expect(leases.acquire('invoices/held-before', { wait: 200 })).rejects.toMatchObject({
        code: 'ACQUIRE_TIMEOUT',
      });
      await expect.poll(async () => (await leases.sweep()).expired, { timeout: 20_000 }).toBe(1);
      const two = await site.watch(server.url, 'server-2');
      await expect.poll(async () => valueIn(await two.text(), active), { timeout: 20_000 }).toBe(1);
      const [first, second] = [await one.text(), await two.text()];
      expect(namespaceLines(first)).toEqual(namespaceLines(second));
      expect(namespaceLines(first)).toEqual(
        expect.arrayContaining([
          'lease_acquisitions_total{result="success"} 4',
          'lease_acquisitions_total{result="timeout"} 1',
          'lease_acquisition_failures_total 1',
          'active_leases{status="active"} 1',
          'active_leases{status="pending"} 0',
          'lease_queue_length 0',
          'expired_leases_total{kind="lease",recovery_outcome="none"} 1',
          'lease_hold_seconds_count 4',
          'lease_overrun_seconds_count{kind="lease"} 1',
        ]),
      );
      expect(first).not.toContain('invoices');
      const { epoch } = await leases.acquire('invoices/last');
      expect(valueIn(await one.text(), 'lease_epoch_current')).toBe(epoch);
    });

    test('O2: a restart goes on with the totals, also of what happened meanwhile', async () => {
      const leases = await client();
      const success = 'lease_acquisitions_total{result="success"}';
      const before = await site.watch(server.url, 'server-1');
      await expect.poll(async () => valueIn(await before.text(), success), { timeout: 20_000 }).toBeGreaterThan(0);
      const total = valueIn(await before.text(), success) ?? NaN;
      await site.stop(before);
      await leases.withLease('invoices/meanwhile', async () => undefined);
      const after = await site.watch(server.url, 'server-3');
      await expect.poll(async () => valueIn(await after.text(), success), { timeout: 20_000 }).toBe(total + 1);
    });

    test.skipIf(isSkipped('promtool'))('O2: promtool has nothing to say about the text', async () => {
      const observing = await site.watch(server.url, 'server-1');
      const leases = await connect(server.url, { metrics: observing.registry });
      clients.push(leases);
      await leases.withLease('invoices/0', async () => undefined);
      const active = 'active_leases{status="active"}';
      await expect.poll(async () => valueIn(await observing.text(), active), { timeout: 20_000 }).toBeDefined();
      const text = await observing.text();
      const said = spawnSync(findBinary('promtool'), ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect([said.stdout, said.stderr, said.status]).toEqual(['', '', 0]);
      expect(text.match(/^# TYPE active_leases /gm)).toHaveLength(1);
      if (name === 'postgres') expect(valueIn(text, 'store_pool_connections{state="idle"}')).toBeGreaterThanOrEqual(0);
    });
  });
});
