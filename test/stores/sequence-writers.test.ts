// Sixteen writers of one stream for ten seconds, each a process that is killed again and again; some die with a lease,
// overrun it, give up or roll back. No committed operation is missed, none is stored twice, the watermark never goes back.
// `make bench ONLY=sequence` does it for a minute.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { startChild } from '../support/child.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const WRITERS = 16;
const DURATION_MS = 10_000;
const seed = chooseSeed();
const title = `N1, N2, N3, N4, N6, V1: ${WRITERS} writers, killed and replaced, for ${DURATION_MS} ms (SEED=${seed})`;

interface Crowd {
  readonly killed: number;
  readonly stored: number;
  readonly states: readonly string[];
  readonly complaints: readonly string[];
}

async function expectCrowd(url: string): Promise<void> {
  const child = startChild('sequence-crowd-child.mjs', url, ...[WRITERS, DURATION_MS, seed].map(String));
  const line = await child.line('crowd ');
  expect(await child.ended).toBe(0);
  const { killed, stored, states, complaints } = JSON.parse(line.slice('crowd '.length)) as Crowd;
  expect(complaints).toEqual([]);
  expect(states).toEqual(expect.arrayContaining(['committed', 'gap', 'moved']));
  expect(killed).toBeGreaterThan(2);
  expect(stored).toBeGreaterThan(100);
}

test(`sqlite: ${title}`, async () => {
  const folder = temporaryFolder();
  try {
    await expectCrowd(`sqlite:${join(folder.path, 'leases.db')}`);
  } finally {
    folder.remove();
  }
});

test.skipIf(isSkipped('postgres'))(`postgres: ${title}`, async () => {
  const server = await startPostgres();
  try {
    await expectCrowd(server.url);
  } finally {
    await server.remove();
  }
});

test.skipIf(isSkipped('redis'))(`redis: ${title}`, async () => {
  const server = await startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } });
  try {
    await expectCrowd(server.url);
  } finally {
    await server.remove();
  }
});
