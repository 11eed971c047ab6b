// What a valid request is (S18). Stores call these on every item, so that a bad item fails alone (S21) and the same
// request is refused by every store with the same words.
import { invalid, shown } from './errors.js';
import { isEpoch } from './epoch.js';
import { checkId } from './ids.js';
import { LIMITS } from './limits.js';
import { checkJson } from './metadata.js';
import { normaliseParts, sameParts, type Part } from './part.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from './requests.js';
import { byteLength, checkName } from './resource-name.js';
import { checkKeptMetadata } from './wrapped-metadata.js';

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const PLAIN = /^[\x20-\x7e]*$/;
const REQUEST_ID = /^[\x21-\x7e]{1,64}$/;
const CHANGES: ReadonlySet<unknown> = new Set(['delegate', 'resume', 'downgrade']);
const NAMESPACE = /^[A-Za-z0-9._-]{1,64}$/;

export function checkNamespace(namespace: unknown): string {
  if (typeof namespace === 'string' && NAMESPACE.test(namespace)) return namespace;
  throw invalid(`a namespace is 1 to 64 characters out of A-Z a-z 0-9 . _ -, got ${shown(namespace)}`);
}

export function checkOwner(owner: unknown, what = 'owner'): string {
  return checkText(owner, what, 1, LIMITS.ownerBytes);
}

export function checkText(value: unknown, what: string, minBytes: number, maxBytes: number): string {
  if (typeof value !== 'string') throw invalid(`${what} must be text, got ${typeof value}`);
  const plain = PLAIN.test(value);
  if (!plain && !value.isWellFormed()) throw invalid(`${what} holds a lone surrogate: it is not valid Unicode`);
  if (!plain && CONTROL.test(value)) throw invalid(`${what} holds a control character: remove it`);
  const bytes = plain ? value.length : byteLength(value);
  if (bytes < minBytes || bytes > maxBytes) {
    throw invalid(`${what} is from ${minBytes} to ${maxBytes} bytes of UTF-8, got ${bytes}`);
  }
  return value;
}

export function checkWholeMs(value: unknown, what: string, minMs: number, maxMs: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= minMs && (value as number) <= maxMs) return value as number;
  throw invalid(`${what} is a whole number of milliseconds from ${minMs} to ${maxMs}, got ${shown(value)}`);
}

/** As far as a Date goes. A store works with it in whole numbers of 64 bits, for all items of a list at once. */
const FARTHEST_WALL_MS = 8.64e15;

function checkCallerWall(callerWall: unknown): void {
  if (Number.isFinite(callerWall) && Math.abs(callerWall as number) <= FARTHEST_WALL_MS) return;
  throw invalid(`callerWall must be a number of milliseconds that a Date can have, got ${shown(callerWall)}`);
}

/** Returns the JSON text of the metadata, which a store needs anyway. */
export function checkAcquire(request: AcquireRequest): string | undefined {
  if (!Array.isArray(request.parts) || !Array.isArray(request.holding)) throw invalid('parts and holding are lists');
  checkId(request.id);
  checkOwner(request.owner);
  checkParts(request.parts);
  checkWholeMs(request.bornAt, 'bornAt', 0, Number.MAX_SAFE_INTEGER);
  checkWholeMs(request.ttlMs, 'ttl', LIMITS.minTtlManualMs, LIMITS.ttlMs);
  checkWholeMs(request.minHoldMs, 'minHold', 0, LIMITS.minHoldMs);
  checkWholeMs(request.lockDelayMs, 'lockDelay', 0, LIMITS.lockDelayMs);
  if (request.maxHoldMs !== undefined)
    checkWholeMs(request.maxHoldMs, 'maxHold', LIMITS.minTtlManualMs, LIMITS.maxHoldMs);
  checkPriority(request.priority);
  checkMaxRenewals(request.maxRenewals);
  if (request.holding.length > 0) checkHolding(request.holding);
  if (request.upgrades !== undefined) checkUpgrade(request);
  if (request.operationId !== undefined) checkOperationId(request.operationId);
  if (request.handOver !== undefined && typeof request.handOver !== 'boolean') {
    throw invalid(`handOver is true or false, got ${shown(request.handOver)}`);
  }
  checkCallerWall(request.callerWall);
  return checkKeptMetadata(request.metadata);
}

