// The socket's side of a server: plain, or with a certificate and its key read from files. A pair that cannot be used is said
// before anything listens.
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { invalid } from '../domain/errors.js';

export interface TlsFiles {
  /** PEM files; the certificate with its chain. */
  readonly cert: string;
  readonly key: string;
}

export function makeServer(tls: TlsFiles | undefined, options: ServerOptions, listener: RequestListener): Server {
  if (!tls) return createServer(options, listener);
  const pair = { cert: read(tls.cert, '--tls-cert'), key: read(tls.key, '--tls-key') };
  try {
    return createTlsServer({ ...options, ...pair, minVersion: 'TLSv1.2' }, listener);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`the certificate ${tls.cert} and the key ${tls.key} cannot be used together: ${why}`);
  }
}

function read(path: string, option: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const { code = 'unreadable' } = cause as NodeJS.ErrnoException;
    throw invalid(`${option}: ${path} cannot be read (${code}): name a PEM file that this user may read`);
  }
}
