// Private servers for the benchmarks: each in a temporary folder, on a free port of the loopback address, with the settings
// it comes with (PostgreSQL: fsync and synchronous_commit on; Redis: its default snapshots), and gone with this process.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect as dial, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 30_000;
const POSTGRES_HOME = '/usr/lib/postgresql';
const SECRET = 'secret';

export async function startPostgres(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const who = unprivileged();
  chmodSync(folder, 0o755);
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid);
  const data = join(folder, 'data');
  const password = join(folder, 'password');
  writeFileSync(password, `${SECRET}\n`);
  const port = await freePort();
  const env = { ...process.env, PGPASSWORD: SECRET };
  const run = (binary, ...args) => {
    const done = spawnSync(find(binary), args, { ...who, cwd: folder, env, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${binary} failed: ${done.stderr}${done.error?.message ?? ''}`);
  };
  const server = { port, url: `postgres://holdfast:${SECRET}@127.0.0.1:${port}/holdfast` };
  try {
    run(
      'initdb',
      '-D',
      data,
      '-U',
      'holdfast',
      `--pwfile=${password}`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--no-locale',
    );
    const all = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, ...settings };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = start(find('postgres'), ['-D', data, ...args], { ...who, cwd: folder });
    await untilReady(child, async () => (await accepts(port)) && isOpen(data));
    run('createdb', '-h', folder, '-p', String(port), '-U', 'holdfast', '-w', 'holdfast');
    const signal = (name) => signalAll(child.pid, name);
    return {
      ...server,
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      remove: async () => {
        signal('SIGCONT');
        await end(child, 'SIGQUIT');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export async function startRedis(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const port = await freePort();
  const all = { bind: '127.0.0.1', port, dir: folder, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = start(find('redis-server'), args, { cwd: folder });
  await untilReady(child, () => accepts(port));
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    remove: async () => {
      child.kill('SIGCONT');
      await end(child, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** On the PATH, else where Debian keeps PostgreSQL's, the newest first. */
function find(name) {
  const found = spawnSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();
  if (found !== '') return found;
  const versions = existsSync(POSTGRES_HOME) ? readdirSync(POSTGRES_HOME) : [];
  const homes = versions.sort((a, b) => Number(b) - Number(a)).map((one) => join(POSTGRES_HOME, one, 'bin', name));
  const there = homes.find((path) => existsSync(path));
  if (there === undefined) throw new Error(`${name} was not found: run \`make setup\`, or install it`);
  return there;
}

/** PostgreSQL does not run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (!line) throw new Error('PostgreSQL does not run as root, and there is no user postgres: run `make setup`');
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** It dies with this process, however that ends. */
function start(binary, args, options) {
  return spawn('setpriv', ['--pdeathsig', 'KILL', binary, ...args], { ...options, stdio: 'ignore' });
}

async function untilReady(child, isReady) {
  const until = performance.now() + PATIENCE_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${child.spawnargs[3]} ended at once`);
    if (performance.now() > until) throw new Error(`${child.spawnargs[3]} is not ready after ${PATIENCE_MS} ms`);
    await delay(20);
  }
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

async function accepts(port) {
  const socket = dial(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** The postmaster's own word that it takes connections. */
function isOpen(data) {
  try {
    return /^ready/m.test(readFileSync(join(data, 'postmaster.pid'), 'utf8'));
  } catch {
    return false;
  }
}

/** The postmaster and the processes it has started; stopped first, so that it starts no more. */
function signalAll(postmaster, signal) {
  const children = () => {
    try {
      return readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
        .split(' ')
        .map(Number)
        .filter(Boolean);
    } catch {
      return [];
    }
  };
  const send = (pid) => {
    try {
      process.kill(pid, signal);
    } catch {
      // ended meanwhile
    }
  };
  if (signal === 'SIGSTOP') send(postmaster);
  for (const pid of children()) send(pid);
  if (signal !== 'SIGSTOP') send(postmaster);
}
