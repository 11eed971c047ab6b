// The bell (Q3, docs/decisions/0008): a small file beside the store through which a process that freed something tells the
// others whose turn may have come. One write, after the commit, and only when somebody in another process is to be woken.
//
// It holds the ids of the tickets of the last ring, one a line, ended by an empty line. What it says is a hint: two rings at
// once may overwrite one another, a reader may see half of one. The poll of `data_version` finds what was missed.
import { closeSync, constants, openSync, readSync, watch, writeSync, type FSWatcher } from 'node:fs';

const MOST_BYTES = 4_096;

export class Bell {
  readonly #path: string;
  #file: number | undefined;
  #watcher: FSWatcher | undefined;
  readonly #buffer = Buffer.alloc(MOST_BYTES);

  constructor(storePath: string) {
    this.#path = `${storePath}-bell`;
  }

  ring(ticketIds: readonly string[]): void {
    try {
      const lines = ticketIds.join('\n').slice(0, MOST_BYTES - 2);
      writeSync(this.#open(), `${lines}\n\n`, 0);
    } catch {
      // No bell to be had (a folder that may not be written): the poll does alone.
    }
  }

  /** Calls `heard` at each ring of any process, with the tickets it names. */
  listen(heard: (ticketIds: readonly string[]) => void): void {
    if (this.#watcher) return;
    try {
      this.#open();
      this.#watcher = watch(this.#path, { persistent: false }, () => heard(this.#read()));
      this.#watcher.on('error', () => this.stopListening());
    } catch {
      // Too many watches, or no bell: the poll does alone.
    }
  }

  stopListening(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  close(): void {
    this.stopListening();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    return (this.#file ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o666));
  }

  #read(): readonly string[] {
    if (this.#file === undefined) return [];
    const bytes = readSync(this.#file, this.#buffer, 0, MOST_BYTES, 0);
    const text = this.#buffer.toString('utf8', 0, bytes);
    const end = text.indexOf('\n\n');
    return text.slice(0, end === -1 ? bytes : end).split('\n');
  }
}
