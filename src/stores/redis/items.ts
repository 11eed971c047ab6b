// Items of a list on their way to a script and back (ask-items.ts). Everything is checked here, before anything is sent; what a caller does to a request after it was sent changes nothing, for the answer is made from a copy.
import { checkAcquire, checkChange, checkEnd, checkRenew } from '../../domain/check-request.js';
import { contentOf } from '../../domain/content.js';
import type { RefusalReason, StoreRefusal } from '../../domain/decide.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { grantedUntil } from '../../domain/expiry.js';
import { leaseAt, type Lease } from '../../domain/lease.js';
import { LIMITS, TICKET_LIFE_MS } from '../../domain/limits.js';
import { copyPart, isPlain, type Part } from '../../domain/part.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../../domain/requests.js';
import type { AcquireResult, ChangeResult, EndResult, Failed, NotHeld, RenewResult } from '../store.js';
import { headOf, type PlainRequest } from './plain-lists.js';
import { decodeCycle, decodeRow, encodeAsked, encodePlainEnd, encodeTerms, statusOf } from './row-text.js';

/** The clocks of the reply that an answer came in. */
export interface Moment {
  readonly now: number;
  readonly wall: number;
}
export type Answer = string | number | readonly (string | number)[];

/** One checked item: the text that is sent, and what its answer means. */
export interface Item<R> {
  text(): string;
  read(answer: Answer, moment: Moment): R | Failed;
}

type Granted = Extract<AcquireResult, { outcome: 'granted' }>;

/** A request for a lease. Of a plain one the pieces can be sent in columns; its text is put together only where they are not. */
export class AcquireItem implements Item<AcquireResult>, PlainRequest {
  readonly id: string;
  readonly owner: string;
  readonly bornAt: number;
  readonly ttlMs: number;
  readonly callerWall: number;
  readonly joins: boolean;
  readonly handOver: boolean;
  readonly name: string;
  readonly end: string;
  readonly #text: string | undefined;
  readonly #parts: readonly Part[];
  readonly #metadata: string | undefined;
  readonly #maxHoldMs: number | undefined;
  readonly #maxRenewals: number;
  readonly #operationId: string | undefined;

