// Where the examples are run: several real processes on one lease file in a temporary folder, all writing to one journal,
// so that their lines stand in the order in which they were written. A kill is noted there too, once the process is gone.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { temporaryFolder } from './temporary-folder.js';

const LOOK_MS = 5;
const LONGEST_WAIT_MS = 30_000;

export interface Actor {
  readonly process: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  kill(): Promise<void>;
}

export class Stage {
  readonly #folder = temporaryFolder();
  readonly #journal = join(this.#folder.path, 'journal.txt');
  readonly #actors: Actor[] = [];
  readonly #connections: Holdfast[] = [];
  readonly store = `sqlite:${join(this.#folder.path, 'leases.db')}`;

  get folder(): string {
    return this.#folder.path;
  }

  /** Starts an example by its name. */
  start(example: string, owner: string, ...args: readonly (string | number)[]): Actor {
    const program = fileURLToPath(new URL(`../../examples/${example}.mjs`, import.meta.url));
    const journal = openSync(this.#journal, 'a');
    const child = spawn(process.execPath, [program, owner, ...args.map(String)], {
      stdio: ['ignore', journal, journal],
      env: { ...process.env, HOLDFAST_STORE: this.store },
    });
    closeSync(journal);
    const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
    const kill = async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
      appendFileSync(this.#journal, `${owner} was killed\n`);
    };
    const actor = { process: child, ended, kill };
    this.#actors.push(actor);
    return actor;
  }

  /** A connection of the test itself. */
  async connect(options: ConnectOptions = {}): Promise<Holdfast> {
    const leases = await connect(this.store, { owner: 'test', services: 'off', ...options });
    this.#connections.push(leases);
    return leases;
  }

  lines(): string[] {
    return readFileSync(this.#journal, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1);
  }

  /** Waits until a line of the journal matches, after the first `from` lines, and answers the match. */
  async line(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    let found: RegExpExecArray | undefined;
    await this.until(`a line like ${pattern}`, () => {
      const matches = this.lines()
        .slice(from)
        .map((line) => pattern.exec(line));
      found = matches.find((match) => match !== null) ?? undefined;
      return found !== undefined;
    });
    return found as RegExpExecArray;
  }

  /** Looks again and again until it is so. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const until = performance.now() + LONGEST_WAIT_MS;
    while (!(await isSo())) {
      if (performance.now() > until) throw new Error(`waited for ${what}; journal:\n${this.lines().join('\n')}`);
      await pause(LOOK_MS);
    }
  }

  /** Kills what still runs; everything is gone afterwards. */
  async clear(): Promise<void> {
    for (const { process: child } of this.#actors) child.kill('SIGKILL');
    await Promise.all(this.#actors.map((actor) => actor.ended));
    await Promise.all(this.#connections.map((leases) => leases.shutdown()));
    this.#folder.remove();
  }
}

/** The epoch at the end of a line. */
export function epochIn(match: RegExpExecArray): number {
  return Number(/epoch (\d+)/.exec(match.input)?.[1]);
}
