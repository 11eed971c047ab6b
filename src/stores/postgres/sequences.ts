// Streams on PostgreSQL (N1 to N6): one function of the schema a method, one round trip a call. What a request must be is checked
// here, what it does is decided there; src/stores/protocol/sequence is the meaning of both (docs/decisions/0010, 0013).
import * as check from '../../domain/check-sequence.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type * as requests from '../../domain/sequence-requests.js';
import type * as port from '../sequence-store.js';
import type { Answers, Failed, Reply } from '../store.js';
import { durabilityOf, type InfoColumns } from './info.js';
import type { SchemaCalls } from './schema-calls.js';
import { sendItems } from './send-items.js';
import * as codec from './sequence-codec.js';
import * as items from './sequence-items.js';
import * as results from './sequence-results.js';
import { callIn } from './sequence-transaction.js';

type Answer = codec.Answer;

/** Everything else may settle something, and who waits here is told so: a hint that is needless does no harm. */
const SETTLES_NOTHING: ReadonlySet<string> = new Set(['seq_progress', 'seq_renew_claims']);

export class PostgresSequences implements port.SequenceStore {
  readonly #calls: SchemaCalls;
  readonly #namespace: string;

  constructor(calls: SchemaCalls, namespace: string) {
    this.#calls = calls;
    this.#namespace = namespace;
  }

  async ready({ acceptLoss }: { readonly acceptLoss: boolean }): ReturnType<port.SequenceStore['ready']> {
    const { body, ...reply } = await this.#call<InfoColumns>('info', []);
    if (body.synchronousCommit === 'off' && !acceptLoss) {
      throw new LeaseError(
        'STORE_INCOMPATIBLE',
        "synchronous_commit is off for this role or database: a crash could lose operations that were answered as committed. Set it to on (ALTER ROLE … SET synchronous_commit = on), or open streams with durability: 'accept-loss'",
      );
    }
    return { ...reply, durability: durabilityOf(body) };
  }

  async lease(asked: readonly requests.LeaseNumbers[]): Promise<Answers<port.LeaseNumbersResult>> {
    return sendItems(asked, items.checkedLease, async (list) => {
      const { body, ...reply } = await this.#call<string | Answer[]>('seq_lease', items.encodeLeases(list));
      if (typeof body === 'string') {
        const pairs = body.split(',');
        return {
          ...reply,
          results: list.map(({ request }, i) => results.newLease(request, pairs[i] as string, reply.now)),
        };
      }
      return {
        ...reply,
        results: list.map(({ request }, i) => results.leaseResult(request, body[i] as Answer, reply.now)),
      };
    });
  }

  async commit(asked: readonly requests.CommitRequest[]): Promise<Answers<port.CommitResult>> {
    const answers = await sendItems(asked, items.checkedCommit, async (list) => {
      const { body, ...reply } = await this.#call<string | Answer[]>('seq_commit', items.encodeCommits(list));
      if (typeof body === 'string') {
        const committed = body
          .split(',')
          .map((first): port.CommitResult => ({ outcome: 'committed', first: Number(first), repeated: false }));
        return { ...reply, results: committed };
      }
      return { ...reply, results: list.map(({ request }, i) => results.commitResult(request, body[i] as Answer)) };
    });
    this.#settled(asked);
    return answers;
  }

  progress(asked: readonly requests.ProgressRequest[]): Promise<Answers<port.ProgressResult>> {
    return this.#items(asked, items.checkedProgress, 'seq_progress', items.encodeProgress, results.progressResult);
  }
  release(asked: readonly requests.ReleaseNumbers[]): Promise<Answers<port.ReleaseResult>> {
    return this.#items(asked, items.checkedRelease, 'seq_release', items.encodeReleases, results.releaseResult);
  }
  append(asked: readonly requests.AppendRequest[]): Promise<Answers<port.AppendResult>> {
    return this.#items(asked, items.checkedAppend, 'seq_append', items.encodeAppends, results.appendResult);
  }
  fill(asked: readonly requests.FillRequest[]): Promise<Answers<port.FillResult>> {
    return this.#items(asked, items.checkedFill, 'seq_fill', items.encodeFills, results.fillResult);
  }

