// Numbers that another transaction of PostgreSQL has while they are to be settled: the store says that it is to be asked again,
// which is no refusal.
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { Stream } from '../../src/sequence/face.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();

describe.skipIf(isSkipped('postgres'))('numbers in somebody else’s transaction', () => {
  let site: PostgresSite;
  let real: Store;
  let store: FaultyStore;
  let leases: Holdfast;
  let other: pg.Client;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());
  beforeEach(async ({ task }) => {
    const schema = `busy ${task.id}`;
    real = await openPostgres(site.server.url, { clock, schema });
    store = new FaultyStore(real, clock);
    leases = await connect(store, { services: 'off' });
    other = new pg.Client(site.server.url);
    await other.connect();
    await other.query(`SET search_path TO "${schema}"`);
  });
  afterEach(async () => {
    await other.end();
    await leases.shutdown();
    await real.close();
  });
  const takeNumbers = async (): Promise<void> => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM span FOR UPDATE');
  };
  const states = async (stream: Stream<string>) =>
    (await stream.peek(1, 9)).map(({ state, operation }) => [state, operation ?? '']);
  const MOVED = [
    ['moved', ''],
    ['committed', 'done'],
  ];

  test('V7: a result whose number another transaction has stays in the spool, and is stored when that has ended', async () => {
    const folder = temporaryFolder();
    try {
      const stream = leases.sequence<string>('orders', { spool: folder.path });
      const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '1s' });
      await takeNumbers();
      store.order({ calls: 'sequence.commit', fault: 'fail', times: Infinity });
      await expect(held.commit('done')).rejects.toMatchObject({ details: { spooled: true } });
      await expect.poll(() => store.count('sequence.append'), { timeout: 10_000 }).toBeGreaterThan(1);
      await other.query('ROLLBACK');
      await expect.poll(() => stream.watermark(), { timeout: 20_000 }).toBe(2);
      expect(await states(stream)).toEqual(MOVED);
      expect(readdirSync(folder.path)).not.toContain('refused.jsonl');
    } finally {
      folder.remove();
    }
  });

  test('N3, V1: a number that cannot be settled while another transaction has it is settled when that has ended', async () => {
    const stream = leases.sequence<string>('orders');
    stream.recovery.rebuild('k', async () => {
      await takeNumbers();
      return 'done';
    });
    await (await stream.lease({ operationId: 'a', kind: 'k', ttl: '1s' })).partial('half');
    const passed = stream.waitFor(2, { timeout: '30s' });
    await expect.poll(() => store.count('sequence.settle'), { timeout: 10_000 }).toBeGreaterThan(1);
    await other.query('ROLLBACK');
    await passed;
    expect(await states(stream)).toEqual(MOVED);
  });
});