export function checkPriority(priority: unknown): number {
  if (Number.isInteger(priority) && Math.abs(priority as number) <= LIMITS.priority) return priority as number;
  throw invalid(`priority is a whole number from -${LIMITS.priority} to ${LIMITS.priority}, got ${shown(priority)}`);
}

export function checkMaxRenewals(maxRenewals: unknown): number {
  if (Number.isSafeInteger(maxRenewals) && (maxRenewals as number) >= -1) return maxRenewals as number;
  throw invalid(`maxRenewals is -1 (no bound) or a whole number from 0, got ${shown(maxRenewals)}`);
}

export function checkOperationId(operationId: unknown): string {
  return checkText(operationId, 'operationId', 1, LIMITS.reasonBytes);
}

/** What a caller gave, before anybody wraps it. */
export function checkMetadata(metadata: unknown): string | undefined {
  return checkJson(metadata, 'metadata', LIMITS.metadataBytes);
}

function checkParts(parts: readonly Part[]): void {
  const only = parts[0];
  if (parts.length === 1 && only?.mode === 'exclusive' && only.scope === 'node' && only.limit === undefined) {
    checkName(only.name);
    return;
  }
  if (!sameParts(parts, normaliseParts(parts)))
    throw invalid('parts must be folded and sorted by name: use normaliseParts()');
}

function checkHolding(holding: readonly string[]): void {
  if (holding.length > LIMITS.heldByOneRequest) {
    throw invalid(`a request names at most ${LIMITS.heldByOneRequest} held leases, got ${holding.length}`);
  }
  holding.forEach(checkId);
}

function checkUpgrade(request: AcquireRequest): void {
  checkId(request.upgrades?.id);
  if (!isEpoch(request.upgrades?.epoch)) throw invalid('an upgrade carries the epoch of the lease it upgrades');
  if (request.upgrades.id === request.id) throw invalid('an upgrade needs an id of its own, not the id of the lease');
  if (request.reclaim) throw invalid('a request cannot upgrade and reclaim at once');
  if (request.parts.some((part) => part.mode !== 'exclusive')) throw invalid('an upgrade asks for exclusive parts');
}

export function checkRenew(request: RenewRequest): void {
  checkAuthority(request);
  if (request.ttlMs !== undefined) checkWholeMs(request.ttlMs, 'ttl', LIMITS.minTtlManualMs, LIMITS.ttlMs);
  checkCallerWall(request.callerWall);
}

export function checkEnd(request: EndRequest): void {
  checkId(request.id);
  checkRequestId(request.requestId);
  if (request.epoch !== undefined && !isEpoch(request.epoch)) throw invalid(`not an epoch: ${shown(request.epoch)}`);
}

export function checkChange(request: ChangeRequest): void {
  checkAuthority(request);
  if (!CHANGES.has(request.kind))
    throw invalid(`a change is delegate, resume or downgrade, got ${shown(request.kind)}`);
  if (request.kind !== 'downgrade') checkOwner(request.toOwner);
  if (request.kind === 'resume') checkCallerWall(request.callerWall);
}

/** S5: id and epoch are the authority; the request id makes a repeat harmless. */
function checkAuthority(request: { id: string; epoch: number; requestId: string }): void {
  checkId(request.id);
  checkRequestId(request.requestId);
  if (!isEpoch(request.epoch)) throw invalid(`not an epoch: ${shown(request.epoch)}`);
}

function checkRequestId(requestId: unknown): void {
  if (!isRequestId(requestId)) throw invalid('a request id is 1 to 64 printable ASCII characters');
}
export function isRequestId(requestId: unknown): requestId is string {
  return typeof requestId === 'string' && REQUEST_ID.test(requestId);
}

