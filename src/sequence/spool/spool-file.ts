// One spool file (V7): append-only, each record on the disk before it counts, bounded. A write that failed half way is cut
// off again, so that the file is always whole records; when nothing is left in it, it begins anew. Whatever could not be
// written (a full disk) is as it was before: a result that was not kept is the caller's, one that could not be ticked off is
// stored once more, which changes nothing.
import { mkdir, open, readdir, readFile, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { isOfHome, ownerOf, ownName } from './spool-owner.js';
import { decodeRecords, encodeRecord, type SpooledResult, type SpoolRecord } from './spool-record.js';

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_RESULTS = 10_000;
/** Files this process closed with something in them. Other files under its name may be in use, by another thread perhaps. */
const letGo = new Set<string>();

export class SpoolFile {
  readonly path: string;
  /** Files in the folder that nobody here may take over: of other machines, whose owners may live, or for other stores. */
  foreign: string[] = [];
  /** Why something that was left in the folder could not be taken over yet. */
  behind: LeaseError | undefined;
  readonly #home: string;
  readonly #handle: FileHandle;
  readonly #results = new Map<string, SpooledResult>();
  #length = 0;
  /** Writes go one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, home: string, handle: FileHandle) {
    this.path = path;
    this.#home = home;
    this.#handle = handle;
  }

  /** A file of this process, with what processes that are gone left in the folder for the same home. */
  static async open(folder: string, clock: Clock, home: string): Promise<SpoolFile> {
    try {
      await mkdir(folder, { recursive: true });
      const path = join(await realpath(folder), ownName(clock, home)); // one folder may be named in many ways
      const file = new SpoolFile(path, home, await open(path, 'wx'));
      try {
        await syncFolder(folder);
        await file.takeOver(folder, clock);
        return file;
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (error) {
      throw translated(error, folder);
    }
  }

  /** Of every file whose owner is gone. One that cannot be copied now stays as it is, for the next time. */
  async takeOver(folder: string, clock: Clock): Promise<void> {
    this.behind = undefined;
    this.foreign = [];
    const within = await realpath(folder);
    for (const name of await readdir(within)) {
      const owner = ownerOf(name, clock);
      const before = join(within, name);
      const isLeft = owner === 'dead' || letGo.has(before);
      const isOurs = isOfHome(name, this.#home);
      if (owner === 'elsewhere' || (isLeft && !isOurs)) this.foreign.push(name);
      if (isLeft && isOurs)
        await this.#inTurn(() => this.#takeOver(before, join(within, ownName(clock, this.#home)))).catch(
          (error: unknown) => {
            this.behind = translated(error, before);
          },
        );
    }
  }

  get results(): readonly SpooledResult[] {
    return [...this.#results.values()];
  }

  /** On the disk when it resolves. */
  keep(result: SpooledResult): Promise<void> {
    if (this.#results.size >= MOST_RESULTS || this.#length >= MOST_BYTES)
      return Promise.reject(
        new LeaseError(
          'RATE_LIMITED',
          `the spool ${this.path} is full (${this.#results.size} results): look at the store`,
          {
            details: { path: this.path, results: this.#results.size },
          },
        ),
      );
    return this.#inTurn(async () => {
      await this.#append({ what: 'keep', result });
      await this.#checkThere();
      this.#results.set(keyOf(result), result);
    });
  }

  done(stream: string, operationId: string): Promise<void> {
    return this.#inTurn(async () => {
      const key = keyOf({ stream, operationId });
      if (!this.#results.has(key)) return;
      if (this.#results.size === 1) await this.#beginAnew();
      else await this.#append({ what: 'done', stream, operationId });
      this.#results.delete(key);
    });
  }

  /** The file stays when there is something in it: whoever comes next takes it over. */
  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#handle.close();
    if (this.#results.size === 0) await unlink(this.path).catch(() => undefined);
    else letGo.add(this.path);
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #append(record: SpoolRecord): Promise<void> {
    const bytes = encodeRecord(record);
    try {
      await this.#writeAll(bytes);
      await this.#handle.datasync();
      this.#length += bytes.length;
    } catch (error) {
      await this.#handle.truncate(this.#length).catch(() => undefined); // half a record is none, also when it stays
      throw translated(error, this.path);
    }
  }

  /** A file that was renamed or removed under its owner keeps nothing: whoever did that may have read it before this was in it. */
  async #checkThere(): Promise<void> {
    const [open, there] = await Promise.all([this.#handle.stat(), stat(this.path).catch(() => undefined)]);
    if (there?.ino === open.ino && there.dev === open.dev) return;
    const message = `the spool ${this.path} was moved or removed while it was in use: let nobody touch it, and connect again`;
    throw new LeaseError('STORE_UNAVAILABLE', message, { details: { path: this.path }, retryable: false });
  }

  /** A disk that fills up takes a part and says how much; it refuses only the next write. */
  async #writeAll(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const rest = bytes.length - written;
      written += (await this.#handle.write(bytes, written, rest, this.#length + written)).bytesWritten;
    }
  }

  async #beginAnew(): Promise<void> {
    await this.#handle.truncate(0);
    await this.#handle.datasync();
    this.#length = 0;
  }

  /** The rename is what makes it ours: of two who try, one finds it gone. Its results are copied before it goes. */
  async #takeOver(before: string, path: string): Promise<void> {
    letGo.delete(before);
    try {
      await rename(before, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // somebody else was first
      letGo.add(before);
      throw error;
    }
    try {
      await this.#copyFrom(path);
      await unlink(path);
    } catch (error) {
      // It is nobody's again, under its old name or at least under this one, so that the next try finds it.
      letGo.add(
        await rename(path, before).then(
          () => before,
          () => path,
        ),
      );
      throw error;
    }
  }

  async #copyFrom(path: string): Promise<void> {
    const left = new Map<string, SpooledResult>();
    for (const record of decodeRecords(await readFile(path)).records) {
      if (record.what === 'keep') left.set(keyOf(record.result), record.result);
      else left.delete(keyOf(record));
    }
    for (const result of left.values()) {
      await this.#append({ what: 'keep', result });
      this.#results.set(keyOf(result), result);
    }
  }
}

function keyOf({ stream, operationId }: { stream: string; operationId: string }): string {
  return `${stream}\n${operationId}`;
}

/** A new name in a folder is on the disk when the folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function translated(error: unknown, path: string): LeaseError {
  if (error instanceof LeaseError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words =
    code === 'ENOSPC'
      ? `the disk that holds the spool ${path} is full: free some space; nothing was half written`
      : `the spool ${path} cannot be written (${code || message}): check the folder and who may write there`;
  return new LeaseError('STORE_UNAVAILABLE', words, { details: { path, code }, cause: error, retryable: false });
}
