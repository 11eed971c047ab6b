// A PostgreSQL server of the tests' own: a fresh cluster in a temporary folder, on loopback only, with a superuser `holdfast`
// (password `secret`) and a database of the same name. PostgreSQL does not run as root: then it runs as `postgres`.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.js';
import { StepClock } from './step-clock.js';
import {
  accepts,
  findBinary,
  freePort,
  freezeProcess,
  startProcess,
  stopProcess,
  untilReady,
  type Started,
} from './server-process.js';

const USER = 'holdfast';
export const PASSWORD = 'secret';

export interface PostgresOptions {
  /** Lines of postgresql.conf, e.g. `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Its clock can be stepped through `clock`. */
  readonly stepClock?: boolean;
  /** A data directory to begin with, instead of an empty cluster. */
  readonly copyOf?: string;
  /** The folder its own folder is made in; the system's for temporary files unless given. */
  readonly within?: string;
  /** More for its environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  readonly dataFolder: string;
  readonly clock: StepClock;
  /** The postmaster; SIGSTOP to it alone freezes no backend: see `freeze`. */
  readonly pid: number;
  start(): Promise<void>;
  /** `fast` ends sessions and keeps everything; `immediate` is a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Stops every process of the server where it stands, or lets them go on. */
  freeze(): void;
  thaw(): void;
  /** A copy of the data directory as a crash at this moment would leave it; the server must be stopped. */
  copyData(to: string): void;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = temporaryFolder(options.within);
  const who = unprivileged();
  chmodSync(folder.path, 0o755);
  const data = join(folder.path, 'data');
  if (who.uid !== undefined && who.gid !== undefined) chownSync(folder.path, who.uid, who.gid);
  const run = (binary: string, ...args: string[]): void => {
    const env = { ...process.env, PGPASSWORD: PASSWORD };
    const done = spawnSync(findBinary(binary), args, { ...who, cwd: folder.path, env, encoding: 'utf8' });
    if (done.status !== 0)
      throw new Error(`${binary} failed: ${done.stdout}${done.stderr}${done.error?.message ?? ''}`);
  };
  if (options.copyOf === undefined) {
    const passwordFile = join(folder.path, 'password');
    writeFileSync(passwordFile, `${PASSWORD}\n`);
    run(
      'initdb',
      '-D',
      data,
      '-U',
      USER,
      `--pwfile=${passwordFile}`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--no-locale',
      '-N',
    );
  } else {
    cpSync(options.copyOf, data, { recursive: true, preserveTimestamps: true });
    rmSync(join(data, 'postmaster.pid'), { force: true });
    if (who.uid !== undefined && who.gid !== undefined) spawnSync('chown', ['-R', `${who.uid}:${who.gid}`, data]);
    chmodSync(data, 0o700);
  }
  const port = await freePort();
  const clock = new StepClock(folder.path);
  let started: Started | undefined;
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder.path,
    max_connections: '60',
    ...options.settings,
  };
  const server: PostgresServer = {
    port,
    url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${USER}`,
    dataFolder: data,
    clock,
    get pid() {
      return started?.process.pid ?? 0;
    },
    async start() {
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const env = { ...process.env, ...(options.stepClock ? clock.env() : {}), ...options.env };
      const running = startProcess(findBinary('postgres'), ['-D', data, ...args], { ...who, cwd: folder.path, env });
      started = running;
      await untilReady(running, async () => (await accepts(port)) && isOpen(data));
    },
    async stop(how = 'fast') {
      if (started === undefined) return;
      server.thaw();
      await stopProcess(started, how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    },
    freeze: () => signalAll(server.pid, 'SIGSTOP'),
    thaw: () => signalAll(server.pid, 'SIGCONT'),
    copyData: (to) => cpSync(data, to, { recursive: true, preserveTimestamps: true }),
    async remove() {
      await server.stop('immediate');
      folder.remove();
    },
  };
  await server.start();
  if (options.copyOf === undefined) run('createdb', '-h', folder.path, '-p', String(port), '-U', USER, '-w', USER);
  return server;
}

function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (!line) throw new Error('PostgreSQL does not run as root, and there is no user postgres: run `make setup`');
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** The postmaster's own word that it takes connections. */
function isOpen(data: string): boolean {
  try {
    return /^ready/m.test(readFileSync(join(data, 'postmaster.pid'), 'utf8'));
  } catch {
    return false;
  }
}

/** The postmaster and the processes it has started: its children, by /proc. */
function signalAll(postmaster: number, signal: NodeJS.Signals): void {
  if (postmaster === 0) return;
  const children = (): number[] => {
    try {
      return readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
        .split(' ')
        .map(Number)
        .filter(Boolean);
    } catch {
      return [];
    }
  };
  const send = (pid: number): void => {
    try {
      if (signal === 'SIGSTOP') freezeProcess(pid);
      else process.kill(pid, signal);
    } catch {
      // ended meanwhile
    }
  };
  if (signal === 'SIGSTOP') send(postmaster); // first, so that it starts no more
  for (const pid of children()) send(pid);
  if (signal !== 'SIGSTOP') send(postmaster);
}
