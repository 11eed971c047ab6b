// One route as data: its place, who may ask, what it takes and answers as zod schemas, and its handler. The same schemas
// check what comes in and become the OpenAPI document, so that the two cannot differ.
import type { z } from '@hono/zod-openapi';
import { invalid, LeaseError } from '../domain/errors.js';
import { audit, requireRole, type AuditFacts } from './access/index.js';
import type { App } from './app.js';
import type { Caller, Role, ServerContext, ServerRequest } from './context.js';
import { problemSchema } from './schemas/common.js';

const EVENT_STREAM = 'text/event-stream';

type Shape = z.ZodType<Record<string, unknown>>;

export interface Asked<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  readonly request: ServerRequest;
  /** Aborts when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /** Adds to the line that is written about a change. */
  readonly note: (facts: Partial<AuditFacts>) => void;
}
export type AnyAsked = Asked<unknown, unknown, unknown>;

interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly isProblem?: boolean;
  /** application/json unless said otherwise. */
  readonly type?: string;
}

interface RouteParts<P, Q, B> {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{name}` for a part of the path. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** The least role that may ask. */
  readonly role: Role;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answers: Readonly<Record<number, Answer>>;
  /** The handler writes the lines about what it changes: it may be many things, or none. */
  readonly auditsItself?: boolean;
}

export interface Route extends RouteParts<Shape, Shape, z.ZodType> {
  handle(asked: AnyAsked, context: ServerContext): Promise<Response> | Response;
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined;

export function route<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  parts: RouteParts<P, Q, B>,
  handle: (asked: Asked<Out<P>, Out<Q>, Out<B>>, context: ServerContext) => Promise<Response> | Response,
): Route {
  return { ...parts, handle } as unknown as Route;
}

export function mount(app: App, routes: readonly Route[], context: ServerContext): void {
  for (const one of routes) {
    app.openAPIRegistry.registerPath(describe(one));
    const isChange = one.method !== 'get' && one.auditsItself !== true;
    const handler = isChange
      ? (request: ServerRequest) => changed(one, request, context)
      : (request: ServerRequest) => looked(one, request, context);
    app.on(one.method.toUpperCase(), one.path.replaceAll(/\{(\w+)\}/g, ':$1'), handler);
  }
}

/** Hono asks the handler of GET for a HEAD too and drops the body: a stream would begin that nobody reads and nobody ends. */
function looked(one: Route, request: ServerRequest, context: ServerContext): Promise<Response> | Response {
  const asked = asking(one, request);
  if (request.req.method !== 'HEAD' || one.answers[200]?.type !== EVENT_STREAM) return one.handle(asked, context);
  return new Response(null, { headers: { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' } });
}

/** Every change leaves one line in the log, whatever came of it (W3). */
async function changed(one: Route, request: ServerRequest, context: ServerContext): Promise<Response> {
  const { operationId: operation } = one;
  let noted: () => Partial<AuditFacts> = () => ({});
  try {
    const asked = asking(one, request);
    noted = () => asked.noted;
    const response = await one.handle(asked, context);
    audit(context.logger, request.get('caller'), { operation, outcome: 'ok', ...noted() });
    return response;
  } catch (error) {
    const outcome = error instanceof LeaseError ? error.code : 'INTERNAL';
    audit(context.logger, request.get('caller'), { operation, ...noted(), outcome });
    throw error;
  }
}

/** One request on its way through a route. Own properties all: handlers take it apart. */
function asking(one: Route, request: ServerRequest): AnyAsked & { noted: Partial<AuditFacts> } {
  const { req } = request;
  const caller = request.get('caller');
  requireRole(caller, one.role);
  const asked = {
    params: one.params && check(one.params, req.param(), 'the path'),
    query: checkQuery(one, req.url.includes('?') ? req.queries() : {}),
    body: one.body && check(one.body, request.get('body'), 'the body'),
    caller,
    request,
    noted: {} as Partial<AuditFacts>,
    note: (facts: Partial<AuditFacts>): void => {
      asked.noted = { ...asked.noted, ...facts };
    },
    get signal() {
      return req.raw.signal;
    },
  };
  const { id } = (asked.params ?? {}) as { id?: string };
  if (id !== undefined) asked.noted = { leaseId: id };
  return asked;
}

/** The schema's refusal in one sentence that names the field. */
function check(schema: z.ZodType, value: unknown, where: string): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const path = (issue?.path ?? []).map(String).join('.');
  throw invalid(`${path === '' ? where : `${path} in ${where}`}: ${issue?.message ?? 'not as expected'}`);
}

/** A key given twice has no meaning, and an unknown one is a mistake. */
function checkQuery(one: Route, given: Record<string, string[]>): unknown {
  const query: Record<string, string> = {};
  for (const [key, values] of Object.entries(given)) {
    if (values.length !== 1) throw invalid(`${key} in the query is given ${values.length} times: give it once`);
    query[key] = values[0] ?? '';
  }
  if (one.query) return check(one.query, query, 'the query');
  const [unknown] = Object.keys(query);
  if (unknown === undefined) return undefined;
  throw invalid(`${one.path} takes no query, got ${JSON.stringify(unknown.slice(0, 80))}`);
}

type RouteConfig = Parameters<App['openAPIRegistry']['registerPath']>[0];
type ResponseConfig = RouteConfig['responses'][string];

const PROBLEM = { 'application/problem+json': { schema: problemSchema } };

function responseOf({ description, schema, isProblem, type = 'application/json' }: Answer): ResponseConfig {
  if (isProblem === true) return { description, content: PROBLEM };
  return { description, ...(schema === undefined ? {} : { content: { [type]: { schema } } }) };
}

function describe(one: Route): RouteConfig {
  const { method, path, operationId, tag, summary, params, query, body, answers, role } = one;
  const responses = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)] as const);
  return {
    method,
    path,
    operationId,
    tags: [tag],
    summary,
    description: `Needs the role ${role}.`,
    request: {
      ...(params === undefined ? {} : { params: params as z.ZodObject }),
      ...(query === undefined ? {} : { query: query as z.ZodObject }),
      ...(body === undefined ? {} : { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: {
      ...Object.fromEntries(responses),
      default: { description: 'What went wrong, with the code of the error', content: PROBLEM },
    },
    security: [{ token: [] }, {}],
  };
}
