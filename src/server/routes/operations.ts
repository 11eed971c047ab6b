// Keeping watch over HTTP: events as they happen, metrics, alerts, figures, the doctor. What each of them means is said where it is
// made; here they get an address.
import { z } from '@hono/zod-openapi';
import { isoTime } from '../../domain/lease.js';
import { diagnose } from '../../doctor/diagnose.js';
import { requireWhole } from '../access/index.js';
import { route, type Route } from '../route.js';
import { cursorText, nameText } from '../schemas/common.js';
import { alertsSchema, diagnosisSchema, figuresQuery, figuresSchema } from '../schemas/watching.js';

const tag = 'operations';

const events = route(
  {
    method: 'get',
    path: '/v1/events',
    operationId: 'followEvents',
    tag,
    summary: 'Events as they happen, as server-sent events; `Last-Event-ID` resumes',
    role: 'read',
    query: z.strictObject({
      prefix: nameText.optional(),
      type: z.string().max(64).optional(),
      after: cursorText.optional(),
    }),
    answers: {
      200: {
        description: 'One event each, its id the position to resume at',
        type: 'text/event-stream',
        schema: z.string(),
      },
    },
  },
  ({ query, caller, request }, context) => context.events.open(request, caller, query),
);

const metrics = route(
  {
    method: 'get',
    path: '/metrics',
    operationId: 'readMetrics',
    tag,
    summary: 'Metrics in the text format of Prometheus',
    role: 'read',
    answers: { 200: { description: 'The metrics', type: 'text/plain', schema: z.string() } },
  },
  async (_, { observing }) =>
    new Response(await observing.text(), { headers: { 'content-type': observing.contentType } }),
);

const alerts = route(
  {
    method: 'get',
    path: '/v1/alerts',
    operationId: 'listAlerts',
    tag,
    summary: 'Every alert and how it stands, the same on every server',
    role: 'read',
    answers: { 200: { description: 'The alerts', schema: alertsSchema } },
  },
  async ({ request }, { observing }) => request.json({ items: await observing.alerts() }),
);

const figures = route(
  {
    method: 'get',
    path: '/v1/figures',
    operationId: 'readFigures',
    tag,
    summary: 'Running sums of the last hour as this server sampled them; `after` goes on',
    role: 'read',
    query: figuresQuery,
    answers: { 200: { description: 'Samples, the oldest first', schema: figuresSchema } },
  },
  ({ query: { after }, request }, { observing }) => {
    const { items, ...rest } = observing.figures(after === undefined ? 0 : Date.parse(after));
    return request.json({ ...rest, items: items.map(({ at, ...sample }) => ({ at: isoTime(at), ...sample })) });
  },
);

const doctor = route(
  {
    method: 'get',
    path: '/v1/doctor',
    operationId: 'diagnose',
    tag,
    summary: 'What is wrong, how it shows, what to do',
    role: 'read',
    query: z.strictObject({ resource: nameText.optional() }),
    answers: { 200: { description: 'The findings, the worst first', schema: diagnosisSchema } },
  },
  async ({ query: { resource }, caller, request, signal }, { store, clock }) => {
    requireWhole(caller); // of one name it also tells who holds what else
    return request.json(await diagnose(store, { clock, resource, signal }));
  },
);

export const operationRoutes: readonly Route[] = [events, metrics, alerts, figures, doctor];
