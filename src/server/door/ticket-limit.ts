// How many tickets one token may have in the queue through this server (W5), for clients that wait by themselves and ask again
// (the HTTP store). A ticket counts from the question on, so that those that are asked for together are all counted, until it is
// granted, refused or ended, or until it would have died without a refresh (Q2): nothing has to be told for it to be forgotten.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { TICKET_LIFE_MS } from '../../domain/limits.js';
import type { Caller } from '../context.js';

export class TicketLimit {
  readonly #clock: Clock;
  readonly #most: number;
  /** For each token its tickets, by id, with the time they die at; oldest refresh first. */
  readonly #tickets = new Map<string, Map<string, number>>();

  constructor(clock: Clock, mostPerToken: number) {
    this.#clock = clock;
    this.#most = mostPerToken;
  }

  /** Before an acquire that may join: true where the id counts from now on, false where it did already. Throws RATE_LIMITED. */
  reserve(caller: Caller, id: string): boolean {
    const { tokenId = '' } = caller;
    const mine = this.#tickets.get(tokenId);
    if (mine?.has(id)) return false;
    if (mine && mine.size >= this.#most) this.#forgetDead(tokenId, mine);
    if (mine && mine.size >= this.#most) {
      const text = `${this.#most} requests of this token wait already, which is the limit: try again later`;
      throw new LeaseError('RATE_LIMITED', text, { details: { retryAfterMs: 1_000 } });
    }
    this.queued(caller, id);
    return true;
  }

  queued({ tokenId = '' }: Caller, id: string): void {
    const mine = this.#tickets.get(tokenId) ?? new Map<string, number>();
    this.#tickets.set(tokenId, mine);
    mine.delete(id); // to the end: the order is that of dying
    mine.set(id, this.#clock.monotonic() + TICKET_LIFE_MS);
    this.#forgetDead(tokenId, mine);
  }

  gone({ tokenId = '' }: Caller, id: string): void {
    const mine = this.#tickets.get(tokenId);
    mine?.delete(id);
    if (mine?.size === 0) this.#tickets.delete(tokenId);
  }

  #forgetDead(tokenId: string, mine: Map<string, number>): void {
    const now = this.#clock.monotonic();
    for (const [id, diesAt] of mine) {
      if (diesAt > now) break;
      mine.delete(id);
    }
    if (mine.size === 0) this.#tickets.delete(tokenId);
  }
}
