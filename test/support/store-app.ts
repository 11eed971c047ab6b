// The server's door and the routes of its store, without a socket: what clients of the HTTP store talk to.
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Clock } from '../../src/domain/clock.js';
import { LeaseError } from '../../src/domain/errors.js';
import { silentLogger } from '../../src/observe/logger.js';
import { TokenAccess } from '../../src/server/access/index.js';
import type { App } from '../../src/server/app.js';
import { DEFAULT_LIMITS, type ServerContext, type ServerEnv } from '../../src/server/context.js';
import { door } from '../../src/server/door/index.js';
import { internalProblem, problemResponse } from '../../src/server/problem.js';
import { mount } from '../../src/server/route.js';
import { storeRoutes } from '../../src/server/store/routes.js';
import type { Store } from '../../src/stores/store.js';

export interface StoreApp {
  readonly app: App;
  readonly access: TokenAccess;
  /** Streams end, nothing new waits. */
  readonly drain: () => void;
}

/** Tests ask faster, and let more wait, than one client in production may. */
const LIMITS = { ...DEFAULT_LIMITS, ratePerSecond: 1_000_000, rateBurst: 1_000_000, waitsPerToken: 100_000 };

/** Tokens are followed from `access.start()` on. */
export function storeApp(store: Store, clock: Clock): StoreApp {
  const access = new TokenAccess({ store, clock, logger: silentLogger });
  const draining = new AbortController();
  const isDraining = (): boolean => draining.signal.aborted;
  const parts = { store, clock, access, logger: silentLogger, limits: LIMITS, version: '0.0.0', isDraining };
  // The server's own services are no part of this: clients here are admins, and recover by themselves.
  const recovery = { leased: () => undefined, saw: () => undefined };
  const context = { ...parts, recovery, draining: draining.signal } as unknown as ServerContext;
  const app = new OpenAPIHono<ServerEnv>();
  app.onError((error) => (error instanceof LeaseError ? problemResponse(error) : internalProblem()));
  app.use(door(context));
  mount(app, storeRoutes(context), context);
  return { app, access, drain: () => draining.abort() };
}
