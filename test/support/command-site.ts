// Where the built command is run as a user runs it: a process over a SQLite file in a folder of its own, with an
// environment that holds nothing but what the test gives. What it prints comes back whole; figures that differ from run
// to run can be masked by as many signs, so that columns stay columns.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from './temporary-folder.js';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

export interface Live {
  readonly process: ChildProcess;
  readonly out: string;
  readonly err: string;
  /** Waits until standard output has this; rejects when it ended without. */
  says(pattern: RegExp): Promise<string>;
  readonly ended: Promise<Ended>;
}

export interface CommandSite {
  readonly folder: string;
  readonly file: string;
  readonly url: string;
  /** More environment for every run of this test. */
  env: Record<string, string>;
  cwd: string;
  run(...args: string[]): Promise<Ended>;
  start(...args: string[]): Live;
  /** As in `sh -c`, with `holdfast` a command. */
  shell(script: string): Promise<Ended>;
  /** The same on a terminal of so many columns; standard output and error come together. */
  terminal(columns: number, ...args: string[]): Live;
}

export const hasTerminals = spawnSync('script', ['--version']).status === 0;

export function commandSite(): CommandSite {
  let folder: TemporaryFolder;
  let children: ChildProcess[];
  const site: CommandSite = {
    env: {},
    cwd: '',
    get folder() {
      return folder.path;
    },
    get file() {
      return join(folder.path, 'leases.db');
    },
    get url() {
      return `sqlite:${site.file}`;
    },
    run: (...args) => site.start(...args).ended,
    start: (...args) => launch(process.execPath, [MAIN, ...args]),
    shell: (script) => launch('bash', ['-c', `holdfast() { '${process.execPath}' '${MAIN}' "$@"; }\n${script}`]).ended,
    terminal(columns, ...args) {
      const words = [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      return launch('script', ['-qec', `stty cols ${columns} rows 24; exec ${words.join(' ')}`, '/dev/null']);
    },
  };
  function launch(program: string, args: string[]): Live {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder.path,
      HOLDFAST_STORE: site.url,
      HOLDFAST_OWNER: 'tester',
      TERM: 'xterm',
      ...site.env,
    };
    const child = spawn(program, args, { cwd: site.cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    children.push(child);
    return follow(child);
  }
  beforeEach(() => {
    folder = temporaryFolder();
    children = [];
    site.env = {};
    site.cwd = join(folder.path, 'here');
    mkdirSync(site.cwd);
  });
  afterEach(async () => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }),
    );
    folder.remove();
  });
  return site;
}

function follow(child: ChildProcess): Live {
  const heard = { out: '', err: '' };
  const watchers = new Set<() => void>();
  let isOver = false;
  const tellAll = (): void => {
    for (const watcher of [...watchers]) watcher();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard.out += text;
    tellAll();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    heard.err += text;
  });
  child.stdin?.on('error', () => undefined);
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    tellAll();
    return { code: (code ?? signal) as number | string, ...heard };
  });
  return {
    process: child,
    get out() {
      return heard.out;
    },
    get err() {
      return heard.err;
    },
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(heard.out);
          if (!found && !isOver) return;
          watchers.delete(look);
          if (found) resolve(found[0]);
          else reject(new Error(`ended without ${String(pattern)}: ${heard.out}${heard.err}`));
        };
        watchers.add(look);
        look();
      }),
    ended,
  };
}

/** Epochs, ids, times and spans by signs of the same length. */
export function masked(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => time.replaceAll(/\d/g, '0'))
    .replaceAll(/\b0m[\w-]{27}(?![\w-])/g, 'I'.repeat(29))
    .replaceAll(/\b\d{16}\b/g, 'E'.repeat(16))
    .replaceAll(/\b(\d+(ms|[dhms]))+\b/g, (span) => span.replaceAll(/\d/g, 'n'));
}
