// A lease of numbers in the hands of this process: what its holder asks of it. How long it may be trusted is in number-trust.ts. Nothing
// renews it but `renew()`: an operation that overruns loses its number (N1).
import { checkKeys } from '../domain/check-keys.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { invalid, mayPass } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { Progress } from '../domain/sequence-requests.js';
import type { LeaseNumbersResult } from '../stores/sequence-store.js';
import { waitFor, type Asking, type Shared } from './barrier.js';
import type { CommitOptions, OperationsOf, SequenceLease } from './face.js';
import { InOrder } from './in-order.js';
import { NumberTrust, type Sent } from './number-trust.js';
import { lostNumber, storedOtherwise } from './outcomes.js';
import { keepResult, type Kept, type ResultKeeper } from './result-keeper.js';
import { unlessAborted } from './sequence-link.js';

export type Leased = Extract<LeaseNumbersResult, { outcome: 'leased' }>;
type Committing = ReturnType<Shared['link']['commit']>;
const COMMIT_KEYS: ReadonlySet<string> = new Set<keyof CommitOptions>(['ordered', 'tx']);

export interface NumberTerms {
  readonly stream: string;
  readonly operationId: string;
  readonly kind: string;
  readonly ttlMs: number;
}

export class HeldNumbers<Op> implements SequenceLease<Op> {
  readonly #shared: Shared;
  readonly #terms: NumberTerms;
  readonly #leased: Leased;
  readonly #results: ResultKeeper | undefined;
  readonly #trust: NumberTrust;
  #isAsking = false;
  readonly #notes = new InOrder();

