// After a suspend (S7, in doubt): monotonic time stood still, wall time went on, and no deadline knows of it. While
// anything is held, one timer per process compares the two clocks; holds that are in doubt are asked about in one call.
//
// Yes, with the same epoch, restores the hold for as long as the store says; no means lost. No answer: it stays in doubt,
// is asked about again, and the deadline decides.
import type { Clock, TimerHandle } from '../domain/clock.js';
import { LIMITS } from '../domain/limits.js';
import type { Lease } from '../domain/lease.js';
import type { Hold } from './held-lease.js';
import { lostByAnswer } from './loss.js';
import type { StoreLink } from './store-link.js';

const CHECK_MS = 500;
/** Less than the smallest margin, more than two clocks read one after the other can differ by. */
const JUMP_MS = 20;

type Held = Iterable<Hold> & { readonly size: number };

export class SuspendWatch {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  readonly #holds: Held;
  readonly #asked = new Set<Hold>();
  readonly #inDoubt: Hold[] = [];
  #timer: TimerHandle | undefined;
  #drift = 0;
  /** Somebody may be in doubt still: asked about again at the next look. */
  #isUneasy = false;

  constructor(clock: Clock, link: StoreLink, holds: Held) {
    this.#clock = clock;
    this.#link = link;
    this.#holds = holds;
  }

  /** Goes on until it finds that nothing is held, so that holds which follow each other share it. */
  start(): void {
    if (this.#timer) return;
    this.#drift = this.#clock.wall() - this.#clock.monotonic();
    this.#again();
  }
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Asks the store how this one stands, together with all others that come into doubt this turn. */
  ask(hold: Hold): void {
    if (this.#asked.has(hold)) return;
    this.#asked.add(hold);
    if (this.#inDoubt.push(hold) === 1) queueMicrotask(() => this.#askAll(this.#inDoubt.splice(0)));
  }

  #askAll(holds: readonly Hold[]): void {
    for (let i = 0; i < holds.length; i += LIMITS.rowsPerStep) {
      const some = holds.slice(i, i + LIMITS.rowsPerStep);
      this.#askTogether(some)
        .catch(() => {
          this.#isUneasy = true;
        })
        .finally(() => {
          for (const hold of some) this.#asked.delete(hold);
        });
    }
  }

  #again(): void {
    this.#timer = this.#clock.after(CHECK_MS, () => {
      const drift = this.#clock.wall() - this.#clock.monotonic();
      const hasJumped = Math.abs(drift - this.#drift) > JUMP_MS;
      this.#drift = drift;
      if (hasJumped || this.#isUneasy) {
        this.#isUneasy = false;
        for (const hold of this.#holds) hold.standing(); // who is in doubt asks
      }
      this.#timer = undefined;
      if (this.#holds.size > 0) this.#again();
    });
  }

  async #askTogether(holds: readonly Hold[]): Promise<void> {
    const sent = { sentAt: this.#clock.monotonic(), sentWall: this.#clock.wall() };
    const timeoutMs = Math.min(...holds.map((hold) => hold.terms.requestTimeoutMs));
    const [ids, epochs] = [holds.map((hold) => hold.id), holds.map((hold) => hold.epoch)];
    const asked = this.#link.call('get', (store) => store.get(ids));
    const { items, now } = await this.#link.within(timeoutMs, 'get', asked);
    for (const [i, hold] of holds.entries()) {
      if (hold.epoch === epochs[i] || items[i]?.epoch === hold.epoch) this.#answered(hold, sent, items[i], now);
      else this.#isUneasy = true; // upgraded meanwhile: this is about an epoch it no longer has
    }
  }

  #answered(hold: Hold, sent: { sentAt: number; sentWall: number }, found: Lease | undefined, now: number): void {
    if (hold.state !== 'held') return;
    if (this.#clock.monotonic() >= hold.deadline) return hold.lose(hold.lossByDeadline());
    if (found?.status === 'active' && found.epoch === hold.epoch) {
      hold.confirm({ ...sent, remainingMs: found.expiresAt - now }, { expiresAt: found.expiresAt });
      return;
    }
    if (hold.upgrading) {
      this.#isUneasy = true; // another epoch may be its own
      return;
    }
    const epoch = found && found.epoch !== hold.epoch ? found.epoch : undefined;
    hold.lose(lostByAnswer(hold.lease, { outcome: 'notHeld', status: found?.status ?? 'unknown', epoch }));
  }
}
