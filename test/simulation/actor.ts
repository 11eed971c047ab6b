// An actor: one task of a process that goes through a random program of steps. It keeps the ledger, so that the checks know
// at every moment what it waits for and what it has in hand. An error it did not have to expect ends the run.
import { LeaseError, type LeaseErrorCode } from '../../src/domain/errors.js';
import type { AcquireOptions, HeldLease } from '../../src/manager/face.js';
import type { Handle, Operation } from './ledger.js';
import type { Random } from './random.js';
import type { SimulatedProcess } from './simulated-process.js';
import { Violation } from './world.js';
import { wishText, type Wish } from './wishes.js';

/** What may always happen in a world like this. */
const EXPECTED: ReadonlySet<LeaseErrorCode> = new Set<LeaseErrorCode>([
  'ACQUIRE_TIMEOUT',
  'ACQUIRE_ABORTED',
  'LEASE_LOST',
  'STALE_EPOCH',
  'NOT_HELD',
  'MAX_RENEWALS',
  'MAX_HOLD',
  'DEADLOCK',
  'STORE_UNAVAILABLE',
  'SHUTTING_DOWN',
]);
/** A wait without end is given up for these alone. */
const EXPECTED_FOREVER: ReadonlySet<LeaseErrorCode> = new Set(['SHUTTING_DOWN', 'LEASE_LOST', 'DEADLOCK']);
/** And by who holds something meanwhile for the loss of that. */
const EXPECTED_NESTED: ReadonlySet<LeaseErrorCode> = new Set(['NOT_HELD', 'MAX_RENEWALS', 'MAX_HOLD']);

export class Actor {
  readonly process: SimulatedProcess;
  readonly random: Random;

  constructor(process: SimulatedProcess) {
    this.process = process;
    this.random = process.world.random.fork();
  }

  /** One call with its entry in the ledger; undefined when it was refused, cancelled or failed as calls may. */
  async ask<T>(
    what: string,
    waitMs: number,
    leaseId: string | undefined,
    act: (operation: Operation) => Promise<T>,
    words: (value: T) => string,
  ): Promise<T | undefined> {
    const { ledger, world, name } = this.process;
    const operation = ledger.begin(this.process, what, waitMs, leaseId);
    try {
      const value = await act(operation);
      ledger.settle(operation, () => words(value));
      return value;
    } catch (error) {
      ledger.settle(operation, () => String(error));
      if (!isExpected(error, operation)) {
        world.fail(new Violation(`A11: ${name}: ${what} (${operation.key}) ended with ${shown(error)}`));
      }
      return undefined;
    }
  }

  acquire(wish: Wish, outer?: HeldLease): Promise<Handle | undefined> {
    const what = `acquire ${wishText(wish)}${outer ? ` within ${leaseText(outer)}` : ''}`;
    const from = outer ?? this.process.leases;
    return this.#take(what, wish, async (options) => from.acquire(wish.parts, options), outer !== undefined);
  }

