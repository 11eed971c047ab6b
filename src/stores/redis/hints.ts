// Who waits or watches here, and telling them (Q3). The scripts publish whom to wake, each owner in its own channel
// (owner-channels.ts), and, while somebody watches, that something changed; both may be lost. Whenever hearing begins (again),
// everybody who waits here is woken, because what was said meanwhile was not heard.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { isEpoch } from '../../domain/epoch.js';
import { LIMITS, TICKET_LIFE_MS } from '../../domain/limits.js';
import type { Part } from '../../domain/part.js';
import { tellEach } from '../../domain/tell-each.js';
import { tellHandedOver } from '../protocol/tell-handed-over.js';
import type { HandedOver, StoreListener } from '../store.js';
import { changesChannelOf, channelOf } from './keys.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Namespace } from './namespace.js';
import { sharedFigures, type OwnLeases } from './own-leases.js';
import { OwnerChannels } from './owner-channels.js';

/** How long the scripts go on announcing changes after a watcher was last heard of, and how often it says so. */
const WATCHED_MS = 30_000;
const WATCHES_EVERY_MS = 10_000;
/** A ticket that is alive is refreshed well before. */
const KEPT_MS = 2 * TICKET_LIFE_MS;

const nothing = (): void => undefined;

/** As it was given: what is no request fails alone, elsewhere. */
interface Asked {
  readonly id?: unknown;
  readonly owner?: unknown;
  readonly join?: unknown;
  readonly parts?: unknown;
}

interface Ticket {
  readonly owner: string;
  /** The first of what it waits for: all, where it may be claimed for. */
  readonly name: string;
  readonly answeredAt: number;
}

export class Hints {
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  readonly #own: OwnLeases;
  readonly #listeners = new Set<StoreListener>();
  /** Joined through this store and not yet answered otherwise, the one that was answered longest ago first. */
  readonly #tickets = new Map<string, Ticket>();
  /** Under way: a wake-up may overtake the answer that says who waits. */
  readonly #asked = new Set<string>();
  readonly #owners: OwnerChannels;
  #stopHearing: (() => void) | undefined;
  #stopChanges: (() => void) | undefined;
  #watching: TimerHandle | undefined;

