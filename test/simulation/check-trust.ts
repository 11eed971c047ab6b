// S7, the trust window, for every handle of every process that runs: `isHeld` is only ever true while the store has this id
// live with this epoch; never past the deadline that follows from the answers the process was given; and at the deadline
// the signal has aborted, as soon as the process had a chance to run its timers.
import { LeaseError } from '../../src/domain/errors.js';
import type { HeldLease } from '../../src/manager/face.js';
import type { Handle, Ledger } from './ledger.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { StoreView } from './store-view.js';
import { Violation, type World } from './world.js';

/** A timer may fire early once and is then set again: whole milliseconds, late by one. */
const TIMER_SLACK_MS = 6;

export class TrustChecks {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #view: StoreView;
  /** From here on nothing goes wrong. */
  healedAt = Infinity;

  constructor(world: World, ledger: Ledger, view: StoreView) {
    this.#world = world;
    this.#ledger = ledger;
    this.#view = view;
  }

  check(): void {
    let isSomeOver = false;
    for (const handle of this.#ledger.handles) {
      const { process, lease } = handle;
      if (process.isGone) isSomeOver = true;
      if (!process.isRunning) continue;
      const isHeld = lease.isHeld;
      if (isHeld) this.#checkBelief(handle);
      else if (handle.letGo !== undefined && !this.#view.standing.has(lease.id)) isSomeOver = true;
      this.#checkSignal(handle, isHeld);
    }
    if (isSomeOver) this.#ledger.forget((handle) => this.#isOver(handle));
  }

  /** The moments before `end` at which a lease somebody believes in runs out: a belief must be over by then. */
  instantsBefore(end: number): number[] {
    const instants: number[] = [];
    for (const { process, lease } of this.#ledger.handles) {
      if (!process.isRunning) continue;
      const standing = this.#view.standing.get(lease.id);
      const over = standing === undefined ? Infinity : this.#view.trueTimeOf(standing.expiresAt);
      if (over > this.#world.now && over < end) instants.push(over);
    }
    return instants.sort((a, b) => a - b);
  }

  #checkBelief({ lease, process, letGo, hasAborted }: Handle): void {
    const who = `${process.name} believes in ${lease.resources.join(', ')} (${lease.id.slice(-5)} #${lease.epoch})`;
    if (letGo !== undefined && letGo !== 'abandoned') throw new Violation(`S7: ${who} after it was ${letGo}`);
    if (hasAborted) throw new Violation(`S7: ${who} although its signal has aborted`);
    if (!this.#view.has(lease.id, lease.epoch) && !this.#wasTakenAway(process, lease)) {
      const truth = this.#view.lease(lease.id);
      const found = truth === undefined ? 'the store has it no longer' : `the store has epoch ${truth.epoch}`;
      throw new Violation(`S7: ${who}: ${found}`);
    }
    const late = process.clock.monotonic() - this.#view.trustedUntil(process, lease.id);
    if (late > 0) throw new Violation(`S7: ${who} ${late.toFixed(3)} ms after the deadline its answers gave it`);
  }

  /** A revocation and a reclaim end a lease under its holder, who is told by its next renewal and not before. */
  #wasTakenAway(process: SimulatedProcess, { id, epoch }: HeldLease): boolean {
    const isTaken = this.#view.ends.get(id)?.type === 'lease.revoked' || this.#wasReclaimed(id);
    return isTaken && !this.#view.wasRefused(process, id, epoch);
  }

  /** The signal is only looked at when it matters: a handle whose signal nobody ever asked for must know it too. */
  #checkSignal(handle: Handle, isHeld: boolean): void {
    const { lease, process, letGo } = handle;
    if (isHeld || handle.hasAborted || letGo !== undefined || !process.isCaughtUp) return;
    handle.hasAborted = lease.signal.aborted;
    if (handle.hasAborted) return this.#checkLoss(handle);
    const late = process.clock.monotonic() - this.#view.trustedUntil(process, lease.id);
    const running = this.#world.now - process.runningSince;
    if (late <= TIMER_SLACK_MS || running <= TIMER_SLACK_MS) return;
    throw new Violation(
      `S7: ${process.name}: the signal of ${lease.resources.join(', ')} (${lease.id.slice(-5)}) has not aborted` +
        ` ${late.toFixed(3)} ms after its deadline`,
    );
  }

  /** A5: a lease that is renewed by itself is not lost while nothing is wrong. Asked for while something was, and on its way
   *  until now, it may come with too little left to be renewed even once: its deadline counts from when it was asked for. */
  #checkLoss({ lease, process, isKept }: Handle): void {
    const reason: unknown = lease.signal.reason;
    if (!(reason instanceof LeaseError))
      throw new Violation(`S12: the signal says ${String(reason)} and no LeaseError`);
    const isLost = reason.code === 'LEASE_LOST';
    const isExcused = this.#view.ends.get(lease.id)?.type === 'lease.revoked' || this.#wasReclaimed(lease.id);
    const { acquiredAt, ttlMs } = lease.toJSON();
    const grantedAt = this.#view.trueTimeOf(Date.parse(acquiredAt));
    const askedAt = this.#view.askedAt.get(lease.id) ?? Infinity;
    const cameLate = askedAt < this.healedAt && this.#world.now <= grantedAt + ttlMs;
    if (!isKept || !isLost || isExcused || grantedAt < this.healedAt || cameLate) return;
    throw new Violation(
      `A5: ${process.name} lost ${lease.resources.join(', ')} (${lease.id.slice(-5)}) while nothing was wrong`,
    );
  }

  #wasReclaimed(leaseId: string): boolean {
    return this.#view.ends.get(leaseId)?.reason === 'reclaimed';
  }

  #isOver({ process, lease, letGo }: Handle): boolean {
    if (process.isGone) return true;
    return process.isRunning && letGo !== undefined && !lease.isHeld && !this.#view.standing.has(lease.id);
  }
}
