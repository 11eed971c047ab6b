// The door: what every request passes before its route. In this order: no token in the address (W3), not by way of a foreign
// page or host (W4), known to the store as of the last second (W3), not too often, and its body within bounds (W5). A body is
// read only of a caller that is known. What is left beside the request: who asks, and what was sent.
import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Access, Caller, ServerEnv, ServerLimits, ServerRequest } from '../context.js';
import { isPagePath } from '../page.js';
import { readBody } from './body.js';
import { PROXY_HEADERS, refuseForeign, type Approach } from './foreign-requests.js';
import { RateLimit } from './rate-limit.js';
import { refuseTokenInUrl } from './token-in-url.js';

/** Operations of streams travel whole, many in one request. */
const LARGE_BODY_BYTES = 8 * 1_024 * 1_024;
const CALL_DEPTH = 8;
const LARGE_BODIES = /^\/v1\/(?:store\/|batch$|streams\b)/;
/** Answered without a token: whether the server lives, what it takes, and the page, which asks for a token itself. */
const PUBLIC = /^\/(?:healthz|readyz|openapi\.json|favicon\.ico)$/;
/** Wrong tokens of one address. Right ones are not slowed down by them. */
const FAILURES_PER_SECOND = 10;
const FAILURES_AT_ONCE = 100;

export interface DoorAccess extends Access {
  readonly hasTokens: boolean;
  readonly isKnown: boolean;
  readonly isFresh: boolean;
  refresh(): Promise<void>;
}

export interface DoorParts {
  readonly access: DoorAccess;
  readonly clock: Clock;
  readonly limits: ServerLimits;
}

export function door({ access, clock, limits }: DoorParts): MiddlewareHandler<ServerEnv> {
  const rate = new RateLimit(clock, limits.ratePerSecond, limits.rateBurst);
  const failures = new RateLimit(clock, FAILURES_PER_SECOND, FAILURES_AT_ONCE);
  const large = {
    bodyBytes: Math.max(limits.bodyBytes, LARGE_BODY_BYTES),
    // What a caller keeps may be as deep as any body, and stands inside a call.
    depth: limits.depth + CALL_DEPTH,
  };
  const known = (request: ServerRequest, address: string | undefined): Caller => {
    const caller = access.identify(request.req.header('authorization'));
    if (caller instanceof LeaseError) throw failures.take(address ?? '') ?? caller;
    return caller;
  };
  return async (c, next) => {
    refuse(refuseTokenInUrl(c.req.url));
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    const isPublic = isRead && (PUBLIC.test(c.req.path) || isPagePath(c.req.path));
    if (!isPublic && !access.isFresh) await access.refresh();
    const address = addressOf(c);
    // Before the first look at the store only what is public gets here: whether the server lives is told anybody.
    refuse(refuseForeign({ ...approachOf(c), isPublic, address }, access.hasTokens || !access.isKnown));
    if (!isPublic) {
      const caller = known(c, address);
      refuse(rate.take(caller.tokenId ?? ''));
      c.set('caller', caller);
    }
    c.set('body', await readBody(c.req.raw, LARGE_BODIES.test(c.req.path) ? large : limits));
    await next();
    socketOf(c)?.setTimeout?.(limits.unreadMs); // there is an answer to take now; whoever still waited kept no timer
  };
}

function refuse(refusal: LeaseError | undefined): void {
  if (refusal) throw refusal;
}

function approachOf({ req }: ServerRequest): Omit<Approach, 'address' | 'isPublic'> {
  return {
    method: req.method,
    host: req.header('host'),
    origin: req.header('origin'),
    fetchSite: req.header('sec-fetch-site'),
    contentType: req.header('content-type'),
    proxyHeader: PROXY_HEADERS.find((name) => req.header(name) !== undefined),
  };
}

/** Where the app runs without a socket there is no address to judge. */
function addressOf(request: ServerRequest): string | undefined {
  return socketOf(request)?.remoteAddress;
}

function socketOf({ env }: ServerRequest): { remoteAddress?: string; setTimeout?(ms: number): void } | undefined {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: ReturnType<typeof socketOf> } };
  return incoming?.socket;
}
