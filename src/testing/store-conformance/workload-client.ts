// One client of the concurrent part: what it holds, what it waits for, what it once had, and how it asks the store and
// writes down every call. It believes what it is told and nothing else; the checkers find out whether that was true.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { makeId } from '../../domain/ids.js';
import type { Lease } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest, RevokeOrder } from '../../domain/requests.js';
import type { Reply, Store } from '../../stores/store.js';
import { recordLine, type CallRecord } from './history-records.js';

export interface Held {
  readonly id: string;
  readonly epoch: number;
  readonly parts: readonly Part[];
}

export interface ClientOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly record: (line: string) => void;
  /** From 0 up to 1, and text for ids: seeded, so that what a client wants does not depend on the machine. */
  readonly dice: Pick<Clock, 'random' | 'randomText'>;
}

export class WorkloadClient {
  readonly store: Store;
  readonly held = new Map<string, Held>();
  readonly tickets = new Map<string, AcquireRequest>();
  readonly past: Held[] = [];
  readonly granted: AcquireRequest[] = [];
  calls = 0;
  failures = 0;
  grants = 0;
  readonly #options: ClientOptions;
  #now = 0;
  #epoch = 0;

  constructor(store: Store, options: ClientOptions) {
    this.store = store;
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }
  get wall(): number {
    return this.#options.clock.wall();
  }
  /** The store clock and the epoch, as of the newest answer. */
  get now(): number {
    return this.#now;
  }
  get epoch(): number {
    return this.#epoch;
  }

  async lookAtTime(): Promise<void> {
    const { now, epoch } = await this.store.time();
    this.#hear(now, epoch);
  }
  newId(): string {
    return makeId(this.#now, `${this.name}-${this.#options.dice.randomText()}`);
  }
  newRequestId(): string {
    return this.#options.dice.randomText();
  }

  async acquire(asked: readonly AcquireRequest[]): Promise<void> {
    const answer = await this.#call('acquire', asked, () => this.store.acquire(asked));
    for (const [i, request] of asked.entries()) {
      const result = answer?.results[i];
      if (result === undefined) continue;
      const hasWaited = this.tickets.delete(request.id);
      if (result.outcome === 'queued') this.tickets.set(request.id, request);
      if (result.outcome !== 'granted') continue;
      if (!result.again || hasWaited) this.grants += 1; // who was handed it while it waited hears of it now (Q1)
      this.granted.push(request);
      this.#hold(result.lease);
    }
  }

  async renew(asked: readonly RenewRequest[]): Promise<void> {
    const answer = await this.#call('renew', asked, () => this.store.renew(asked));
    for (const [i, { id }] of asked.entries()) if (answer?.results[i]?.outcome === 'notHeld') this.forget(id);
  }

  async end(asked: readonly EndRequest[]): Promise<void> {
    const answer = await this.#call('end', asked, () => this.store.end(asked));
    for (const [i, { id }] of asked.entries()) {
      const outcome = answer?.results[i]?.outcome;
      if (outcome !== undefined) this.tickets.delete(id);
      if (outcome !== undefined && outcome !== 'stale') this.forget(id);
    }
  }

  async change(asked: readonly ChangeRequest[]): Promise<void> {
    const answer = await this.#call('change', asked, () => this.store.change(asked));
    for (const [i, { id }] of asked.entries()) {
      const result = answer?.results[i];
      if (result?.outcome === 'changed') this.#hold(result.lease);
      if (result?.outcome === 'notHeld') this.forget(id);
    }
  }

  async revoke(asked: RevokeOrder): Promise<void> {
    await this.#call('revoke', asked, () => this.store.revoke(asked));
  }
  async failTicket(asked: { readonly id: string; readonly cycle: readonly string[] }): Promise<void> {
    await this.#call('failTicket', asked, () => this.store.failTicket(asked));
  }
  async sweep(asked: { readonly limit: number }): Promise<void> {
    await this.#call('sweep', asked, () => this.store.sweep(asked));
  }

  /** Thinks no more of it; whether it ended is the store's business. */
  forget(id: string): void {
    const held = this.held.get(id);
    if (held) this.past.push(held);
    this.held.delete(id);
  }

  #hold({ id, epoch, parts }: Lease): void {
    const before = this.held.get(id);
    if (before && before.epoch > epoch) return;
    if (before && before.epoch !== epoch) this.past.push(before);
    this.held.set(id, { id, epoch, parts });
    this.#hear(this.#now, epoch);
  }

  #hear(now: number, epoch: number): void {
    this.#now = Math.max(this.#now, now);
    this.#epoch = Math.max(this.#epoch, epoch);
  }

  /** A failure that may pass is part of the history: whatever it did is unknown. Any other is a fault. */
  async #call<R extends Reply>(op: CallRecord['op'], asked: object, ask: () => Promise<R>): Promise<R | undefined> {
    const { clock, record, name: client } = this.#options;
    const sent = clock.monotonic();
    const write = (rest: object): void => record(recordLine({ client, op, asked, sent, ...rest } as CallRecord));
    this.calls += 1;
    try {
      const reply = await ask();
      const { now, incarnation: _incarnation, settingsVersion: _version, ...answer } = reply;
      write({ received: clock.monotonic(), now, answer });
      this.#hear(now, 0);
      return reply;
    } catch (error) {
      if (!(error instanceof LeaseError && error.retryable)) throw error;
      this.failures += 1;
      write({ error: error.message });
      return undefined;
    }
  }
}
