// Redis for the conformance suite: one server for a test file, a database of its own for each opening, and the server's wall
// clock in the suite's hand: letting time pass steps it.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/harness.js';
import type { GivenClient, MakeClient } from './redis-clients.js';
import { startRedis, type RedisServer } from './servers/redis-server.js';

const DATABASES = 2_000;
const NEAR_LIMIT = Number.MAX_SAFE_INTEGER - 900;
const POLL_MS = 4;

type Admin = ReturnType<typeof createClient>;

export interface RedisHarness extends StoreHarness {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** N6: a stream is opened only where a commit is on disk before it is answered. */
const DURABLE = { appendonly: 'yes', appendfsync: 'always' };

export interface RedisHarnessOptions {
  /** Waits for the disk at every write: what asks whether a stream may be opened needs it, the rest is quicker without. */
  readonly durable?: boolean;
  /** Makes the client that a caller hands in; without it the store is opened by url. */
  readonly through?: MakeClient;
}

export function redisHarness({ durable = false, through }: RedisHarnessOptions = {}): RedisHarness {
  let server: RedisServer | undefined;
  let admin: Admin | undefined;
  let opens = 0;
  const open = async (epoch?: number): Promise<Opened> => {
    if (server === undefined || admin === undefined) throw new Error('start the harness before the suite runs');
    opens += 1;
    return openDatabase({ server, admin, database: opens % DATABASES, through }, epoch);
  };
  return {
    name: 'Redis',
    capabilities: { sequences: true, handsOver: true },
    start: async () => {
      const settings = { databases: String(DATABASES), ...(durable ? DURABLE : {}) };
      server = await startRedis({ stepClock: true, settings });
      admin = createClient({ url: server.url });
      await admin.connect();
    },
    stop: async () => {
      admin?.destroy();
      await server?.remove();
    },
    open: () => open(),
    openNearLimit: () => open(NEAR_LIMIT),
  };
}

interface Place {
  readonly server: RedisServer;
  readonly admin: Admin;
  readonly database: number;
  readonly through: MakeClient | undefined;
}

async function openDatabase({ server, admin, database, through }: Place, epoch?: number): Promise<Opened> {
  const clock = systemClock();
  const opened: { store: Store; given: GivenClient | undefined }[] = [];
  const connect = async (): Promise<Store> => {
    const given = await through?.(server.port, database);
    const url = given === undefined ? `${server.url}/${database}` : undefined;
    const store = await openRedis(url, { clock, client: given?.client });
    opened.push({ store, given });
    return store;
  };
  const store = await connect();
  if (epoch !== undefined) await setEpoch(admin, database, store.namespace, epoch);
  return {
    store,
    another: connect,
    passTime: async (ms) => server.clock.step(ms),
    wall: () => clock.wall() + server.clock.offsetMs,
    randomText: () => clock.randomText(),
    letHintsArrive: () => delay(POLL_MS),
    async close() {
      for (const one of opened) {
        await one.store.close();
        one.given?.close();
      }
      await Promise.all([admin.sendCommand(['SELECT', String(database)]), admin.flushDb()]);
    },
  };
}

/** The counter is the second word of the field without a name (src/stores/redis/lua/step.ts). */
async function setEpoch(admin: Admin, database: number, namespace: string, epoch: number): Promise<void> {
  const [, rows = ''] = keysOf(namespace);
  const [, text] = await Promise.all([admin.sendCommand(['SELECT', String(database)]), admin.hGet(rows, '')]);
  const words = (text ?? '').split(' ');
  words[1] = String(epoch);
  await Promise.all([admin.sendCommand(['SELECT', String(database)]), admin.hSet(rows, '', words.join(' '))]);
}
