// `sqlite:/path/leases.db?cacheSize=64mb&synchronous=full&network=allow`: the path and the few things worth choosing.
import { isAbsolute, resolve } from 'node:path';
import { invalid } from '../../domain/errors.js';

export interface SqliteUrl {
  readonly path: string;
  readonly cacheKib: number;
  readonly synchronous: 'normal' | 'full';
  readonly allowNetwork: boolean;
}

const DEFAULT_CACHE_KIB = 16 * 1024;
const MAX_CACHE_KIB = 4 * 1024 * 1024;
const KNOWN = ['cacheSize', 'synchronous', 'network'];

export function parseSqliteUrl(url: string): SqliteUrl {
  const [, rest = url] = /^sqlite:(?:\/\/(?=\/))?(.*)$/is.exec(url) ?? [];
  const cut = rest.indexOf('?');
  const rawPath = cut === -1 ? rest : rest.slice(0, cut);
  const options = new URLSearchParams(cut === -1 ? '' : rest.slice(cut + 1));
  if (rawPath === '' || rawPath.includes('\0'))
    throw invalid(`${JSON.stringify(url)} names no file: write sqlite:/path/leases.db`);
  if (rawPath === ':memory:') throw invalid('sqlite: needs a file; for a store in memory connect to memory:');
  for (const key of options.keys()) {
    if (!KNOWN.includes(key))
      throw invalid(`unknown option ${JSON.stringify(key)} in the sqlite URL: known are ${KNOWN.join(', ')}`);
  }
  return {
    path: isAbsolute(rawPath) ? rawPath : resolve(rawPath),
    cacheKib: parseCacheSize(options.get('cacheSize')),
    synchronous: choose(options.get('synchronous'), 'synchronous', ['normal', 'full']),
    allowNetwork: choose(options.get('network'), 'network', ['refuse', 'allow']) === 'allow',
  };
}

function parseCacheSize(text: string | null): number {
  if (text === null) return DEFAULT_CACHE_KIB;
  const [, digits = '', unit = ''] = /^(\d{1,9})(kb|mb)$/i.exec(text) ?? [];
  const kib = Number(digits) * (unit.toLowerCase() === 'mb' ? 1024 : 1);
  if (digits === '' || kib < 64 || kib > MAX_CACHE_KIB) {
    throw invalid(`cacheSize is from 64kb to 4096mb, got ${JSON.stringify(text)}`);
  }
  return kib;
}

/** The first of `allowed` is the default. */
function choose<T extends string>(value: string | null, name: string, allowed: readonly [T, ...T[]]): T {
  if (value === null) return allowed[0];
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw invalid(`${name} in the sqlite URL is ${allowed.join(' or ')}, got ${JSON.stringify(value)}`);
  return found;
}