  constructor(request: AcquireRequest, mayBeHanded = true) {
    const metadata = checkAcquire(request);
    const content = contentOf(request, metadata);
    this.id = request.id;
    this.owner = request.owner;
    this.bornAt = request.bornAt;
    this.ttlMs = request.ttlMs;
    this.callerWall = Math.round(request.callerWall);
    this.joins = request.join;
    this.handOver = mayBeHanded && request.join && request.handOver === true;
    this.#parts = request.parts.map(copyPart);
    this.name = (this.#parts[0] as Part).name;
    this.end = encodePlainEnd(request, content, metadata);
    this.#metadata = metadata;
    this.#maxHoldMs = request.maxHoldMs;
    this.#maxRenewals = request.maxRenewals;
    this.#operationId = request.operationId;
    this.#text = isUsual(request)
      ? undefined
      : unusualText(request, this.callerWall, encodeAsked(request, content, metadata));
  }

  /** One exclusive node, wanted for itself alone, on the usual terms: what the short ways in the scripts take. */
  get isPlain(): boolean {
    return this.#text === undefined;
  }

  text(): string {
    return this.#text ?? `${headOf(this)}\n${this.id}\t${this.owner}\txn:${this.name}\t${this.end}`;
  }

  read(answer: Answer, moment: Moment): AcquireResult | Failed {
    return typeof answer === 'string' ? this.granted(Number(answer), moment) : acquireResult(answer, moment);
  }

  /** A first grant is what was asked, with the epoch the script drew. */
  granted(epoch: number, { now, wall }: Moment): Granted {
    const expiresAt = grantedUntil(now, this.ttlMs, this.#maxHoldMs);
    const lease: Lease = {
      id: this.id,
      parts: this.#parts,
      owner: this.owner,
      epoch,
      status: 'active',
      reason: undefined,
      ttlMs: this.ttlMs,
      acquiredAt: now,
      renewedAt: now,
      expiresAt,
      endedAt: undefined,
      renewals: 0,
      maxRenewals: this.#maxRenewals,
      skewMs: this.callerWall - wall,
      operationId: this.#operationId,
      metadata: this.#metadata === undefined ? undefined : (JSON.parse(this.#metadata) as unknown),
    };
    return { outcome: 'granted', lease, remainingMs: expiresAt - now, again: false };
  }
}

function isUsual(request: AcquireRequest): boolean {
  return !request.reclaim && isPlain(request.parts) && encodeTerms(request) === '';
}

function unusualText(
  { bornAt, ttlMs, join, reclaim, upgrades }: AcquireRequest,
  callerWall: number,
  asked: string,
): string {
  const flags = `g${join ? 'j' : ''}${reclaim ? 'r' : ''}${upgrades ? `u${upgrades.epoch}` : ''}`;
  return `${bornAt} ${ttlMs} ${callerWall} ${flags}\n${asked}`;
}

function acquireResult(answer: Answer, moment: Moment): AcquireResult | Failed {
  const [outcome, ...rest] = listOf(answer);
  switch (outcome) {
    case 'again':
    case 'granted':
      return { outcome: 'granted', ...held(textOf(rest[0]), moment), again: outcome === 'again' };
    case 'queued':
      return { outcome, place: Number(rest[0]), ticketLeftMs: TICKET_LIFE_MS, refusal: refusalOf(rest, moment) };
    case 'refused':
      return { outcome, refusal: refusalOf(rest, moment) };
    case 'ended':
      return { outcome, status: statusOf(textOf(rest[0])), reason: given(rest[1]) };
    case 'deadlock':
      return { outcome, cycle: decodeCycle(textOf(rest[0])) };
    case 'mismatch':
    case 'tooOld':
      return { outcome };
    case 'full':
      return failed(queueFull(Number(rest[0])));
    case 'upgrade':
      return failed(rest[0] === 'parts' ? otherParts() : isExclusive());
    default:
      return failed(noMoreEpochs());
  }
}

function refusalOf(
  [, reason, holderCount, queueLength, retryAfterMs, ...rows]: readonly (string | number)[],
  { now }: Moment,
): StoreRefusal {
  return {
    reason: reason as RefusalReason,
    holders: rows.map((text) => leaseAt(decodeRow(textOf(text)), now)),
    holderCount: Number(holderCount),
    queueLength: Number(queueLength),
    retryAfterMs: Number(retryAfterMs),
  };
}

export function renewItem(request: RenewRequest): Item<RenewResult> {
  checkRenew(request);
  const { id, epoch, ttlMs = '-', callerWall, requestId } = request;
  return {
    text: () => `${id} ${epoch} ${ttlMs} ${Math.round(callerWall)} ${requestId}`,
    read: (answer, { now }) => {
      const [outcome, ...rest] = listOf(answer);
      if (outcome === 'notHeld') return notHeld(rest);
      const expiresAt = Number(rest[0]);
      const remainingMs = expiresAt - now;
      if (outcome !== 'renewed') return { outcome: outcome as 'maxRenewals' | 'maxHold', remainingMs };
      return { outcome, remainingMs, expiresAt, renewals: Number(rest[1]) };
    },
  };
}

export function endItem(request: EndRequest): Item<EndResult> {
  checkEnd(request);
  const { id, epoch = '-', why, requestId } = request;
  return {
    text: () => `${id} ${epoch} ${why === 'timeout' ? why : 'cancelled'} ${requestId}`,
    read: endResult,
  };
}

export function endResult(answer: Answer): EndResult {
  if (answer === 'released') return { outcome: 'released', again: false, blockedMs: 0 };
  const [outcome, first, second] = listOf(answer);
  if (outcome === 'released') return { outcome, again: first === 1, blockedMs: Number(second) };
  if (outcome === 'stale') return { outcome, epoch: Number(first) };
  return { outcome: outcome as 'left' | 'expired' | 'revoked' | 'noted' };
}

export function changeItem(request: ChangeRequest): Item<ChangeResult> {
  checkChange(request);
  const { kind, id, epoch, requestId } = request;
  const callerWall = kind === 'resume' ? Math.round(request.callerWall) : '-';
  const toOwner = kind === 'downgrade' ? '-' : request.toOwner;
  return {
    text: () => `${kind} ${id} ${epoch} ${requestId} ${callerWall} ${toOwner}`,
    read: (answer, moment) => {
      const [outcome, ...rest] = listOf(answer);
      if (outcome === 'notHeld') return notHeld(rest);
      if (outcome !== 'changed') return failed(noMoreEpochs());
      return { outcome, ...held(textOf(rest[1]), moment), again: rest[0] === 1 };
    },
  };
}

function held(text: string, { now }: Moment): { lease: Lease; remainingMs: number } {
  const row = decodeRow(text);
  return { lease: leaseAt(row, now), remainingMs: row.expiresAt - now };
}

function notHeld([status, epoch]: readonly (string | number)[]): NotHeld {
  return {
    outcome: 'notHeld',
    status: status === 'unknown' ? status : statusOf(textOf(status)),
    epoch: epoch === '0' ? undefined : Number(epoch),
  };
}

function failed(error: LeaseError): Failed {
  return { outcome: 'failed', error };
}
function queueFull(waiting: number): LeaseError {
  const message = `${LIMITS.ticketsPerNamespace} requests are waiting in this namespace, which is the limit: try again later`;
  return new LeaseError('RATE_LIMITED', message, { details: { waiting } });
}
const otherParts = (): LeaseError => invalid('an upgrade asks for the parts of its own lease');
const isExclusive = (): LeaseError => invalid('the lease is exclusive already');
export const noMoreEpochs = (): LeaseError => invalid('the epoch counter has left the range of safe integers');

function listOf(answer: Answer): readonly (string | number)[] {
  return typeof answer === 'object' ? answer : [answer];
}
function textOf(value: string | number | undefined): string {
  return String(value);
}
function given(value: string | number | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value);
}
