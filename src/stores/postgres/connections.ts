// Connections of a pool, borrowed for one statement or one transaction each, within bounds: how long one waits for a
// connection, and how many wait. No session state is left on any of them (S19). A connection that died while it lay idle is
// found out before anything is sent over it, where that can be known.
//
//   lent ──given back──▶ to the pool; of our own pool: kept, when nobody waits ──borrowed again──▶ lent
//                                                       └─ unused for KEEP_MS, or dead ──▶ to the pool
//
// Through the pool and back is as much work here as the rest of a call.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { Borrowed, type Lender } from './pool-borrowed.js';
import { keepProcess, type Pool, type PoolClient } from './pool-driver.js';
import { translateError, type Place } from './translate-error.js';

const MAX_WAITING = 1_000;
/** Unused for longer than this, a connection gets a chance to tell of its death before it is trusted. */
const IDLE_MS = 10;
const MAX_DEAD_CONNECTIONS = 100;
const KEEP_MS = 1_000;

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Nobody else borrows from this pool. */
  readonly isOwn: boolean;
  readonly place: () => Place;
}

export class Connections implements Lender {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #isOwn: boolean;
  readonly #place: () => Place;
  readonly #borrowed = new Set<Borrowed>();
  /** Those who wait for a connection, as what refuses them. */
  readonly #waiting = new Set<(error: LeaseError) => void>();
  #onEmpty: () => void = () => undefined;
  /** Of our own pool, in nobody's hands: the one used last is the last. */
  #kept: Borrowed[] = [];
  #looking: TimerHandle | undefined;
  #isClosing = false;
  readonly #usedAt = new WeakMap<PoolClient, number>();

  constructor(pool: Pool, { clock, timeoutMs, isOwn, place }: ConnectionsOptions) {
    this.#pool = pool;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#isOwn = isOwn;
    this.#place = place;
  }

  figures(): { readonly size: number; readonly inUse: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    const idle = idleCount + this.#kept.length;
    return { size: options.max, inUse: totalCount - idle, idle, waiting: waitingCount };
  }

