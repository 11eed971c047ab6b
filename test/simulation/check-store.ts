// S1, S2 and Q1 on the model itself, after every call that reached it: no two live leases conflict, epochs only grow, and
// no grant went past a live ticket ahead of it. Q2: no ticket lives longer than ten seconds from its last refresh.
import { inTheWay, fits } from '../../src/domain/conflict.js';
import { mayWaitFor } from '../../src/domain/decide.js';
import type { LogRow } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import { TICKET_LIFE_MS } from '../../src/domain/limits.js';
import { isAhead, LAST, type Place } from '../../src/domain/queue-order.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { numberIn, partsOf, rowText, transitionOf } from '../../src/testing/store-conformance/history-rows.js';
import { Standing, type StandingTicket } from '../../src/testing/store-conformance/history-standing.js';
import type { StoreView } from './store-view.js';
import { Violation } from './world.js';

export class StoreChecks {
  readonly #view: StoreView;
  readonly #leaseUntil = new Map<string, number>();
  readonly #ticketUntil = new Map<string, number>();
  /** Leases and tickets by name, as the log tells them. */
  readonly standing = new Standing({ leaseUntil: this.#leaseUntil, ticketUntil: this.#ticketUntil });
  #rows = 0;
  #epoch = 0;

  constructor(view: StoreView) {
    this.#view = view;
  }

  check(): void {
    if (!this.#view.isFresh) return;
    this.#view.isFresh = false;
    const items = [...this.#view.standing.values()];
    checkExclusion(items.filter(({ status }) => status === 'active'));
    for (const item of items) {
      (item.status === 'active' ? this.#leaseUntil : this.#ticketUntil).set(item.id, item.expiresAt);
      if (item.status === 'pending') checkTicket(item);
    }
    for (const row of this.#view.newRows) {
      this.#checkEpoch(row);
      this.#checkPlace(row);
      this.standing.apply(row, this.#rows);
      this.#rows += 1;
    }
    this.#view.newRows = [];
  }

  #checkEpoch(row: LogRow): void {
    const isDraw = row.type === 'lease.acquired' || row.type === 'lease.upgraded' || row.type === 'lease.delegated';
    const drawn = isDraw ? row.epoch : numberIn(row, 'revocationEpoch');
    if (drawn === undefined) return;
    const isSameRevocation = !isDraw && drawn === this.#epoch;
    if (drawn <= this.#epoch && !isSameRevocation) {
      throw new Violation(`S2: ${rowText(row, this.#rows)} drew epoch ${drawn} after ${this.#epoch}`);
    }
    this.#epoch = drawn;
  }

  /** The rule of the queue, as the recorded histories of the conformance suite are checked for it. */
  #checkPlace(row: LogRow): void {
    const change = transitionOf(row);
    if (change?.kind === 'queued') this.#checkPriority(row, change.id);
    const ticketId = change?.kind === 'upgraded' ? change.ticketId : change?.kind === 'granted' ? change.id : undefined;
    const request = ticketId === undefined ? undefined : this.#view.requests.get(ticketId);
    if (request === undefined || request.reclaim) return;
    const parts = partsOf(row);
    const place: Place = this.standing.ticket(request.id) ?? LAST;
    const ahead = this.standing
      .tickets(parts, row.at)
      .filter((ticket) => ticket.id !== request.id && isAhead(ticket, place))
      .filter((ticket) => !this.#isPassedOver(ticket, request, row.at));
    const leases = this.standing.leases(parts, row.at).filter(({ id }) => id !== row.leaseId);
    if (ahead.length > 0 && fits(parts, leases) && !fits(parts, [...leases, ...ahead])) {
      const passed = ahead.map(({ id }) => id.slice(-5)).join(', ');
      throw new Violation(`Q1: ${rowText(row, this.#rows)} went past ${passed}, ahead of it in the queue`);
    }
  }

  #checkPriority(row: LogRow, id: string): void {
    const [asked, given] = [this.#view.requests.get(id)?.priority ?? 0, numberIn(row, 'priority') ?? 0];
    if (asked === given) return;
    throw new Violation(`Q1: ${rowText(row, this.#rows)} has priority ${given}, its request asked for ${asked}`);
  }

  /** A ticket that itself waits for a lease the request is holding lets it go first. */
  #isPassedOver(ticket: StandingTicket, request: AcquireRequest, at: number): boolean {
    const upgrading = this.#view.requests.get(ticket.id)?.upgrades?.id;
    const held = request.upgrades ? [...request.holding, request.upgrades.id] : request.holding;
    return held.some((id) => {
      const lease = this.standing.lease(id, at);
      return lease !== undefined && upgrading !== id && mayWaitFor(ticket, lease);
    });
  }
}

function checkExclusion(leases: readonly Lease[]): void {
  for (const [i, lease] of leases.entries()) {
    const { direct, byLimit } = inTheWay(lease.parts, leases.slice(i + 1));
    const other = direct[0] ?? byLimit[0];
    if (!other) continue;
    throw new Violation(`S1: ${lease.id} of ${lease.owner} and ${other.id} of ${other.owner} are live and conflict`);
  }
}

function checkTicket({ id, renewedAt, expiresAt }: Lease): void {
  if (expiresAt - renewedAt <= TICKET_LIFE_MS) return;
  throw new Violation(`Q2: ticket ${id} lives ${expiresAt - renewedAt} ms from its last refresh`);
}
