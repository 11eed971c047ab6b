// One node of a Redis cluster of the tests' own, with a client beside it, and how nodes come to know each other.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { startRedis, type RedisServer } from './redis-server.js';
import { freePort } from './server-process.js';

const PATIENCE_MS = 20_000;
const TRIES = 5;

interface Client {
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
}

export interface ClusterNode {
  readonly server: RedisServer;
  readonly client: Client;
  readonly busPort: string;
  readonly id: string;
}

/** The bus has a free port of its own instead of the port + 10000, which may be taken or out of range. */
export async function startNode(settings: Readonly<Record<string, string>>): Promise<ClusterNode> {
  let failure: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const busPort = String(await freePort());
    try {
      const cluster = { 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000', 'cluster-port': busPort };
      const atOnce = { 'repl-diskless-sync-delay': '0' };
      return await connectNode(await startRedis({ settings: { ...cluster, ...atOnce, ...settings } }), busPort);
    } catch (error) {
      failure = error; // somebody was quicker to take the port
    }
  }
  throw failure;
}

async function connectNode(server: RedisServer, busPort: string): Promise<ClusterNode> {
  const client = createClient({ url: server.url, RESP: 2 });
  client.on('error', () => undefined);
  await client.connect();
  return { server, client, busPort, id: await client.sendCommand<string>(['CLUSTER', 'MYID']) };
}

/** Tells these of all. */
export async function meet(all: readonly ClusterNode[], these: readonly ClusterNode[]): Promise<void> {
  for (const { client } of these) {
    for (const { server, busPort } of all) {
      await client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(server.port), busPort]);
    }
  }
}

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${PATIENCE_MS} ms for ${what}`);
    await delay(20);
  }
}

export async function removeAll(nodes: readonly ClusterNode[]): Promise<void> {
  for (const { client } of nodes) client.destroy();
  await Promise.all(nodes.map(({ server }) => server.remove()));
}
