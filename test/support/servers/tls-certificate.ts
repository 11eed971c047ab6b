// A certificate authority of the tests' own and a certificate for given names, made with the machine's openssl, valid for a
// day. Nothing outside the folder is touched.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBinary } from './server-process.js';

export interface Certificate {
  /** Paths. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** `names` as openssl writes them: `DNS:localhost`, `IP:127.0.0.1`. */
export function makeCertificate(folder: string, names: readonly string[]): Certificate {
  const path = (name: string): string => join(folder, name);
  const authority = path('authority.crt');
  const authorityKey = path('authority.key');
  const certificate = path('server.crt');
  const key = path('server.key');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(['req', '-x509', ...newKey, '-keyout', authorityKey, '-out', authority, '-days', '1', '-subj', '/CN=tests']);
  openssl(['req', ...newKey, '-keyout', key, '-out', path('server.csr'), '-subj', '/CN=server']);
  writeFileSync(path('names.cnf'), `subjectAltName=${names.join(',')}\n`);
  openssl([
    ...['x509', '-req', '-in', path('server.csr'), '-CA', authority, '-CAkey', authorityKey, '-CAcreateserial'],
    ...['-out', certificate, '-days', '1', '-extfile', path('names.cnf')],
  ]);
  return { authority, certificate, key };
}

function openssl(args: readonly string[]): void {
  const done = spawnSync(findBinary('openssl'), args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`openssl ${args[0] ?? ''} failed: ${done.stderr}${done.error?.message ?? ''}`);
}
