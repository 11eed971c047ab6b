// Upgrade of a shared lease to an exclusive one (Q5): a ticket of its own waits while the lease goes on being renewed.
//
//   asking, waiting ──granted──▶ the same lease, exclusive, with the new epoch
//        └─ refused, deadlock, timed out, cancelled ──▶ the ticket is ended by id, and only that answer is final:
//           'stale' means the grant had gone through after all, and the new epoch is taken over
//
// Until it is final a renewal that meets a newer epoch says nothing: that epoch may be the upgrade itself.
import { checkKeys } from '../domain/check-keys.js';
import { invalid } from '../domain/errors.js';
import { asExclusive } from '../domain/part.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { Wait } from './face.js';
import type { Hold } from './held-lease.js';
import type { LeaseManager } from './lease-manager.js';
import { onAbort } from './on-abort.js';
import { parseWait } from './plan.js';
import { aborted, nameOf, notInTime } from './refusals.js';
import type { WaitRoom } from './wait-room.js';
import type { Outcome } from './wait-outcome.js';
import type { Waiter } from './waiter.js';
import type { Lease } from '../domain/lease.js';

const KNOWN: ReadonlySet<string> = new Set(['wait', 'signal']);

export async function upgrade(
  manager: LeaseManager,
  room: WaitRoom,
  hold: Hold,
  options: { wait?: Wait; signal?: AbortSignal },
): Promise<void> {
  checkKeys(options, KNOWN, 'of upgrade');
  const waitMs = await waitOf(manager, options.wait);
  await noUpgrade(manager, hold);
  check(manager, hold);
  if (options.signal?.aborted) throw aborted(hold.parts, options.signal.reason);
  const controller = new AbortController();
  const request = requestFor(room, hold, waitMs > 0);
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const upgrading = {
    settled,
    isAnswered: false,
    cancel: () => controller.abort(),
    ask: () => room.wakeTicket(request.id),
  };
  hold.upgrading = upgrading;
  const isOver = (): void => {
    if (hold.upgrading === upgrading) hold.upgrading = undefined;
    manager.lookAgain(hold);
    settle();
  };
  const { signal } = options;
  const forgetSignal = signal && onAbort(signal, () => controller.abort(signal.reason));
  const { requestTimeoutMs } = hold.terms;
  const { outcome, waiter } = await new Promise<{ outcome: Outcome; waiter: Waiter }>((resolve) => {
    const terms = { waitMs, requestTimeoutMs, signal: controller.signal };
    room.wait(request, terms, (outcome, waiter) => resolve({ outcome, waiter }));
  });
  forgetSignal?.();
  if (outcome.outcome === 'granted') {
    const { epoch, parts } = outcome.lease;
    takeOver(manager, hold, { epoch, parts });
    isOver();
    if (hold.standing() !== 'inDoubt') hold.throwIfLost(); // doubt is no loss, and will be asked about
    return;
  }
  upgrading.isAnswered = true;
  settleUnknown(manager, hold, waiter.request).then(isOver, isOver);
  if (outcome.outcome === 'error' && outcome.cycle) manager.announcer.deadlock(waiter.request, outcome.cycle);
  if (outcome.outcome === 'refused') throw notInTime(request.parts, waitMs, outcome.refusal);
  throw outcome.error;
}

async function waitOf({ defaults, link }: LeaseManager, wait: Wait | undefined): Promise<number> {
  const wanted = wait === undefined ? undefined : parseWait(wait);
  const settings = await link.settings();
  return settings.blocking_mode_enabled ? (wanted ?? defaults.waitMs ?? settings.acquisition_timeout_ms) : 0;
}

/** Refuses what would cross an upgrade. One that was answered with a no is nearly over, and is waited for. */
export async function noUpgrade({ link }: LeaseManager, hold: Hold): Promise<void> {
  const { upgrading, terms } = hold;
  if (upgrading?.isAnswered) await link.within(terms.requestTimeoutMs, 'upgrade', upgrading.settled);
  throwIfUpgrading(hold);
}
function throwIfUpgrading(hold: Hold): void {
  if (hold.upgrading) throw invalid(`an upgrade of ${nameOf(hold.parts)} is under way: let it finish first`);
}

/** Nothing is waited for between this and the mark of the upgrade: of two that waited side by side one goes on. */
function check(manager: LeaseManager, hold: Hold): void {
  throwIfUpgrading(hold);
  manager.checkOpen();
  hold.throwIfLost();
  if (hold.parts.some((part) => part.mode === 'shared')) return;
  throw invalid(`the lease on ${nameOf(hold.parts)} is exclusive already: nothing to upgrade`);
}

/** The lease itself stands in `upgrades`; those it was taken through are what else is held meanwhile. */
function requestFor(room: WaitRoom, hold: Hold, join: boolean): AcquireRequest {
  const { id, epoch, owner, parts, ttlMs, maxRenewals } = hold.lease;
  return room.named({
    owner,
    parts: asExclusive(parts),
    ttlMs,
    priority: 0,
    join,
    holding: hold.parent?.nest() ?? [],
    upgrades: { id, epoch },
    reclaim: false,
    maxRenewals,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
  });
}

/** The upgrade went through. It prolongs nothing: the deadline stays where the last renewal put it. A lease that was lost
 *  meanwhile is ended under its new epoch, so that it keeps nobody out. */
function takeOver(manager: LeaseManager, hold: Hold, changes: Pick<Lease, 'epoch' | 'parts'>): void {
  const fromEpoch = hold.epoch;
  hold.confirm(undefined, changes);
  manager.announcer.changed('lease.upgraded', hold.lease, { fromEpoch });
  if (hold.state !== 'lost') return;
  const { id, epoch } = hold.lease;
  const end = { id, epoch, requestId: manager.clock.randomText(), why: 'released' } as const;
  manager.cleanups.end(end, manager.link.lifeMs(hold.lease), hold.terms.requestTimeoutMs).catch(() => undefined);
}

async function settleUnknown(manager: LeaseManager, hold: Hold, request: AcquireRequest): Promise<void> {
  const { clock, cleanups, link } = manager;
  const { requestTimeoutMs } = hold.terms;
  const end = { id: request.id, requestId: clock.randomText(), why: 'cancelled' } as const;
  const ended = await cleanups.end(end, link.lifeMs(hold.lease), requestTimeoutMs);
  if (ended?.outcome === 'stale') takeOver(manager, hold, { epoch: ended.epoch, parts: request.parts });
}
