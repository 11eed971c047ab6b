// The archive of the history (H4): one file a namespace, one event a line as JSON, only ever added to. What `append` has
// answered is on the disk. The last whole line says where to go on; what a crash left after it is cut off when the file is
// opened, so that no row is lost and none is there twice.
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LeaseError, shown } from '../domain/errors.js';
import { toEvent, type LogRow } from '../domain/events.js';

const NEWLINE = 0x0a;
/** How a line begins: what is cut off must look like one. */
const OPENING = '{"id":"';
const FIRST_TAIL_BYTES = 64 * 1_024;
const MAX_TAIL_BYTES = 16 * 1_024 * 1_024;

export class HistoryArchive {
  readonly #path: string;
  readonly #file: FileHandle;
  #size: number;
  #lastId: string | undefined;

  private constructor(path: string, file: FileHandle, end: End) {
    this.#path = path;
    this.#file = file;
    this.#size = end.size;
    this.#lastId = end.lastId;
  }

  /** Made when it is not there. Refused when it is something else, or belongs to another namespace. */
  static async open(path: string, namespace: string): Promise<HistoryArchive> {
    const file = await open(path, 'a+');
    try {
      const { size } = await file.stat();
      if (size === 0) await syncFolder(path);
      const end = await endOf(file, size, path, namespace);
      if (end.size < size) await file.truncate(end.size);
      return new HistoryArchive(path, file, end);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The position of the last row that is in the archive. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  async append(rows: readonly LogRow[]): Promise<void> {
    const bytes = Buffer.from(rows.map(lineOf).join(''));
    await this.#file.appendFile(bytes);
    await this.#file.sync();
    this.#size += bytes.length;
    const { size } = await this.#file.stat();
    if (size !== this.#size) {
      throw new LeaseError('STORE_UNAVAILABLE', `${this.#path} was written by somebody else too: nothing is pruned`);
    }
    this.#lastId = rows.at(-1)?.id ?? this.#lastId;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

function lineOf(row: LogRow): string {
  const { id, ...rest } = toEvent(row);
  return `${JSON.stringify({ id, ...rest })}\n`;
}

interface End {
  /** Up to and with the last newline. */
  readonly size: number;
  readonly lastId?: string | undefined;
}

async function endOf(file: FileHandle, size: number, path: string, namespace: string): Promise<End> {
  if (size === 0) return { size: 0 };
  for (let length = FIRST_TAIL_BYTES; length <= MAX_TAIL_BYTES; length *= 2) {
    const start = Math.max(0, size - length);
    const tail = await readFrom(file, start, size - start);
    const last = tail.lastIndexOf(NEWLINE);
    const before = last <= 0 ? -1 : tail.lastIndexOf(NEWLINE, last - 1);
    if (before === -1 && start > 0) continue; // the line begins further up
    if (last === -1) return tornFirstLine(tail, path);
    const line = tail.toString('utf8', before + 1, last);
    return { size: start + last + 1, lastId: idOf(line, path, namespace) };
  }
  throw notAnArchive(path, `its last line is longer than ${MAX_TAIL_BYTES} bytes`);
}

/** Nothing but the beginning of a first line: cut, unless it is the beginning of something else. */
function tornFirstLine(tail: Buffer, path: string): End {
  const written = tail.toString('latin1').replace(/\0+$/, ''); // a power cut may leave zeros
  if (written.startsWith(OPENING) || OPENING.startsWith(written)) return { size: 0 };
  throw notAnArchive(path, 'it holds something else');
}

function idOf(line: string, path: string, namespace: string): string {
  let event: { id?: unknown; namespace?: unknown } | null;
  try {
    event = JSON.parse(line) as typeof event;
  } catch {
    event = null;
  }
  if (typeof event?.id !== 'string') throw notAnArchive(path, 'its last line is no event');
  if (event.namespace !== namespace) {
    throw notAnArchive(path, `it is the archive of namespace ${shown(event.namespace)}, not of ${shown(namespace)}`);
  }
  return event.id;
}

function notAnArchive(path: string, why: string): LeaseError {
  const message = `history_archive_path ${shown(path)} cannot be used: ${why}; set another path, one for each namespace`;
  return new LeaseError('INVALID_ARGUMENT', message);
}

async function readFrom(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** A new file is only there after a power cut when its folder says so. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
