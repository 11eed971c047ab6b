// Processes that write, read and recover one stream on one PostgreSQL server, one of them killed in the middle of it; then the
// history is checked. And the wake-up of one process by another (N3).
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { SAFETY_POLL_MS } from '../../src/sequence/barrier.js';
import { systemClock } from '../../src/system-clock.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { expectSequenceHistory, readWholeStream } from '../../src/testing/store-conformance/sequence/concurrent.js';
import { startChild } from '../support/child.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const PROCESSES = 4;
const DURATION_MS = 10_000;
const ROUNDS = 9;
const seed = chooseSeed();
const clock = systemClock();

describe.skipIf(isSkipped('postgres'))('streams of several processes', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test(`N1, N2, N3, N4, N6, V1: the history of ${PROCESSES} processes, one killed, holds (SEED=${seed})`, async () => {
    const clients = ['3', '1', '1'];
    const children = Array.from({ length: PROCESSES }, (_, i) =>
      startChild(
        'sequence-workload-child.mjs',
        server.url,
        `process-${i}`,
        String(seed + i),
        String(DURATION_MS),
        ...clients,
      ),
    );
    await children[0]!.line('working');
    await children[0]!.line('record {"what":"stored"');
    children[0]!.process.kill('SIGKILL');
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(['SIGKILL', 0, 0, 0]);
    const lines = children.flatMap((child) =>
      // The last line of the one that was killed may be half a line.
      child.lines.filter((line) => line.startsWith('record ') && line.endsWith('}')).map((line) => line.slice(7)),
    );
    const store = await openPostgres(server.url, { clock });
    expectSequenceHistory(lines, await readWholeStream(store, clock));
    await store.close();
  });

  test('N3: a process that waits is woken by the commit of another, and does not wait for its next look', async () => {
    const store = await openPostgres(server.url, { clock });
    const admin = new pg.Client(server.url);
    await admin.connect();
    const waiter = startChild('stream-waiter-child.mjs', server.url, 'waited-for');
    await waiter.line('ready');
    const waits: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const held = { stream: 'waited-for', operationId: `op-${round}` };
      const lease = { ...held, kind: 'k', ttlMs: 60_000, count: 1, owner: 'here' };
      const [leased] = (await store.sequences!.lease([lease])).results;
      if (leased?.outcome !== 'leased') throw new Error(`expected leased, got ${JSON.stringify(leased)}`);
      await admin.query('UPDATE holdfast.stream SET watched_until = 0');
      waiter.tell(String(leased.first + 1));
      await waiter.line(`waiting ${leased.first + 1}`);
      await untilWatched(admin);
      await store.sequences!.commit([{ ...held, epoch: leased.epoch, operations: [round] }]);
      waits.push(Number((await waiter.line(`reached ${leased.first + 1} `)).split(' ')[2]));
    }
    waiter.tell('end');
    expect(await waiter.ended).toBe(0);
    // The middle one: without a wake-up each would wait for the safety poll.
    expect(waits.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]).toBeLessThan(SAFETY_POLL_MS / 2);
    await admin.end();
    await store.close();
  });
});

/** The one that waits has looked, and said that it waits. */
async function untilWatched(admin: pg.Client): Promise<void> {
  for (let tries = 0; tries < 5_000; tries += 1) {
    if (
      (await admin.query("SELECT FROM holdfast.stream WHERE name = 'waited-for' AND watched_until > 0")).rowCount === 1
    )
      return;
  }
  throw new Error('nobody watches the stream');
}
