// The server as a function from Request to Response, without a socket. In this order: the headers of every answer, whether it
// lives and is ready, the guards on the door with who asks, the route table. Everything thrown ends here as a problem+json.
//
// While the store is not there yet a smaller one stands in its place: it lives, and is not ready.
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { LeaseError } from '../domain/errors.js';
import type { Logger } from '../observe/logger.js';
import { redactError } from './access/index.js';
import type { Caller, ServerContext, ServerEnv } from './context.js';
import { door, securityHeaders } from './door/index.js';
import { describeApi } from './open-api.js';
import { mountPage } from './page.js';
import { internalProblem, problemResponse, withStatus } from './problem.js';
import { ReadinessCheck, type Readiness } from './readiness.js';
import { mount } from './route.js';
import { ROUTES } from './routes/index.js';
import { storeRoutes } from './store/routes.js';

export type App = OpenAPIHono<ServerEnv>;

export function createApp(context: ServerContext): App {
  const ready = new ReadinessCheck(context.store, context.clock);
  const app = bareApp(context.logger, async () => (context.isDraining() ? 'draining' : ready.look()));
  app.use(door(context));
  mount(app, ROUTES, context);
  mount(app, storeRoutes(context), context);
  describeApi(app, context.version);
  mountPage(app);
  return app;
}

/** Before the store has answered for the first time. The page is there already, and says what it waits for. */
export function createStartingApp(logger: Logger, isDraining: () => boolean): App {
  const app = bareApp(logger, () => (isDraining() ? 'draining' : 'starting'));
  mountPage(app);
  app.all('*', () => {
    throw new LeaseError('STORE_UNAVAILABLE', 'the server is starting: its store has not answered yet, try again soon');
  });
  return app;
}

function bareApp(logger: Logger, readiness: () => Promise<Readiness> | Readiness): App {
  const app: App = new OpenAPIHono<ServerEnv>();
  app.use(securityHeaders());
  app.get('/healthz', (c) => c.json({ ok: true }));
  app.get('/readyz', async (c) => {
    const state = await readiness();
    if (state === 'ready') return c.json({ ready: true, state });
    return c.json({ ready: false, state }, 503, { 'retry-after': '1' });
  });
  app.notFound((c) => {
    const detail = `there is no ${c.req.method} ${c.req.path.slice(0, 200)}: see /openapi.json for what there is`;
    return problemResponse(withStatus(404, 'INVALID_ARGUMENT', detail));
  });
  app.onError((error, c) => answerError(error, c, logger));
  return app;
}

/** What a caller may not see is taken out of what it is told (W3). */
function answerError(error: Error, c: Context<ServerEnv>, logger: Logger): Response {
  const caller = c.get('caller') as Caller | undefined;
  if (error instanceof LeaseError) return problemResponse(caller ? redactError(caller, error) : error);
  logger.error({ err: error, method: c.req.method, path: c.req.path }, 'a request met a bug');
  return internalProblem();
}
