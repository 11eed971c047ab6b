// A spool that drains while another transaction of PostgreSQL has the number (V7): the store says that it is to be asked again,
// which is no refusal.
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { systemClock } from '../../src/system-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();

describe.skipIf(isSkipped('postgres'))('a spool over PostgreSQL', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());

  test('V7: a result whose number another transaction has stays in the spool, and is stored when that has ended', async () => {
    const folder = temporaryFolder();
    const real = await openPostgres(site.server.url, { clock, schema: 'spooled' });
    const store = new FaultyStore(real, clock);
    const leases = await connect(store, { services: 'off' });
    const other = new pg.Client(site.server.url);
    await other.connect();
    try {
      const stream = leases.sequence<string>('orders', { spool: folder.path });
      const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '1s' });
      await other.query('BEGIN');
      await other.query('SELECT 1 FROM spooled.span FOR UPDATE');
      store.order({ calls: 'sequence.commit', fault: 'fail', times: Infinity });
      await expect(held.commit('done')).rejects.toMatchObject({ details: { spooled: true } });
      await expect.poll(() => store.count('sequence.append'), { timeout: 10_000 }).toBeGreaterThan(1);
      await other.query('ROLLBACK');
      await expect.poll(() => stream.watermark(), { timeout: 20_000 }).toBe(2);
      expect((await stream.peek(1, 9)).map(({ state, operation }) => [state, operation])).toEqual([
        ['moved', undefined],
        ['committed', 'done'],
      ]);
      expect(readdirSync(folder.path)).not.toContain('refused.jsonl');
    } finally {
      await other.end();
      await leases.shutdown();
      await real.close();
      folder.remove();
    }
  });
});