  constructor(namespace: Namespace, clock: Clock, own: OwnLeases) {
    this.#namespace = namespace;
    this.#own = own;
    this.#clock = clock;
    this.#owners = new OwnerChannels(
      (owner, listener) => namespace.link.subscribe(channelOf(namespace.name, owner), listener),
      {
        message: (payload) => this.#heard(payload),
        up: (tickets) => this.#wake(tickets),
      },
    );
  }

  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    this.#startOrStop();
    return () => {
      this.#listeners.delete(listener);
      this.#startOrStop();
    };
  }

  /** Whoever asks to join is woken from now on. Answers the function that says the question is over, however it ended. */
  asked(requests: readonly Asked[]): () => void {
    const joining = (requests as readonly (Asked | null)[]).filter((request) => request?.join === true);
    if (joining.length === 0) return nothing;
    const ids = joining.map((request) => String(request?.id));
    for (const id of ids) this.#asked.add(id);
    return () => ids.forEach((id) => this.#asked.delete(id));
  }

  /** Keeps the list of tickets by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(requests: readonly Asked[], results: readonly { readonly outcome: string }[]): void {
    for (let i = 0; i < results.length; i += 1) {
      const isQueued = results[i]?.outcome === 'queued';
      if (!isQueued && this.#tickets.size === 0) continue;
      const { id, owner, parts } = requests[i] ?? {};
      if (typeof id !== 'string') continue;
      if (!isQueued) this.#forget(id);
      else if (typeof owner === 'string') this.#remember(id, owner, parts);
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#tickets.clear();
    this.#startOrStop();
  }

  #remember(id: string, owner: string, parts: unknown): void {
    const name = (parts as readonly Part[])[0]?.name ?? '';
    const answeredAt = this.#clock.monotonic();
    this.#tickets.delete(id);
    this.#tickets.set(id, { owner, name, answeredAt });
    if (this.#listeners.size > 0) this.#owners.joined(owner, id);
    this.#forgetOld(answeredAt);
  }

  #forget(id: string): void {
    const ticket = this.#tickets.get(id);
    if (!ticket) return;
    this.#tickets.delete(id);
    this.#owners.left(ticket.owner, id);
  }

  /** One that was not asked for any more through this store has died, or is asked for elsewhere (S18). */
  #forgetOld(now: number): void {
    for (const [id, { answeredAt }] of this.#tickets) {
      if (now - answeredAt <= KEPT_MS && this.#tickets.size <= LIMITS.ticketsPerNamespace) return;
      this.#forget(id);
    }
  }

  #startOrStop(): void {
    const { link, name, isReadOnly } = this.#namespace;
    if (this.#listeners.size === 0) {
      this.#stopHearing?.();
      this.#stopHearing = undefined;
      this.#owners.close();
    } else if (!this.#stopHearing) {
      this.#stopHearing = link.subscribe(channelOf(name), {
        message: (payload) => this.#heard(payload),
        down: (error) => this.#tell((listener) => listener.down?.(error)),
        up: () => this.#isUp(),
      });
      for (const [id, { owner }] of this.#tickets) this.#owners.joined(owner, id);
    }
    if (![...this.#listeners].some((listener) => listener.changed !== undefined)) {
      this.#stopChanges?.();
      this.#stopChanges = undefined;
      this.#watching?.cancel();
      this.#watching = undefined;
      return;
    }
    const changed = (): void => this.#tell((listener) => listener.changed?.());
    this.#stopChanges ??= link.subscribe(changesChannelOf(name), {
      message: changed,
      down: () => undefined,
      up: changed,
    });
    if (!this.#watching && !isReadOnly) this.#watch();
  }

  /** Says that somebody watches, for as long as somebody does. Where it cannot be said the watcher has its own look. */
  #watch(): void {
    this.#watching = this.#clock.after(WATCHES_EVERY_MS, () => this.#watch());
    this.#namespace.write(SCRIPTS.watch, [String(WATCHED_MS)]).catch(() => undefined);
  }

  #heard(payload: string): void {
    if (payload.startsWith('= ')) return this.#heardOfLease(payload);
    this.#wake(payload.split(' ').filter((id) => this.#tickets.has(id) || this.#asked.has(id)));
  }

  /** `= id epoch acquiredAt expiresAt skewMs`: somebody claimed for a ticket. Who does not know of that asks, as for any other id. */
  #heardOfLease(payload: string): void {
    const [, id = '', ...figures] = payload.split(' ');
    const ticket = this.#tickets.get(id);
    if (!ticket) return this.#wake(this.#asked.has(id) ? [id] : []);
    const [epoch, acquiredAt, expiresAt, skewMs] = figures.map(Number) as [number, number, number, number];
    const lease = { id, epoch, acquiredAt, expiresAt, skewMs };
    if (figures.length !== 4 || !isMeant(lease)) return this.#wake([id]);
    this.#forget(id);
    this.#own.remember({ id, epoch, owner: ticket.owner, name: ticket.name, shared: sharedFigures(lease, undefined) });
    this.#tell((listener) => tellHandedOver(listener, lease));
  }

  #isUp(): void {
    this.#tell((listener) => listener.up?.());
    this.#wake([...this.#tickets.keys()]);
  }

  #wake(ids: readonly string[]): void {
    if (ids.length > 0) this.#tell((listener) => listener.wake?.(ids));
  }

  /** In the very turn the message was read in: whoever is next claims with nothing in between. */
  #tell(what: (listener: StoreListener) => void): void {
    tellEach(this.#listeners, what);
  }
}

/** What others send over this channel is not believed to the letter. */
function isMeant({ epoch, acquiredAt, expiresAt, skewMs }: HandedOver): boolean {
  const isTimed = Number.isSafeInteger(acquiredAt) && Number.isSafeInteger(expiresAt) && Number.isSafeInteger(skewMs);
  return isEpoch(epoch) && isTimed && acquiredAt < expiresAt;
}
