// A server's wall clock in the test's hand: step-clock.c, compiled once a run and preloaded into the server, adds the offset
// it finds in a mapped file. The monotonic clock is left alone, and so is the test's own. (libfaketime does the same but
// hangs Redis, whose allocator asks for the time before it is ready.)
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export class StepClock {
  readonly #folder: string;
  readonly #file: string;
  #offsetMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, 'clock-offset');
    this.#write();
  }

  /** For the environment of the server. */
  env(): NodeJS.ProcessEnv {
    return { LD_PRELOAD: compiled(this.#folder), STEP_CLOCK_FILE: this.#file };
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Steps the server's clock, from its next look on. */
  step(ms: number): void {
    this.#offsetMs += ms;
    this.#write();
  }

  /** In place: the server has the file mapped. */
  #write(): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(this.#offsetMs * 1e6)));
    const file = openSync(this.#file, constants.O_CREAT | constants.O_WRONLY, 0o644);
    writeSync(file, bytes, 0, 8, 0);
    closeSync(file);
  }
}

function compiled(folder: string): string {
  const source = fileURLToPath(new URL('step-clock.c', import.meta.url));
  const library = join(folder, 'step-clock.so');
  const done = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`step-clock.c was not compiled: ${done.stderr}${done.error?.message ?? ''}`);
  return library;
}
