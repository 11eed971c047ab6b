// The sequence half of the port over HTTP (W2): see http-store.ts. Operations travel as the JSON they are kept as, so that
// replays are equal byte for byte. `commitIn` and `doneIn` are not here: a caller's transaction cannot cross to the server.
import * as check from '../../domain/check-sequence.js';
import type * as requests from '../../domain/sequence-requests.js';
import type * as port from '../sequence-store.js';
import type { Answers } from '../store.js';
import type { Calls } from './calls.js';

export class HttpSequences implements port.SequenceStore {
  readonly #calls: Calls;
  readonly #namespace: string;

  constructor(calls: Calls, namespace: string) {
    this.#calls = calls;
    this.#namespace = namespace;
  }

  ready(order: { readonly acceptLoss: boolean }): ReturnType<port.SequenceStore['ready']> {
    return this.#one('ready', order);
  }

  lease(asked: readonly requests.LeaseNumbers[]): Promise<Answers<port.LeaseNumbersResult>> {
    return this.#items('lease', asked, check.checkLeaseNumbers);
  }
  progress(asked: readonly requests.ProgressRequest[]): Promise<Answers<port.ProgressResult>> {
    return this.#items('progress', asked, check.checkProgress);
  }
  commit(asked: readonly requests.CommitRequest[]): Promise<Answers<port.CommitResult>> {
    return this.#items('commit', asked, check.checkCommit);
  }
  release(asked: readonly requests.ReleaseNumbers[]): Promise<Answers<port.ReleaseResult>> {
    return this.#items('release', asked, check.checkRelease);
  }
  append(asked: readonly requests.AppendRequest[]): Promise<Answers<port.AppendResult>> {
    return this.#items('append', asked, check.checkAppend);
  }
  fill(asked: readonly requests.FillRequest[]): Promise<Answers<port.FillResult>> {
    return this.#items('fill', asked, check.checkFill);
  }
  renewClaims(asked: readonly requests.ClaimRenewal[]): Promise<Answers<port.ClaimRenewalResult>> {
    return this.#items('renewClaims', asked, check.checkClaimRenewal);
  }
  settle(asked: readonly requests.SettleRequest[]): Promise<Answers<port.SettleResult>> {
    return this.#items('settle', asked, check.checkSettle);
  }

  claim(order: requests.ClaimOrder): Promise<port.ClaimedReply> {
    return this.#one('claim', order, check.checkClaim);
  }
  read(order: requests.ReadOrder): Promise<port.ReadReply> {
    return this.#one('read', order, check.checkRead);
  }
  barrier(order: requests.BarrierOrder): Promise<port.BarrierReply> {
    return this.#one('barrier', order, check.checkBarrier);
  }
  cursor(order: requests.CursorOrder): Promise<port.CursorReply> {
    return this.#one('cursor', order, check.checkCursor);
  }
  trim(order: requests.TrimOrder): Promise<port.TrimReply> {
    return this.#one('trim', order, check.checkTrim);
  }
  gaps(query: requests.GapQuery): Promise<port.GapsReply> {
    return this.#one('gaps', query, check.checkGapQuery);
  }
  manualItems(query: requests.ManualQuery): Promise<port.ManualItemsReply> {
    return this.#one('manualItems', query, check.checkManualQuery);
  }
  manual(order: requests.ManualOrder): Promise<port.ManualReply> {
    return this.#one('manual', order, check.checkManual);
  }
  streams(query: requests.StreamQuery): Promise<port.StreamsReply> {
    return this.#one('streams', query, check.checkStreamQuery);
  }

  subscribe(listener: port.SequenceListener): () => void {
    return this.#calls.hints.subscribeSettled(this.#namespace, listener);
  }

  #items<Q extends object, R>(
    method: string,
    asked: readonly Q[],
    checkOne: (request: Q) => unknown,
  ): Promise<Answers<R>> {
    return this.#calls.items(this.#namespace, `sequences.${method}`, asked, checkOne);
  }
  async #one<T extends object, O>(method: string, order: O, checkOrder?: (order: O) => unknown): Promise<T> {
    this.#calls.checkOpen();
    checkOrder?.(order);
    return this.#calls.one(this.#namespace, `sequences.${method}`, [order]);
  }
}
