// `replicas=N` in the url: a write is answered when that many replicas have it. A primary that is alone answers reads and leaves
// the fate of writes open (S15).
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadIoRedis, loadNodeRedis } from '../../src/stores/redis/clients/own-client.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { OwnConnections } from '../../src/stores/redis/connections.js';
import type { Script } from '../../src/stores/redis/link.js';
import { Link } from '../../src/stores/redis/open-link.js';
import { parseRedisUrl } from '../../src/stores/redis/redis-url.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { startRedisPair, type RedisPair } from '../support/servers/redis-pair.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
function script(source: string): Script {
  return { name: 'test', source, sha: createHash('sha1').update(source).digest('hex') };
}
const write = script('#!lua\nreturn redis.call("INCR", KEYS[1])');
const read = script('#!lua flags=no-writes\nreturn redis.call("GET", KEYS[1])');

describe.skipIf(isSkipped('redis')).each([
  ['redis', loadNodeRedis],
  ['ioredis', loadIoRedis],
])('waiting for replicas through %s', (_name, load) => {
  let pair: RedisPair;
  let link: Link;
  beforeAll(async () => {
    pair = await startRedisPair();
    const connect = await load();
    if (connect === undefined) throw new Error('the driver is not installed');
    const address = parseRedisUrl(`${pair.url}?replicas=1&replicasTimeout=100ms`);
    link = new Link(new OwnConnections(address, connect, clock), {
      clock,
      replicas: address.replicas,
      awake: true,
      isOurs: true,
    });
  });
  afterAll(async () => {
    await link.close();
    await pair.remove();
  });

  test('a write is answered when the replica has it, also when the script had to be sent whole', async () => {
    expect(await link.run(write, ['{k}'], [])).toBe(1);
    expect(await link.run(write, ['{k}'], [])).toBe(2);
    await pair.caughtUp();
    expect(link.facts()).toMatchObject({ waitsForReplicas: 1, connectedReplicas: 1 });
    expect(String(link.facts()['durability'])).toMatch(/answered after 1 replica had it/);
  });

  test('Q1: who waits for replicas claims by itself: what was handed over, nobody would know to be on them', async () => {
    const url = `${pair.url}?replicas=1`;
    const [sure, plain] = [await openRedis(url, { clock }), await openRedis(pair.url, { clock })];
    for (const [store, isHanded] of [
      [sure, false],
      [plain, true],
    ] as const) {
      const held = await grant(plain, clock, `baton/${isHanded}`);
      const waiting = await ask(store, clock, `baton/${isHanded}`, { join: true, handOver: true });
      expect(await acquire(store, waiting)).toMatchObject({ outcome: 'queued' });
      await expect.poll(async () => (await store.time()).now).toBeGreaterThan(waiting.bornAt + 5);
      const requestId = clock.randomText();
      const { results } = await plain.end([{ id: held.id, epoch: held.epoch, requestId, why: 'released' }]);
      expect(results[0]).toHaveProperty('outcome', 'released');
      expect('handedTo' in (results[0] ?? {})).toBe(isHanded);
      expect(await acquire(store, waiting)).toMatchObject({ outcome: 'granted', again: isHanded });
    }
    await Promise.all([sure.close(), plain.close()]);
  });

  test('S15: without the replica a write is unknown, a read is answered, and nothing hangs', async () => {
    await pair.holdReplication();
    const lonely = link.run(write, ['{k}'], []);
    await expect(lonely).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      details: { replicas: 0, wanted: 1 },
    });
    expect(await link.run(read, ['{k}'], [])).toBe('3');
    expect(link.facts()['isConnected']).toBe(true);
  });

  test('what a replica did not get is lost when the primary is: the next primary answers from before it', async () => {
    await pair.failOver();
    await expect.poll(() => link.run(read, ['{k}'], []).catch(() => undefined)).toBe('2');
  });
});
