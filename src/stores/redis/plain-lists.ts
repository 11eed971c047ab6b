// Plain items as their scripts take them (lua/acquire-list.ts, end-list.ts, one-item.ts): in columns, so that nothing is taken
// apart there, and in runs of neighbours that share what is written once for all of them. A list of which two items name the same
// id or resource is none: what the first does decides about the second.
import { compareNames } from '../../domain/resource-name.js';
import type { Script } from './link.js';
import { SCRIPTS } from './lua/scripts.js';
import type { OwnLease } from './own-leases.js';

/** A run is what is looked at together when it is due (lua/together.ts). */
const RUN = 64;

/** A request for one exclusive node on the usual terms, in the pieces of its text. */
export interface PlainRequest {
  readonly bornAt: number;
  readonly ttlMs: number;
  readonly callerWall: number;
  readonly joins: boolean;
  /** It may be claimed for. */
  readonly handOver: boolean;
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** What its row ends with, behind the name. */
  readonly end: string;
  /** False: it is another kind of request, which only its text can say. */
  readonly isPlain: boolean;
}
/** A release of what this store was granted itself. */
export interface OwnRelease {
  readonly lease: OwnLease;
  readonly requestId: string;
}

/** A script, and what it is given. */
export interface Call {
  readonly script: Script;
  readonly args: readonly string[];
}

/** Undefined where not all are plain, or two meet. */
export function acquireCall(requests: readonly PlainRequest[]): Call | undefined {
  const [first] = requests;
  if (!first?.isPlain) return undefined;
  if (requests.length === 1) return { script: SCRIPTS.acquireOne, args: oneRequest(first) };
  const ids = new Set<string>();
  const names = new Set<string>();
  const ends: string[] = [];
  let [oldest, newest] = [first.bornAt, first.bornAt];
  let [lowest, highest] = [first.name, first.name];
  for (const { id, name, end, bornAt, isPlain } of requests) {
    if (!isPlain) return undefined;
    ids.add(id);
    names.add(name);
    ends.push(end);
    if (bornAt < oldest) oldest = bornAt;
    if (bornAt > newest) newest = bornAt;
    if (compareNames(name, lowest) < 0) lowest = name;
    else if (compareNames(name, highest) > 0) highest = name;
  }
  if (ids.size < requests.length || names.size < requests.length) return undefined;
  const args = [String(requests.length), String(oldest), String(newest), lowest, highest, ...ids, ...names, ...ends];
  eachRun(requests, isAlike, (one, count) => args.push(headOf(one), String(count), one.owner));
  return { script: SCRIPTS.acquirePlain, args };
}

/** The first line of the text of an item. */
export function headOf(request: PlainRequest): string {
  return `${request.bornAt} ${request.ttlMs} ${request.callerWall} ${flagsOf(request)}`;
}
/** x says that it is plain. */
function flagsOf({ joins, handOver }: PlainRequest): string {
  if (handOver) return 'xjh';
  return joins ? 'xj' : 'x';
}
function isAlike(a: PlainRequest, b: PlainRequest): boolean {
  return (
    a.callerWall === b.callerWall &&
    a.bornAt === b.bornAt &&
    a.ttlMs === b.ttlMs &&
    a.joins === b.joins &&
    a.handOver === b.handOver &&
    a.owner === b.owner
  );
}

function oneRequest(request: PlainRequest): readonly string[] {
  const { bornAt, ttlMs, callerWall, id, owner, name, end } = request;
  return [String(bornAt), String(ttlMs), String(callerWall), flagsOf(request), id, owner, name, end];
}

export function endCall(releases: readonly OwnRelease[]): Call | undefined {
  const [first] = releases;
  if (!first) return undefined;
  if (releases.length === 1) return { script: SCRIPTS.endOne, args: oneRelease(first) };
  const ids: string[] = [];
  const names: string[] = [];
  const members: string[] = [];
  const begins: string[] = [];
  const held: string[] = [];
  let requestIds = '';
  let [soonest, latest] = [first.lease.shared.expiresAt, first.lease.shared.expiresAt];
  for (const { lease, requestId } of releases) {
    const { expiresAt } = lease.shared;
    ids.push(lease.id);
    names.push(lease.name);
    members.push(`n${lease.name}\0${lease.id}`);
    const epoch = String(lease.epoch); // slow for numbers of this size: once
    begins.push(`A ${epoch} `);
    held.push(`${epoch} ${lease.shared.times}`);
    requestIds += ` ${requestId}`;
    if (expiresAt < soonest) soonest = expiresAt;
    if (expiresAt > latest) latest = expiresAt;
  }
  const args = [String(releases.length), String(soonest), String(latest), requestIds, ...ids, ...members, ...begins];
  eachRun(
    releases,
    (a, b) => a.lease.owner === b.lease.owner,
    ({ lease: { owner } }, count, from) => {
      const to = from + count;
      args.push(String(count), owner, ids.slice(from, to).join(' '), names.slice(from, to).join('\t'));
      args.push(held.slice(from, to).join('\t'));
    },
  );
  return { script: SCRIPTS.endOwn, args };
}

function oneRelease({ lease, requestId }: OwnRelease): readonly string[] {
  const { id, epoch, owner, name, shared } = lease;
  return [id, String(epoch), String(shared.acquiredAt), String(shared.expiresAt), owner, name, requestId];
}

function eachRun<T>(
  items: readonly T[],
  isLike: (a: T, b: T) => boolean,
  take: (first: T, count: number, from: number) => unknown,
): void {
  for (let from = 0, to = 0; from < items.length; from = to) {
    const first = items[from] as T;
    do to += 1;
    while (to < items.length && to - from < RUN && isLike(first, items[to] as T));
    take(first, to - from, from);
  }
}
