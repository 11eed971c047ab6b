// The HTTP store for the conformance suite: real sockets to a server in this process, which stands on a store whose clock is a
// fake one. Only the routes of the store are served; the clocks of server and client are real.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import type { Clock } from '../../src/domain/clock.js';
import type { TokenAccess } from '../../src/server/access/index.js';
import { openHttp } from '../../src/stores/http/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/index.js';
import { storeApp } from './store-app.js';

const clock: Clock = systemClock();

export interface StoreServer {
  readonly port: number;
  readonly access: TokenAccess;
  close(): Promise<void>;
}

export async function serveStore(store: Store): Promise<StoreServer> {
  const { app, access, drain } = storeApp(store, clock);
  await access.start();
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    access,
    async close() {
      drain();
      access.stop();
      const closed = once(server, 'close');
      server.close();
      (server as unknown as { closeAllConnections(): void }).closeAllConnections();
      await closed;
    },
  };
}

/** `behind` opens what the server stands on. */
export function httpHarness(name: string, behind: StoreHarness): StoreHarness {
  const open = async (opening: () => Promise<Opened>): Promise<Opened> => {
    const inner = await opening();
    const server = await serveStore(inner.store);
    const opened: Store[] = [];
    const connect = async (): Promise<Store> => {
      const store = await openHttp(`http://127.0.0.1:${server.port}`, { clock });
      opened.push(store);
      return store;
    };
    return {
      ...inner,
      store: await connect(),
      another: connect,
      // The store's hints go by the fake clock, their way here takes real time.
      letHintsArrive: async () => {
        await inner.passTime(20);
        await pause(2);
      },
      async close() {
        for (const store of opened) await store.close();
        await server.close();
        await inner.close();
      },
    };
  };
  return {
    ...behind,
    name,
    capabilities: { ...behind.capabilities, handsOver: false }, // who asks over HTTP claims by itself (S7)
    open: () => open(() => behind.open()),
    ...(behind.openNearLimit ? { openNearLimit: () => open(behind.openNearLimit!) } : {}),
  };
}
