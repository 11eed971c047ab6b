// Keeps claims alive while their recoverer works (V1): the ones that are left of a batch are renewed together, well before
// they run out, and one without an answer is asked again until they have. A renewal that fails is no error here: whoever lost
// its claim finds out when it settles.
import type { TimerHandle } from '../../domain/clock.js';
import type { Claimed } from '../../domain/sequence.js';
import type { SequenceLink } from '../sequence-link.js';

const RENEW_SHARE = 3;

export class ClaimKeeper {
  readonly #link: SequenceLink;
  readonly #ttlMs: number;
  readonly #left: Set<Claimed>;
  #timer: TimerHandle | undefined;

  constructor(link: SequenceLink, ttlMs: number, claimed: readonly Claimed[]) {
    this.#link = link;
    this.#ttlMs = ttlMs;
    this.#left = new Set(claimed);
    if (this.#left.size > 0) this.#later();
  }

  done(item: Claimed): void {
    this.#left.delete(item);
  }
  stop(): void {
    this.#left.clear();
    this.#timer?.cancel();
  }

  #later(): void {
    this.#timer = this.#link.clock.after(this.#ttlMs / RENEW_SHARE, () => {
      const requests = this.#wanted().map(({ stream, operationId, claimEpoch }) => ({
        stream,
        operationId,
        claimEpoch,
        ttlMs: this.#ttlMs,
      }));
      if (requests.length === 0) return;
      const restMs = this.#ttlMs - this.#ttlMs / RENEW_SHARE;
      askAgain(this.#link, restMs, () => this.#link.call('renewClaims', (store) => store.renewClaims(requests)))
        .catch(() => undefined)
        .finally(() => {
          if (this.#left.size > 0) this.#later();
        });
    });
  }
  /** In a shutdown only the first, which is under way: nobody here will come to the others. */
  #wanted(): readonly Claimed[] {
    return [...this.#left].slice(0, this.#link.life.aborted ? 1 : undefined);
  }
}

/** S15: while an answer may come, for so long; in a shutdown once. */
export function askAgain<T>(link: SequenceLink, ms: number, ask: () => Promise<T>): Promise<T> {
  return link.life.aborted ? ask() : link.untilAnswered(link.clock.monotonic() + ms, ask);
}
