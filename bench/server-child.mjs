// The server of the benchmarks, in a process of its own: node server-child.mjs serve STORE, or fixed. `fixed` is the same
// server, with the same door, whose two lease routes answer fixed JSON. Says its port; answers `memory` with what it uses.
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { silentLogger } from '../dist/observe/logger.js';
import { systemClock } from '../dist/index.js';
import { TokenAccess } from '../dist/server/access/index.js';
import { boundedListener, door, guardServer, securityHeaders, serverOptions } from '../dist/server/door/index.js';
import { DEFAULT_LIMITS, serve } from '../dist/server/index.js';
import { MemoryStore } from '../dist/stores/memory/index.js';

const [what, store] = process.argv.slice(2);
const limits = { ...DEFAULT_LIMITS, ratePerSecond: 1_000_000, rateBurst: 1_000_000 };
const FIXED = {
  id: '0mi0w4x3kQv5ZkqJm3T1sYpA8Rw2',
  parts: [{ name: 'bench/1', scope: 'node', mode: 'exclusive' }],
  ...{ owner: 'bench', epoch: 1_763_230_000_000_001, status: 'active', ttlMs: 30_000, renewals: 0, maxRenewals: -1 },
  ...{ acquiredAt: '2026-01-01T00:00:00.000Z', renewedAt: '2026-01-01T00:00:00.000Z', skewMs: 0, remainingMs: 30_000 },
  ...{ expiresAt: '2026-01-01T00:00:30.000Z', storeNow: '2026-01-01T00:00:00.000Z' },
};

async function listenFixed() {
  const clock = systemClock();
  const access = new TokenAccess({ store: new MemoryStore({ clock }), clock, logger: silentLogger });
  await access.start();
  const app = new Hono();
  app.use(securityHeaders());
  app.use(door({ access, clock, limits }));
  app.post('/v1/leases', (c) => c.json(FIXED, 201));
  app.post('/v1/leases/:id/release', (c) => c.json({ outcome: 'released', record: FIXED }));
  const listener = getRequestListener((request, env) => app.fetch(request, env), { hostname: '127.0.0.1' });
  const server = createServer(
    serverOptions(limits),
    boundedListener((incoming, outgoing) => void listener(incoming, outgoing)),
  );
  guardServer(server, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function listenServed() {
  const server = await serve({ store, port: 0, limits });
  await server.ready;
  return server.port;
}

process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ bytes: heapUsed + external });
});
process.on('disconnect', () => process.exit(0));
process.send({ port: await (what === 'fixed' ? listenFixed() : listenServed()) });
