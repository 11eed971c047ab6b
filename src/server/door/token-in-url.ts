// A token belongs into the Authorization header and nowhere else (W3): addresses end up in histories, logs and proxies. A
// request that carries one in its address is refused, whatever it asks, and told to have the token revoked.
import { withStatus } from '../problem.js';
import type { LeaseError } from '../../domain/errors.js';
import { TOKEN_ANYWHERE } from '../access/token.js';

const NAMES: ReadonlySet<string> = new Set(['token', 'access_token', 'auth', 'authorization', 'bearer', 'api_key']);

export function refuseTokenInUrl(url: string): LeaseError | undefined {
  if (!url.includes('?') && !url.includes('hf_')) return undefined;
  const isTold = decoded(url).search(TOKEN_ANYWHERE) !== -1;
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const isNamed = [...new URLSearchParams(query).keys()].some((key) => NAMES.has(key.toLowerCase()));
  if (!isTold && !isNamed) return undefined;
  return withStatus(
    400,
    'INVALID_ARGUMENT',
    'a token in an address is as good as told to everybody: send it as Authorization: Bearer, and have this one revoked',
  );
}

/** Text for a log line, whatever came in: no token is in it. */
export function withoutTokens(text: string): string {
  return text.replaceAll(TOKEN_ANYWHERE, 'hf_***');
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
