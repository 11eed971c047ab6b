// Everybody in this process who waits for a lease (section 4): one agenda and one subscription for all, refreshes that
// leave together (Q2: one call per process), wake-ups handed to whom they are for (Q3), and, while somebody waits who
// holds something already, a look for deadlocks across processes (Q4).
import type { Clock, TimerHandle } from '../domain/clock.js';
import type { LeaseError } from '../domain/errors.js';
import { Bag } from '../domain/bag.js';
import { makeId } from '../domain/ids.js';
import type { Lease } from '../domain/lease.js';
import type { AcquireRequest } from '../domain/requests.js';
import { TurnoverMap } from '../domain/turnover-map.js';
import { trustedUntil } from '../domain/trust-window.js';
import { Agenda } from './agenda.js';
import type { Announcer } from './announcer.js';
import { breakDeadlocks } from './break-deadlocks.js';
import type { Cleanups } from './cleanups.js';
import type { Answer } from './keeper.js';
import type { StoreLink } from './store-link.js';
import type { Outcome, Room, WaitTerms } from './wait-outcome.js';
import { Waiter } from './waiter.js';

/** A refresh that is due this soon goes along with one that is due now. */
const TOGETHER_MS = 1_000;
const DEADLOCK_CHECK_MS = 400;
const DEADLOCK_LOOK_MS = 5_000;

export class WaitRoom {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  readonly #announcer: Announcer;
  readonly #cleanups: Cleanups;
  readonly #agenda: Agenda<Waiter>;
  readonly #waiters = new Bag<Waiter>();
  /** Everybody who joins a line, from the first question on: a wake-up may overtake the answer that says so (Q3). */
  readonly #byTicket = new TurnoverMap<Waiter>();
  readonly #room: Room;
  readonly #unsubscribe: () => void;
  #check: TimerHandle | undefined;

  constructor(clock: Clock, link: StoreLink, announcer: Announcer, cleanups: Cleanups) {
    this.#clock = clock;
    this.#link = link;
    this.#announcer = announcer;
    this.#cleanups = cleanups;
    this.#agenda = new Agenda(clock, (due, now) => this.#look(due, now));
    this.#room = {
      monotonic: () => clock.monotonic(),
      wall: () => clock.wall(),
      send: (request) => link.acquire(request),
      leftAt: (request) => link.leftAt(request),
      renamed: (waiter) => {
        this.#byTicket.take(waiter.request.id);
        return this.#expectWakeUps(waiter, this.named(waiter.request));
      },
      leftOf: (lease, answer) => this.#leftOf(lease, answer),
      lookAt: (waiter, at) => this.#agenda.put(waiter, at),
      joined: (waiter, place) => this.#joined(waiter, place),
      done: (waiter, outcome) => this.#done(waiter, outcome),
      died: (waiter) => announcer.failed(waiter.request, 'died'),
      endLater: (waiter, why) => this.#endLater(waiter, why),
    };
    this.#unsubscribe = link.store.subscribe({
      wake: (ids) => this.#wake(ids),
      handedOver: (lease) => this.#byTicket.get(lease.id)?.handedOver(lease),
      up: () => this.#wake([...this.#byTicket.keys()]),
    });
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Asks, and waits as long as the terms say. `tell` is called once, in the very step that ends the wait, never in this
   *  one. */
  wait(request: AcquireRequest, terms: WaitTerms, tell: Waiter['tell']): Waiter {
    const waiter = new Waiter(this.#room, request, terms, tell);
    this.#waiters.add(waiter);
    this.#expectWakeUps(waiter, request);
    waiter.ask();
    return waiter;
  }

  /** The request with an id of its own, born now. */
  named(request: Omit<AcquireRequest, 'id' | 'bornAt' | 'callerWall'>): AcquireRequest {
    return { ...request, ...this.birth() };
  }

  /** What makes a request one of its own. */
  birth(): Pick<AcquireRequest, 'id' | 'bornAt' | 'callerWall'> {
    const bornAt = this.#link.now();
    return { id: makeId(bornAt, this.#clock.randomText()), bornAt, callerWall: this.#clock.wall() };
  }

  /** An upgrade that may have gone through already is asked about at once. */
  wakeTicket(id: string): void {
    this.#byTicket.get(id)?.wake();
  }

  stopAll(error: () => LeaseError): void {
    for (const waiter of [...this.#waiters]) waiter.stop(error(), 'cancelled');
  }

  close(): void {
    this.#unsubscribe();
    this.#check?.cancel();
  }

  #look(due: Waiter[], now: number): void {
    const isRefresh = due.some((waiter) => waiter.isWaiting && waiter.hasTicket);
    for (const waiter of due) waiter.look(now);
    if (!isRefresh || this.#byTicket.size < 2) return;
    for (const waiter of this.#byTicket.values()) if (waiter.isDueBy(now + TOGETHER_MS)) waiter.ask();
  }

  #wake(ids: readonly string[]): void {
    for (const id of ids) this.#byTicket.get(id)?.wake();
  }

  /** S7: less than the margin left is not acquired. */
  #leftOf(lease: Lease, { sentAt, remainingMs }: Answer): number {
    return trustedUntil(sentAt, remainingMs, lease.ttlMs) - this.#clock.monotonic();
  }

  #expectWakeUps(waiter: Waiter, request: AcquireRequest): AcquireRequest {
    if (request.join) this.#byTicket.set(request.id, waiter);
    return request;
  }

  #joined(waiter: Waiter, place: number): void {
    this.#announcer.queued(waiter.request, place);
    if (isHolding(waiter)) this.#checkSoon();
  }

  #done(waiter: Waiter, outcome: Outcome): void {
    if (!this.#waiters.remove(waiter)) return;
    if (waiter.request.join) this.#byTicket.take(waiter.request.id);
    this.#agenda.remove(waiter);
    waiter.tell(outcome, waiter);
  }

  #endLater({ request, terms, hasTicket, hasAskedOnce }: Waiter, why: 'timeout' | 'cancelled'): void {
    this.#byTicket.take(request.id);
    if (this.#link.withdraw(request) && hasAskedOnce) return;
    if (hasTicket) this.#announcer.failed(request, why);
    const end = { id: request.id, requestId: this.#clock.randomText(), why };
    this.#cleanups.end(end, request.ttlMs, terms.requestTimeoutMs).catch(() => undefined);
  }

  #checkSoon(): void {
    this.#check ??= this.#clock.after(DEADLOCK_CHECK_MS * (0.75 + this.#clock.random() / 2), () => {
      this.#breakDeadlocks()
        .catch(() => undefined) // the next look, or another process's, finds it again
        .finally(() => {
          this.#check = undefined;
          if ([...this.#byTicket.values()].some(isHolding)) this.#checkSoon();
        });
    });
  }

  async #breakDeadlocks(): Promise<void> {
    const broken = this.#link.within(DEADLOCK_LOOK_MS, 'waitGraph', breakDeadlocks(this.#link.store));
    for (const { victim } of await broken) this.#byTicket.get(victim.id)?.wake();
  }
}

/** Only who holds something while it waits can close a cycle. */
function isHolding({ request }: Waiter): boolean {
  return request.holding.length > 0 || request.upgrades !== undefined;
}
