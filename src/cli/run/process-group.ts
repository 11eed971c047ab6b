// The command as a process group: started so that nothing of it can run unguarded, signalled as a whole, watched until the
// last of it is gone.
//
// `/bin/sh` is started first and waits for one line on descriptor 3; only when the guardian is told of the group is that
// line sent, and the shell becomes the command (`exec`, same process). If `run` dies before, the line never comes and the
// shell ends. Standard input, output and error are those of `run`; other open files are not passed on.
//
// The group is a session of its own (Node can make no group within a session). It has no controlling terminal, but
// its standard input may well be one: it can be read and drawn on, and since the terminal's keys reach `run`, which passes
// them on, Ctrl-C works. What does not work is what opens /dev/tty by name, and job control in a shell below. A process
// that makes a session of its own (setsid, a daemon) leaves the group and is not stopped.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { CommandError, EXIT } from '../exit-codes.js';
import { hasLife, signalGroup } from './group-life.js';

const SHELL = '/bin/sh';
const GATE = 'read -r go <&3 && exec "$@" 3<&-';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Start {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Its standard output goes where errors go: this process has an answer of its own to print. */
  readonly isOutputError: boolean;
}

export class ProcessGroup {
  readonly #child: ChildProcess;
  readonly #gate: Writable;
  /** The first process has ended; others of the group may still run. Rejects when it could not be started. */
  readonly ended: Promise<Exit>;

  constructor({ command, env, isOutputError }: Start) {
    const child = spawn(SHELL, ['-c', GATE, 'holdfast', ...command], {
      detached: true,
      stdio: ['inherit', isOutputError ? 2 : 'inherit', 'inherit', 'pipe'],
      env,
    });
    this.#child = child;
    this.#gate = child.stdio[3] as Writable;
    this.#gate.on('error', () => undefined); // it has ended already: `exit` says how
    this.ended = new Promise((resolve, reject) => {
      child.on('error', (error) =>
        reject(new CommandError(EXIT.internal, `${SHELL} cannot be started: ${error.message}`)),
      );
      child.on('exit', (code, signal) => resolve({ code, signal }));
    });
    this.ended.catch(() => undefined); // whoever waits for it hears of it
  }

  /** 0 when nothing could be started. */
  get id(): number {
    return this.#child.pid ?? 0;
  }

  /** The command may run. */
  go(): void {
    this.#gate.end('go\n');
  }
  /** It may not, and never will. */
  cancel(): void {
    this.#gate.destroy();
  }

  /** To everybody in the group. False when they are not this user's to signal (sudo); nobody left is no trouble. */
  signal(name: NodeJS.Signals): boolean {
    return this.id === 0 || signalGroup(this.id, name) !== 'EPERM';
  }

  isAlive(): boolean {
    return this.id !== 0 && hasLife(this.id);
  }
}
