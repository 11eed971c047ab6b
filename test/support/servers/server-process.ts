// A private server for tests: a binary of this machine, started on a free port of the loopback address in a folder of its
// own, awaited until it answers, and ended by its process id. A missing binary fails the run; `HOLDFAST_SKIP=redis,…` skips
// a server by name, and says so.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, connect as dial, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 30_000;
/** The server dies with the test process, however that ends. */
const DEATH_WATCH = 'setpriv';
const POSTGRES_HOME = '/usr/lib/postgresql';

export type ServerName = 'postgres' | 'pgbouncer' | 'redis' | 'promtool' | 'chromium';

/** What `HOLDFAST_SKIP` names. */
export function isSkipped(name: ServerName): boolean {
  const skipped = (process.env['HOLDFAST_SKIP'] ?? '').split(',').map((one) => one.trim());
  if (skipped.includes(name)) process.stderr.write(`HOLDFAST_SKIP: tests that need ${name} are skipped\n`);
  return skipped.includes(name);
}

/** The program of that name: on the PATH, else where Debian keeps PostgreSQL's, the newest first. */
export function findBinary(name: string): string {
  const found = spawnSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();
  if (found !== '') return found;
  const versions = existsSync(POSTGRES_HOME) ? readdirSync(POSTGRES_HOME) : [];
  const homes = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(POSTGRES_HOME, version, 'bin', name));
  const there = homes.find((path) => existsSync(path));
  if (there === undefined) {
    throw new Error(`${name} was not found: run \`make setup\`, install it, or skip its tests with HOLDFAST_SKIP`);
  }
  return there;
}

/** A port that was free a moment ago; whoever takes it must be ready to be beaten to it. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

export interface Started {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
}

export interface Starting {
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly cwd?: string;
}

export function startProcess(binary: string, args: readonly string[], options: Starting = {}): Started {
  const child = spawn(DEATH_WATCH, ['--pdeathsig', 'KILL', binary, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const keep = (more: Buffer): void => {
    text = (text + more.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  return { process: child, output: () => text, ended };
}

/** Waits until `isReady` says so; fails with what the server printed when it ends or takes too long. */
export async function untilReady(started: Started, isReady: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isReady())) {
    const { exitCode, signalCode } = started.process;
    if (exitCode !== null || signalCode !== null) throw new Error(`the server ended at once:\n${started.output()}`);
    if (performance.now() > end)
      throw new Error(`the server is not ready after ${PATIENCE_MS} ms:\n${started.output()}`);
    await delay(20);
  }
}

/** Whether somebody accepts connections there. */
export async function accepts(port: number): Promise<boolean> {
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

/** Sends SIGSTOP and waits until the process stands: it is obeyed a moment after it was sent, and a call would slip in. */
export function freezeProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const state = /\) (\S)/.exec(stateOf(pid))?.[1];
    if (state === undefined || state === 'T') return;
    if (performance.now() > end) throw new Error(`process ${pid} does not stop: its state is ${state}`);
  }
}

/** Empty where there is no such file: the process has gone, or this is no Linux. */
function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

export async function stopProcess(started: Started, signal: NodeJS.Signals): Promise<void> {
  const { exitCode, signalCode } = started.process;
  if (exitCode !== null || signalCode !== null) return;
  started.process.kill(signal);
  started.process.kill('SIGCONT'); // one that a test has frozen could not obey; sent first, it would go on for a moment
  await started.ended;
}
