// The port over HTTP (W2): one call, several calls in one round trip, and the stream of hints. What connects here is the HTTP
// store of this package; the shapes are the port's own, and PROTOCOL names their version.
import { z } from '@hono/zod-openapi';
import { checkNamespace } from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { mayRide } from '../../domain/riding-calls.js';
import { mayRead } from '../access/index.js';
import type { Caller, ServerContext, ServerRequest } from '../context.js';
import { Waits } from '../door/index.js';
import { destroyerOf } from '../event-outlet.js';
import { problemOf, type Problem } from '../problem.js';
import { route, type Asked, type Route } from '../route.js';
import { StoreCalls, type Asker, type Call } from './calls.js';
import { HintFeed } from './hint-feed.js';
import { HintHub, type HintKind, type HintListener } from './hint-hub.js';
import { portMethod } from './methods.js';
import { permitNamespace } from './permits.js';
import { Tickets } from './tickets.js';

/** Of the shapes on these routes. Another number is another language: the client says so instead of guessing. */
export const PROTOCOL = 1;
const MOST_CALLS = 64;
const MOST_TOPICS = 100;
const TAG = 'store';

const callSchema = z.strictObject({
  method: z.string().openapi({ example: 'time' }),
  namespace: z.string().optional(),
  args: z.array(z.unknown()),
});
const oneSchema = callSchema.omit({ method: true });
const batchSchema = z.strictObject({ calls: z.array(callSchema).min(1).max(MOST_CALLS) });
const topicsSchema = z.strictObject({
  wake: z.string().optional(),
  changed: z.string().optional(),
  settled: z.string().optional(),
});

export function storeRoutes(context: ServerContext): readonly Route[] {
  const tickets = new Tickets();
  const hub = new HintHub(context.store, tickets);
  const calls = new StoreCalls(context, tickets, (namespace) => hub.isHeard(namespace));
  const { access, clock, limits, draining } = context;
  const stays = new Waits(access, { most: limits.waits, mostPerToken: limits.hintStreamsPerToken }, draining);
  const hearing: Hearing = { clock, hub, calls, stays };
  return [
    route(
      {
        method: 'get',
        path: '/v1/store',
        operationId: 'describeStore',
        tag: TAG,
        summary: 'What stands behind this server, for clients that speak the port',
        role: 'read',
        answers: { 200: { description: 'The store and the version of its language' } },
      },
      ({ caller }) => json(describe(context, caller)),
    ),
    route(
      {
        method: 'post',
        path: '/v1/store/{method}',
        operationId: 'callStore',
        tag: TAG,
        summary: 'One call of the store port',
        role: 'read',
        params: z.strictObject({ method: z.string() }),
        body: oneSchema,
        answers: { 200: { description: 'The answer, in the shape of the port' } },
      },
      async ({ params, body, caller, request }) =>
        json(await calls.run({ ...body, method: params.method }, askerOf({ caller, request }))),
    ),
    route(
      {
        method: 'post',
        path: '/v1/batch',
        operationId: 'callStoreBatch',
        tag: TAG,
        summary: 'Several calls of the store port in one round trip, each answered for itself',
        role: 'read',
        body: batchSchema,
        answers: { 200: { description: 'An answer or a problem for each call, in order' } },
      },
      async ({ body, caller, request }) => {
        const asker = askerOf({ caller, request });
        const answers = await Promise.all(body.calls.map((call) => answer(calls, call, asker, context)));
        return json({ answers });
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/store/hints',
        operationId: 'hearHints',
        tag: TAG,
        summary: 'Hints of the store, for the tickets of this client (header Holdfast-Client) and for what it watches',
        role: 'read',
        query: topicsSchema,
        answers: { 200: { description: 'Events', type: 'text/event-stream' } },
      },
      ({ query, caller, request, signal }) => hear(hearing, query, { caller, request, signal }),
    ),
  ];
}

/** With the owner the caller is bound to: who is not told to act as another acts as that one. */
function describe({ store, version }: ServerContext, { owner }: Caller): object {
  return {
    protocol: PROTOCOL,
    version,
    kind: store.kind,
    namespace: store.namespace,
    sequences: store.sequences !== undefined,
    ...(owner === undefined ? {} : { owner }),
  };
}

type Who = Pick<Asked<unknown, unknown, unknown>, 'caller' | 'request'>;

/** A client's id is its own secret: who does not know it hears nothing of its tickets. */
function askerOf({ caller, request }: Who): Asker {
  return { caller, client: `${caller.tokenId ?? ''} ${clientOf(request)}` };
}

function clientOf(request: ServerRequest): string {
  const client = request.req.header('holdfast-client') ?? '';
  if (client.length > 64) throw invalid('Holdfast-Client is at most 64 characters');
  return client;
}

async function answer(
  calls: StoreCalls,
  call: Call,
  asker: Asker,
  { logger }: ServerContext,
): Promise<{ answer: object } | { problem: Problem }> {
  try {
    requireRiding(call);
    return { answer: await calls.run(call, asker) };
  } catch (error) {
    if (error instanceof LeaseError) return { problem: problemOf(error) };
    logger.error({ err: error, method: call.method }, 'a call of the store met a bug');
    const message = 'the server met an error of its own: its log says which';
    return { problem: problemOf(new LeaseError('STORE_UNAVAILABLE', message, { retryable: false })) };
  }
}

/** S18, S20: what one request makes the server do and keep is bounded. */
function requireRiding({ method, args }: Call): void {
  portMethod(method); // or there is none of that name
  if (mayRide(method, args)) return;
  throw invalid(`${method} may take long here and does not ride with others: send it by itself to /v1/store/${method}`);
}

interface Hearing {
  readonly clock: Clock;
  readonly hub: HintHub;
  readonly calls: StoreCalls;
  readonly stays: Waits;
}

/** Ends with its client, its token, or the server. */
function hear(
  { clock, hub, calls, stays }: Hearing,
  query: Readonly<Partial<Record<HintKind, string | undefined>>>,
  { caller, request, signal }: Who & { readonly signal: AbortSignal },
): Response {
  const { client } = askerOf({ caller, request });
  const topics = {
    wake: namespacesOf(query.wake, caller),
    changed: namespacesOf(query.changed, caller),
    settled: namespacesOf(query.settled, caller),
  };
  if (clientOf(request) === '') throw invalid('say who you are in the header Holdfast-Client');
  for (const namespace of Object.values(topics).flatMap((names) => [...names])) calls.storeOf(namespace, caller); // or refused
  const stay = stays.begin(caller, signal);
  const feed = new HintFeed({
    clock,
    destroy: destroyerOf(request),
    onEnd: () => {
      hub.leave(listener);
      stay.end();
    },
  });
  const listener: HintListener = { client, feed, topics, maySee: (stream) => mayRead(caller, stream) };
  hub.join(listener);
  stay.signal.addEventListener('abort', () => feed.end(), { once: true });
  if (stay.signal.aborted) feed.end();
  return new Response(feed.body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...LANGUAGE },
  });
}

function namespacesOf(text: string | undefined, caller: Caller): ReadonlySet<string> {
  const names = text === undefined || text === '' ? [] : text.split(',');
  if (names.length > MOST_TOPICS) throw invalid(`at most ${MOST_TOPICS} namespaces are heard over one stream`);
  for (const name of names) permitNamespace(caller, checkNamespace(name));
  return new Set(names);
}

const LANGUAGE = { 'holdfast-protocol': String(PROTOCOL) };

function json(body: object): Response {
  return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json', ...LANGUAGE } });
}
