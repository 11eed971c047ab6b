// Questions about the servers of a cluster, over every kind of client: whether a commit is kept is asked of every primary, because
// slots move (N6), and what is said of memory and disk is said of the node that has the namespace. None of it is a matter of luck: a
// command without a key goes to any node, so each is asked several times.
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { CLUSTER_CLIENTS } from '../support/redis-clients.js';
import { streamsOf } from '../support/redis-streams.js';
import { startRedisCluster, type RedisCluster } from '../support/servers/redis-cluster.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const DURABLE = { appendonly: 'yes', appendfsync: 'always' };
const NODES = [0, 1, 2] as const;
const TIMES = 8;
const MIB = 1024 * 1024;

describe.skipIf(isSkipped('redis'))('what the nodes of a Redis cluster say', () => {
  let cluster: RedisCluster;
  const endings: (() => unknown)[] = [];
  const stores: Record<string, Store> = {};
  const tell = async (node: number, ...command: readonly string[]): Promise<void> => {
    const client = createClient({ url: cluster.servers[node]?.url ?? '' });
    await client.connect();
    await client.sendCommand(command);
    client.destroy();
  };
  beforeAll(async () => {
    cluster = await startRedisCluster(DURABLE);
    stores['a url'] = await openRedis(cluster.url, { clock });
    for (const [kind, make] of Object.entries(CLUSTER_CLIENTS)) {
      const given = await make(cluster.ports);
      endings.push(() => given.close());
      stores[kind] = await openRedis(undefined, { clock, client: given.client });
    }
  });
  afterEach(async () => {
    for (const node of NODES) await tell(node, 'CONFIG', 'SET', 'appendfsync', 'always');
  });
  afterAll(async () => {
    for (const store of Object.values(stores)) await store.close();
    for (const end of endings) await end();
    await cluster.remove();
  });

  describe.each(['a url', ...Object.keys(CLUSTER_CLIENTS)])('through %s', (kind) => {
    const opening = (acceptLoss = false): Promise<{ durability: string }> =>
      streamsOf(stores[kind] as Store).ready({ acceptLoss });

    test.each(NODES)('N6: no stream is opened while node %i may lose what it answers', async (node) => {
      expect((await opening()).durability).toMatch(/on disk, before it is answered/);
      await tell(node, 'CONFIG', 'SET', 'appendfsync', 'everysec');
      const refused = {
        code: 'STORE_INCOMPATIBLE',
        message: expect.stringContaining('appendfsync everysec') as string,
      };
      for (let i = 0; i < TIMES; i += 1) await expect(opening()).rejects.toMatchObject(refused);
      expect((await opening(true)).durability).toMatch(/may be lost \(appendfsync everysec\), which is accepted/);
    });

    test('C9: the health is that of the node that has the namespace', async () => {
      for (const node of NODES) await tell(node, 'CONFIG', 'SET', 'maxmemory', String((node + 1) * 100 * MIB));
      for (const namespace of ['one', 'two', 'three', 'four', 'five']) {
        const store = (stores[kind] as Store).within(namespace);
        const node = await cluster.ownerOf(await cluster.slotOf(keysOf(namespace)[0] ?? ''));
        for (let i = 0; i < TIMES; i += 1) {
          expect(await store.health?.()).toMatchObject({ maxBytes: (node + 1) * 100 * MIB, appendonly: true });
        }
      }
    });
  });

  test.each(NODES)('N6: nor while node %i does not say whether it may', async (silent) => {
    for (const node of NODES) {
      const rights = node === silent ? ['+@all', '-config'] : ['+@all'];
      await tell(node, 'ACL', 'SETUSER', `app${silent}`, 'on', '>secret', '~*', '&*', ...rights);
    }
    const store = await openRedis(cluster.url.replace('//', `//app${silent}:secret@`), { clock });
    endings.push(() => store.close());
    const refused = {
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringContaining('CONFIG GET is forbidden') as string,
    };
    await expect(streamsOf(store).ready({ acceptLoss: false })).rejects.toMatchObject(refused);
    expect((await streamsOf(store).ready({ acceptLoss: true })).durability).toMatch(/not known/);
  });
});