  tryAcquire(wish: Wish): Promise<Handle | undefined> {
    const { process } = this;
    const { wait: _wait, ...rest } = wish.options;
    const atOnce: Wish = { ...wish, options: rest, waitMs: 0 };
    return this.#take(`tryAcquire ${wishText(atOnce)}`, atOnce, async (options) => {
      const answer = await process.leases.tryAcquire(wish.parts, options);
      return answer.ok ? answer.lease : undefined;
    });
  }

  async #take(
    what: string,
    wish: Wish,
    act: (options: AcquireOptions) => Promise<HeldLease | undefined>,
    isNested = false,
  ): Promise<Handle | undefined> {
    const { process, random } = this;
    const cancelAfterMs = random.chance(0.25) ? random.pick([0, 1, 10, 60, 400, 2_000]) * random.next() : undefined;
    const controller = new AbortController();
    const words = (lease: HeldLease | undefined): string => (lease ? `granted ${leaseText(lease)}` : 'refused');
    let handle: Handle | undefined;
    await this.ask(
      cancelAfterMs === undefined ? what : `${what}, cancelled after ${cancelAfterMs.toFixed(1)} ms`,
      wish.waitMs,
      undefined,
      async (operation) => {
        operation.isNested = isNested;
        const cancel = (): void => {
          operation.abortedAt = process.clock.monotonic();
          controller.abort(new Error('the actor changed its mind'));
        };
        const timer = cancelAfterMs === undefined ? undefined : process.clock.after(cancelAfterMs, cancel);
        try {
          const cancelling = cancelAfterMs === undefined ? {} : { signal: controller.signal };
          const lease = await act({ ...wish.options, ...cancelling, operationId: operation.key });
          if (lease) handle = process.ledger.hold(process, lease, isKept(wish.options));
          return lease;
        } finally {
          timer?.cancel();
        }
      },
      words,
    );
    if (handle && random.chance(0.5)) handle.lease.signal.addEventListener('abort', () => this.#heardOfLoss(handle));
    return handle;
  }

  #heardOfLoss(handle: Handle | undefined): void {
    const reason: unknown = handle?.lease.signal.reason;
    this.process.world.tell(() => `${this.process.name}'s signal: ${shown(reason)}`);
  }

  async release(handle: Handle): Promise<void> {
    const { lease, process } = handle;
    handle.letGo = 'released';
    const released = await this.ask(
      `release ${leaseText(lease)}`,
      lifeOf(lease),
      lease.id,
      () => lease.release(),
      ({ outcome }) => outcome,
    );
    const truth = process.view.lease(lease.id)?.epoch;
    if (released && released.outcome !== 'unknown' && released.outcome !== 'superseded' && truth === lease.epoch) {
      process.world.fail(
        new Violation(`S9: ${process.name} was told that ${leaseText(lease)} is ${released.outcome}, and it is live`),
      );
    }
  }

  /** Once an answer has told a new epoch, the handle has it. */
  expectEpoch(lease: HeldLease): void {
    const { process } = this;
    const truth = process.view.lease(lease.id)?.epoch ?? lease.epoch;
    if (truth === lease.epoch) return;
    process.world.fail(new Violation(`S2: ${process.name} has ${leaseText(lease)}, and the store has epoch ${truth}`));
  }

  /** S7: all three ways to ask say the same at one moment. */
  expectOneAnswer(lease: HeldLease): void {
    const { isHeld } = lease;
    const isTrusted = lease.remainingMs() > 0;
    let isSilent = true;
    try {
      lease.throwIfLost();
    } catch {
      isSilent = false;
    }
    if (isHeld === isTrusted && isHeld === isSilent) return;
    const words = `isHeld ${isHeld}, remainingMs ${lease.remainingMs()}, throwIfLost ${isSilent ? 'silent' : 'throws'}`;
    this.process.world.fail(new Violation(`S7: ${this.process.name} is told of ${leaseText(lease)}: ${words}`));
  }

  abandon(handle: Handle): void {
    handle.letGo = 'abandoned';
    this.process.world.tell(() => `${this.process.name} abandons ${leaseText(handle.lease)}`);
    handle.lease.abandon();
  }
}

/** Nothing but the loss of the store, or somebody else, can end such a lease. */
function isKept({ renew, maxRenewals, maxHold, progressWithin }: AcquireOptions): boolean {
  return renew !== 'manual' && maxRenewals === undefined && maxHold === undefined && progressWithin === undefined;
}

/** Release may try until nothing is left of the lease. */
export function lifeOf(lease: HeldLease): number {
  return Math.max(0, lease.remainingMs());
}

export function leaseText(lease: HeldLease): string {
  return `${lease.resources.join('+')} (${lease.id.slice(-5)} #${lease.epoch})`;
}

function isExpected(error: unknown, { waitMs, abortedAt, isNested }: Operation): boolean {
  if (!(error instanceof LeaseError)) return false;
  if (waitMs < Infinity) return EXPECTED.has(error.code);
  if (error.code === 'ACQUIRE_ABORTED') return abortedAt !== undefined || isTakenAway(error);
  return EXPECTED_FOREVER.has(error.code) || (isNested && EXPECTED_NESTED.has(error.code));
}

/** A ticket may be revoked; a grant whose answer is still on its way may be revoked or reclaimed. */
function isTakenAway({ details }: LeaseError): boolean {
  return details['status'] === 'revoked' || details['reason'] === 'reclaimed';
}

function shown(error: unknown): string {
  return error instanceof LeaseError
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
}
