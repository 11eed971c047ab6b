// The manager: asks for leases, keeps the handles of what this process holds, and looks after them until they are let go
// or lost (A1, A3, A6). It knows one store through its link and tells what happens to one announcer.
//
// A request becomes a handle in one place (`#take`): a grant that can still be trusted is put on the agenda, counted and
// announced. A handle stops being one in one place each: `lost` and `left`.
import type { Clock } from '../domain/clock.js';
import type { Duration } from '../domain/duration.js';
import { invalid, LeaseError } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import type { Resources } from '../domain/part.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { Settings } from '../domain/settings.js';
import type { Store } from '../stores/store.js';
import { Announcer } from './announcer.js';
import { Changes } from './changes.js';
import { Cleanups } from './cleanups.js';
import { Ensuring } from './ensure.js';
import type { AcquireOptions, HeldLease, Released, Renewed, TryResult, Wait } from './face.js';
import { Hold } from './held-lease.js';
import type { Answer, Keeper } from './keeper.js';
import type { Observer } from './observer.js';
import { Holds } from './holds.js';
import { lostByAnswer } from './loss.js';
import type { Origin } from './origin.js';
import { asAsked, planOf, type Defaults, type HoldTerms, type Plan } from './plan.js';
import { aborted, acquisitionResult, notInTime, toRefusal } from './refusals.js';
import { Renewals } from './renewals.js';
import { StoreLink } from './store-link.js';
import { SuspendWatch } from './suspend-watch.js';
import { upgrade } from './upgrade.js';
import { WaitRoom } from './wait-room.js';
import type { Outcome } from './wait-outcome.js';
import type { Waiter } from './waiter.js';

export class LeaseManager implements Keeper {
  readonly clock: Clock;
  readonly link: StoreLink;
  readonly announcer: Announcer;
  readonly cleanups: Cleanups;
  readonly defaults: Defaults;
  readonly #room: WaitRoom;
  readonly #renewals: Renewals;
  readonly #changes: Changes;
  readonly #suspends: SuspendWatch;
  readonly #holds: Holds;
  readonly #ensuring: Ensuring;
  #isClosed = false;
  #onIdle: (() => void) | undefined;

  constructor(store: Store, clock: Clock, defaults: Defaults, observer: Observer) {
    this.clock = clock;
    this.defaults = defaults;
    this.#holds = new Holds(clock);
    this.#ensuring = new Ensuring(clock, this.#holds, (resource, options) => this.acquire(resource, options));
    this.link = new StoreLink(store, clock, observer);
    this.announcer = new Announcer(observer, this.link);
    this.cleanups = new Cleanups(clock, this.link);
    this.#room = new WaitRoom(clock, this.link, this.announcer, this.cleanups);
    this.#renewals = new Renewals(clock, this.link, this.announcer);
    this.#changes = new Changes(this, this.#renewals);
    this.#suspends = new SuspendWatch(clock, this.link, this.#holds);
  }

  async acquire(resources: Resources, options: AcquireOptions = {}, parent?: Hold): Promise<Hold> {
    const known = this.#settings();
    const plan =
      known instanceof Promise
        ? await this.#planLater(known, resources, options)
        : planOf(resources, options, this.defaults, known);
    const got = await this.#ask(plan, parent);
    if (got instanceof Hold) return got;
    if (got.outcome === 'error') throw got.error;
    throw notInTime(plan.parts, plan.waitMs, got.refusal);
  }

  async tryAcquire(resources: Resources, options: AcquireOptions = {}): Promise<TryResult> {
    if (options.wait !== undefined && options.wait !== 0) {
      throw invalid('tryAcquire makes one attempt: leave wait out, or use acquire to wait');
    }
    const known = this.#settings();
    const plan =
      known instanceof Promise
        ? await this.#planLater(known, resources, options, ONE_ATTEMPT)
        : planOf(resources, options, this.defaults, known, ONE_ATTEMPT);
    const got = await this.#ask(plan);
    if (got instanceof Hold) return { ok: true, lease: got };
    if (got.outcome === 'error') throw got.error;
    return { ok: false, refusal: toRefusal(got.refusal) };
  }

  /** A3: the handle already held, without a store call; else one acquire, shared by all who ask meanwhile, each by its own terms. */
  ensure(resource: string, options: AcquireOptions = {}): Promise<Hold> {
    return this.#ensuring.ensure(resource, options);
  }

