// LeaseError -> problem+json (RFC 9457): { type, title, status, code, detail, retryable, ...facts }. Every answer that is not
// a success has this shape. A failure of the server's own shows its sentence and nothing of its details; what is no
// LeaseError is a bug: it is logged, and the client is told only that.
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';

const STATUS: Readonly<Record<LeaseErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  ACQUIRE_TIMEOUT: 409,
  ACQUIRE_ABORTED: 409,
  LEASE_LOST: 409,
  STALE_EPOCH: 409,
  NOT_HELD: 409,
  MAX_RENEWALS: 409,
  MAX_HOLD: 409,
  DEADLOCK: 409,
  SEQUENCE_SETTLED: 409,
  RATE_LIMITED: 429,
  STORE_UNAVAILABLE: 503,
  STORE_INCOMPATIBLE: 503,
  SHUTTING_DOWN: 503,
};
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Content too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  431: 'Request header fields too large',
  500: 'Internal server error',
  503: 'Service unavailable',
};
/** Members of their own; a detail of the same name must not take their place. */
const RESERVED: ReadonlySet<string> = new Set(['type', 'title', 'status', 'code', 'detail', 'retryable', 'httpStatus']);
const RETRY_AFTER_SECONDS = 1;

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: LeaseErrorCode | 'INTERNAL';
  detail: string;
  retryable: boolean;
  [fact: string]: unknown;
}

/** `details.httpStatus` names another status than the code's own. */
export function problemOf({ code, message, retryable, details }: LeaseError): Problem {
  const { httpStatus } = details;
  const status = typeof httpStatus === 'number' ? httpStatus : STATUS[code];
  return {
    ...(status < 500 ? factsOf(details) : {}),
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    code,
    detail: message,
    retryable,
  };
}

export function problemResponse(error: LeaseError): Response {
  return respond(problemOf(error), retryAfterSeconds(error));
}

/** What is no LeaseError has been logged by whoever calls this. */
export function internalProblem(): Response {
  const detail = 'the server met an error of its own: its log says which';
  const title = TITLES[500] ?? '';
  return respond({ type: 'about:blank', title, status: 500, code: 'INTERNAL', detail, retryable: false }, undefined);
}

/** The error for a status that has no code of its own. */
export function withStatus(
  httpStatus: number,
  code: LeaseErrorCode,
  message: string,
  details: Record<string, unknown> = {},
): LeaseError {
  return new LeaseError(code, message, { details: { ...details, httpStatus } });
}

function respond(problem: Problem, retryAfter: number | undefined): Response {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer';
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

function retryAfterSeconds({ code, retryable, details }: LeaseError): number | undefined {
  const { retryAfterMs } = details;
  if (typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)) {
    return Math.max(1, Math.ceil(retryAfterMs / 1_000));
  }
  return retryable || code === 'SHUTTING_DOWN' ? RETRY_AFTER_SECONDS : undefined;
}

function factsOf(details: Record<string, unknown>): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(details)) {
    const name = key === 'status' ? 'leaseStatus' : key;
    if (!RESERVED.has(name)) facts[name] = value;
  }
  return facts;
}
