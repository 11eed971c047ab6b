// Leases on files and folders below one root (A12), for programs that edit the same tree. What a path is called is for
// file-root.ts; here a call becomes a lease, and a refusal is put in the words of paths.
//
// Several paths are one lease, all or nothing (S10). The lease is on the name the path had when it was resolved, right
// before the request: it follows neither a rename nor a link that is turned afterwards. It is an agreement among those
// who ask, and keeps nobody from writing.
import { invalid } from '../domain/errors.js';
import type { LeaseRecord } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { Mode, Part, PartDefaults, PartInput } from '../domain/part.js';
import type { AcquireOptions, HeldLease } from '../manager/face.js';
import type { LeaseManager } from '../manager/lease-manager.js';
import { Looking } from '../manager/looking.js';
import { withLease } from '../manager/with-lease.js';
import { toFileError, toFileRefusal, type FileRefusal } from './file-conflicts.js';
import { placeOf, type FilePlace } from './file-name.js';
import { FileRoot, type FileRootOptions, type Paths } from './file-root.js';

/** Those of acquire. A path is leased with all that is below it, so there is no scope to choose. */
export type FileOptions = Omit<AcquireOptions, 'scope'>;

export type FileTryResult = { ok: true; lease: HeldLease } | { ok: false; refusal: FileRefusal };

/** `who` reads at most so many pages of `LIMITS.rowsPerStep` leases below the path. */
const MAX_PAGES = 10;

export class FileLeases {
  readonly #manager: LeaseManager;
  readonly #looking: Looking;
  readonly #root: FileRoot;

  constructor(manager: LeaseManager, root: string, options?: FileRootOptions) {
    this.#manager = manager;
    this.#looking = new Looking(manager);
    this.#root = new FileRoot(root, options);
  }

  /** One lease on all the paths. Its error names each path that is not free, its holder, and until when. */
  async acquire(paths: Paths, options: FileOptions = {}): Promise<HeldLease> {
    const defaults = defaultsOf(options);
    const asked = await this.#root.parts(paths);
    try {
      return await this.#manager.acquire(asked.parts, options);
    } catch (error) {
      throw toFileError(error, asked, defaults);
    }
  }

  async tryAcquire(paths: Paths, options: FileOptions = {}): Promise<FileTryResult> {
    const defaults = defaultsOf(options);
    const asked = await this.#root.parts(paths);
    const got = await this.#manager.tryAcquire(asked.parts, options);
    return got.ok ? got : { ok: false, refusal: toFileRefusal(got.refusal, asked, defaults) };
  }

  /** Acquires, runs, and always releases (A2). */
  async withFiles<T>(paths: Paths, fn: (lease: HeldLease) => Promise<T>, options: FileOptions = {}): Promise<T> {
    if (typeof fn !== 'function') throw invalid('withFiles takes the work as a function: (lease) => …');
    const defaults = defaultsOf(options);
    const asked = await this.#root.parts(paths);
    let hasBegun = false;
    try {
      return await withLease(this.#manager, asked.parts, options, (lease) => {
        hasBegun = true;
        return fn(lease);
      });
    } catch (error) {
      throw hasBegun ? error : toFileError(error, asked, defaults); // what the work says is not touched
    }
  }

  /** A part of a file: in the way of the whole file and of the folders above, not of other sections. */
  section(path: string, name: string): Promise<PartInput> {
    return this.#root.section(path, name);
  }

  /** What these paths are called, folded: for `keep`, for a lease that is nested in another, for `show`. */
  async parts(paths: Paths): Promise<PartInput[]> {
    return [...(await this.#root.parts(paths)).parts];
  }

  /** The live leases that touch the path: on it, on a folder above, on anything below. Oldest epoch first. */
  async who(path: string): Promise<LeaseRecord[]> {
    const name = await this.#root.name(path);
    const found = new Map<string, LeaseRecord>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const below = { prefix: name, status: 'active', limit: LIMITS.rowsPerStep } as const;
      const answer = await this.#looking.list(cursor === undefined ? below : { ...below, cursor });
      for (const record of answer.items) found.set(record.id, record);
      cursor = answer.cursor;
      if (cursor === undefined) break;
    }
    const holders = await this.#looking.holders(name);
    for (const record of holders) found.set(record.id, record);
    return [...found.values()].sort((a, b) => a.epoch - b.epoch);
  }

  /** The parts of a lease or record that concern this root, as paths. One that has a folder above the root has `.`. */
  async places({ parts }: { readonly parts: readonly Part[] }): Promise<(FilePlace & { mode: Mode })[]> {
    const base = await this.#root.base();
    return parts.flatMap(({ name, mode }) => {
      const place = placeOf(base, name);
      return place ? [{ ...place, mode }] : [];
    });
  }
}

function defaultsOf(options: AcquireOptions | null): PartDefaults {
  const { scope, mode, limit } = options ?? {}; // what is no object at all is refused by the manager
  if (scope !== undefined) throw invalid('a path is leased with all that is below it: leave scope out');
  return { ...(mode === undefined ? {} : { mode }), ...(limit === undefined ? {} : { limit }) };
}
