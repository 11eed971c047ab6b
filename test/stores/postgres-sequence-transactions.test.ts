// Streams in the caller's own PostgreSQL transaction (N2, N5): with its rows or not at all, and stopping nobody else however long it
// stays open. And N3, N4 between transactions: what is not committed yet is not passed, no wake-up and no filled gap is missed.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseNumbers } from '../../src/domain/sequence-requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { LeaseNumbersResult, SequenceStore } from '../../src/stores/sequence-store.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const STREAM = 'orders';
const MINUTE = 60_000;

describe.skipIf(isSkipped('postgres'))("streams in the caller's transaction", () => {
  let site: PostgresSite;
  let store: Store & { sequences: Required<SequenceStore> };
  let clients: pg.Client[] = [];
  let schema: string;
  let made = 0;

  beforeAll(async () => {
    site = await PostgresSite.start();
    await site.sql('CREATE TABLE data (value text)');
  });
  afterAll(() => site.stop());
  beforeEach(async () => {
    schema = `streams_${(made += 1)}`;
    store = (await openPostgres(site.server.url, { clock, schema })) as typeof store;
    await site.sql('DELETE FROM data');
  });
  afterEach(async () => {
    await Promise.all(clients.map((one) => one.end()));
    clients = [];
    await store.close();
  });

  async function begin(how = 'BEGIN'): Promise<pg.Client> {
    const tx = new pg.Client(site.server.url);
    await tx.connect();
    clients.push(tx);
    await tx.query(how);
    return tx;
  }
  async function leased(operationId: string, over: Partial<LeaseNumbers> = {}) {
    const request = { stream: STREAM, operationId, kind: 'k', ttlMs: MINUTE, count: 1, owner: 'me', ...over };
    const [result] = (await store.sequences.lease([request])).results;
    if (result?.outcome !== 'leased') throw new Error(`expected leased, got ${JSON.stringify(result)}`);
    const { stream } = request;
    return { stream, operationId, epoch: result.epoch, first: result.first };
  }
  type Held = Awaited<ReturnType<typeof leased>>;
  const request = ({ stream, operationId, epoch }: Held, ...operations: unknown[]) => ({
    stream,
    operationId,
    epoch,
    operations: operations.length === 0 ? [operationId] : operations,
  });
  const commit = async (held: Held) => (await store.sequences.commit([request(held)])).results[0];
  const stored = async (operationId: string) => commit(await leased(operationId));
  const read = async (seal = false) =>
    (await store.sequences.read({ stream: STREAM, from: 1, limit: 100, seal, watch: false })).items.map(
      ({ number, state, operation }) =>
        operation === undefined ? `${number} ${state}` : `${number} ${state} ${operation as string}`,
    );
  const events = async () => {
    const answer = await store.events({ limit: 100 });
    if (answer.outcome !== 'rows') throw new Error('lost');
    return answer.rows.map(({ type, data }) => `${type} ${String(data['number'])}`);
  };
  const rejection = async (promise: Promise<unknown>): Promise<{ code: string; retryable: boolean; message: string }> =>
    promise.then(
      (value) => {
        throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
      },
      (error: unknown) => error as { code: string; retryable: boolean; message: string },
    );
  const claim = () =>
    store.sequences.claim({ stream: STREAM, limit: 10, owner: 'recoverer', ttlMs: MINUTE, gapsToo: false });
  /** Calls a function of the schema as the store would, in a transaction that is left open. */
  const within = (tx: pg.Client, name: string, ...values: unknown[]) =>
    tx.query(`SELECT "${schema}".${name}(${values.map((_, i) => `$${i + 1}`).join(', ')})`, values);
  async function untilSomebodyWaits(): Promise<void> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      if ((await site.sql('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0) return;
    }
    throw new Error('nobody waits for a lock');
  }

  test("N2: a commit is there with the caller's rows, and its log row with it", async () => {
    const held = await leased('a');
    const tx = await begin();
    await tx.query("INSERT INTO data VALUES ('row')");
    const { result } = await store.sequences.commitIn(tx, request(held));
    expect(result).toEqual({ outcome: 'committed', first: 1, repeated: false });
    expect(await read()).toEqual([]);
    expect(await events()).toEqual(['sequence.leased 1']);
    await tx.query('COMMIT');
    expect(await read()).toEqual(['1 committed a']);
    expect(await events()).toEqual(['sequence.leased 1', 'sequence.committed 1']);
    expect(await commit(held)).toEqual({ outcome: 'committed', first: 1, repeated: true });
    expect(await site.sql(`SELECT 1 FROM "${schema}".at_commit`)).toEqual([]);
  });

  test('N2: rolled back, to a savepoint or altogether, it leaves the number open and nothing in the log', async () => {
    const held = await leased('a');
    const tx = await begin();
    await tx.query('SAVEPOINT before');
    await store.sequences.commitIn(tx, request(held, 'first try'));
    await tx.query('ROLLBACK TO before');
    await store.sequences.commitIn(tx, request(held, 'second try'));
    await tx.query('ROLLBACK');
    expect((await store.sequences.streams({ stream: STREAM, limit: 1 })).streams[0]?.open).toBe(1);
    expect(await events()).toEqual(['sequence.leased 1']);
    expect(await commit(held)).toMatchObject({ outcome: 'committed', repeated: false });
    const savepoint = await begin();
    const next = await leased('b');
    await savepoint.query('SAVEPOINT before');
    await store.sequences.commitIn(savepoint, request(next));
    await savepoint.query('ROLLBACK TO before');
    await savepoint.query('COMMIT');
    expect((await events()).filter((line) => line.startsWith('sequence.committed'))).toEqual(['sequence.committed 1']);
  });

  test('N2, V1: a transaction left open past the expiry stops nobody but its own number, and still commits', async () => {
    const slow = await leased('slow', { ttlMs: 1_000 });
    const tx = await begin();
    await store.sequences.commitIn(tx, request(slow));
    site.server.clock.step(MINUTE);
    expect((await claim()).claimed).toEqual([]);
    const again = { stream: STREAM, operationId: 'slow', kind: 'k', ttlMs: MINUTE, count: 1, owner: 'other' };
    const outcome = (results: readonly { outcome: string }[]) => results.map((one) => one.outcome);
    expect(outcome((await store.sequences.lease([again])).results)).toEqual(['recovering']);
    expect((await store.sequences.commit([request(slow)])).results[0]).toMatchObject({
      outcome: 'failed',
      error: { code: 'STORE_UNAVAILABLE', retryable: true },
    });
    // Others in one batch with it, leasing, gaps, cursors, settings, the log: all go on.
    const [one, two] = [await leased('one'), await leased('two')];
    const batch = await store.sequences.commit([request(slow), request(one)]);
    expect(outcome(batch.results)).toEqual(['failed', 'committed']);
    const given = { stream: STREAM, operationId: 'two', epoch: two.epoch, reason: 'given up' };
    expect(outcome((await store.sequences.release([given])).results)).toEqual(['released']);
    await store.setSettings({ keep_history: true });
    expect(await events()).toContain('sequence.gap 3');
    expect(await read(true)).toEqual([]);
    await tx.query('COMMIT');
    expect(await read(true)).toEqual(['1 committed slow', '2 committed one', '3 gap']);
    expect((await events()).at(-1)).toBe('sequence.committed 1');
  });

  test('N2, V1: an expired number that nobody claimed is lost to its holder inside a transaction, too', async () => {
    const held = await leased('a', { ttlMs: 1_000 });
    site.server.clock.step(MINUTE);
    const tx = await begin();
    expect((await store.sequences.commitIn(tx, request(held))).result).toMatchObject({ state: 'expired' });
    const { claimed } = await claim();
    expect(claimed).toHaveLength(1);
    expect((await store.sequences.commitIn(tx, request(held))).result).toMatchObject({ state: 'recovering' });
    const taken = { stream: STREAM, operationId: 'a', claimEpoch: claimed[0]!.claimEpoch };
    await store.sequences.settle([{ ...taken, settlement: { to: 'move', operations: ['x'], type: 'partial_work' } }]);
    expect((await store.sequences.commitIn(tx, request(held))).result).toEqual({ outcome: 'mismatch' });
    expect((await store.sequences.commitIn(tx, request(held, 'x'))).result).toEqual({
      outcome: 'committed',
      first: 2,
      repeated: true,
    });
    await tx.query('COMMIT');
    expect(await read()).toEqual(['1 moved', '2 committed x']);
  });

  test('N2: what the caller passes must be a client inside a transaction; nothing is committed otherwise', async () => {
    const held = await leased('a');
    const idle = await begin('SELECT 1');
    const refused = await rejection(store.sequences.commitIn(idle, request(held)));
    expect([refused.code, refused.message]).toEqual(['INVALID_ARGUMENT', expect.stringMatching(/BEGIN/)]);
    const pool = new pg.Pool({ connectionString: site.server.url });
    expect((await rejection(store.sequences.commitIn(pool, request(held)))).code).toBe('INVALID_ARGUMENT');
    await pool.end();
    for (const wrong of [undefined, null, {}, 'tx'])
      expect((await rejection(store.sequences.commitIn(wrong, request(held)))).code).toBe('INVALID_ARGUMENT');
    const tx = await begin();
    expect((await rejection(store.sequences.commitIn(tx, request(held, 1, 2)))).code).toBe('INVALID_ARGUMENT');
    expect(await read()).toEqual([]);
    expect((await store.sequences.commitIn(tx, request(held))).result.outcome).toBe('committed');
    await tx.query('COMMIT');
  });

  test('N2, S16: an older snapshot says neither yes nor no about what it cannot see', async () => {
    const before = await leased('before');
    const tx = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await tx.query('SELECT 1 FROM data');
    const after = await leased('after');
    const unseen = await rejection(store.sequences.commitIn(tx, request(after)));
    expect([unseen.code, unseen.retryable]).toEqual(['STORE_UNAVAILABLE', true]);
    await tx.query('ROLLBACK');
    const again = await begin('BEGIN ISOLATION LEVEL SERIALIZABLE');
    expect((await store.sequences.commitIn(again, request(before))).result.outcome).toBe('committed');
    await again.query('COMMIT');
    const changed = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await changed.query('SELECT 1 FROM data');
    await commit(after);
    const stale = await rejection(store.sequences.commitIn(changed, request(after)));
    expect([stale.code, stale.retryable]).toEqual(['STORE_UNAVAILABLE', true]);
    expect(await read()).toEqual(['1 committed before', '2 committed after']);
  });

  test("N5: a cursor moves with the caller's rows or not at all, and its reader alone waits for it", async () => {
    for (const id of ['a', 'b', 'c']) await stored(id);
    await leased('open');
    const opened = await store.sequences.cursor({ stream: STREAM, reader: 'r', act: 'open' });
    if (opened.outcome !== 'opened') throw new Error(opened.outcome);
    const done = (number: number) => ({
      stream: STREAM,
      reader: 'r',
      act: 'done' as const,
      number,
      epoch: opened.epoch,
    });
    const at = async () => (await store.sequences.streams({ stream: STREAM, limit: 1 })).streams[0]!;
    const rolledBack = await begin();
    expect(await store.sequences.doneIn(rolledBack, done(2))).toMatchObject({ outcome: 'moved', done: 2 });
    const refused = await rejection(store.sequences.cursor({ stream: STREAM, reader: 'r', act: 'open' }));
    expect([refused.code, refused.retryable]).toEqual(['STORE_UNAVAILABLE', true]);
    expect(await read(true)).toHaveLength(3);
    await leased('meanwhile');
    await rolledBack.query('ROLLBACK');
    expect((await at()).readers[0]?.done).toBe(0);
    const tx = await begin();
    expect(await store.sequences.doneIn(tx, done(3))).toMatchObject({ outcome: 'moved', done: 3 });
    expect(await store.sequences.doneIn(tx, done(2))).toMatchObject({ outcome: 'moved', done: 3 });
    expect(await store.sequences.doneIn(tx, done(4))).toMatchObject({ outcome: 'beyond', watermark: 3 });
    expect((await at()).readers[0]?.done).toBe(0);
    await tx.query('COMMIT');
    const { readers, seal } = await at();
    expect([readers[0]?.done, seal]).toEqual([3, 3]);
    await store.sequences.cursor({ stream: STREAM, reader: 'r', act: 'open' });
    const late = await begin();
    expect(await store.sequences.doneIn(late, done(3))).toMatchObject({ outcome: 'stale' });
    expect(await store.sequences.doneIn(late, { ...done(3), reader: 'nobody' })).toMatchObject({ outcome: 'unknown' });
  });

  test('N5, N4: a cursor that passes what nobody was shown seals it first, whatever becomes of the transaction', async () => {
    const gap = await leased('gap');
    await store.sequences.release([{ stream: STREAM, operationId: 'gap', epoch: gap.epoch, reason: 'none' }]);
    const opened = await store.sequences.cursor({ stream: STREAM, reader: 'r', act: 'open' });
    if (opened.outcome !== 'opened') throw new Error(opened.outcome);
    const tx = await begin();
    const order = { stream: STREAM, reader: 'r', act: 'done', number: 1, epoch: opened.epoch } as const;
    expect(await store.sequences.doneIn(tx, order)).toMatchObject({ outcome: 'moved' });
    const fill = { stream: STREAM, number: 1, operationId: 'gap', operations: ['late'], owner: 'me' };
    expect((await store.sequences.fill([fill])).results).toEqual([{ outcome: 'stored', first: 2, how: 'moved' }]);
    await tx.query('COMMIT');
  });

  test('N2: commit({ tx }) of a held number, and LEASE_LOST inside the transaction', async () => {
    const leases = await connect(site.server.url, { schema, services: 'off' });
    const held = await leases.sequence('payments').lease({ operationId: 'p-1', kind: 'payment' });
    const tx = await begin();
    await tx.query("INSERT INTO data VALUES ('p-1')");
    expect(await held.commit({ amount: 3 }, { tx })).toEqual({ number: 1, repeated: false });
    await tx.query('COMMIT');
    expect((await leases.sequence('payments').read(1, 10)).map(({ operation }) => operation)).toEqual([{ amount: 3 }]);
    const lost = await leases.sequence('payments').lease({ operationId: 'p-2', kind: 'payment', ttl: 1_000 });
    site.server.clock.step(MINUTE);
    const late = await begin();
    expect((await rejection(lost.commit({ amount: 4 }, { tx: late }))).code).toBe('LEASE_LOST');
    await leases.shutdown();
  });

  test('N1, N3: numbers of a lease that is not committed yet are not passed, and are given again after its rollback', async () => {
    await stored('a');
    const tx = await begin();
    await within(tx, 'seq_lease_v1', 'default', [STREAM], ['b'], ['k'], [MINUTE], [1], ['me'], true);
    const { watermark, next } = await store.sequences.read({
      stream: STREAM,
      from: 1,
      limit: 10,
      seal: true,
      watch: false,
    });
    expect([watermark, next]).toEqual([1, 2]);
    const waiting = leased('c');
    await untilSomebodyWaits();
    await tx.query('ROLLBACK');
    expect((await waiting).first).toBe(2);
  });

  test('N3: who begins to wait while a commit is under way waits for it, or is woken by it', async () => {
    const held = await leased('a');
    const tx = await begin();
    await within(tx, 'seq_commit_v1', 'default', [STREAM], ['a'], [held.epoch], ['["x"]'], [1], [1], true);
    const barrier = store.sequences.barrier({ stream: STREAM, number: 2, watch: true });
    await untilSomebodyWaits();
    await tx.query('COMMIT');
    expect((await barrier).reached).toBe(true);
  });

  test('N4: a gap that is just being filled is shown filled; one that is just being shown is sealed first', async () => {
    const gap = await leased('gap');
    await store.sequences.release([{ stream: STREAM, operationId: 'gap', epoch: gap.epoch, reason: 'none' }]);
    const filling = await begin();
    await within(filling, 'seq_fill_v1', 'default', [STREAM], [1], ['gap'], ['["x"]'], [1], [1]);
    const reading = read(true);
    await untilSomebodyWaits();
    await filling.query('COMMIT');
    expect(await reading).toEqual(['1 filled x']);
    const other = await leased('other');
    await store.sequences.release([{ stream: STREAM, operationId: 'other', epoch: other.epoch, reason: 'none' }]);
    const showing = await begin();
    await within(showing, 'seq_read_v1', 'default', STREAM, 1, 10, true, false);
    const fill = { stream: STREAM, number: 2, operationId: 'other', operations: ['y'], owner: 'me' };
    const filled = store.sequences.fill([fill]);
    await untilSomebodyWaits();
    await showing.query('COMMIT');
    expect((await filled).results).toEqual([{ outcome: 'stored', first: 3, how: 'moved' }]);
  });

  test('N6: a stream is refused where synchronous_commit is off, unless that is accepted', async () => {
    const url = new URL(site.server.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const loose = await openPostgres(url.href, { clock, schema });
    const refused = await rejection(loose.sequences!.ready({ acceptLoss: false }));
    expect([refused.code, refused.message]).toEqual([
      'STORE_INCOMPATIBLE',
      expect.stringMatching(/synchronous_commit.*accept-loss/s),
    ]);
    expect((await loose.sequences!.ready({ acceptLoss: true })).durability).toMatch(/may/);
    await loose.close();
  });

  test('S21: operations that meet in one list are answered in order', async () => {
    const item = { stream: STREAM, kind: 'k', ttlMs: MINUTE, count: 1, owner: 'me' };
    const { results } = await store.sequences.lease(['a', 'b', 'a'].map((operationId) => ({ ...item, operationId })));
    const epochOf = (one: LeaseNumbersResult | undefined) => (one?.outcome === 'leased' ? one.epoch : -1);
    const leases = results as LeaseNumbersResult[];
    expect(epochOf(leases[0])).toBe(epochOf(leases[2]));
    const operation = (operationId: string, i: number, value: unknown) => ({
      stream: STREAM,
      operationId,
      epoch: epochOf(leases[i]),
      operations: [value],
    });
    const answers = await store.sequences.commit([
      operation('a', 0, 1),
      operation('a', 0, 1),
      operation('a', 0, 2),
      operation('b', 1, { z: 1, a: 2 }),
    ]);
    expect(answers.results.map((one) => one.outcome)).toEqual(['committed', 'committed', 'mismatch', 'committed']);
    const { items } = await store.sequences.read({ stream: STREAM, from: 2, limit: 1, seal: false, watch: false });
    expect(JSON.stringify(items[0]?.operation)).toBe('{"z":1,"a":2}');
  });

  test('S13, N2: a number whose holder was told that it is over is not its again when the clock is set back', async () => {
    const held = await leased('late', { ttlMs: 1_000 });
    const progress = { stream: STREAM, operationId: 'late', epoch: held.epoch, progress: { what: 'look' as const } };
    site.server.clock.step(5_000);
    expect((await store.sequences.commit([request(held)])).results).toMatchObject([
      { outcome: 'notHeld', state: 'expired' },
    ]);
    site.server.clock.step(-5_000);
    const ended = [{ outcome: 'notHeld', state: 'expired', epoch: held.epoch }];
    expect((await store.sequences.commit([request(held)])).results).toMatchObject(ended);
    expect((await store.sequences.progress([progress])).results).toMatchObject(ended);
    expect((await store.sequences.release([{ ...held, reason: 'x' }])).results).toMatchObject(ended);
    const tx = await begin();
    expect((await store.sequences.commitIn(tx, request(held))).result).toMatchObject(ended[0] ?? {});
    await tx.query('ROLLBACK');
    const again = await leased('late');
    expect([again.first, again.epoch > held.epoch]).toEqual([held.first, true]);
    expect((await store.sequences.commit([request(held)])).results).toMatchObject([
      { outcome: 'notHeld', state: 'leased' },
    ]);
    expect((await store.sequences.commit([request(again)])).results).toMatchObject([{ outcome: 'committed' }]);
  });

  test('S13, V1, N3: nor is one that was claimed and is to be tried again; what is over is recovered', async () => {
    const [held, told] = [await leased('claimed', { ttlMs: 1_000 }), await leased('told', { ttlMs: 1_000 })];
    const order = { stream: STREAM, limit: 1, ttlMs: MINUTE, owner: 'recoverer', gapsToo: false };
    site.server.clock.step(5_000);
    const [claimed] = (await store.sequences.claim(order)).claimed;
    expect(claimed?.operationId).toBe('claimed');
    const claim = { stream: STREAM, operationId: 'claimed', claimEpoch: claimed?.claimEpoch ?? 0 };
    const settlement = { to: 'retry', error: 'x', afterMs: 0 } as const;
    const settled = await store.sequences.settle([{ ...claim, settlement }]);
    expect(settled.results).toMatchObject([{ outcome: 'settled' }]);
    expect((await store.sequences.commit([request(told)])).results).toMatchObject([{ outcome: 'notHeld' }]);
    site.server.clock.step(-5_000);
    expect((await store.sequences.commit([request(held)])).results).toMatchObject([{ outcome: 'notHeld' }]);
    expect((await store.sequences.claim(order)).claimed.map(({ operationId }) => operationId)).toEqual(['told']);
  });
});
