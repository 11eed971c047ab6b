// Streams of one Redis namespace (N1 to N6): one script a method. What is checked is checked here, before it is sent; what is
// decided is decided there, in one step; what follows from the rows of one snapshot is worked out here, so that a long look
// keeps the server from nobody (S18).
import { checkBatch } from '../../domain/check-request.js';
import * as check from '../../domain/check-sequence.js';
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type * as requests from '../../domain/sequence-requests.js';
import type { SettledNumber, StreamFigures } from '../../domain/sequence.js';
import { claimedOf, gapOf, manualItem, openNumber, settledNumbers } from '../protocol/sequence/look.js';
import type { SpanRow } from '../protocol/sequence/rows.js';
import type * as port from '../sequence-store.js';
import type { Answers } from '../store.js';
import { askItems } from './ask-items.js';
import { noMoreEpochs, type Item } from './items.js';
import { streamKeysOf } from './keys.js';
import type { Script } from './link.js';
import { SCRIPTS as LEASE_SCRIPTS } from './lua/scripts.js';
import { SEQUENCE_SCRIPTS as SCRIPTS } from './lua/sequence-scripts.js';
import type { Answered, Namespace } from './namespace.js';
import * as items from './sequence-items.js';
import { decodeReader, decodeShown, decodeSpan, decodeStream, hasWork, liesBeside } from './sequence-text.js';
import { SettledHints } from './settled-hints.js';
import { streamDurability } from './stream-durability.js';

export class RedisSequences implements port.SequenceStore {
  readonly #namespace: Namespace;
  readonly #keys: readonly string[];
  readonly #checkOpen: () => void;
  readonly #hints: SettledHints;

  constructor(namespace: Namespace, clock: Clock, checkOpen: () => void) {
    this.#namespace = namespace;
    this.#keys = streamKeysOf(namespace.name);
    this.#checkOpen = checkOpen;
    this.#hints = new SettledHints(namespace, clock);
  }

