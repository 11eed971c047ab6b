// Wake-ups across processes (Q3): a watch on the WAL file, with a cheap poll of `data_version` as safety net. Runs only
// while this process has tickets in the queue. What it tells is a hint; a missed one costs one refresh of the ticket.
import { watch, type FSWatcher } from 'node:fs';
import type { Clock, TimerHandle } from '../../domain/clock.js';

const POLL_MS = 25;

export class Neighbours {
  readonly #walPath: string;
  readonly #clock: Clock;
  readonly #look: () => void;
  #watcher: FSWatcher | undefined;
  #poll: TimerHandle | undefined;
  #isDue = false;
  #isOn = false;

  /** `look` is called when another process may have written; it asks `data_version` itself. */
  constructor(path: string, clock: Clock, look: () => void) {
    this.#walPath = `${path}-wal`;
    this.#clock = clock;
    this.#look = look;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#again();
    try {
      this.#watcher = watch(this.#walPath, { persistent: false }, () => this.#soon());
      this.#watcher.on('error', () => this.#closeWatch());
    } catch {
      // No watch to be had (too many of them, or no WAL yet): the poll does alone.
    }
  }

  stop(): void {
    this.#isOn = false;
    this.#poll?.cancel();
    this.#closeWatch();
  }

  #closeWatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Many writes to the WAL, one look. */
  #soon(): void {
    if (this.#isDue || !this.#isOn) return;
    this.#isDue = true;
    this.#clock.soon(() => {
      this.#isDue = false;
      if (this.#isOn) this.#look();
    });
  }

  #again(): void {
    this.#poll = this.#clock.after(POLL_MS, () => {
      if (!this.#isOn) return;
      this.#look();
      this.#again();
    });
  }
}
