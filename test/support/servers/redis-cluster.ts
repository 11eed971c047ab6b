// Three primaries of a Redis cluster on free ports of the loopback address, each with a third of the slots, and a way to move a
// slot from one to another as redis-cli does it: importing, migrating, key by key, then settled everywhere.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { freePort } from './server-process.js';
import { startRedis, type RedisServer } from './redis-server.js';

const SLOTS = 16_384;
const PATIENCE_MS = 20_000;
const TRIES = 5;

interface Client {
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
}

interface Node {
  readonly server: RedisServer;
  readonly client: Client;
  readonly busPort: string;
  readonly id: string;
}

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
  /** How often any node has answered with this word, such as TRYAGAIN. */
  replies(word: string): Promise<number>;
  remove(): Promise<void>;
}

export async function startRedisCluster(settings: Readonly<Record<string, string>> = {}): Promise<RedisCluster> {
  const nodes: Node[] = [];
  for (let index = 0; index < 3; index += 1) nodes.push(await startNode(settings));
  const servers = nodes.map(({ server }) => server);
  try {
    await join(nodes);
  } catch (error) {
    await removeAll(nodes);
    throw error;
  }
  const at = (index: number): Node => nodes[index] as Node;
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
    async replies(word) {
      const pattern = new RegExp(`errorstat_${word}:count=(\\d+)`);
      const texts = await Promise.all(nodes.map(({ client }) => client.sendCommand(['INFO', 'errorstats'])));
      return texts.reduce((sum: number, text) => sum + Number(pattern.exec(text as string)?.[1] ?? 0), 0);
    },
    remove: () => removeAll(nodes),
  };
}

/** The bus has a free port of its own instead of the port + 10000, which may be taken or out of range. */
async function startNode(settings: Readonly<Record<string, string>>): Promise<Node> {
  let failure: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const busPort = String(await freePort());
    try {
      const cluster = { 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000', 'cluster-port': busPort };
      return await connectNode(await startRedis({ settings: { ...cluster, ...settings } }), busPort);
    } catch (error) {
      failure = error; // somebody was quicker to take the port
    }
  }
  throw failure;
}

async function connectNode(server: RedisServer, busPort: string): Promise<Node> {
  const client = createClient({ url: server.url, RESP: 2 });
  client.on('error', () => undefined);
  await client.connect();
  return { server, client, busPort, id: await client.sendCommand<string>(['CLUSTER', 'MYID']) };
}

async function join(nodes: readonly Node[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [index, { client }] of nodes.entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last)]);
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
  }
  for (const { client } of nodes) {
    for (const { server, busPort } of nodes) {
      await client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(server.port), busPort]);
    }
  }
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const states = await Promise.all(
      nodes.map(async ({ client }) => String(await client.sendCommand(['CLUSTER', 'INFO']))),
    );
    if (states.every((text) => /cluster_state:ok/.test(text) && /cluster_known_nodes:3/.test(text))) return;
    if (performance.now() > end) throw new Error(`the cluster did not come together:\n${states.join('\n')}`);
    await delay(20);
  }
}

async function removeAll(nodes: readonly Node[]): Promise<void> {
  for (const { client } of nodes) client.destroy();
  await Promise.all(nodes.map(({ server }) => server.remove()));
}
