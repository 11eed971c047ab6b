// The headers of every answer (W5), whoever gives it: routes, refusals at the door, and what Node answers before a request is
// one. The policy allows what the page needs from this very server and nothing else: no inline script, no frame, no other host.
import type { MiddlewareHandler } from 'hono';

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
const ENTRIES = Object.entries(SECURITY_HEADERS);
const STRICT_TRANSPORT = 'max-age=31536000';

/** The first middleware of all: errors have become answers when it sees them. */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { headers } = c.res;
    for (const [name, value] of ENTRIES) headers.set(name, value);
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
    if (c.req.url.startsWith('https:')) headers.set('strict-transport-security', STRICT_TRANSPORT);
  };
}