  async ready({ acceptLoss }: { readonly acceptLoss: boolean }): ReturnType<port.SequenceStore['ready']> {
    this.#checkOpen();
    const durability = await streamDurability(this.#namespace.link, acceptLoss);
    const { reply } = await this.#namespace.look(LEASE_SCRIPTS.time, []);
    return { ...reply, durability };
  }

  async lease(asked: readonly requests.LeaseNumbers[]): Promise<Answers<port.LeaseNumbersResult>> {
    return this.#items(SCRIPTS.lease, asked, items.leaseNumbersItem);
  }
  async progress(asked: readonly requests.ProgressRequest[]): Promise<Answers<port.ProgressResult>> {
    return this.#items(SCRIPTS.progress, asked, items.progressItem);
  }
  async commit(asked: readonly requests.CommitRequest[]): Promise<Answers<port.CommitResult>> {
    return this.#items(SCRIPTS.commit, asked, items.commitItem);
  }
  async release(asked: readonly requests.ReleaseNumbers[]): Promise<Answers<port.ReleaseResult>> {
    return this.#items(SCRIPTS.release, asked, items.releaseItem);
  }
  async append(asked: readonly requests.AppendRequest[]): Promise<Answers<port.AppendResult>> {
    return this.#items(SCRIPTS.append, asked, items.appendItem);
  }
  async fill(asked: readonly requests.FillRequest[]): Promise<Answers<port.FillResult>> {
    return this.#items(SCRIPTS.fill, asked, items.fillItem);
  }
  async renewClaims(asked: readonly requests.ClaimRenewal[]): Promise<Answers<port.ClaimRenewalResult>> {
    return this.#items(SCRIPTS.renewClaims, asked, items.renewClaimItem);
  }
  async settle(asked: readonly requests.SettleRequest[]): Promise<Answers<port.SettleResult>> {
    return this.#items(SCRIPTS.settle, asked, items.settleItem);
  }

  async claim(order: requests.ClaimOrder): Promise<port.ClaimedReply> {
    check.checkClaim(order);
    const { stream = '', limit, owner, ttlMs, gapsToo } = order;
    const args = [stream, String(limit), owner, String(ttlMs), flag(gapsToo)];
    const { reply, rest } = await this.#lookFirst(SCRIPTS.lookClaim, SCRIPTS.claim, args);
    if (rest[0] === 'epoch') throw noMoreEpochs();
    const claimed = workRows(rest[0]).map((row) => claimedOf(row, reply.now));
    return { ...reply, claimed, backlog: Number(rest[1]), more: rest[2] === 1 };
  }

  async read(order: requests.ReadOrder): Promise<port.ReadReply> {
    check.checkRead(order);
    const { stream, from, limit } = order;
    const args = [stream, String(from), String(limit), flag(order.seal), flag(order.watch)];
    const answered = await this.#lookFirst(SCRIPTS.lookRead, SCRIPTS.read, args);
    return { ...headOf(stream, answered), items: pageOf(from, limit, answered.rest) };
  }
  async barrier(order: requests.BarrierOrder): Promise<port.BarrierReply> {
    check.checkBarrier(order);
    const { stream, number } = order;
    const args = [stream, String(number), flag(order.watch)];
    const answered = await this.#lookFirst(SCRIPTS.lookBarrier, SCRIPTS.barrier, args);
    const [word, leased] = answered.rest;
    if (word === 'ahead') throw tooFarAhead(order, Number(leased));
    return { ...headOf(stream, answered), reached: answered.rest[5] === 1 };
  }

  async cursor(order: requests.CursorOrder): Promise<port.CursorReply> {
    check.checkCursor(order);
    const { stream, reader, act } = order;
    const place = act === 'done' ? [String(order.number), String(order.epoch)] : ['0', '0'];
    const { reply, rest } = await this.#write(SCRIPTS.cursor, [stream, reader, act, ...place]);
    const [outcome, one, two] = [rest[0], Number(rest[1]), Number(rest[2])];
    if (outcome === 'full') throw tooManyReaders(stream);
    if (outcome === 'epoch') throw noMoreEpochs();
    if (outcome === 'opened') return { ...reply, outcome, epoch: one, done: two };
    if (outcome === 'moved') return { ...reply, outcome, done: one };
    if (outcome === 'stale') return { ...reply, outcome, epoch: one };
    if (outcome === 'beyond') return { ...reply, outcome, watermark: one };
    return { ...reply, outcome: outcome as 'unknown' | 'forgotten' };
  }
  async trim(order: requests.TrimOrder): Promise<port.TrimReply> {
    check.checkTrim(order);
    const { stream, before, limit } = order;
    const { reply, rest } = await this.#write(SCRIPTS.trim, [stream, String(before), String(limit)]);
    const [removed, trimmedBefore, forgotten, more] = rest.map(Number) as [number, number, number, number];
    return { ...reply, removed, trimmedBefore, forgotten, more: more === 1 };
  }

  async gaps(query: requests.GapQuery): Promise<port.GapsReply> {
    check.checkGapQuery(query);
    const { stream, after, limit } = query;
    const { reply, rest } = await this.#look(SCRIPTS.gaps, [stream, String(after), String(limit)]);
    const [seal, texts, more] = rest as [string, string[], number];
    const gaps = texts.map((text) => {
      return { ...gapOf(decodeSpan(stream, text), { seal: Number(seal) }), hasResult: hasWork(text) };
    });
    return { ...reply, gaps, more: more === 1 };
  }
  async manualItems(query: requests.ManualQuery): Promise<port.ManualItemsReply> {
    check.checkManualQuery(query);
    const { stream = '', after, limit } = query;
    const args = [stream, after?.stream ?? '', String(after?.number ?? 0), String(limit)];
    const { reply, rest } = await this.#look(SCRIPTS.manualItems, args);
    return { ...reply, items: workRows(rest[0]).map(manualItem), more: rest[1] === 1 };
  }
  async manual(order: requests.ManualOrder): Promise<port.ManualReply> {
    check.checkManual(order);
    const { stream, operationId, act, actor } = order;
    const { reply, rest } = await this.#write(SCRIPTS.manual, [stream, operationId, act, actor]);
    const [outcome, first, how] = rest;
    if (outcome === 'spent') throw invalid(`${stream} has left the range of safe integers`);
    if (outcome === 'stored') return { ...reply, outcome, first: Number(first), how: how as 'filled' | 'moved' };
    return { ...reply, outcome: outcome as 'queued' | 'discarded' | 'unknown' };
  }
  async streams(query: requests.StreamQuery): Promise<port.StreamsReply> {
    check.checkStreamQuery(query);
    const args = [query.stream ?? '', query.after ?? '', String(query.limit)];
    const { reply, rest } = await this.#look(SCRIPTS.streams, args);
    return { ...reply, streams: (rest[0] as Figures[]).map(figuresOf), more: rest[1] === 1 };
  }

  subscribe(listener: port.SequenceListener): () => void {
    return this.#hints.subscribe(listener);
  }
  close(): void {
    this.#hints.close();
  }

  #items<Q extends object, R>(
    script: Script,
    asked: readonly Q[],
    encode: (request: Q) => Item<R>,
  ): Promise<Answers<R>> {
    checkBatch(asked);
    return askItems((args) => this.#write(script, args), asked, encode);
  }
  #write(script: Script, args: readonly string[]): Promise<Answered> {
    this.#checkOpen();
    return this.#namespace.write(script, args, this.#keys);
  }
  #look(script: Script, args: readonly string[]): Promise<Answered> {
    this.#checkOpen();
    return this.#namespace.look(script, args, this.#keys);
  }
  /** Looks whether there is anything to write; if not, the same snapshot answers. */
  async #lookFirst(look: Script, step: Script, args: readonly string[]): Promise<Answered> {
    const seen = await this.#look(look, args);
    return seen.rest[0] === 'write' ? this.#write(step, args) : seen;
  }
}

