// From a url to where the server is: http://host[:port][/path][?tlsCa=…], https: with TLS. The token is an option of its own:
// an address ends up in logs and process lists, so one that carries a user or a password is refused, and never shown.
import { invalid, shown } from '../../domain/errors.js';

export interface HttpAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** What stands before /v1, without a slash at its end: '' unless a proxy adds a path. */
  readonly path: string;
  /** A PEM file with the authority that signed the server's certificate. */
  readonly tlsCa: string | undefined;
  /** For messages. */
  readonly shown: string;
}

const EXAMPLE = 'for example http://127.0.0.1:7420';
const KNOWN = ['tlsCa'] as const;

export function parseHttpUrl(url: string): HttpAddress {
  if (/^https?:\/\/[^/?#]*@/i.test(url)) {
    throw invalid(
      'the url carries a user or a password: give connect a token instead (option token, HOLDFAST_TOKEN for the command)',
    );
  }
  const parsed = parsedUrl(url);
  const tls = parsed.protocol === 'https:';
  if (parsed.hash !== '') throw invalid(`the url of a server has no part after #, ${EXAMPLE}`);
  const tlsCa = caOf(parsed.searchParams);
  if (tlsCa !== undefined && !tls) throw invalid('tlsCa is for https: urls: write https: to use TLS');
  const port = parsed.port === '' ? (tls ? 443 : 80) : Number(parsed.port);
  return {
    tls,
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port,
    path: parsed.pathname.replace(/\/+$/, ''),
    tlsCa,
    shown: `${parsed.protocol}//${parsed.hostname}:${port}${parsed.pathname.replace(/\/+$/, '')}`,
  };
}

function parsedUrl(url: string): URL {
  const hasHost = /^https?:\/\/[^/?#]/i.test(url);
  try {
    if (hasHost) return new URL(url);
  } catch {
    // said below
  }
  throw invalid(`${shown(url.replace(/\?.*$/s, ''))} names no server, ${EXAMPLE}`);
}

/** Whatever is in the query may be a secret that stands in the wrong place: only names we know are shown. */
function caOf(query: URLSearchParams): string | undefined {
  for (const name of query.keys()) {
    if (/token|secret|password|auth|key/i.test(name))
      throw invalid('a token does not belong into a url: give it to connect as the option token');
    if (!(KNOWN as readonly string[]).includes(name))
      throw invalid(`the query of the url has a name that is not known: known are ${KNOWN.join(', ')}`);
    if (query.getAll(name).length > 1) throw invalid(`${name} stands more than once in the url`);
  }
  const path = query.get('tlsCa') ?? undefined;
  if (path === '') throw invalid('tlsCa is the path of a PEM file');
  return path;
}
