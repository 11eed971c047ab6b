// A primary and its replica, and the test's hand on both: a failover is the primary killed and the replica told to be one. Who
// connects through `proxyPort` is led to whoever is the primary now, as a virtual address would lead them.
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { startRedis, type RedisServer } from './redis-server.js';

const PATIENCE_MS = 20_000;

export interface RedisPair {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** Leads to the primary, and after `failOver` to what was the replica. */
  readonly url: string;
  /** The same place, for a client that the caller makes. */
  readonly port: number;
  /** Resolves when the replica has everything that the primary has. */
  caughtUp(): Promise<void>;
  /** What is written from now on does not reach the replica. */
  holdReplication(): Promise<void>;
  /** Kills the primary and promotes the replica. */
  failOver(): Promise<void>;
  remove(): Promise<void>;
}

export async function startRedisPair(settings: Readonly<Record<string, string>> = {}): Promise<RedisPair> {
  const primary = await startRedis({ settings: { ...settings, 'repl-diskless-sync-delay': '0' } });
  const replica = await startRedis({ settings: { ...settings, replicaof: `127.0.0.1 ${primary.port}` } });
  const proxy = await startSwitch(primary.port);
  /** A write of its own, and WAIT for it: INFO calls a replica online before it gets its first command. */
  const caughtUp = (): Promise<void> =>
    until('the replica to catch up', async () => {
      const [, reached] = await tell(primary.port, ['SET', 'test:caught-up', '1'], ['WAIT', '1', '1000']);
      return Number(reached) > 0;
    });
  await caughtUp();
  return {
    primary,
    replica,
    url: `redis://127.0.0.1:${proxy.port}`,
    port: proxy.port,
    caughtUp,
    async holdReplication() {
      // It stays a replica and keeps what it has; nobody answers where it looks for more.
      await tell(replica.port, ['REPLICAOF', '127.0.0.1', '1']);
    },
    async failOver() {
      await primary.stop('SIGKILL');
      await tell(replica.port, ['REPLICAOF', 'NO', 'ONE']);
      proxy.leadTo(replica.port);
    },
    async remove() {
      await proxy.close();
      await Promise.all([primary.remove(), replica.remove()]);
    },
  };
}

/** A TCP proxy whose target can be changed; changing it cuts what is open. */
async function startSwitch(
  first: number,
): Promise<{ port: number; leadTo(port: number): void; close(): Promise<void> }> {
  let target = first;
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  };
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const listener = createServer((client) => {
    const server = dial(target, '127.0.0.1');
    keep(client);
    keep(server);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined); // a reset is passed on as an end
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
      cut();
    },
    async close() {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}

async function tell(port: number, ...commands: (readonly string[])[]): Promise<unknown[]> {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await Promise.all(commands.map((args) => client.sendCommand(args)));
  } finally {
    client.destroy();
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${PATIENCE_MS} ms for ${what}`);
    await delay(20);
  }
}
