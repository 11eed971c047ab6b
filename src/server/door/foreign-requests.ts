// What a browser on somebody else's page could be made to send (W4), refused before anything is looked at. While no token was
// ever made everybody is admin, so the door is open to this machine alone: by its address, and by a `Host` that means it (a
// name that was made to point here, "DNS rebinding", does not). What a proxy on this machine passes on comes from anywhere, and
// is told by the headers proxies add. In any case a page of another origin gets nothing but what is public, by whichever method:
// reading a stream seals it (N4). Nor is anything changed by a request that says no `application/json`, which no page can send
// elsewhere without being asked first.
import type { LeaseError } from '../../domain/errors.js';
import { withStatus } from '../problem.js';

export interface Approach {
  readonly method: string;
  /** Whoever reads this may know it, and it changes nothing. */
  readonly isPublic: boolean;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: browsers say so themselves. */
  readonly fetchSite: string | undefined;
  readonly contentType: string | undefined;
  /** The header by which a proxy says that it passed the request on, if there is one. */
  readonly proxyHeader: string | undefined;
  /** Of the peer; undefined where there is no socket. */
  readonly address: string | undefined;
}

/** What proxies add. One that adds none of them cannot be told from a client of this machine. */
export const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What browsers say of a page's own requests, and of an address that was typed. Another port is another origin. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);
const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;
const LOOPBACK_V4 = /^127(?:\.\d{1,3}){3}$/;

/** The first thing that is wrong with a request's way here, if anything is. */
export function refuseForeign(approach: Approach, hasTokens: boolean): LeaseError | undefined {
  const { method, isPublic, host, origin, fetchSite, contentType, proxyHeader, address } = approach;
  if (!hasTokens && (!isLoopbackHost(host) || (address !== undefined && !isLoopbackAddress(address)))) {
    return withStatus(
      403,
      'FORBIDDEN',
      'without tokens this server answers only this machine, by the name localhost: make a token with `holdfast token create`',
    );
  }
  if (!hasTokens && proxyHeader !== undefined) {
    return withStatus(
      403,
      'FORBIDDEN',
      `without tokens this server answers only this machine, and ${proxyHeader} says that a proxy passed this on: make a token with \`holdfast token create\``,
    );
  }
  if (isPublic) return undefined;
  const isForeign = origin !== undefined && !isSameHost(origin, host);
  if (isForeign || (fetchSite !== undefined && !OWN_SITES.has(fetchSite)))
    return withStatus(403, 'FORBIDDEN', 'a page of another origin is told nothing here, and changes nothing');
  if (SAFE_METHODS.has(method)) return undefined;
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return undefined;
  return withStatus(415, 'INVALID_ARGUMENT', 'whatever changes something is sent as content-type: application/json');
}

/** A host as `--host` names it or a `Host` header says it, with or without a port. */
export function isLoopbackHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  if (bracketed !== undefined) return isLoopbackAddress(bracketed);
  const name = plain?.toLowerCase() ?? host;
  return name === 'localhost' || isLoopbackAddress(name);
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, '');
  return plain === '::1' || LOOPBACK_V4.test(plain);
}

/** By host and port: behind something that ends TLS the scheme differs. */
function isSameHost(origin: string, host: string | undefined): boolean {
  const [, there] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return there !== undefined && host !== undefined && there.toLowerCase() === host.toLowerCase();
}
