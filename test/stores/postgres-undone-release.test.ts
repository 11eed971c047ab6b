// What a crash of PostgreSQL does to a release that was answered (docs/decisions/0025). The server writes its log to the disk only
// when a commit asks for it: every commit that does not is lost by the crash, so what is lost here by design is lost every time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask as askOn, grant as grantOn } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const LAZY = { wal_writer_delay: '10s', wal_writer_flush_after: '0', checkpoint_timeout: '1h', autovacuum: 'off' };
const TTL_MS = 2_500;
const LONG_MS = 600_000;

describe.skipIf(isSkipped('postgres'))('a release and a crash of PostgreSQL', () => {
  let server: PostgresServer;
  let store: Store;
  let number = 0;
  const options = () => ({ clock, namespace: `test-${number}` });
  beforeAll(async () => {
    server = await startPostgres({ settings: LAZY });
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    number += 1;
    store = await openPostgres(server.url, options());
  });
  afterEach(() => store.close());

  const ask = async (name: string) => acquire(store, await askOn(store, clock, name));
  const grant = (name: string, more: Partial<AcquireRequest> = {}) =>
    grantOn(store, clock, name, { ttlMs: LONG_MS, ...more });
  async function release(...leases: readonly { readonly id: string; readonly epoch: number }[]): Promise<void> {
    const items = leases.map(({ id, epoch }) => ({ id, epoch, requestId: `r-${id}`, why: 'released' as const }));
    const { results } = await store.end(items);
    expect(results.map(({ outcome }) => outcome)).toEqual(leases.map(() => 'released'));
  }
  async function crash(url = server.url): Promise<void> {
    await store.close();
    await server.stop('immediate');
    await server.start();
    store = await openPostgres(url, options());
  }
  const statuses = async (...leases: readonly { readonly id: string }[]) =>
    (await store.get(leases.map(({ id }) => id))).items.map((record) => record?.status);

  test('S1, S2: what is undone leaves the lease to its deadline; nobody gets in before, and the next epoch is higher', async () => {
    const lease = await grant('a', { ttlMs: TTL_MS });
    await release(lease);
    await crash();
    expect(await statuses(lease)).toEqual(['active']);
    expect((await store.info()).capabilities.durability).toMatch(/may undo a release/);
    const refused = await ask('a');
    expect(refused.outcome === 'refused' && refused.refusal.reason).toBe('held');
    let next = await ask('a');
    while (next.outcome === 'refused') {
      await new Promise<void>((resolve) => {
        clock.after(50, resolve, true);
      });
      next = await ask('a');
    }
    if (next.outcome !== 'granted') throw new Error(`expected granted, got ${JSON.stringify(next)}`);
    expect(next.lease.epoch).toBeGreaterThan(lease.epoch);
    expect(next.lease.acquiredAt).toBeGreaterThanOrEqual(lease.expiresAt);
  });

  test('S5, S6: of a list the same; what is undone can be released again, and the log says one end for each', async () => {
    const leases = [await grant('a'), await grant('b')];
    await release(...leases);
    await crash();
    expect(await statuses(...leases)).toEqual(['active', 'active']);
    await release(...leases);
    expect(await statuses(...leases)).toEqual(['released', 'released']);
    const page = await store.events({ limit: 100 });
    const ends = page.outcome === 'rows' ? page.rows.filter(({ type }) => type === 'lease.released') : [];
    expect(ends.map(({ leaseId }) => leaseId)).toEqual(leases.map(({ id }) => id));
  });

  test('S1: a grant that came after a release stands with it', async () => {
    const [one, two, three] = [await grant('a'), await grant('b'), await grant('c')];
    await release(one);
    await release(two, three);
    const next = await grant('a');
    await crash();
    expect(await statuses(one, two, three, next)).toEqual(['released', 'released', 'released', 'active']);
  });

  test('S4, Q6: grants, renewals and a release that leaves a block are on the disk when they are answered', async () => {
    const [renewed, blocked] = [await grant('a', { ttlMs: TTL_MS }), await grant('b', { minHoldMs: LONG_MS })];
    const { id, epoch } = renewed;
    const callerWall = clock.wall();
    const [renewal] = (await store.renew([{ id, epoch, ttlMs: LONG_MS, requestId: 'r', callerWall }])).results;
    expect(renewal?.outcome).toBe('renewed');
    await crash();
    const [record] = (await store.get([id])).items;
    expect(record?.expiresAt).toBeGreaterThan(renewed.expiresAt);
    await release(blocked);
    await crash();
    expect(await statuses(blocked)).toEqual(['released']);
    const refused = await ask('b');
    expect(refused.outcome === 'refused' && refused.refusal.reason).toBe('min_hold');
  });

  test('S1: where synchronous_commit is set to anything else, a release keeps to it', async () => {
    const url = new URL(server.url);
    url.searchParams.set('options', '-c synchronous_commit=local');
    await store.close();
    store = await openPostgres(url.href, options());
    const leases = [await grant('a'), await grant('b'), await grant('c')];
    await release(leases[0]!);
    await release(leases[1]!, leases[2]!);
    await crash(url.href);
    expect(await statuses(...leases)).toEqual(['released', 'released', 'released']);
    expect((await store.info()).capabilities.durability).not.toMatch(/release/);
  });
});