function flag(isSet: boolean): string {
  return isSet ? '1' : '0';
}

function headOf(stream: string, { reply, rest }: Answered): port.StreamHead {
  const [watermark, seal, next, trimmedBefore] = rest.slice(0, 4).map(Number) as [number, number, number, number];
  const lowest = String(rest[4]);
  const head = { ...reply, watermark, seal, next, trimmedBefore };
  return lowest === '' ? head : { ...head, oldestOpen: openNumber(decodeSpan(stream, lowest)) };
}

function pageOf(from: number, limit: number, rest: readonly unknown[]): SettledNumber[] {
  const [watermark, , , trimmedBefore] = rest.slice(0, 4).map(Number) as [number, number, number, number];
  const [texts, large] = rest.slice(5) as [string[], string[]];
  const start = Math.max(from, trimmedBefore);
  const end = Math.min(watermark, start + limit - 1);
  let taken = 0;
  const items: SettledNumber[] = [];
  for (const text of texts) {
    const row = decodeShown(text, liesBeside(text) ? large[taken++] : undefined);
    for (const item of settledNumbers(row, start, end)) items.push(item);
  }
  return items;
}

function workRows(found: unknown): SpanRow[] {
  return (found as [stream: string, text: string, partial: string, finished: string][]).map(
    ([stream, text, partial, finished]) => decodeSpan(stream, text, { partial, finished }),
  );
}

type Figures = [name: string, text: string, watermark: string, lowest: string, readers: string[], places: string[]];

function figuresOf([name, text, level, lowest, readers, places]: Figures): StreamFigures {
  const { next, seal, trimmedBefore, gaps, moved, manual, open } = decodeStream(name, text);
  const watermark = Number(level);
  return {
    name,
    leased: next - 1,
    open,
    watermark,
    seal,
    trimmedBefore,
    gaps,
    moved,
    manual,
    ...(lowest === '' ? {} : { oldestOpen: openNumber(decodeSpan(name, lowest)) }),
    readers: readers.map((reader, i) => {
      const { done, movedAt } = decodeReader(places[i] ?? '');
      return { name: reader, done, distance: Math.max(0, watermark - done), movedAt };
    }),
  };
}

function tooFarAhead({ stream, number }: requests.BarrierOrder, leased: number): LeaseError {
  return invalid(`${stream} has leased ${leased} numbers: ${number} is more than ${LIMITS.numbersAhead} ahead`);
}

function tooManyReaders(stream: string): LeaseError {
  const message = `${stream} has ${LIMITS.readersPerStream} readers, which is the limit: forget some that are gone`;
  return new LeaseError('RATE_LIMITED', message);
}