  /** A lease that was delegated to this process, or won otherwise: from here on looked after like any other. */
  adopt(lease: Lease, terms: HoldTerms, answer: Answer): Hold {
    const hold = new Hold(this, lease, terms, answer);
    this.#holds.add(hold);
    this.announcer.observer.held(this.#holds.size);
    this.#renewals.schedule(hold);
    this.#suspends.start();
    hold.standing(); // this machine may have slept while the answer was on its way
    return hold;
  }

  /** Ended over this process's head, and known here: no need to wait for the next renewal to hear of it. */
  revoked({ id, epoch }: Lease): void {
    const hold = this.#holds.find(id);
    if (hold?.epoch === epoch) hold.lose(lostByAnswer(hold.lease, { outcome: 'notHeld', status: 'revoked' }));
  }

  held(): readonly Hold[] {
    return [...this.#holds];
  }
  get waiting(): number {
    return this.#room.size;
  }
  /** Leases lost in the last hour. */
  get lostLately(): number {
    return this.#holds.lostLastHour;
  }

  /** Intake ends: nobody new, and who waits is told so. */
  close(): void {
    this.#isClosed = true;
    this.#room.stopAll(() => shuttingDown());
  }
  stopRenewing(): void {
    this.#renewals.stop();
  }
  /** After the last release: no timer and no subscription is left. */
  disconnect(): void {
    this.#room.close();
    this.#suspends.stop();
    this.cleanups.stop();
    for (const hold of this.#holds) this.#renewals.forget(hold);
    this.announcer.observer.held(0);
  }

  /** Resolves when nothing is held any more, or after `withinMs`. */
  idle(withinMs: number): Promise<void> {
    if (this.#holds.size === 0 || withinMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.clock.after(withinMs, resolve, true);
      this.#onIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }
  checkOpen(): void {
    if (this.#isClosed) throw shuttingDown();
  }

  get origin(): Origin {
    const { link, clock, announcer } = this;
    return {
      store: link.store,
      clock,
      rejected: (lease, guard, error) => announcer.guardRejected(lease, guard, error),
    };
  }

  // ── keeper of the holds ─────────────────────────────────────────────────────────────────────────────────────────

  lost(hold: Hold): void {
    this.#forget(hold);
    this.#holds.countLoss();
    if (hold.lossReason) this.announcer.lost(hold.lease, hold.lossReason);
  }
  left(hold: Hold): void {
    this.#forget(hold);
  }
  askNow(hold: Hold): void {
    this.#suspends.ask(hold);
  }
  lookAgain(hold: Hold): void {
    this.#renewals.schedule(hold);
  }
  renew(hold: Hold, ttl?: Duration): Promise<Renewed> {
    return this.#changes.renew(hold, ttl);
  }
  release(hold: Hold): Promise<Released> {
    return this.cleanups.note(this.#changes.release(hold));
  }
  delegate(hold: Hold, toOwner: string): Promise<string> {
    return this.cleanups.note(this.#changes.delegate(hold, toOwner));
  }
  upgrade(hold: Hold, options: { wait?: Wait; signal?: AbortSignal }): Promise<void> {
    return upgrade(this, this.#room, hold, options);
  }
  downgrade(hold: Hold): Promise<void> {
    return this.#changes.downgrade(hold);
  }
  acquireMore(hold: Hold, more: Resources, options: AcquireOptions): Promise<HeldLease> {
    hold.throwIfLost();
    return this.acquire(more, { owner: hold.owner, ...options }, hold);
  }

  /** Nearly always known: then nobody waits for them. */
  #settings(): Settings | Promise<Settings> {
    this.checkOpen();
    return this.link.settings();
  }

  async #planLater(
    settings: Promise<Settings>,
    resources: Resources,
    options: AcquireOptions,
    waitMs?: number,
  ): Promise<Plan> {
    const [parts, asked] = asAsked(resources, options);
    const calledAt = this.clock.monotonic();
    const plan = planOf(parts, asked, this.defaults, await settings, waitMs);
    return { ...plan, spentMs: this.clock.monotonic() - calledAt };
  }

  /** Nothing may come between the last look at the signal and the doors, the asking, and the taking of what is granted:
   *  a cancel or a shutdown in between would find nobody to stop. */
  #ask(plan: Plan, parent?: Hold): Promise<Hold | Exclude<Outcome, { outcome: 'granted' }>> {
    this.checkOpen();
    if (plan.signal?.aborted) throw aborted(plan.parts, plan.signal.reason);
    const { id, bornAt, callerWall } = this.#room.birth();
    const request: AcquireRequest = {
      id,
      bornAt,
      callerWall,
      owner: plan.owner,
      parts: plan.parts,
      ttlMs: plan.ttlMs,
      priority: plan.priority,
      join: plan.waitMs > 0,
      holding: parent?.nest() ?? NONE,
      reclaim: plan.reclaim,
      maxRenewals: plan.maxRenewals,
      maxHoldMs: plan.maxHoldMs,
      minHoldMs: plan.minHoldMs,
      lockDelayMs: plan.lockDelayMs,
      operationId: plan.operationId,
      metadata: plan.metadata,
      remote: false,
      handOver: plan.handOver,
    };
    const { waitMs, spentMs, signal, terms } = plan;
    const wait = { waitMs, spentMs, signal, requestTimeoutMs: terms.requestTimeoutMs };
    const ended = this.announcer.observer.asking?.(plan.parts);
    return new Promise((resolve) => {
      this.#room.wait(request, wait, (outcome, waiter) => {
        if (outcome.outcome === 'granted') {
          ended?.('success', outcome.lease);
          return resolve(this.#take(outcome, terms, waiter, parent));
        }
        ended?.(acquisitionResult(outcome));
        this.#account(outcome, waiter);
        resolve(outcome);
      });
    });
  }

  #take(
    { lease, answer }: Outcome & { outcome: 'granted' },
    terms: HoldTerms,
    { startedAt }: Waiter,
    parent?: Hold,
  ): Hold {
    const hold = this.adopt(lease, terms, answer);
    hold.parent = parent;
    this.announcer.acquired(lease, this.clock.monotonic() - startedAt);
    return hold;
  }

  #account(outcome: Exclude<Outcome, { outcome: 'granted' }>, { request, startedAt }: Waiter): void {
    const waitedMs = this.clock.monotonic() - startedAt;
    this.announcer.observer.acquisition(acquisitionResult(outcome), waitedMs);
    if (outcome.outcome === 'refused') return this.announcer.refused(request, outcome.refusal);
    if (outcome.cycle) this.announcer.deadlock(request, outcome.cycle);
  }

  #forget(hold: Hold): void {
    this.#renewals.forget(hold);
    if (!this.#holds.remove(hold)) return;
    const { observer } = this.announcer;
    observer.held(this.#holds.size);
    this.announcer.holdEnded(hold.lease, Math.max(0, this.link.now() - hold.lease.acquiredAt));
    if (this.#holds.size === 0) this.#onIdle?.();
  }
}

const NONE: readonly string[] = [];
const ONE_ATTEMPT = 0;

function shuttingDown(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'shutdown() was called: connect again for new leases');
}
