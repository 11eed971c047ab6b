// `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=/path`: told from other text here, understood by
// the driver. What is ever shown of it is host, port and database.
import { invalid, shown, type LeaseError } from '../../domain/errors.js';
import { codeOf } from './translate-error.js';

const EXAMPLE = 'postgres://user@host:5432/database';
const AWAKE = 'awake=';

export function checkPostgresUrl(url: unknown, name = 'the url'): string {
  if (typeof url === 'string' && /^postgres(?:ql)?:\/\//i.test(url)) return url;
  throw invalid(`${name} does not begin with postgres://: write ${EXAMPLE}`);
}

/**
 * The url without what is ours in it, for the driver: whether this process stays awake for answers that are nearly there
 * (stores/protocol/awake.ts).
 */
export function readAwake(url: string): { readonly url: string; readonly awake: boolean } {
  const [before, search, ...rest] = url.split('?');
  const fields = search?.split('&') ?? [];
  const others = fields.filter((field) => !field.startsWith(AWAKE));
  const value = fields.findLast((field) => field.startsWith(AWAKE))?.slice(AWAKE.length) ?? 'true';
  if (value !== 'true' && value !== 'false') throw invalid(`awake is true or false, got ${shown(value)}`);
  const query = [others.join('&'), ...rest].join('?');
  return { url: query === '' ? (before as string) : `${before}?${query}`, awake: value === 'true' };
}

/** `postgres:` says which store, and nothing else: for a caller who brings a pool. */
export function isBareScheme(url: string): boolean {
  return /^postgres(?:ql)?:(?:\/\/\/?)?$/i.test(url);
}

/** What the driver could not read. Its error has the url in it, and the url may have a password: it is not passed on. */
export function badUrl(error: unknown, name = 'the url'): LeaseError {
  const { path, message } = error as { readonly path?: unknown; readonly message?: unknown };
  if (typeof path === 'string') {
    return invalid(`${name} names a file that cannot be read (${codeOf(error)}): ${path}`, { path });
  }
  const why = codeOf(error) === 'ERR_INVALID_URL' || typeof message !== 'string' ? '' : ` (${message})`;
  return invalid(`${name} cannot be read${why}: write ${EXAMPLE}, with special characters of the password as %XX`);
}

interface Address {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
}

/** For messages and facts. */
export function serverName({ host, port, database }: Address): string {
  return `${host ?? 'localhost'}:${port ?? 5432}/${database ?? ''}`;
}
