// A disk that can be full: a tmpfs of its own, shrunk to what is on it and given its room back. Only who may mount has one.
import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

const TRIES = 20;

export class SmallDisk {
  readonly path: string;
  readonly #megabytes: number;

  private constructor(path: string, megabytes: number) {
    this.path = path;
    this.#megabytes = megabytes;
  }

  /** Undefined where mounting is not allowed. */
  static mount(path: string, megabytes: number): SmallDisk | undefined {
    const disk = new SmallDisk(path, megabytes);
    return disk.#mount(`mode=755,size=${megabytes}m`, 'tmpfs') ? disk : undefined;
  }

  /** No room from now on, but for a few pages: what is there stays there. */
  fill(): void {
    for (let spare = 1; spare <= TRIES; spare += 1) {
      const { blocks, bfree, bsize } = statfsSync(this.path);
      if (this.#mount(`remount,size=${(blocks - bfree + spare) * bsize}`)) return;
    }
    throw new Error(`${this.path} could not be made smaller`);
  }

  free(): void {
    if (!this.#mount(`remount,size=${this.#megabytes}m`)) throw new Error(`${this.path} did not get its room back`);
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
  }

  #mount(options: string, source?: string): boolean {
    const args = source === undefined ? [] : ['-t', 'tmpfs', source];
    return spawnSync('mount', ['-o', options, ...args, this.path]).status === 0;
  }
}
