// TLS as the url asks for it: the right name and authority connect, for calls and for LISTEN; a wrong name and an unknown
// authority are refused before a password is sent.
import { chownSync, copyFileSync, chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { makeCertificate, type Certificate } from '../support/servers/tls-certificate.js';
import { Ear, failure, linkTo, until } from '../support/postgres-link-site.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe.skipIf(isSkipped('postgres'))('TLS', () => {
  const folder = temporaryFolder();
  let server: PostgresServer;
  let certificate: Certificate;
  beforeAll(async () => {
    certificate = makeCertificate(folder.path, ['DNS:localhost']);
    server = await startPostgres();
    const { uid, gid } = statSync(server.dataFolder);
    for (const name of ['certificate', 'key'] as const) {
      const path = join(server.dataFolder, name === 'key' ? 'server.key' : 'server.crt');
      copyFileSync(certificate[name], path);
      chmodSync(path, 0o600);
      chownSync(path, uid, gid);
    }
    const owner = new pg.Client({ connectionString: server.url });
    await owner.connect();
    await owner.query('ALTER SYSTEM SET ssl = on');
    await owner.end();
    await server.stop();
    await server.start();
  });
  afterAll(async () => {
    await server.remove();
    folder.remove();
  });
  const url = (host: string, more: string): string => `${server.url.replace('127.0.0.1', host)}?${more}`;

  test('the right name and authority', async () => {
    const link = await linkTo(url('localhost', `sslmode=verify-full&sslrootcert=${certificate.authority}`));
    const ear = new Ear();
    link.listen('hf', ear);
    await until('it listens', () => ear.ups === 1);
    const text = 'SELECT count(*)::int AS n FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl';
    expect(await link.query({ name: 'tls', text }, [])).toEqual([{ n: 2 }]);
  });

  test('A11: a wrong name is refused, and the message says which names are right', async () => {
    const error = await failure(linkTo(url('127.0.0.1', `sslmode=verify-full&sslrootcert=${certificate.authority}`)));
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false });
    expect(error.message).toContain('for another name');
    expect(error.details).toMatchObject({ driverCode: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  test('A11: an unknown authority is refused, unless the url waives it', async () => {
    const error = await failure(linkTo(url('localhost', 'sslmode=verify-full')));
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false });
    expect(error.message).toContain('sslrootcert');
    expect(await linkTo(url('localhost', 'sslmode=no-verify'))).toBeDefined();
  });
});
