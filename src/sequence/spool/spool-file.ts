// One spool file (V7): append-only, each record on the disk before it counts, bounded. A write that failed half way is cut
// off again, so that the file is always whole records; when nothing is left in it, it begins anew.
import { mkdir, open, readdir, readFile, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { ownerOf, ownName } from './spool-owner.js';
import { decodeRecords, encodeRecord, type SpooledResult, type SpoolRecord } from './spool-record.js';

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_RESULTS = 10_000;

export class SpoolFile {
  readonly path: string;
  /** Files in the folder that belong to other machines: nobody here can tell whether their owners live. */
  readonly foreign: string[] = [];
  readonly #handle: FileHandle;
  readonly #results = new Map<string, SpooledResult>();
  #length = 0;
  /** Writes go one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** A file of this process, with what processes that are gone left in the folder. */
  static async open(folder: string, clock: Clock): Promise<SpoolFile> {
    try {
      await mkdir(folder, { recursive: true });
      const path = join(folder, ownName(clock));
      const file = new SpoolFile(path, await open(path, 'wx'));
      await syncFolder(folder);
      for (const name of await readdir(folder)) {
        const owner = ownerOf(name, clock);
        if (owner === 'dead') await file.#takeOver(folder, name, clock);
        if (owner === 'elsewhere') file.foreign.push(name);
      }
      return file;
    } catch (error) {
      throw translated(error, folder);
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
      this.#results.set(keyOf(result), result);
    });
  }

  done(stream: string, operationId: string): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#results.delete(keyOf({ stream, operationId }))) return;
      if (this.#results.size === 0) await this.#beginAnew();
      else await this.#append({ what: 'done', stream, operationId });
    });
  }

  /** The file stays when there is something in it: whoever comes next takes it over. */
  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#handle.close();
    if (this.#results.size === 0) await unlink(this.path).catch(() => undefined);
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #append(record: SpoolRecord): Promise<void> {
    const bytes = encodeRecord(record);
    try {
      await this.#handle.write(bytes, 0, bytes.length, this.#length);
      await this.#handle.datasync();
      this.#length += bytes.length;
    } catch (error) {
      await this.#handle.truncate(this.#length).catch(() => undefined); // half a record is none, also when it stays
      throw translated(error, this.path);
    }
  }

  async #beginAnew(): Promise<void> {
    await this.#handle.truncate(0);
    await this.#handle.datasync();
    this.#length = 0;
  }

  /** The rename is what makes it ours: of two who try, one finds it gone. Its results are copied before it goes. */
  async #takeOver(folder: string, name: string, clock: Clock): Promise<void> {
    const path = join(folder, ownName(clock));
    try {
      await rename(join(folder, name), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const left = new Map<string, SpooledResult>();
    for (const record of decodeRecords(await readFile(path)).records) {
      if (record.what === 'keep') left.set(keyOf(record.result), record.result);
      else left.delete(keyOf(record));
    }
    for (const result of left.values()) {
      await this.#append({ what: 'keep', result });
      this.#results.set(keyOf(result), result);
    }
    await unlink(path);
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
