// S9, no orphans: a ticket or lease that nobody stands for any more is gone after its own life, ten seconds for a ticket and
// the ttl for a lease, plus what a message may be under way. And A1: a wait ends when it should.
import type { Lease } from '../../src/domain/lease.js';
import { TICKET_LIFE_MS } from '../../src/domain/limits.js';
import type { Ledger, Operation } from './ledger.js';
import { LONGEST_DELAY_MS } from './profile.js';
import type { StoreView } from './store-view.js';
import { Violation, type World } from './world.js';

/** A wait that is over still ends its ticket, with an attempt or two. */
const SETTLE_SLACK_MS = 1_500;
/** An end leaves at once, behind a call that hangs if need be. */
const END_SENT_WITHIN_MS = 600;
/** And is repeated every two seconds until it is answered. */
const END_REPEATED_WITHIN_MS = 3_500;

export class OrphanChecks {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #view: StoreView;
  readonly #slackMs: number;
  /** Since when nobody has stood for a row. */
  readonly #alone = new Map<string, number>();
  /** From here on the store can be reached. */
  healedAt = Infinity;

  constructor(world: World, ledger: Ledger, view: StoreView, slackMs: number) {
    this.#world = world;
    this.#ledger = ledger;
    this.#view = view;
    this.#slackMs = slackMs;
  }

  check(): void {
    for (const row of this.#view.standing.values()) this.#checkRow(row);
    for (const operation of this.#ledger.pending) this.#checkWait(operation);
  }

  #checkRow(row: Lease): void {
    if (this.#view.now >= row.expiresAt) return;
    if (this.#isStoodFor(row)) {
      this.#alone.delete(row.id);
      return;
    }
    const since = this.#alone.get(row.id) ?? this.#world.now;
    this.#alone.set(row.id, since);
    this.#checkEnded(row, this.#world.now - since);
    this.#checkReachable(row, since);
    const lifeMs = (row.status === 'pending' ? TICKET_LIFE_MS : row.ttlMs) + LONGEST_DELAY_MS + this.#slackMs;
    const aloneMs = this.#world.now - since;
    if (aloneMs <= lifeMs) return;
    const what = row.status === 'pending' ? 'the ticket' : 'the lease';
    throw new Violation(
      `S9: ${what} ${row.id.slice(-5)} of ${row.owner} stands for nobody since ${aloneMs.toFixed(0)} ms`,
    );
  }

  /** Whoever stopped asking without an answer ends what it asked for: the only way out is a store it cannot reach. */
  #checkEnded({ id, operationId, owner }: Lease, aloneMs: number): void {
    const asked = this.#ledger.operation(operationId);
    if (!asked || !this.#view.isUnknown(id) || this.#view.endsSent.has(id)) return;
    if (this.#ledger.handlesOf(id).length > 0) return;
    const { process, key } = asked;
    if (!process.isCaughtUp || Math.min(aloneMs, this.#world.now - process.runningSince) < END_SENT_WITHIN_MS) return;
    throw new Violation(
      `S9: ${id.slice(-5)} of ${owner} (${key}) stands for nobody, and ${process.name} sends no end for it`,
    );
  }

  /** Where the store can be reached nothing is left to die by itself. */
  #checkReachable({ id, status, owner, operationId }: Lease, since: number): void {
    const asked = this.#ledger.operation(operationId);
    if (status !== 'pending' || !asked?.process.isCaughtUp || !this.#view.isUnknown(id)) return;
    const reachableMs = this.#world.now - Math.max(since, this.healedAt, asked.process.runningSince);
    if (reachableMs <= END_REPEATED_WITHIN_MS) return;
    throw new Violation(
      `S9: ticket ${id.slice(-5)} of ${owner} (${asked.key}) is left to die, though the store can be reached`,
    );
  }

  #isStoodFor(row: Lease): boolean {
    const asked = this.#ledger.operation(row.operationId);
    if (asked && !asked.isSettled && !asked.process.isGone) return true;
    const leaseId = this.#view.requests.get(row.id)?.upgrades?.id ?? row.id;
    if (this.#ledger.handlesOf(leaseId).some(({ process, letGo }) => letGo === undefined && !process.isGone))
      return true;
    for (const { leaseId: about, process } of this.#ledger.pending)
      if (about === leaseId && !process.isGone) return true;
    return false;
  }

  /** While the process runs, a wait is over at its end; a cancelled one at once. */
  #checkWait({ process, startedAt, waitMs, abortedAt, what, key }: Operation): void {
    if (!process.isCaughtUp || this.#world.now - process.runningSince < SETTLE_SLACK_MS) return;
    const end = Math.min(startedAt + waitMs, abortedAt ?? Infinity);
    const lateMs = process.clock.monotonic() - end;
    if (lateMs <= SETTLE_SLACK_MS) return;
    throw new Violation(`A1: ${process.name} still waits for ${what} (${key}), ${lateMs.toFixed(0)} ms after its end`);
  }
}
