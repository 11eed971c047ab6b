// One Redis server for a group of tests: empty before each of them, with a store on it and a client beside it.
import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Clock } from '../../src/domain/clock.js';
import { openRedis } from '../../src/stores/redis/index.js';
import type { Store } from '../../src/stores/store.js';
import { startRedis, type RedisServer } from './servers/redis-server.js';

export type Admin = ReturnType<typeof createClient>;

export interface RedisSite {
  readonly server: RedisServer;
  readonly admin: Admin;
  readonly store: Store;
}

/** To be called inside `describe`; `take` is given the site before each test. */
export function onRedis(
  clock: Clock,
  options: Parameters<typeof startRedis>[0],
  take: (site: RedisSite) => void,
): void {
  let server: RedisServer;
  let admin: Admin;
  beforeAll(async () => {
    server = await startRedis(options);
    admin = createClient({ url: server.url });
    await admin.connect();
  });
  afterAll(async () => {
    admin.destroy();
    await server.remove();
  });
  beforeEach(async () => {
    await admin.flushAll();
    const store = await openRedis(server.url, { clock });
    take({ server, admin, store });
    return () => store.close();
  });
}
