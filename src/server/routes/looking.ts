// Looking over HTTP (A8): one resource, who waits, the history as JSON or CSV, the clock, the wait graph, and who asks. Nothing
// here changes anything; a caller's prefix bounds what it sees (W3).
import type { LeaseEvent } from '../../domain/events.js';
import { toRecord } from '../../domain/lease.js';
import { boundFilter, requireNames, visibleEvent, visibleGraph, visibleLeases } from '../access/index.js';
import type { Caller } from '../context.js';
import { destroyerOf } from '../event-outlet.js';
import { historyCsv } from '../history-csv.js';
import { route, type Route } from '../route.js';
import { recordPage, ticketQuery } from '../schemas/leases.js';
import {
  historyPage,
  historyQuery,
  lookupQuery,
  lookupSchema,
  resourceQuery,
  resourceSchema,
  timeSchema,
  waitGraphSchema,
  whoamiSchema,
} from '../schemas/looking.js';
import { defined, page } from './answers.js';

const tag = 'looking';

const tickets = route(
  {
    method: 'get',
    path: '/v1/tickets',
    operationId: 'listTickets',
    tag,
    summary: 'Who waits, a page at a time',
    role: 'read',
    query: ticketQuery,
    answers: { 200: { description: 'A page', schema: recordPage } },
  },
  async ({ query, caller, request }, { leases }) =>
    request.json(
      page(caller, await leases.list(boundFilter(caller, { ...defined(query), status: 'pending' as const }))),
    ),
);

const lookup = route(
  {
    method: 'get',
    path: '/v1/lookup',
    operationId: 'lookUpLeases',
    tag,
    summary: 'Several leases or tickets by id, as they are now; unknown ones are left out',
    role: 'read',
    query: lookupQuery,
    answers: { 200: { description: 'The records', schema: lookupSchema } },
  },
  async ({ query: { ids }, caller, request }, { desk }) => {
    const { items } = await desk.ask('get', (store) => store.get(ids));
    const known = items.flatMap((item) => (item ? [toRecord(item)] : []));
    return request.json({ items: visibleLeases(caller, known) });
  },
);

const resource = route(
  {
    method: 'get',
    path: '/v1/resource',
    operationId: 'showResource',
    tag,
    summary: 'One resource: its holders, its queue, its last events',
    role: 'read',
    query: resourceQuery,
    answers: { 200: { description: 'What is known of it', schema: resourceSchema } },
  },
  async ({ query, caller, request }, { leases }) => {
    requireNames(caller, [query.name]);
    const { holders, queue, history, ...standing } = await leases.show(
      query.name,
      query.history === undefined ? {} : { history: query.history },
    );
    return request.json({
      holders: visibleLeases(caller, holders),
      queue: visibleLeases(caller, queue),
      ...standing,
      history: visibleEvents(caller, history),
    });
  },
);

const history = route(
  {
    method: 'get',
    path: '/v1/history',
    operationId: 'readHistory',
    tag,
    summary: 'What happened, newest first; as CSV with `format=csv` or `Accept: text/csv`',
    role: 'read',
    query: historyQuery,
    answers: { 200: { description: 'A page, or, as CSV, up to 100,000 rows', schema: historyPage } },
  },
  async ({ query, caller, request }, { leases, logger }) => {
    const { format, limit, cursor, ...wanted } = query;
    const filter = boundFilter(caller, defined(wanted));
    const read = async (
      at: string | undefined,
      most: number | undefined,
    ): Promise<{ items: LeaseEvent[]; cursor?: string }> => {
      const { items, ...rest } = await leases.history({ ...filter, ...defined({ cursor: at, limit: most }) });
      return { items: visibleEvents(caller, items), ...rest };
    };
    const isCsv = format === 'csv' || (format === undefined && prefersCsv(request.req.header('accept')));
    if (!isCsv) return request.json(await read(cursor, limit));
    const destroy = destroyerOf(request);
    const cut = (error: unknown): void => {
      logger.error({ err: error }, 'the history could not be read to its end: a client that reads it as CSV is cut');
      destroy?.();
    };
    const rows = await historyCsv(limit, (at, most) => read(at ?? cursor, most), cut);
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="history.csv"',
    };
    return new Response(rows, { headers });
  },
);

function visibleEvents(caller: Caller, events: readonly LeaseEvent[]): LeaseEvent[] {
  return events.flatMap((event) => visibleEvent(caller.prefix, event) ?? []);
}

function prefersCsv(accept = ''): boolean {
  return /^\s*text\/csv\b/i.test(accept);
}

const time = route(
  {
    method: 'get',
    path: '/v1/time',
    operationId: 'readTime',
    tag,
    summary: "The store's clock, and how the server's wall clock stands against it",
    role: 'read',
    answers: { 200: { description: 'The time', schema: timeSchema } },
  },
  async ({ request }, { leases }) => request.json(await leases.now()),
);

const waitGraph = route(
  {
    method: 'get',
    path: '/v1/wait-graph',
    operationId: 'readWaitGraph',
    tag,
    summary: 'Who waits for whom, from one snapshot',
    role: 'read',
    answers: { 200: { description: 'The tickets and what they wait for', schema: waitGraphSchema } },
  },
  async ({ caller, request }, { leases }) => request.json(visibleGraph(caller, await leases.waitGraph())),
);

const whoami = route(
  {
    method: 'get',
    path: '/v1/whoami',
    operationId: 'whoami',
    tag,
    summary: 'Who asks, what it may do, and where it is',
    role: 'read',
    answers: { 200: { description: 'The caller', schema: whoamiSchema } },
  },
  ({ caller, request }, { store, version }) =>
    request.json({ ...defined(caller), namespace: store.namespace, store: store.kind, version }),
);

export const lookingRoutes: readonly Route[] = [tickets, lookup, resource, history, time, waitGraph, whoami];
