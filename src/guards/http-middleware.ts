// The HTTP fence for hono, express and fastify: thin, over the one core of http-fence.ts. Each keeps the gate until the handler
// has finished: for hono that is when `next()` has; for the others, when the response was ended.
//
// A client that goes away ends no handler: the gate is kept for whatever the handler still does, until it ends its response,
// and at most `AFTER_CLOSE_MS` longer than its client, for a handler that will never end it.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '../domain/clock.js';
import { systemClock } from '../system-clock.js';
import { httpFence, type FencedRequest, type HttpFenceOptions } from './http-fence.js';
import type { FenceGate } from './gate.js';

const AFTER_CLOSE_MS = 30_000;

export interface MiddlewareOptions extends HttpFenceOptions {
  clock?: Clock;
}
interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}
type Next = (error?: unknown) => void;

/** `app.use('/orders/*', honoFence(gate))` */
export function honoFence(
  gate: FenceGate,
  options: HttpFenceOptions = {},
): (context: { readonly req: { readonly raw: Request } }, next: () => Promise<void>) => Promise<Response | undefined> {
  const fence = httpFence(gate, options);
  return async (context, next) => {
    const answer = await fence(context.req.raw, async () => next());
    return answer instanceof Response ? answer : undefined;
  };
}

/** `app.use('/orders', expressFence(gate))`. Express never throws out of `next`; what another one throws ends the response. */
export function expressFence(
  gate: FenceGate,
  { clock = systemClock(), ...options }: MiddlewareOptions = {},
): (request: NodeRequest, response: ServerResponse, next: Next) => void {
  const fence = httpFence(gate, options);
  return (request, response, next) => {
    const ended = responseEnded(response, clock);
    let hasBegun = false;
    const handled = fence(webLike(request, response), async () => {
      hasBegun = true;
      next();
      await ended;
    });
    handled
      .then(async (answer) => {
        if (!(answer instanceof Response)) return;
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      })
      .catch((error: unknown) => {
        if (hasBegun) throw error; // before plain node:http, `next` is the handler itself: it runs once, behind the gate
        next(error);
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  };
}

interface FastifyReply {
  readonly raw: ServerResponse;
  code(status: number): FastifyReply;
  headers(values: Record<string, string>): FastifyReply;
  send(body: string): FastifyReply;
}

/** `app.addHook('preHandler', fastifyFence(gate))` */
export function fastifyFence(
  gate: FenceGate,
  { clock = systemClock(), ...options }: MiddlewareOptions = {},
): (request: { readonly raw: NodeRequest }, reply: FastifyReply) => Promise<unknown> {
  const fence = httpFence(gate, options);
  return (request, reply) =>
    new Promise((resolve, reject) => {
      const ended = responseEnded(reply.raw, clock);
      const handled = fence(webLike(request.raw, reply.raw), async () => {
        resolve(undefined); // the handler runs now
        await ended;
      });
      handled
        .then(async (answer) => {
          if (!(answer instanceof Response)) return;
          const headers = Object.fromEntries(answer.headers);
          resolve(
            reply
              .code(answer.status)
              .headers(headers)
              .send(await answer.text()),
          );
        })
        .catch(reject);
    });
}

/** Resolves when the response was ended by whoever answers, or long after its client has gone. */
function responseEnded(response: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.end = (...args: unknown[]) => {
      resolve();
      return end(...args);
    };
    onClose(response, () => {
      if (response.writableEnded) resolve();
      else clock.after(AFTER_CLOSE_MS, resolve);
    });
  });
}

/** What comes before the fence takes its time, and a client that went meanwhile is not told of again. */
function onClose(response: ServerResponse, fn: () => void): void {
  if (response.closed || response.destroyed) fn();
  else response.once('close', fn);
}

function webLike(request: NodeRequest, response: ServerResponse): FencedRequest {
  const gone = new AbortController();
  onClose(response, () => gone.abort());
  const get = (name: string): string | null => {
    const value = request.headers[name.toLowerCase()];
    if (value === undefined) return null;
    return Array.isArray(value) ? value.join(', ') : value;
  };
  return { method: request.method ?? 'GET', headers: { get }, signal: gone.signal };
}
