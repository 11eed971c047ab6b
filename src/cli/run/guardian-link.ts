// `run`'s side of the guardian: starts it, tells it whom to stop and when, starts another when it was killed. What it has
// been told is kept, so that the next one knows it too, from its start on.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CommandError, EXIT } from '../exit-codes.js';

const PROGRAM = fileURLToPath(new URL('./guardian.js', import.meta.url));
/** Whoever kills more of them than this wants none: the command goes on under `run` alone. */
const MOST_STARTS = 10;

type Process = ChildProcessByStdio<Writable, Readable, null>;

export class GuardianLink {
  readonly #graceMs: number;
  readonly #told = new Map<'group' | 'until' | 'stopping', string>();
  readonly #ready: Promise<void>;
  #isReady: () => void = () => undefined;
  #cannotBe: (why: Error) => void = () => undefined;
  #process: Process | undefined;
  #starts = 0;
  #isOver = false;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
    this.#ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      this.#cannotBe = reject;
    });
    this.#ready.catch(() => undefined); // whoever waits for it hears of it
    this.#start();
  }

  /** There is a process: whatever it is told, it will read. */
  get hasStarted(): boolean {
    return this.#process?.pid !== undefined;
  }

  /** Resolves when it listens; rejects when it cannot be had. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  watch(group: number): void {
    this.#tell('group', `group ${group}`);
  }
  until(stopAt: number, killAt: number): void {
    this.#tell('until', `until ${stopAt.toFixed(3)} ${killAt.toFixed(3)}`);
  }
  stopping(killAt: number): void {
    this.#tell('stopping', `stopping ${killAt.toFixed(3)}`);
  }

  /** The group is gone, or was never there. */
  end(): void {
    this.#isOver = true;
    if (!this.#process) return;
    this.#process.kill('SIGKILL');
    this.#process.unref();
    this.#process.stdin.destroy();
    this.#process.stdout.destroy();
  }

  #tell(key: 'group' | 'until' | 'stopping', line: string): void {
    this.#told.set(key, line);
    this.#process?.stdin.write(`${line}\n`);
  }

  #start(): void {
    this.#starts += 1;
    // Nothing of the environment goes along: NODE_OPTIONS could load anything into it.
    const child = spawn(process.execPath, [PROGRAM, String(this.#graceMs), ...this.#told.values()], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      cwd: '/',
      env: {},
    });
    this.#process = child;
    child.stdin.on('error', () => undefined); // it has died: `exit` says so
    child.stdout.once('data', () => this.#isReady());
    child.on('error', (error) => this.#fail(error.message));
    child.on('exit', () => this.#ended());
  }

  #ended(): void {
    if (this.#isOver) return;
    if (this.#starts < MOST_STARTS) return this.#start();
    this.#process = undefined;
    this.#fail('it ends as soon as it is started');
  }

  #fail(why: string): void {
    this.#cannotBe(new CommandError(EXIT.internal, `the guardian of the command cannot be started: ${why}`));
  }
}