  async claim(order: requests.ClaimOrder): Promise<port.ClaimedReply> {
    check.checkClaim(order);
    const { stream, limit, owner, ttlMs, gapsToo } = order;
    const values = [stream, limit, owner, ttlMs, gapsToo];
    const { body, ...reply } = await this.#call<codec.ClaimedBody>('seq_claim', values);
    const [claimed, backlog, more] = body;
    return { ...reply, claimed: claimed.map((one) => codec.decodeClaimed(one, reply.now)), backlog, more };
  }
  renewClaims(asked: readonly requests.ClaimRenewal[]): Promise<Answers<port.ClaimRenewalResult>> {
    return this.#items(asked, items.checkedRenewal, 'seq_renew_claims', items.encodeRenewals, results.renewalResult);
  }
  settle(asked: readonly requests.SettleRequest[]): Promise<Answers<port.SettleResult>> {
    return this.#items(asked, items.checkedSettle, 'seq_settle', items.encodeSettlements, results.settleResult);
  }

  async read(order: requests.ReadOrder): Promise<port.ReadReply> {
    check.checkRead(order);
    const values = [order.stream, order.from, order.limit, order.seal, order.watch];
    const { body, ...reply } = await this.#call<codec.PageColumns>('seq_read', values);
    return { ...reply, ...codec.decodeHead(body[0]), items: codec.decodePage(body) };
  }
  async barrier(order: requests.BarrierOrder): Promise<port.BarrierReply> {
    check.checkBarrier(order);
    const { body, ...reply } = await this.#call<[codec.HeadColumns, boolean] | ['ahead', number]>('seq_barrier', [
      order.stream,
      order.number,
      order.watch,
    ]);
    if (body[0] !== 'ahead') return { ...reply, ...codec.decodeHead(body[0]), reached: body[1] };
    const leased = body[1] - 1;
    throw invalid(
      `${order.stream} has leased ${leased} numbers: ${order.number} is more than ${LIMITS.numbersAhead} ahead`,
    );
  }

  async cursor(order: requests.CursorOrder): Promise<port.CursorReply> {
    check.checkCursor(order);
    const { stream, reader } = order;
    if (order.act === 'done') {
      return results.cursorReply(
        await this.#call<Answer>('seq_done', [stream, reader, order.number, order.epoch, null]),
        stream,
      );
    }
    const name = order.act === 'open' ? 'seq_open' : 'seq_forget_reader';
    return results.cursorReply(await this.#call<Answer>(name, [stream, reader]), stream);
  }
  async trim(order: requests.TrimOrder): Promise<port.TrimReply> {
    check.checkTrim(order);
    const { body, ...reply } = await this.#call<[number, number, number, boolean]>('seq_trim', [
      order.stream,
      order.before,
      order.limit,
    ]);
    const [removed, trimmedBefore, forgotten, more] = body;
    return { ...reply, removed, trimmedBefore, forgotten, more };
  }

  async gaps(query: requests.GapQuery): Promise<port.GapsReply> {
    check.checkGapQuery(query);
    const { stream, after, limit } = query;
    const { body, ...reply } = await this.#call<codec.GapColumns[]>('seq_gaps', [stream, after, limit]);
    return { ...reply, gaps: body.slice(0, limit).map(codec.decodeGap), more: body.length > limit };
  }
  async manualItems(query: requests.ManualQuery): Promise<port.ManualItemsReply> {
    check.checkManualQuery(query);
    const { stream, after, limit } = query;
    const values = [stream, after?.stream, after?.number, limit];
    const { body, ...reply } = await this.#call<codec.ManualBody>('seq_manual_items', values);
    return { ...reply, items: body[0].map(codec.decodeManual), more: body[1] };
  }
  async manual(order: requests.ManualOrder): Promise<port.ManualReply> {
    check.checkManual(order);
    const { stream, operationId, act, actor } = order;
    const answer = await this.#call<Answer>('seq_manual', [stream, operationId, act, actor]);
    this.#settled([order]);
    return results.manualReply(answer);
  }
  async streams(query: requests.StreamQuery): Promise<port.StreamsReply> {
    check.checkStreamQuery(query);
    const { stream, after, limit } = query;
    const values = [stream, stream === undefined ? after : undefined, limit];
    const { body, ...reply } = await this.#call<codec.StreamColumns[]>('seq_streams', values);
    return { ...reply, streams: body.slice(0, limit).map(codec.decodeStream), more: body.length > limit };
  }

  subscribe(listener: port.SequenceListener): () => void {
    return this.#calls.sequenceHints.subscribe(this.#namespace, listener);
  }

  async commitIn(
    transaction: unknown,
    request: requests.CommitRequest,
  ): Promise<Reply & { readonly result: port.CommitResult }> {
    const { text, content } = items.checkedCommit(request);
    const { stream, operationId, epoch, operations } = request;
    const { body, ...reply } = await callIn<Answer>(this.#calls, transaction, 'seq_commit_in', (xact) => [
      this.#namespace,
      xact,
      stream,
      operationId,
      epoch,
      text,
      content,
      operations.length,
    ]);
    const result = results.commitResult(request, body);
    if (result.outcome === 'failed') throw result.error;
    return { ...reply, result };
  }

  /** The seal is not raised in the caller's transaction, which would stop everybody else until it ends; raised and not
   *  used it does no harm. */
  async doneIn(transaction: unknown, order: Extract<requests.CursorOrder, { act: 'done' }>): Promise<port.CursorReply> {
    check.checkCursor(order);
    const { stream, reader, number, epoch } = order;
    const ask = (): Promise<Reply & { body: Answer }> =>
      callIn<Answer>(this.#calls, transaction, 'seq_done', (xact) => [
        this.#namespace,
        stream,
        reader,
        number,
        epoch,
        xact,
      ]);
    const first = await ask();
    if (first.body[0] !== 'unsealed') return results.cursorReply(first, stream);
    await this.#call('seq_seal', [stream, number]);
    const again = await ask();
    if (again.body[0] !== 'unsealed') return results.cursorReply(again, stream);
    throw new LeaseError(
      'STORE_UNAVAILABLE',
      `this transaction sees ${stream} as it was before: run it again from its BEGIN`,
    );
  }

  #call<T>(name: string, values: readonly unknown[]): Promise<Reply & { body: T }> {
    return this.#calls.call<T>(name, [this.#namespace, ...values]);
  }

  #settled(asked: readonly { readonly stream: string }[]): void {
    const streams = asked.map((item: Partial<{ stream: string }> | null) => item?.stream);
    this.#calls.sequenceHints.settled(
      this.#namespace,
      streams.filter((stream) => typeof stream === 'string'),
    );
    this.#calls.hints.changed(this.#namespace);
  }

  /** Lists whose items are answered one by one. */
  async #items<Q extends { readonly stream: string }, R extends object>(
    asked: readonly Q[],
    checked: (request: Q) => items.Checked<Q>,
    name: string,
    encode: (list: readonly items.Checked<Q>[]) => unknown[],
    decode: (answer: Answer, now: number) => R,
  ): Promise<Answers<R>> {
    const answers = await sendItems(asked, checked, async (list) => {
      const { body, ...reply } = await this.#call<Answer[]>(name, encode(list));
      const decoded = list.map(({ request }, i): R | Failed => {
        const answer = body[i] as Answer;
        if (answer[0] !== 'failed') return decode(answer, reply.now);
        return codec.decodeFailed(answer, request.stream, items.operationsOf(request));
      });
      return { ...reply, results: decoded };
    });
    if (!SETTLES_NOTHING.has(name)) this.#settled(asked);
    return answers;
  }
}
