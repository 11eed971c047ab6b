// Hundreds of callers of one process at once, on stores that are given two calls at a time (decision 0017): everybody gets what it
// asked for, nobody twice, and a queue for one name keeps the order of asking.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { openRedis } from '../../src/stores/redis/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const CALLERS = 300;
const ROUNDS = 4;
const WAITERS = 100;

interface Server {
  readonly url: string;
  remove(): Promise<void>;
}

const clock = systemClock();

describe.each<['postgres' | 'redis', () => Promise<Server>, (url: string) => Promise<Store>]>([
  ['postgres', startPostgres, (url) => openPostgres(url, { clock })],
  ['redis', startRedis, (url) => openRedis(url, { clock })],
])('many callers on %s', (name, start, open) => {
  describe.skipIf(isSkipped(name))('in one process', () => {
    let server: Server;
    let store: Store;
    let leases: Holdfast;
    beforeAll(async () => {
      server = await start();
      store = await open(server.url);
      leases = await connect(store, { services: 'off' });
    });
    afterAll(async () => {
      await leases.shutdown();
      await store.close();
      await server.remove();
    });

    test('S1, S2, S21: each gets its own lease, with an epoch that nobody else has', async () => {
      expect(store.callsAtOnce).toMatchObject({ calls: 2 });
      const epochs: number[] = [];
      const caller = async (_: unknown, i: number): Promise<void> => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const lease = await leases.acquire(`own/${i}`, { wait: 0 });
          epochs.push(lease.epoch);
          expect((await lease.release()).outcome).toBe('released');
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      expect(new Set(epochs).size).toBe(CALLERS * ROUNDS);
      expect((await leases.list()).items).toEqual([]);
    });

    test('Q1, S21: in line for one name among many others, they are served in the order of asking', async () => {
      const gate = await leases.acquire('door');
      const served: number[] = [];
      const others = Array.from({ length: CALLERS }, (_, i) => leases.acquire(`beside/${i}`));
      const line = Array.from({ length: WAITERS }, async (_, i) => {
        const lease = await leases.acquire('door', { wait: '60s' });
        served.push(i);
        await lease.release();
      });
      const more = Array.from({ length: CALLERS }, (_, i) => leases.acquire(`behind/${i}`));
      await Promise.all([...others, ...more]);
      await gate.release();
      await Promise.all(line);
      expect(served).toEqual(Array.from({ length: WAITERS }, (_, i) => i));
    });
  });
});