  constructor(shared: Shared, terms: NumberTerms, leased: Leased, sent: Sent, results: ResultKeeper | undefined) {
    this.#shared = shared;
    this.#terms = terms;
    this.#leased = leased;
    this.#results = results;
    const { stream, operationId, ttlMs } = terms;
    const facts = { stream, operationId, number: leased.first, epoch: leased.epoch };
    const keeper = { ask: () => this.#askNow(), over: () => shared.work.left(this.#trust) };
    this.#trust = new NumberTrust(shared.link.clock, facts, ttlMs, leased, sent, keeper);
    shared.work.hold(this.#trust);
  }

  get numbers(): readonly number[] {
    return Array.from({ length: this.#leased.count }, (_, i) => this.#leased.first + i);
  }
  get number(): number {
    return this.#leased.first;
  }
  get operationId(): string {
    return this.#terms.operationId;
  }
  get kind(): string {
    return this.#terms.kind;
  }
  get epoch(): number {
    return this.#leased.epoch;
  }
  get leasedAt(): string {
    return isoTime(this.#leased.leasedAt);
  }
  get expiresAt(): string {
    return this.#trust.expiresAt;
  }
  get isHeld(): boolean {
    return this.remainingMs() > 0;
  }
  get signal(): AbortSignal {
    return this.#trust.signal;
  }
  remainingMs(): number {
    return this.#trust.remainingMs();
  }
  throwIfLost(): void {
    this.#trust.throwIfLost();
  }

  async renew(ttl?: Duration): Promise<void> {
    const bounds = { name: 'ttl', minMs: LIMITS.minTtlManualMs, maxMs: LIMITS.ttlMs };
    const ttlMs = ttl === undefined ? this.#trust.ttlMs : parseDuration(ttl, bounds);
    this.#trust.throwIfOver(); // it would live on in the store, and nobody would believe in it here
    await this.#progress({ what: 'renew', ttlMs }, ttlMs);
    this.#trust.throwIfOver();
  }
  async partial(work: unknown): Promise<void> {
    await this.#notes.run(() => this.#progress({ what: 'partial', work }));
  }
  async finished(operation: OperationsOf<Op>): Promise<void> {
    const operations = this.#operations(operation);
    await this.#notes.run(() => this.#progress({ what: 'finished', operations }));
  }

  /** A shutdown waits for it, and cuts it off only where the result is kept. */
  commit(operation: OperationsOf<Op>, options: CommitOptions = {}): Promise<{ number: number; repeated: boolean }> {
    return this.#shared.work.note(this.#commit(operation, options));
  }

  async #commit(operation: OperationsOf<Op>, options: CommitOptions): Promise<{ number: number; repeated: boolean }> {
    checkKeys(options, COMMIT_KEYS, 'of commit');
    const operations = this.#operations(operation);
    const { link } = this.#shared;
    if (options.ordered) await this.#untilMyTurn(operations, options.tx);
    const request = { ...this.#named, epoch: this.epoch, operations };
    // In the caller's transaction it is asked once and never spooled: what failed there is rolled back with all the rest.
    const { result } =
      options.tx === undefined
        ? await this.#untilStored(() => link.commit(request), operations)
        : await this.#commitIn(options.tx, request);
    if (result.outcome === 'committed') {
      this.#trust.settle();
      return { number: result.first, repeated: result.repeated };
    }
    const error = result.outcome === 'mismatch' ? storedOtherwise(this.#named) : lostNumber(this.#named, result);
    this.#trust.lose(error);
    throw error;
  }

  async release(reason = 'released by its holder'): Promise<void> {
    const { link } = this.#shared;
    const request = { ...this.#named, epoch: this.epoch, reason };
    const { results } = await link.untilAnswered(this.#trust.deadline, () =>
      link.call('release', (store) => store.release([request])),
    );
    const [result] = results;
    if (result?.outcome === 'failed') throw result.error;
    if (result?.outcome !== 'notHeld') {
      this.#trust.settle();
      return;
    }
    const error = lostNumber(this.#named, result);
    this.#trust.lose(error);
    throw error;
  }

  get #named(): { stream: string; operationId: string } {
    return { stream: this.#terms.stream, operationId: this.operationId };
  }

  #operations(operation: OperationsOf<Op>): readonly unknown[] {
    if (this.#leased.count === 1) return [operation];
    if (Array.isArray(operation) && operation.length === this.#leased.count) return operation as readonly unknown[];
    throw invalid(`the lease has ${this.#leased.count} numbers: give a list of as many operations`);
  }

  async #commitIn(tx: unknown, request: Parameters<NonNullable<Shared['link']['store']['commitIn']>>[1]): Committing {
    const { store } = this.#shared.link;
    if (store.commitIn) return store.commitIn(tx, request);
    throw invalid('tx: this store cannot take part in a transaction of the caller; only PostgreSQL can');
  }

  /** Where the deadline comes while the store owes an answer, or the connection is closed, the result is kept as after a commit without
   *  an answer (V7). */
  async #untilMyTurn(operations: readonly unknown[], tx: unknown): Promise<void> {
    const { life } = this.#shared.link;
    const asking: Asking = { isOpen: false, end: life };
    try {
      await waitFor(this.#shared, this.#terms.stream, this.number, { signal: this.signal }, asking);
    } catch (error) {
      const isStoreAway = mayPass(error) || (asking.isOpen && this.#trust.isOverdueBy(error));
      if (tx !== undefined || !(isStoreAway || life.aborted)) throw error;
      throw (await this.#keep(operations)).told(error);
    }
  }

  /** Asked again until the deadline, or until the connection is closed. With a spool the result is on this machine's disk before the
   *  second try. */
  async #untilStored(ask: () => Committing, operations: readonly unknown[]): Committing {
    const { link } = this.#shared;
    const { life } = link;
    const first = await unlessAborted(life, ask()).catch((error: unknown) => {
      if (!mayPass(error) && !life.aborted) throw error;
      return undefined;
    });
    if (first !== undefined) return first;
    const kept = await this.#keep(operations);
    const answer = await link.untilAnswered(this.#trust.deadline, ask, life).catch((error: unknown) => {
      this.#trust.overrun();
      throw kept.told(error);
    });
    if (!kept.isKept) return answer;
    if (answer.result.outcome === 'notHeld') {
      const error = lostNumber(this.#named, answer.result);
      this.#trust.lose(error);
      throw kept.told(error); // too late for its own number, but not lost: the spool moves it
    }
    // What cannot be ticked off is stored again later, which changes nothing: no reason to fail a commit that was made.
    await this.#results?.drop(this.#terms.stream, this.operationId).catch(() => undefined);
    return answer;
  }
  #keep(operations: readonly unknown[]): Promise<Kept> {
    return keepResult(this.#results, { ...this.#named, kind: this.kind, epoch: this.epoch, operations });
  }

  async #progress(progress: Progress, ttlMs?: number): Promise<void> {
    const { link } = this.#shared;
    const request = { ...this.#named, epoch: this.epoch, progress };
    let sent: Sent = { sentAt: 0, sentWall: 0 };
    const { result } = await link.untilAnswered(this.#trust.deadline, () => {
      sent = { sentAt: link.clock.monotonic(), sentWall: link.clock.wall() };
      return link.progress(request);
    });
    if (result.outcome === 'kept') {
      this.#trust.confirm(sent, result, ttlMs);
      return;
    }
    const error = lostNumber(this.#named, result);
    this.#trust.lose(error);
    throw error;
  }

  /** In doubt after a suspend: a yes of the store restores the lease, a no ends it; an error leaves it to the deadline. */
  #askNow(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#progress({ what: 'look' })
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
  }
}
