// The sequence half of the port for a store that runs the protocol in its own process: it hands in how a step and a look are
// made, and gets every method. A read that has nothing to write down (nothing to seal, nobody new who waits) is a look.
import { checkBatch } from '../../../domain/check-request.js';
import { LIMITS } from '../../../domain/limits.js';
import type * as requests from '../../../domain/sequence-requests.js';
import { tellEach } from '../../../domain/tell-each.js';
import type * as port from '../../sequence-store.js';
import type { Answers, Failed, Reply } from '../../store.js';
import { runItems } from '../run-items.js';
import { commit, lease, progress, release } from './hold.js';
import { append, fill } from './place.js';
import * as reading from './read.js';
import { claim, manual, manualItems, renewClaim, settle } from './recover.js';
import type { SequenceStep } from './rows.js';

export interface SequenceHost {
  /** One atomic step; `settled` of it is told to listeners after the answer is on its way. */
  step<T extends object>(act: (step: SequenceStep) => T): Promise<T & Reply>;
  /** One snapshot; `act` writes nothing. */
  look<T extends object>(act: (step: SequenceStep) => T): Promise<T & Reply>;
  subscribe(listener: port.SequenceListener): () => void;
  readonly durability: string;
}

export class SequencesOverRows implements port.SequenceStore {
  readonly #host: SequenceHost;

  constructor(host: SequenceHost) {
    this.#host = host;
  }

  async ready(): ReturnType<port.SequenceStore['ready']> {
    return this.#host.look(() => ({ durability: this.#host.durability }));
  }

  async lease(asked: readonly requests.LeaseNumbers[]): Promise<Answers<port.LeaseNumbersResult>> {
    return this.#items(asked, lease);
  }
  async progress(asked: readonly requests.ProgressRequest[]): Promise<Answers<port.ProgressResult>> {
    return this.#items(asked, progress);
  }
  async commit(asked: readonly requests.CommitRequest[]): Promise<Answers<port.CommitResult>> {
    return this.#items(asked, commit);
  }
  async release(asked: readonly requests.ReleaseNumbers[]): Promise<Answers<port.ReleaseResult>> {
    return this.#items(asked, release);
  }
  async append(asked: readonly requests.AppendRequest[]): Promise<Answers<port.AppendResult>> {
    return this.#items(asked, append);
  }
  async fill(asked: readonly requests.FillRequest[]): Promise<Answers<port.FillResult>> {
    return this.#items(asked, fill);
  }
  async renewClaims(asked: readonly requests.ClaimRenewal[]): Promise<Answers<port.ClaimRenewalResult>> {
    return this.#items(asked, renewClaim);
  }
  async settle(asked: readonly requests.SettleRequest[]): Promise<Answers<port.SettleResult>> {
    return this.#items(asked, settle);
  }

  /** A claim of nothing is the ordinary case, and writes nothing. */
  async claim(order: requests.ClaimOrder): Promise<port.ClaimedReply> {
    const isDue = (step: SequenceStep): boolean =>
      step.rows.countDue(order.stream, step.now, 1) > 0 ||
      (order.gapsToo && step.rows.dueGaps(order.stream, step.now, 1).length > 0);
    return this.#lookFirst(isDue, (step) => claim(step, order));
  }
  async read(order: requests.ReadOrder): Promise<port.ReadReply> {
    return this.#lookFirst(
      (step) => reading.readNeedsWrite(step, order),
      (step) => reading.read(step, order),
    );
  }
  async barrier(order: requests.BarrierOrder): Promise<port.BarrierReply> {
    return this.#lookFirst(
      (step) => reading.barrierNeedsWrite(step, order),
      (step) => reading.barrier(step, order),
    );
  }
  async cursor(order: requests.CursorOrder): Promise<port.CursorReply> {
    return this.#host.step((step) => reading.cursor(step, order));
  }
  async trim(order: requests.TrimOrder): Promise<port.TrimReply> {
    return this.#host.step((step) => reading.trim(step, order));
  }
  async gaps(query: requests.GapQuery): Promise<port.GapsReply> {
    return this.#host.look((step) => reading.gaps(step, query));
  }
  async manualItems(query: requests.ManualQuery): Promise<port.ManualItemsReply> {
    return this.#host.look((step) => manualItems(step, query));
  }
  async manual(order: requests.ManualOrder): Promise<port.ManualReply> {
    return this.#host.step((step) => manual(step, order));
  }
  async streams(query: requests.StreamQuery): Promise<port.StreamsReply> {
    return this.#host.look((step) => reading.streams(step, query));
  }

  subscribe(listener: port.SequenceListener): () => void {
    return this.#host.subscribe(listener);
  }

  async #items<Q extends object, R>(
    asked: readonly Q[],
    act: (step: SequenceStep, request: Q) => R,
  ): Promise<Answers<R>> {
    checkBatch(asked);
    return this.#host.step((step): { results: (R | Failed)[] } => ({
      results: runItems(asked, (request) => act(step, request)),
    }));
  }

  /** Looks whether there is anything to write; if not, the same snapshot answers. */
  async #lookFirst<T extends object>(
    mustWrite: (step: SequenceStep) => boolean,
    act: (step: SequenceStep) => T,
  ): Promise<T & Reply> {
    const seen = await this.#host.look((step): { answer?: T } => (mustWrite(step) ? {} : { answer: act(step) }));
    const { answer, ...reply } = seen;
    return answer === undefined ? this.#host.step(act) : { ...reply, ...answer };
  }
}

/** Tells listeners after the answer is on its way, so that one that asks at once disturbs nobody. */
export class SettledListeners {
  readonly #listeners = new Set<port.SequenceListener>();

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: port.SequenceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  tell(streams: readonly string[]): void {
    tellEach(this.#listeners, (listener) => listener.settled(streams.slice(0, LIMITS.rowsPerStep)));
  }
  clear(): void {
    this.#listeners.clear();
  }
}
