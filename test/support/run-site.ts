// Where `holdfast run` is tested: real processes of the built command on a lease file of their own, and what becomes of the
// processes below them, seen from outside.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { monotonic, processSite, type ProcessSite } from './process-site.js';

export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly out: string;
  readonly err: string;
  /** Waits until standard output holds this. */
  says(text: RegExp): Promise<RegExpExecArray>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** When standard output was closed by everybody who had it. */
  readonly silent: Promise<number>;
}

export interface RunSite extends ProcessSite {
  readonly folder: string;
  /** `holdfast ARGS…` with this site's store. */
  holdfast(...args: string[]): Running;
  with(env: NodeJS.ProcessEnv, ...args: string[]): Running;
}

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const heartbeat = fileURLToPath(new URL('heartbeat.sh', import.meta.url));

export function runSite(): RunSite {
  const site = processSite();
  let all: Running[] = [];
  beforeEach(() => {
    all = [];
  });
  afterEach(async () => {
    for (const { process: child } of all) child.kill('SIGKILL'); // what runs below is the guardian's to stop
    await Promise.all(all.flatMap(({ ended, silent }) => [ended, silent]));
  });
  const start = (env: NodeJS.ProcessEnv, args: readonly string[]): Running => {
    const child = spawn(process.execPath, [main, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, HOLDFAST_STORE: site.url, ...env },
    });
    const running = follow(child);
    all.push(running);
    return running;
  };
  return {
    get url() {
      return site.url;
    },
    get file() {
      return site.file;
    },
    get folder() {
      return dirname(site.file);
    },
    start: (...args) => site.start(...args),
    run: (...args) => site.run(...args),
    look: () => site.look(),
    lock: () => site.lock(),
    log: () => site.log(),
    holdfast: (...args) => start({}, args),
    with: (env, ...args) => start(env, args),
  };
}

export function follow(child: ChildProcess): Running {
  const text = { out: '', err: '' };
  const watchers = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text.out += more;
    for (const watcher of [...watchers]) watcher();
  });
  child.stderr?.setEncoding('utf8').on('data', (more: string) => (text.err += more));
  child.stdin?.on('error', () => undefined);
  const silent = once(child.stdout ?? child, 'close').then(() => {
    for (const watcher of [...watchers]) watcher();
    return monotonic();
  });
  const says = (wanted: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = wanted.exec(text.out);
        if (!found && !child.stdout?.closed) return;
        watchers.delete(look);
        if (found) resolve(found);
        else reject(new Error(`never said ${String(wanted)}: ${text.out} ${text.err}`));
      };
      watchers.add(look);
      look();
    });
  return {
    process: child,
    pid: child.pid ?? 0,
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    says,
    silent,
    ended: once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string),
  };
}

/** The dead that nobody has buried yet are dead. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** The moment when none of them was alive any more, a few milliseconds late at most. */
export async function death(...pids: number[]): Promise<number> {
  while (pids.some(isAlive)) await delay(4);
  return monotonic();
}

/** Below a process: its children, by their command lines. */
export function childrenOf(pid: number): { pid: number; command: string }[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
  return list
    .split(' ')
    .filter((one) => one !== '')
    .map((one) => ({ pid: Number(one), command: commandOf(Number(one)) }));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(join('/proc', String(pid), 'cmdline'), 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** A command that beats: its process, its child's, and its lease. */
export interface Beating {
  readonly child: number;
  readonly grandchild: number;
  readonly leaseId: string;
}

export async function beating(running: Running): Promise<Beating> {
  const [, child, grandchild, leaseId = ''] = await running.says(/^alive (\d+) (\d+) (\S+)$/m);
  return { child: Number(child), grandchild: Number(grandchild), leaseId };
}

/** When the store could give the lease to somebody else, on the clock of this machine. */
export async function expiryOf(site: ProcessSite, leaseId: string): Promise<number> {
  const leases = await site.look();
  const record = await leases.get(leaseId);
  if (!record) throw new Error(`${leaseId} is unknown`);
  const before = monotonic();
  const { storeNow } = await leases.now();
  return Date.parse(record.expiresAt) - (Date.parse(storeNow) - before); // the store's time was read after `before`
}