export function checkRevoke(order: RevokeOrder): void {
  const { target } = order;
  if ('resource' in target) checkName(target.resource);
  else if ('under' in target) checkName(target.under);
  else if ('leaseId' in target) checkId(target.leaseId);
  else checkOwner(target.owner);
  checkText(order.reason, 'reason', 1, LIMITS.reasonBytes);
  checkOwner(order.actor, 'actor');
  checkWholeMs(order.keepOutMs, 'keepOut', 0, LIMITS.keepOutMs);
  if (!Number.isSafeInteger(order.upToEpoch)) throw invalid(`not an epoch: ${shown(order.upToEpoch)}`);
}

export function checkFailTicket<T extends { id: string; cycle: readonly string[] }>(order: T): T {
  checkId(order.id);
  const cycle: unknown = order.cycle;
  if (!Array.isArray(cycle) || cycle.length > LIMITS.rowsPerStep) {
    throw invalid(`a cycle is a list of at most ${LIMITS.rowsPerStep} ticket ids`);
  }
  cycle.forEach(checkId);
  return order;
}

export function checkBatch(items: readonly object[]): void {
  if (items.length > LIMITS.batchItems) {
    throw invalid(`a batch has at most ${LIMITS.batchItems} items, got ${items.length}: split it`);
  }
  const parts = items.reduce((sum, item) => sum + partCount(item), 0);
  if (parts > LIMITS.batchParts)
    throw invalid(`a batch has at most ${LIMITS.batchParts} parts, got ${parts}: split it`);
}

function partCount(item: unknown): number {
  const { parts } = (item ?? {}) as { parts?: readonly Part[] };
  return Array.isArray(parts) ? parts.length : 1;
}

/** An item of a list that is no object at all fails alone, like any other bad one. */
export function checkItem(item: unknown): void {
  if (typeof item !== 'object' || item === null) throw invalid(`an item of a list is an object, got ${shown(item)}`);
}

export function checkLimit(limit: unknown): number {
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= LIMITS.rowsPerStep)
    return limit as number;
  throw invalid(`limit is a whole number from 1 to ${LIMITS.rowsPerStep}, got ${shown(limit)}`);
}

/** Longer than anything a store hands out: an id, a name, and what stands between them. */
const SOUGHT_BYTES = 1_024;

type Moments = Pick<EventQuery, 'since' | 'until'> & Pick<ListFilter, 'olderThanMs'>;

/** Stores keep whole milliseconds. What lies between two of them, or beyond all of them, still comes before or after each. */
function checkMoment(moment: unknown, what: string): void {
  if (moment !== undefined && !Number.isFinite(moment))
    throw invalid(`${what} is a number of milliseconds, got ${shown(moment)}`);
}

/** What a list or the log is asked for. Names and owners are as in a request: what cannot be one stands for nothing, and an empty
 *  answer would read as "nobody holds it". An id or a cursor that is none finds nothing, but every store must be able to take it. */
export function checkFilter(filter: ListFilter | EventQuery): void {
  checkLimit(filter.limit);
  if (filter.prefix !== undefined) checkName(filter.prefix);
  if (filter.resource !== undefined) checkName(filter.resource);
  if (filter.owner !== undefined) checkOwner(filter.owner);
  for (const what of ['since', 'until', 'olderThanMs'] as const) checkMoment((filter as Moments)[what], what);
  if ('leaseId' in filter && filter.leaseId !== undefined) checkText(filter.leaseId, 'leaseId', 0, SOUGHT_BYTES);
  if ('cursor' in filter && filter.cursor !== undefined) checkText(filter.cursor, 'cursor', 0, SOUGHT_BYTES);
}

/** Ids that are looked for, which need not be anybody's. */
export function checkSoughtIds(ids: readonly string[]): void {
  checkLimit(Math.max(1, ids.length));
  for (const id of ids) checkText(id, 'an id', 0, SOUGHT_BYTES);
}
