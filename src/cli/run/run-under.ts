// One command under one lease (C2): started when the guardian knows of it, told of signals, stopped when the lease is lost,
// and waited for until the last process of its group is gone. The lease is given back by the caller, after that.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { HeldLease, Holdfast } from '../../index.js';
import { GuardianLink } from './guardian-link.js';
import { ProcessGroup, type Exit } from './process-group.js';
import type { Signals } from './signals.js';
import { stopWindow } from './stop-window.js';
import { DEFAULT_GRACE_MS, Stopper } from './stopper.js';

export interface Work {
  readonly command: readonly string[];
  /** As given with `--grace`. */
  readonly graceMs: number | undefined;
  readonly isJson: boolean;
}

export interface Site {
  readonly clock: Clock;
  readonly leases: Holdfast;
  readonly signals: Signals;
}

export interface Ending extends Exit {
  /** Why the lease was lost before the command had ended. */
  readonly lost: Error | undefined;
  /** It was stopped because of that. */
  readonly isStopped: boolean;
}

/** A guardian is there, and has been told all, as soon as it is started; it listens within a fraction of a second. Only a
 *  ttl shorter than this could be over before: then it is waited for. */
const UNHURRIED_MS = 10_000;
const NEVER_RAN: Exit = { code: null, signal: null };

export async function runUnder(lease: HeldLease, work: Work, site: Site): Promise<Ending> {
  const guardian = new GuardianLink(work.graceMs ?? DEFAULT_GRACE_MS);
  try {
    return await runGuarded(lease, work, site, guardian);
  } finally {
    guardian.end();
  }
}

async function runGuarded(lease: HeldLease, work: Work, site: Site, guardian: GuardianLink): Promise<Ending> {
  const { clock, leases, signals } = site;
  const { command, graceMs = DEFAULT_GRACE_MS, isJson } = work;
  const { ttlMs } = lease.toJSON();
  const window = stopWindow(ttlMs, work.graceMs);
  const group = new ProcessGroup({ command, env: environmentOf(lease), isOutputError: isJson });
  const stopper = new Stopper({ clock, lease, group, guardian, window, graceMs });
  const onAbort = (): void => stopper.lose(lease.signal.reason as Error);
  const off = leases.on('*', (event) => {
    if (event.leaseId !== lease.id) return;
    if (event.type === 'lease.renewed') stopper.trust();
    if (event.type === 'lease.renewal_failed') stopper.trouble = event.error ?? stopper.trouble;
  });
  try {
    guardian.watch(group.id);
    stopper.trust();
    if (ttlMs < UNHURRIED_MS || !guardian.hasStarted) await guarded(group, guardian);
    if (signals.told || !lease.isHeld) {
      group.cancel();
      return { ...NEVER_RAN, lost: lossOf(lease), isStopped: false };
    }
    lease.signal.addEventListener('abort', onAbort, { once: true });
    signals.passTo((name) => stopper.pass(name));
    group.go();
    const exit = await group.ended;
    await stopper.clear();
    return { ...exit, lost: stopper.lost ?? lossOf(lease), isStopped: stopper.lost !== undefined };
  } finally {
    off();
    lease.signal.removeEventListener('abort', onAbort);
    signals.passTo(undefined);
    stopper.dispose();
  }
}

/** It listens, or the command has ended before it began. */
async function guarded(group: ProcessGroup, guardian: GuardianLink): Promise<void> {
  const ended = group.ended.then(() => undefined);
  await Promise.race([ended, guardian.ready]).catch((error: unknown) => {
    group.cancel();
    throw error;
  });
}

/** In doubt is not lost yet: the store says which when the lease is given back. */
function lossOf(lease: HeldLease): Error | undefined {
  try {
    lease.throwIfLost();
    return undefined;
  } catch (error) {
    const isInDoubt = error instanceof LeaseError && error.details['inDoubt'] === true;
    return isInDoubt ? undefined : (error as Error);
  }
}

/** Several names are one to a line: no name holds a line break. */
function environmentOf(lease: HeldLease): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOLDFAST_RESOURCE: lease.resources.join('\n'),
    HOLDFAST_EPOCH: String(lease.epoch),
    HOLDFAST_LEASE_ID: lease.id,
    HOLDFAST_OWNER: lease.owner,
  };
}
