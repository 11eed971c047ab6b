// S16, A7: a revocation covers what was granted before it, also a grant whose commit is still under way: it waits for it, and looks again.
// A commit is held up by a trigger of the test's own, which waits for a lock at the end of the transaction.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RevokeTarget } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const GATE = 4711;

describe.skipIf(isSkipped('postgres'))('a revocation on PostgreSQL', () => {
  let server: PostgresServer;
  let store: Store;
  let gate: pg.Client;
  let made = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    const schema = `revoke_${(made += 1)}`;
    store = await openPostgres(server.url, { clock, schema });
    gate = new pg.Client(server.url);
    await gate.connect();
    await gate.query(`CREATE FUNCTION ${schema}.held_up() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER held_up AFTER INSERT ON ${schema}.log DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.held_up()`);
  });
  afterEach(async () => {
    await gate.end();
    await store.close();
  });

  async function untilWaiting(count: number): Promise<void> {
    const waits = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    while (((await gate.query(waits)).rowCount ?? 0) < count);
  }

  const targets: [string, (id: string) => RevokeTarget][] = [
    ['its resource', () => ({ resource: 'a/x' })],
    ['a name above', () => ({ under: 'a' })],
    ['another name of it', () => ({ resource: 'b' })],
    ['its owner', () => ({ owner: 'me' })],
    ['its id', (id) => ({ leaseId: id })],
  ];
  test.each(targets)(
    'S16, A7: waits for a grant that is being committed, and ends it: by %s',
    async (_by, targetOf) => {
      const parts = ['a/x', 'b'].map((name) => ({ name, scope: 'node', mode: 'exclusive' }) as const);
      const request = { ...(await ask(store, clock, 'a/x', { owner: 'me' })), parts };
      await gate.query(`SELECT pg_advisory_lock(${GATE})`);
      const granting = store.acquire([request]);
      await untilWaiting(1);
      const { epoch } = await store.time(); // the epoch it has drawn
      const order = { target: targetOf(request.id), reason: 'r', actor: 'op', upToEpoch: epoch, keepOutMs: 0 };
      const revoking = store.revoke(order);
      await Promise.race([untilWaiting(2), revoking]);
      await gate.query(`SELECT pg_advisory_unlock(${GATE})`);
      expect((await granting).results[0]).toMatchObject({ outcome: 'granted', lease: { epoch } });
      expect((await revoking).ended.map(({ id }) => id)).toEqual([request.id]);
      expect((await store.list({ limit: 10, status: 'active' })).items).toEqual([]);
    },
  );
});
