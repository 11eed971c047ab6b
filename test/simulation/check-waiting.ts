// Q3, after everything has healed: whoever could be granted claims within one refresh, wake-up or not. Time is given for the
// short blocks (minHold, lockDelay) that a ticket may still wait for without anybody being in its way.
import { fits } from '../../src/domain/conflict.js';
import { isAhead } from '../../src/domain/queue-order.js';
import { TICKET_REFRESH_MS } from '../../src/domain/limits.js';
import type { Standing } from '../../src/testing/store-conformance/history-standing.js';
import type { Ledger } from './ledger.js';
import type { StoreView } from './store-view.js';
import { Violation, type World } from './world.js';

const CLAIM_SLACK_MS = 1_500;

export class WaitingChecks {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #view: StoreView;
  readonly #standing: Standing;
  readonly #freeSince = new Map<string, number>();

  constructor(world: World, ledger: Ledger, view: StoreView, standing: Standing) {
    this.#world = world;
    this.#ledger = ledger;
    this.#view = view;
    this.#standing = standing;
  }

  check(): void {
    for (const { id, status, operationId } of this.#view.standing.values()) {
      if (status !== 'pending') continue;
      const waiter = this.#ledger.operation(operationId);
      if (!waiter?.process.isCaughtUp || waiter.isSettled || !this.#isFree(id)) {
        this.#freeSince.delete(id);
        continue;
      }
      const since = this.#freeSince.get(id) ?? this.#world.now;
      this.#freeSince.set(id, since);
      const idleMs = this.#world.now - since;
      if (idleMs <= TICKET_REFRESH_MS + CLAIM_SLACK_MS) continue;
      throw new Violation(
        `Q3: ${waiter.process.name} does not claim ${waiter.what} (${waiter.key}), free since ${idleMs.toFixed(0)} ms`,
      );
    }
  }

  #isFree(id: string): boolean {
    const ticket = this.#standing.ticket(id);
    if (!ticket) return false;
    const { now } = this.#view;
    const ahead = this.#standing.tickets(ticket.parts, now).filter((other) => isAhead(other, ticket));
    return fits(ticket.parts, [...this.#standing.leases(ticket.parts, now), ...ahead]);
  }
}
