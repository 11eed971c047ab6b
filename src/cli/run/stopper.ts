// Stops a command in time (C2). It follows the lease: every renewal moves the moment when the command would be told to stop
// and the moment when it would be killed (stop-window.ts), and the guardian is told of both.
//
//   running ──no renewal by then | the signal aborts──▶ stopping ──killAt──▶ SIGKILL      lost says why
//   running ──SIGTERM passed on──▶ ending ──grace──▶ SIGKILL                              the lease is renewed meanwhile
//   any ──SIGTERM again | SIGINT again within 5 s──▶ SIGKILL
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { HeldLease } from '../../index.js';
import { tell } from '../output.js';
import type { GuardianLink } from './guardian-link.js';
import type { ProcessGroup } from './process-group.js';
import type { StopWindow } from './stop-window.js';

/** What a command has between SIGTERM and SIGKILL unless `--grace` says otherwise, or the lease leaves less. */
export const DEFAULT_GRACE_MS = 10_000;
/** Ctrl-C twice within this is meant: once may be a line given up in an interactive program. */
const TWICE_MS = 5_000;
const POLL_MS = 10;
/** The killed are gone in a moment, but for what hangs in the kernel: nothing more can be done about that. */
const BURIAL_MS = 2_000;

export interface Stopping {
  readonly clock: Clock;
  readonly lease: HeldLease;
  readonly group: ProcessGroup;
  readonly guardian: GuardianLink;
  readonly window: StopWindow;
  readonly graceMs: number;
}

export class Stopper {
  readonly #with: Stopping;
  /** What was wrong with the last renewal. */
  trouble = 'not renewed in time';
  /** Why the lease is lost, once it is. */
  lost: Error | undefined;
  #latestKill = Infinity;
  #stopTimer: TimerHandle | undefined;
  #killTimer: TimerHandle | undefined;
  #endTimer: TimerHandle | undefined;
  #isStopping = false;
  #lastInterrupt = -Infinity;
  #isToldToEnd = false;
  #isRefused = false;

  constructor(stopping: Stopping) {
    this.#with = stopping;
  }

  /** The lease was granted or renewed. In doubt (S7) it counts for nothing; what was known before stands. */
  trust(): void {
    const { clock, lease, guardian, window } = this.#with;
    const remainingMs = lease.remainingMs();
    if (this.#isStopping || remainingMs <= 0) return;
    const deadline = clock.monotonic() + remainingMs;
    this.#latestKill = deadline + window.afterMs;
    guardian.until(deadline - window.beforeMs, this.#latestKill);
    this.#stopTimer?.cancel();
    this.#stopTimer = clock.after(remainingMs - window.beforeMs, () => this.#due(), true);
  }

  /** The lease's signal has aborted. Somebody else may have the lease as soon as it has run out. */
  lose(reason: Error): void {
    const { clock, graceMs, window } = this.#with;
    const isOver = reason instanceof LeaseError && reason.details['how'] === 'expired';
    this.#stop(reason, clock.monotonic() + (isOver ? window.afterMs : graceMs));
  }

  /** A signal that `run` was sent. */
  pass(name: NodeJS.Signals): void {
    const { clock, graceMs } = this.#with;
    const now = clock.monotonic();
    const isAgain = name === 'SIGINT' && now - this.#lastInterrupt < TWICE_MS;
    if (isAgain || (name === 'SIGTERM' && this.#isToldToEnd)) return this.#send('SIGKILL');
    if (name === 'SIGINT') this.#lastInterrupt = now;
    this.#send(name);
    if (name !== 'SIGTERM') return;
    this.#isToldToEnd = true;
    this.#endTimer = clock.after(graceMs, () => this.#send('SIGKILL'), true);
  }

  /** The command has ended: whatever it left behind in its group ends too. */
  async clear(): Promise<void> {
    const { clock, group, graceMs } = this.#with;
    this.#stopTimer?.cancel();
    if (!group.isAlive()) return;
    let killAt = this.#latestKill;
    if (!this.#isStopping) {
      tell('the command has ended, but not all that it started: the rest is stopped');
      killAt = Math.min(killAt, clock.monotonic() + graceMs);
      this.#send('SIGTERM');
      this.#killAt(killAt);
    }
    while (group.isAlive() && clock.monotonic() < killAt + BURIAL_MS) {
      await new Promise<void>((resolve) => {
        clock.after(POLL_MS, resolve, true);
      });
    }
  }

  dispose(): void {
    for (const timer of [this.#stopTimer, this.#killTimer, this.#endTimer]) timer?.cancel();
  }

  #due(): void {
    const { lease, window } = this.#with;
    if (lease.remainingMs() > window.beforeMs) return this.trust();
    const why = `expires at ${lease.expiresAt}: ${this.trouble}`;
    this.#stop(new Error(`Lost lease for ${lease.resources.join(', ')} (${why})`), Infinity);
  }

  #stop(reason: Error, killAt: number): void {
    this.lost ??= reason;
    this.#latestKill = Math.min(this.#latestKill, killAt);
    this.#with.guardian.stopping(this.#latestKill);
    this.#killAt(this.#latestKill);
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#send('SIGTERM');
  }

  #killAt(at: number): void {
    const { clock } = this.#with;
    this.#killTimer?.cancel();
    this.#killTimer = clock.after(at - clock.monotonic(), () => this.#send('SIGKILL'), true);
  }

  #send(name: NodeJS.Signals): void {
    const { group } = this.#with;
    const isDone = group.signal(name);
    if (name === 'SIGTERM') group.signal('SIGCONT'); // one that is stopped could not obey
    if (isDone || this.#isRefused) return;
    this.#isRefused = true;
    tell(`the command runs as another user and may not be sent ${name}: it ends when it ends`);
  }
}
