// W2 with real processes: a server over one SQLite file, clients in processes of their own that reach it over HTTP; then the
// history in the file is checked.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { complaintText, expectWork, type WorkloadCounts } from '../../src/testing/store-conformance/concurrent.js';
import { readHistory, readRecords } from '../../src/testing/store-conformance/history-records.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { expectSequenceHistory, readWholeStream } from '../../src/testing/store-conformance/sequence/concurrent.js';
import { startChild, type Child } from '../support/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const seed = chooseSeed();
const clock = systemClock();

async function startServer(file: string): Promise<{ server: Child; port: number }> {
  const server = startChild('serve-child.mjs', `sqlite:${file}`, '0');
  const line = await server.line('listening ');
  return { server, port: Number(line.slice('listening '.length)) };
}

function clientsOf(program: string, count: number, port: number, durationMs: number, ...more: string[]): Child[] {
  const url = `http://127.0.0.1:${port}`;
  return Array.from({ length: count }, (_, i) =>
    startChild(program, url, `process-${i}`, String(seed + i), String(durationMs), ...more),
  );
}

function linesOf(children: readonly Child[], word: string): string[] {
  return children.flatMap(({ lines }) =>
    lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length)),
  );
}

async function stop(server: Child): Promise<void> {
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
}

async function expectHistory(file: string, clients: readonly Child[]): Promise<void> {
  const store = await openSqlite(`sqlite:${file}`, { clock });
  const complaints = checkHistory({ ...(await readHistory(store)), records: readRecords(linesOf(clients, 'record ')) });
  await store.close();
  expect(complaints, complaintText(complaints)).toEqual([]);
}

test(`W2, S1, S2, Q1, S6: the history of 6 processes over one server in 15 s holds (SEED=${seed})`, async () => {
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'leases.db');
    const { server, port } = await startServer(file);
    const clients = clientsOf('workload-child.mjs', 6, port, 15_000);
    expect(await Promise.all(clients.map((child) => child.ended))).toEqual(clients.map(() => 0));
    expectWork(linesOf(clients, 'counts ').map((text) => JSON.parse(text) as WorkloadCounts));
    await stop(server);
    await expectHistory(file, clients);
  } finally {
    folder.remove();
  }
});

test(`W2, N1, N2, N3, N4, N6, V1: streams of 3 processes over one server, one killed, hold (SEED=${seed})`, async () => {
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'leases.db');
    const { server, port } = await startServer(file);
    const clients = clientsOf('sequence-workload-child.mjs', 3, port, 10_000, '3', '1', '1');
    await clients[0]!.line('record {"what":"stored"');
    clients[0]!.process.kill('SIGKILL');
    expect(await Promise.all(clients.map((child) => child.ended))).toEqual(['SIGKILL', 0, 0]);
    await stop(server);
    // The last line of the one that was killed may be half a line.
    const lines = linesOf(clients, 'record ').filter((line) => line.endsWith('}'));
    const store = await openSqlite(`sqlite:${file}`, { clock });
    expectSequenceHistory(lines, await readWholeStream(store, clock));
    await store.close();
  } finally {
    folder.remove();
  }
});
