// A PgBouncer of the tests' own in front of a PostgreSQL of the tests' own, on loopback only. It runs as the same user as that
// server (PgBouncer refuses to be root), with few connections, so that clients really share them.
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.js';
import { PASSWORD, type PostgresServer } from './postgres-server.js';
import {
  accepts,
  findBinary,
  freePort,
  startProcess,
  stopProcess,
  untilReady,
  type Started,
} from './server-process.js';

const USER = 'holdfast';

export interface PgbouncerOptions {
  readonly mode?: 'transaction' | 'session';
  /** Connections to the server. */
  readonly poolSize?: number;
  /** Lines of pgbouncer.ini. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PgbouncerServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

export async function startPgbouncer(server: PostgresServer, options: PgbouncerOptions = {}): Promise<PgbouncerServer> {
  const folder = temporaryFolder();
  const { uid, gid } = statSync(server.dataFolder);
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(folder.path, 'users.txt'),
    pool_mode: options.mode ?? 'transaction',
    default_pool_size: String(options.poolSize ?? 3),
    max_client_conn: '100',
    server_login_retry: '1',
    ...options.settings,
  };
  const file = join(folder.path, 'pgbouncer.ini');
  const databases = `[databases]\n${USER} = host=127.0.0.1 port=${server.port} dbname=${USER} user=${USER} password=${PASSWORD}\n`;
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `${databases}\n[pgbouncer]\n${lines.join('\n')}\n`);
  writeFileSync(settings.auth_file, `"${USER}" "${PASSWORD}"\n`);
  for (const path of [folder.path, file, settings.auth_file]) {
    chmodSync(path, 0o700);
    chownSync(path, uid, gid);
  }

  let started: Started | undefined;
  const pooler: PgbouncerServer = {
    port,
    url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${USER}`,
    async start() {
      const running = startProcess(findBinary('pgbouncer'), ['-q', file], { uid, gid, cwd: folder.path });
      started = running;
      await untilReady(running, () => accepts(port));
    },
    async stop() {
      if (started !== undefined) await stopProcess(started, 'SIGTERM');
    },
    async remove() {
      if (started !== undefined) await stopProcess(started, 'SIGKILL');
      folder.remove();
    },
  };
  await pooler.start();
  return pooler;
}
