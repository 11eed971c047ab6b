// Processes that write, read and recover one stream on one Redis, one of them killed in the middle of it; then the history
// is checked. And a failover that loses the last steps: what the contract does not promise, and what it does (S2).
import { describe, expect, test } from 'vitest';
import { openRedis } from '../../src/stores/redis/index.js';
import { systemClock } from '../../src/system-clock.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { expectSequenceHistory, readWholeStream } from '../../src/testing/store-conformance/sequence/concurrent.js';
import { startChild } from '../support/child.js';
import { commit, lease, peek } from '../support/redis-streams.js';
import { startRedisPair } from '../support/servers/redis-pair.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const PROCESSES = 4;
const DURATION_MS = 10_000;
const seed = chooseSeed();
const clock = systemClock();

describe.skipIf(isSkipped('redis'))('streams of many processes on one Redis', () => {
  test(`N1, N2, N3, N4, N6, V1: the history of ${PROCESSES} processes, one killed, holds (SEED=${seed})`, async () => {
    const server = await startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } });
    try {
      const clients = ['3', '1', '1']; // writers, readers, recoverers
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
      const store = await openRedis(server.url, { clock });
      expectSequenceHistory(lines, await readWholeStream(store, clock));
      await store.close();
    } finally {
      await server.remove();
    }
  });

  test('S2, N2: a failover may give a lost number to another operation, under a higher epoch; its first holder stores nothing', async () => {
    const pair = await startRedisPair();
    const store = await openRedis(pair.url, { clock });
    try {
      await commit(store, await lease(store, 'kept'), 'kept');
      await pair.caughtUp();
      await pair.holdReplication();
      await commit(store, await lease(store, 'lost'), 'lost');
      const before = await lease(store, 'early');
      await pair.failOver();
      await expect.poll(() => lease(store, 'late').catch(() => undefined), { timeout: 20_000 }).toBeDefined();
      const again = await lease(store, 'late');
      expect(again.first).toBe(2);
      expect(again.epoch).toBeGreaterThan(before.epoch);
      expect(await commit(store, before, 'too late')).toEqual({ outcome: 'notHeld', state: 'unknown' });
      await commit(store, again, 'late');
      expect(await peek(store)).toEqual([
        [1, 'committed', 'kept'],
        [2, 'committed', 'late'],
      ]);
    } finally {
      await store.close();
      await pair.remove();
    }
  });
});
