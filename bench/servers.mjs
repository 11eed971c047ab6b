// Private servers for the benchmarks: each in a temporary folder, on a free port of the loopback address, with the settings
// it comes with (PostgreSQL: fsync and synchronous_commit on; Redis: its default snapshots; etcd: every write flushed), and gone
// with this process.
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
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stopAtTheEnd } from './workplace.mjs';

/** The package of Debian in which a server is. */
const DEBIAN = { postgres: 'postgresql', 'redis-server': 'redis-server', etcd: 'etcd-server' };
const PATIENCE_MS = 30_000;
const ATTEMPTS = 3;
const REMOVALS = 50;
const REMOVE_AGAIN_MS = 100;
const POSTGRES_HOME = '/usr/lib/postgresql';
const SECRET = 'secret';

export const startPostgres = (settings = {}) => withFreePorts((port) => postgresOn(port, settings));
export const startRedis = (settings = {}) => withFreePorts((port) => redisOn(port, settings));
export const startEtcd = (settings = {}) => withFreePorts((port, other) => etcdOn(port, other, settings));

/** A port that was free a moment ago may be somebody else's by now, another run's for instance: then others are tried. */
async function withFreePorts(startOn) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), await freePort());
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function postgresOn(port, settings) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const who = unprivileged();
  chmodSync(folder, 0o755);
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid);
  const data = join(folder, 'data');
  const password = join(folder, 'password');
  writeFileSync(password, `${SECRET}\n`);
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
    const handle = { freeze: () => signal('SIGSTOP'), thaw: () => signal('SIGCONT') };
    return { ...server, ...handle, remove: remover(child, folder, handle.thaw, 'SIGQUIT') };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function redisOn(port, settings) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const all = { bind: '127.0.0.1', port, dir: folder, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = start(find('redis-server'), args, { cwd: folder });
  await untilReady(child, async () => (await askRedis(port)).includes(`process_id:${child.pid}\r`));
  return { port, url: `redis://127.0.0.1:${port}`, ...oneProcess(child, folder) };
}

/** One member, its data in the folder, every write flushed to the disk as etcd does by itself. */
async function etcdOn(port, peerPort, settings) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const name = basename(folder);
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const all = {
    name,
    'data-dir': join(folder, 'data'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `${name}=${peer}`,
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = start(find('etcd'), args, { cwd: folder });
  await untilReady(child, () => isMember(client, name));
  return { port, url: client, ...oneProcess(child, folder) };
}

function oneProcess(child, folder) {
  const thaw = () => child.kill('SIGCONT');
  return { freeze: () => child.kill('SIGSTOP'), thaw, remove: remover(child, folder, thaw, 'SIGKILL') };
}

/** Ends a server and removes its folder; also when the whole run is ended first. */
function remover(child, folder, thaw, signal) {
  const remove = async () => {
    forget();
    thaw();
    await end(child, signal);
    await removeFolder(folder);
  };
  const forget = stopAtTheEnd(remove);
  return remove;
}

/** A Redis that was saving leaves a child behind, which still writes for a moment. */
async function removeFolder(folder) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' || attempt === REMOVALS) throw error;
      await delay(REMOVE_AGAIN_MS);
    }
  }
}

/** Whether the server that answers there is the one we started, and has elected itself. */
async function isMember(url, name) {
  try {
    const members = await (await fetch(`${url}/v3/cluster/member/list`, { method: 'POST', body: '{}' })).json();
    const { health } = await (await fetch(`${url}/health`)).json();
    return health === 'true' && members.members.some((member) => member.name === name);
  } catch {
    return false;
  }
}

/** Redis's own words about itself, among them its process; nothing while it is not there. */
async function askRedis(port) {
  const socket = dial(port, '127.0.0.1');
  try {
    socket.write('INFO server\r\n');
    const [bytes] = await once(socket, 'data');
    return bytes.toString();
  } catch {
    return '';
  } finally {
    socket.destroy();
  }
}

/** Those of the servers that are not installed, with the package that has them. */
export function missing(commands) {
  return [...commands]
    .filter((command) => pathOf(command) === undefined)
    .map((command) => ({ command, debian: DEBIAN[command] ?? command }));
}

export function find(name) {
  const path = pathOf(name);
  if (path !== undefined) return path;
  throw new Error(
    `${name} was not found: install it (Debian, Ubuntu: apt-get install ${DEBIAN[name] ?? 'postgresql'})`,
  );
}

/** On the PATH, else where Debian keeps PostgreSQL's, the newest first. */
function pathOf(name) {
  const found = spawnSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();
  if (found !== '') return found;
  const versions = existsSync(POSTGRES_HOME) ? readdirSync(POSTGRES_HOME) : [];
  const homes = versions.sort((a, b) => Number(b) - Number(a)).map((one) => join(POSTGRES_HOME, one, 'bin', name));
  return homes.find((path) => existsSync(path));
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

/** Else it is ended and this fails. */
async function untilReady(child, isReady) {
  const until = performance.now() + PATIENCE_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${child.spawnargs[3]} ended at once`);
    if (performance.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`${child.spawnargs[3]} is not ready after ${PATIENCE_MS} ms`);
    }
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
