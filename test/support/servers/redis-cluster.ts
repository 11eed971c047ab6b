// Three primaries of a Redis cluster on free ports of the loopback address, each with a third of the slots, a way to move a slot from
// one to another as redis-cli does it (importing, migrating, key by key, then settled everywhere), and a replica for one of them.
import { meet, removeAll, startNode, until, type ClusterNode } from './redis-cluster-node.js';
import { addReplica, type ClusterReplica } from './redis-cluster-replica.js';
import type { RedisServer } from './redis-server.js';

const SLOTS = 16_384;

export interface RedisCluster {
  /** All three, in the form of a store's url. */
  readonly url: string;
  readonly ports: readonly number[];
  readonly servers: readonly RedisServer[];
  slotOf(key: string): Promise<number>;
  /** Which of the three has the slot, counted from 0. */
  ownerOf(slot: number): Promise<number>;
  /** Moves one slot with its keys; `between` is awaited after each key, while some are here and some are there. */
  moveSlot(slot: number, to: number, between?: () => Promise<void>): Promise<void>;
  /** A fourth node that follows this one; resolves when it has everything. */
  addReplica(of: number): Promise<ClusterReplica>;
  /** Of a node that may have been away: `master` or `slave`. */
  roleOf(server: RedisServer): Promise<string>;
  /** How often any node has answered with this word, such as TRYAGAIN. */
  replies(word: string): Promise<number>;
  remove(): Promise<void>;
}

export async function startRedisCluster(settings: Readonly<Record<string, string>> = {}): Promise<RedisCluster> {
  const nodes: ClusterNode[] = [];
  for (let index = 0; index < 3; index += 1) nodes.push(await startNode(settings));
  const servers = nodes.map(({ server }) => server);
  try {
    await join(nodes);
  } catch (error) {
    await removeAll(nodes);
    throw error;
  }
  const at = (index: number): ClusterNode => nodes[index] as ClusterNode;
  const slotOf = async (key: string): Promise<number> =>
    Number(await at(0).client.sendCommand(['CLUSTER', 'KEYSLOT', key]));
  const ownerOf = async (slot: number): Promise<number> => {
    const ranges = (await at(0).client.sendCommand(['CLUSTER', 'SLOTS'])) as [number, number, [string, number]][];
    const range = ranges.find(([from, to]) => slot >= from && slot <= to);
    return servers.findIndex(({ port }) => port === range?.[2][1]);
  };
  return {
    url: `redis://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    ports: servers.map(({ port }) => port),
    servers,
    slotOf,
    ownerOf,
    async moveSlot(slot, to, between = () => Promise.resolve()) {
      const from = at(await ownerOf(slot));
      const target = at(to);
      if (from === target) return;
      await target.client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id]);
      await from.client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', target.id]);
      const left = async (): Promise<string[]> =>
        (await from.client.sendCommand(['CLUSTER', 'GETKEYSINSLOT', String(slot), '100'])) as string[];
      for (let keys = await left(); keys.length > 0; keys = await left()) {
        await from.client.sendCommand([
          'MIGRATE',
          '127.0.0.1',
          String(target.server.port),
          keys[0] as string,
          '0',
          '5000',
        ]);
        if (keys.length > 1) await between();
      }
      for (const node of [target, from, ...nodes.filter((one) => one !== from && one !== target)]) {
        await node.client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'NODE', target.id]);
      }
    },
    addReplica: (of) => addReplica(nodes, at(of), settings),
    async roleOf(server) {
      const node = nodes.find((one) => one.server === server);
      const text = String(await node?.client.sendCommand(['INFO', 'replication']));
      return /^role:(\w+)/m.exec(text)?.[1] ?? '';
    },
    async replies(word) {
      const pattern = new RegExp(`errorstat_${word}:count=(\\d+)`);
      const texts = await Promise.all(nodes.map(({ client }) => client.sendCommand(['INFO', 'errorstats'])));
      return texts.reduce((sum: number, text) => sum + Number(pattern.exec(text as string)?.[1] ?? 0), 0);
    },
    remove: () => removeAll(nodes),
  };
}

async function join(nodes: readonly ClusterNode[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [index, { client }] of nodes.entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last)]);
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
  }
  await meet(nodes, nodes);
  await until('the cluster to come together', async () => {
    const states = await Promise.all(nodes.map(({ client }) => client.sendCommand(['CLUSTER', 'INFO'])));
    return states.every((text) => /cluster_state:ok[^]*cluster_known_nodes:3/.test(String(text)));
  });
}