  /** A connection that was used just now, if there is one: nobody has to wait for it. */
  borrowAtOnce(): Borrowed | undefined {
    const last = this.#kept.at(-1);
    if (last === undefined || last.isBroken || this.#clock.monotonic() - last.usedAt > IDLE_MS) return undefined;
    return this.#takeKept();
  }

  /** A connection that was alive a moment ago. */
  async borrow(): Promise<Borrowed> {
    for (let dead = 0; dead < MAX_DEAD_CONNECTIONS; dead += 1) {
      const borrowed = this.#takeKept() ?? (await this.#take());
      if (this.#clock.monotonic() - borrowed.usedAt > IDLE_MS) await this.#lookAtSockets();
      if (!borrowed.isBroken) return borrowed;
      borrowed.giveBack();
    }
    throw this.#noConnection('every idle connection was dead');
  }

  back(borrowed: Borrowed): void {
    if (!this.#borrowed.delete(borrowed)) return;
    borrowed.usedAt = this.#clock.monotonic();
    if (this.#isOwn && !this.#isClosing && !borrowed.isBroken && this.#waiting.size === 0) this.#keep(borrowed);
    else this.#toPool(borrowed);
    this.#checkEmpty();
  }

  died(borrowed: Borrowed): void {
    if (!this.#kept.includes(borrowed)) return; // in somebody's hands: it is looked at when it comes back
    this.#kept = this.#kept.filter((other) => other !== borrowed);
    this.#toPool(borrowed);
  }

  /** Resolves when nobody waits and nothing is lent any more. From now on nothing is kept. */
  async allBack(): Promise<void> {
    this.#isClosing = true;
    this.#looking?.cancel();
    this.#letGo(Infinity);
    if (this.#borrowed.size + this.#waiting.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
  }

  /** Refuses those who wait and cuts what is under way. */
  cutAll(): void {
    const error = new LeaseError('SHUTTING_DOWN', 'the store was closed before this call was answered');
    for (const refuse of [...this.#waiting]) refuse(error);
    for (const borrowed of [...this.#borrowed]) borrowed.cut(error);
  }

  async #take(): Promise<Borrowed> {
    if (this.#waiting.size >= MAX_WAITING) throw this.#noConnection(`${MAX_WAITING} callers wait already`);
    return new Promise((resolve, reject) => {
      /** True for the first who comes. */
      const end = (): boolean => {
        timer.cancel();
        return this.#waiting.delete(refuse);
      };
      const refuse = (error: LeaseError): void => {
        if (end()) reject(error);
        this.#checkEmpty();
      };
      const got = (error: Error | undefined, client: PoolClient | undefined): void => {
        if (client === undefined) refuse(this.#explainNone(error));
        else if (end()) resolve(this.#lend(client));
        else client.release(); // too late: whoever asked has been told
      };
      const timer = this.#clock.after(this.#timeoutMs, () => refuse(this.#noConnection()), true);
      this.#waiting.add(refuse);
      try {
        this.#pool.connect(got);
      } catch (error) {
        refuse(this.#explainNone(error));
      }
    });
  }

  /** Two turns of the loop: between them every socket was looked at, wherever in a turn this is called. */
  #lookAtSockets(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.soon(() => this.#clock.soon(resolve));
    });
  }

  #lend(client: PoolClient): Borrowed {
    const borrowed = new Borrowed(client, this.#clock, this.#place, this);
    borrowed.usedAt = this.#usedAt.get(client) ?? Infinity;
    this.#borrowed.add(borrowed);
    return borrowed;
  }

  /** What is kept keeps no process alive, like what lies in the pool. */
  #keep(borrowed: Borrowed): void {
    this.#kept.push(borrowed);
    keepProcess(borrowed.client, false);
    this.#looking ??= this.#clock.after(KEEP_MS, () => this.#lookAtKept());
  }

  #takeKept(): Borrowed | undefined {
    const borrowed = this.#kept.pop();
    if (borrowed === undefined) return undefined;
    keepProcess(borrowed.client, true);
    this.#borrowed.add(borrowed);
    return borrowed;
  }

  #lookAtKept(): void {
    this.#looking = undefined;
    this.#letGo(this.#clock.monotonic() - KEEP_MS);
    if (this.#kept.length > 0) this.#looking = this.#clock.after(KEEP_MS, () => this.#lookAtKept());
  }

  #letGo(usedBefore: number): void {
    const isUnused = ({ usedAt }: Borrowed): boolean => usedAt <= usedBefore;
    const unused = this.#kept.filter(isUnused);
    this.#kept = this.#kept.filter((one) => !isUnused(one));
    for (const borrowed of unused) this.#toPool(borrowed);
  }

  #toPool(borrowed: Borrowed): void {
    this.#usedAt.set(borrowed.client, borrowed.usedAt);
    borrowed.toPool();
  }

  #checkEmpty(): void {
    if (this.#borrowed.size + this.#waiting.size === 0) this.#onEmpty();
  }

  #explainNone(error: unknown): LeaseError {
    const text = error instanceof Error ? error.message : '';
    if (/timeout exceeded|connection timeout|timeout expired/i.test(text)) return this.#noConnection();
    if (/after calling end on the pool/.test(text)) {
      return new LeaseError('SHUTTING_DOWN', 'the pool was ended: connect again', { cause: error });
    }
    return translateError(error, this.#place());
  }

  #noConnection(why = `no answer within ${this.#timeoutMs} ms`): LeaseError {
    const { size, inUse, idle, waiting } = this.figures();
    const details = {
      server: this.#place().server,
      poolSize: size,
      inUse,
      idle,
      waiting,
      poolTimeoutMs: this.#timeoutMs,
    };
    // What is being connected counts as in use, too: only our own pool can tell the two apart.
    const isExhausted = this.#isOwn ? this.#borrowed.size + idle > 0 : inUse >= size;
    const message = isExhausted
      ? `no connection of the pool came free (${why}; size ${size}, in use ${inUse}, waiting ${waiting}): raise poolSize, or look for what holds them`
      : `no connection to PostgreSQL at ${details.server} (${why}): check the server and the network`;
    return new LeaseError('STORE_UNAVAILABLE', message, { details });
  }
}
