// Other processes that write to the same file (Q3): their bell, and a cheap poll of `data_version` as safety net. Runs only
// while somebody here wants to know. What it tells is a hint; a missed one costs one refresh of the ticket.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import type { Bell } from './bell.js';

const POLL_MS = 25;

export class Neighbours {
  readonly #bell: Bell;
  readonly #clock: Clock;
  readonly #look: () => void;
  readonly #heard: (ticketIds: readonly string[]) => void;
  #poll: TimerHandle | undefined;
  #isOn = false;

  /** `look` is called when another process may have written, and asks `data_version` itself; `heard` at every ring. */
  constructor(bell: Bell, clock: Clock, look: () => void, heard: (ticketIds: readonly string[]) => void) {
    this.#bell = bell;
    this.#clock = clock;
    this.#look = look;
    this.#heard = heard;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#again();
    this.#bell.listen((ticketIds) => {
      if (this.#isOn) this.#heard(ticketIds);
    });
  }

  stop(): void {
    this.#isOn = false;
    this.#poll?.cancel();
    this.#bell.stopListening();
  }

  #again(): void {
    this.#poll = this.#clock.after(POLL_MS, () => {
      if (!this.#isOn) return;
      this.#look();
      if (this.#isOn) this.#again(); // whoever looked may have found that nobody waits any more
    });
  }
}
