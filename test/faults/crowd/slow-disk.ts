// The time a flush to disk takes, in the test's hand: slow-disk.c, compiled once a run and preloaded into whoever writes.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export class SlowDisk {
  readonly #file: string;
  readonly #library: string;

  constructor(folder: string) {
    this.#file = join(folder, 'slow-disk-ms');
    this.#library = join(folder, 'slow-disk.so');
    const source = fileURLToPath(new URL('slow-disk.c', import.meta.url));
    const done = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', this.#library, source], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`slow-disk.c was not compiled: ${done.stderr}${done.error?.message ?? ''}`);
    this.set(0);
  }

  env(): { readonly LD_PRELOAD: string; readonly SLOW_DISK_FILE: string } {
    return { LD_PRELOAD: this.#library, SLOW_DISK_FILE: this.#file };
  }

  /** Every flush takes this much longer from now on. In place: others have the file mapped. */
  set(ms: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(ms)));
    const file = openSync(this.#file, constants.O_CREAT | constants.O_WRONLY, 0o644);
    writeSync(file, bytes, 0, 8, 0);
    closeSync(file);
  }
}
