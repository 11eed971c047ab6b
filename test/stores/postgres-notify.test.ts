// NOTIFY takes a lock of the whole cluster at commit, so it is sent only when somebody waits (Q3, N3). Another session listens: what
// it has heard by the time it hears a word of its own is all that was sent before, for notifications arrive in the order of commits.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { Resources } from '../../src/domain/part.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { SequenceStore } from '../../src/stores/sequence-store.js';
import { systemClock } from '../../src/system-clock.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { failure, session, until } from '../support/postgres-link-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const PAIRS = 100;
const WATCH_MS = 10_000;

describe.skipIf(isSkipped('postgres'))('when nobody waits, nobody is told', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());

  const joined = async (schema: string, options: ConnectOptions = {}): Promise<Holdfast> => {
    const leases = await connect(site.server.url, { schema, services: 'off', ...options });
    onTestFinished(() => leases.shutdown());
    return leases;
  };

  /** Answers what was said on a channel since it was asked last. */
  const listeningTo = async (channelFunction: string): Promise<() => Promise<unknown[]>> => {
    const ear: pg.Client = await session(site.server.url);
    const { rows } = await ear.query(`SELECT ${channelFunction}() AS channel`);
    const { channel } = rows[0] as { channel: string };
    const heard: string[] = [];
    ear.on('notification', ({ payload = '' }) => heard.push(payload));
    await ear.query(`LISTEN "${channel}"`);
    let words = 0;
    return async () => {
      const word = `word ${(words += 1)}`;
      await ear.query('SELECT pg_notify($1, $2)', [channel, word]);
      await until('its own word is heard', () => heard.includes(word));
      return heard
        .splice(0, heard.indexOf(word) + 1)
        .slice(0, -1)
        .map((payload) => JSON.parse(payload) as unknown);
    };
  };

  test(`Q3: ${PAIRS} pairs, one at a time and in lists, say nothing; with one who waits, its ticket is named`, async () => {
    // The services of a process take leases too, and must be as quiet.
    const [leases, other] = [await joined('quiet', { services: 'auto' }), await joined('quiet')];
    const said = await listeningTo('quiet.channel_v1');
    for (let i = 0; i < PAIRS; i += 1) await (await leases.acquire('door')).release();
    expect(await said()).toEqual([]);
    const names = Array.from({ length: PAIRS }, (_, i) => `doors/${i}`);
    const held = await Promise.all(names.map((name) => leases.acquire(name)));
    await Promise.all(held.map((lease) => lease.release()));
    const several: Resources[] = [
      ['a', 'b'],
      { name: 'tree', scope: 'subtree' },
      { name: 'seat', mode: 'shared', limit: 2 },
    ];
    for (const resources of several) {
      const lease = await leases.acquire(resources);
      await lease.renew();
      await lease.release();
    }
    await leases.acquire('revoked', { renew: 'manual' });
    await leases.acquire('expired', { renew: 'manual', ttl: 200 });
    expect(await leases.revoke({ resource: 'revoked', reason: 'test' })).toHaveLength(1);
    site.server.clock.step(1_000);
    await leases.sweep();
    expect((await leases.history({ resource: 'expired', type: 'lease.expired' })).items).toHaveLength(1);
    expect(await said()).toEqual([]);

    const lease = await leases.acquire('door');
    const waiting = other.acquire('door', { wait: 'forever' });
    await until('it is in the queue', async () => (await leases.show('door')).queue.length === 1);
    const ticket = (await leases.show('door')).queue[0]?.id;
    for (let i = 0; i < PAIRS; i += 1) await (await leases.acquire('window')).release();
    expect(await said()).toEqual([]); // it waits for something else
    await lease.release();
    const next = await waiting;
    expect(await said()).toEqual([{ n: 'default', w: [ticket] }]);

    const leave = new AbortController();
    const leaving = failure(leases.acquire('door', { wait: 'forever', signal: leave.signal }));
    await until('it is in the queue', async () => (await leases.show('door')).queue.length === 1);
    leave.abort();
    expect((await leaving).code).toBe('ACQUIRE_ABORTED');
    await until('its ticket is gone', async () => (await leases.show('door')).queue.length === 0);
    await said(); // who leaves makes way for those behind it
    await next.release();
    expect(await said()).toEqual([]);
  });

  test(`N3: so it is with streams: ${PAIRS} commits say nothing, and one is told in the ${WATCH_MS} ms after somebody waited`, async () => {
    const store = await openPostgres(site.server.url, { clock: systemClock(), schema: 'streams' });
    onTestFinished(() => store.close());
    const sequences = store.sequences as Required<SequenceStore>;
    const said = await listeningTo('streams.seq_channel_v1');
    let made = 0;
    const committed = async (stream: string, tx?: pg.Client): Promise<void> => {
      const held = { stream, operationId: `op-${(made += 1)}` };
      const [leased] = (await sequences.lease([{ ...held, kind: 'k', owner: 'me', ttlMs: 60_000, count: 1 }])).results;
      if (leased?.outcome !== 'leased') throw new Error(`expected leased, got ${JSON.stringify(leased)}`);
      const request = { ...held, epoch: leased.epoch, operations: [1] };
      const result = tx
        ? (await sequences.commitIn(tx, request)).result
        : (await sequences.commit([request])).results[0];
      expect(result).toMatchObject({ outcome: 'committed' });
    };
    for (let i = 0; i < PAIRS; i += 1) await committed('orders');
    await Promise.all(Array.from({ length: PAIRS }, () => committed('orders')));
    expect(await said()).toEqual([]);

    expect((await sequences.barrier({ stream: 'orders', number: 2 * PAIRS + 2, watch: true })).reached).toBe(false);
    await committed('others');
    expect(await said()).toEqual([]);
    await committed('orders');
    expect(await said()).toEqual([{ n: 'default', s: 'orders' }]);

    const tx = await session(site.server.url);
    await tx.query('BEGIN');
    await committed('orders', tx);
    expect(await said()).toEqual([]);
    await tx.query('COMMIT');
    expect(await said()).toEqual([{ n: 'default', s: 'orders' }]);
    site.server.clock.step(WATCH_MS);
    await committed('orders');
    await tx.query('BEGIN');
    await committed('orders', tx);
    await tx.query('COMMIT');
    expect(await said()).toEqual([]);
    // A transaction with an older snapshot cannot see that nobody waits.
    await tx.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await committed('orders', tx);
    await tx.query('COMMIT');
    expect(await said()).toEqual([{ n: 'default', s: 'orders' }]);
  });
});
