// The sequential specification of the linearizability check: given what one group of names looks like, may this operation
// have been answered so, and what does it look like afterwards? A store that does one operation after the other gives
// exactly these answers: grants beside nothing that conflicts and behind nobody who waits (S1, Q1), with a higher epoch
// (S2) and the whole ttl; renewals of what lives, never back (S4); ends and changes by id and epoch (S5, S8); expiry by the
// store clock alone (S3). Operations without an answer are in history-linear-unknown.ts.
import { asExclusive, asShared, isPlain, sameParts } from '../../domain/part.js';
import type { StoreRefusal } from '../../domain/decide.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { NotHeld } from '../../stores/store.js';
import { handed } from './history-linear-handed.js';
import type { Operation } from './history-linear-operations.js';
import { highestOn, isFree, obstacles, rankFor, type Claimant } from './history-linear-rules.js';
import { atTime, livesAt, noted, withEntry, withEpoch, type Entry, type State } from './history-linear-state.js';

export type Answered<Op extends Operation['op']> = Extract<Operation, { op: Op }> & { readonly now: number };
type Result<Op extends Operation['op'], Outcome extends string> = Extract<
  NonNullable<Extract<Operation, { op: Op }>['result']>,
  { outcome: Outcome }
>;

/** The state after this operation was answered so, or undefined when it cannot have been. */
export function answered(before: State, operation: Operation): State | undefined {
  const { now } = operation;
  if (now === undefined || now < before.now || operation.result === undefined) return undefined;
  const state = atTime(before, now);
  switch (operation.op) {
    case 'acquire':
      return acquired(state, { ...operation, now });
    case 'renew':
      return renewed(state, { ...operation, now });
    case 'end':
      return ended(state, { ...operation, now });
    case 'change':
      return changed(state, { ...operation, now });
    case 'revoke':
      return revoked(state, { ...operation, now });
  }
}

export function claimantOf(state: State, request: AcquireRequest): Claimant {
  const { id, parts, upgrades } = request;
  const ticket = state.entries.get(id);
  const place = ticket?.status === 'waiting' ? ticket : { rank: Infinity, arrival: Infinity };
  return { id, parts, rank: place.rank, arrival: place.arrival, upgrades: upgrades && state.entries.get(upgrades.id) };
}

function acquired(state: State, operation: Answered<'acquire'>): State | undefined {
  const { asked, result, now } = operation;
  const known = state.entries.get(asked.id);
  const isTicket = known?.status === 'waiting' && livesAt(known, now) !== 'no';
  if (result?.outcome === 'granted') {
    if (result.remainingMs !== result.lease.expiresAt - now) return undefined;
    if (asked.upgrades) return upgradedNowOrBefore(state, operation, result);
    if (result.again) return known && grantedBefore(state, known, result, now);
    return known && !isTicket ? undefined : granted(state, operation, result);
  }
  if (result?.outcome === 'queued') {
    if (known ? !isTicket : !asked.join) return undefined;
    if (result.place !== result.refusal.queueLength + 1) return undefined;
    if (!isJustified(state, asked, result.refusal, now)) return undefined;
    return queued(state, asked, known, now, now + result.ticketLeftMs);
  }
  if (result?.outcome === 'refused') {
    return !known && !asked.join && isJustified(state, asked, result.refusal, now) ? state : undefined;
  }
  if (result?.outcome !== 'ended') return undefined;
  if (known) return known.status === 'noted' ? state : hasEnded(state, known, result.status, now);
  const lease = asked.upgrades && state.entries.get(asked.upgrades.id);
  if (!asked.upgrades || result.reason !== 'lease_lost') return undefined;
  const isHeld = lease?.status === 'held' && livesAt(lease, now) === 'yes' && lease.epoch === asked.upgrades.epoch;
  return isHeld ? undefined : state;
}

function granted(
  state: State,
  operation: Answered<'acquire'>,
  { lease }: Result<'acquire', 'granted'>,
): State | undefined {
  const { asked, now } = operation;
  const claimant = claimantOf(state, asked);
  if (!isFree(obstacles(state, claimant, now, 'sure'))) return undefined;
  if (lease.expiresAt !== now + asked.ttlMs || lease.epoch <= highestOn(state, asked.parts)) return undefined;
  if (lease.id !== asked.id || lease.owner !== asked.owner || !sameParts(lease.parts, asked.parts)) return undefined;
  const { leases, tickets } = obstacles(state, claimant, now, 'possible');
  const narrowed = [...leases, ...tickets].reduce((rest, entry) => withEntry(rest, { ...entry, hi: now }), state);
  return withEpoch(withEntry(narrowed, heldEntry(asked, lease.epoch, lease.expiresAt)), asked.parts, lease.epoch);
}

export function heldEntry(asked: AcquireRequest, epoch: number, until: number): Entry {
  const { id, owner, parts, ttlMs } = asked;
  const place = { rank: 0, arrival: 0, above: 0, isFirstEpoch: true };
  return { id, status: 'held', owner, parts, epoch, ttlMs, lo: until, hi: until, renewals: 0, ...place };
}

function grantedBefore(
  state: State,
  known: Entry,
  { lease }: Result<'acquire', 'granted'>,
  now: number,
): State | undefined {
  if (known.status !== 'held' || livesAt(known, now) === 'no') return undefined;
  if (lease.owner !== known.owner || !sameParts(lease.parts, known.parts)) return undefined;
  const told = withToldEpoch(known, lease.epoch);
  const isRenewed = known.livesAsTicket && lease.expiresAt === now + known.ttlMs;
  const until = told && (isRenewed ? renewedTo(told, lease.expiresAt, 1) : withUntil(told, lease.expiresAt));
  return until && withEpoch(withEntry(state, until), known.parts, lease.epoch);
}

function renewedTo(known: Entry, until: number, renewals: number): Entry {
  return { ...known, lo: until, hi: until, openMs: undefined, renewals, livesAsTicket: undefined };
}

function upgradedNowOrBefore(
  state: State,
  operation: Answered<'acquire'>,
  result: Result<'acquire', 'granted'>,
): State | undefined {
  const spent = state.entries.get(operation.asked.id);
  if (!spent) return result.again ? undefined : upgraded(state, operation, result);
  const own = state.entries.get(spent.spentOn ?? '');
  return own && result.again ? grantedBefore(state, own, result, operation.now) : undefined;
}

/** Q5: the lease becomes exclusive with a new epoch; the request's own id is spent. */
function upgraded(
  state: State,
  operation: Answered<'acquire'>,
  { lease }: Result<'acquire', 'granted'>,
): State | undefined {
  const { asked, now } = operation;
  const own = state.entries.get(asked.upgrades?.id ?? '');
  if (own?.status !== 'held' || livesAt(own, now) === 'no' || own.epoch !== asked.upgrades?.epoch) return undefined;
  if (!isFree(obstacles(state, claimantOf(state, asked), now, 'sure'))) return undefined;
  if (lease.id !== own.id || lease.epoch <= highestOn(state, asked.parts)) return undefined;
  if (!sameParts(lease.parts, asExclusive(own.parts))) return undefined;
  const until = withUntil(own, lease.expiresAt);
  if (!until) return undefined;
  return spend(withEpoch(state, asked.parts, lease.epoch), asked, { ...until, epoch: lease.epoch });
}

export function spend(state: State, asked: AcquireRequest, own: Entry): State {
  const ticket: Entry = { ...heldEntry(asked, own.epoch ?? 0, 0), status: 'released', spentOn: own.id };
  const lease = { ...own, parts: asExclusive(own.parts), isFirstEpoch: false };
  return withEntry(withEntry(state, lease), ticket);
}

/** The facts of a refusal are those of the moment: who is in the way, how many, and why. */
function isJustified(state: State, asked: AcquireRequest, refusal: StoreRefusal, now: number): boolean {
  const claimant = claimantOf(state, asked);
  const [sure, possible] = [obstacles(state, claimant, now, 'sure'), obstacles(state, claimant, now, 'possible')];
  if (isFree(possible)) return false;
  const isCount = (count: number, least: number, most: number): boolean => least <= count && count <= most;
  if (!isCount(refusal.holderCount, sure.leases.length, possible.leases.length)) return false;
  if (!isCount(refusal.queueLength, sure.tickets.length, possible.tickets.length)) return false;
  if (refusal.holderCount === 0) return refusal.reason === 'queue';
  if (sure.leases.length !== possible.leases.length) return refusal.reason === 'held' || refusal.reason === 'limit';
  return refusal.reason === (sure.isLimit ? 'limit' : 'held');
}

export function queued(
  state: State,
  asked: AcquireRequest,
  known: Entry | undefined,
  now: number,
  until: number,
): State {
  const fresh: Entry = {
    ...heldEntry(asked, 0, until),
    status: 'waiting',
    rank: rankFor(now, asked.priority),
    arrival: state.arrivals,
    mayBeHanded: asked.handOver === true && asked.priority === 0 && isPlain(asked.parts),
  };
  const ticket = known ? { ...known, lo: until, hi: until, openMs: undefined } : fresh;
  return withEntry({ ...state, arrivals: state.arrivals + 1 }, ticket);
}

/** The entry has ended, and so: what the clock ended is as good as written down. */
function hasEnded(state: State, known: Entry, status: string, now: number): State | undefined {
  const lives = livesAt(known, now);
  if (known.status === 'held') return status === 'expired' && lives !== 'yes' ? over(state, known, now) : undefined;
  if (known.status === 'waiting') return status === 'failed' && lives !== 'yes' ? over(state, known, now) : undefined;
  return known.status === status ? state : undefined;
}

function over(state: State, known: Entry, now: number): State {
  return livesAt(known, now) === 'maybe' ? withEntry(state, { ...known, hi: now, openMs: undefined }) : state;
}

function renewed(state: State, { asked, result, now }: Answered<'renew'>): State | undefined {
  const known = state.entries.get(asked.id);
  if (result?.outcome === 'notHeld') return notHeld(state, known, asked.epoch, result, now);
  if (result?.outcome !== 'renewed' || known?.status !== 'held' || livesAt(known, now) === 'no') return undefined;
  if (result.remainingMs !== result.expiresAt - now) return undefined;
  if (known.renewals !== undefined && result.renewals !== known.renewals + 1) return undefined;
  const told = withToldEpoch(known, asked.epoch);
  const least = now + (asked.ttlMs ?? known.ttlMs);
  if (!told || result.expiresAt < least || result.expiresAt < known.lo) return undefined; // S4
  if (result.expiresAt > least && !withUntil(known, result.expiresAt)) return undefined;
  const { expiresAt, renewals } = result;
  return withEntry(state, { ...renewedTo(told, expiresAt, renewals), ttlMs: asked.ttlMs ?? known.ttlMs });
}

function notHeld(
  state: State,
  known: Entry | undefined,
  epoch: number,
  result: NotHeld,
  now: number,
): State | undefined {
  if (!known || known.status === 'noted') return result.status === 'unknown' ? state : undefined;
  if (known.status === 'waiting') return result.status === 'pending' ? state : undefined;
  const told = withToldEpoch(known, result.epoch ?? epoch);
  if (!told) return undefined;
  const next = withEntry(state, told);
  if (known.status !== 'held' || result.status !== 'active') return hasEnded(next, told, result.status, now);
  return result.epoch !== undefined && livesAt(known, now) !== 'no' ? next : undefined;
}

function ended(state: State, { asked, result, now }: Answered<'end'>): State | undefined {
  const known = state.entries.get(asked.id);
  const outcome = result?.outcome;
  if (outcome === 'noted') return !known || known.status === 'noted' ? noted(state, asked.id) : undefined;
  if (!known || known.status === 'noted') return undefined;
  if (outcome === 'left') {
    if (known.status === 'waiting') return withEntry(state, { ...known, status: 'failed' });
    return known.status === 'failed' ? state : undefined;
  }
  if (known.status === 'waiting') return undefined;
  if (result?.outcome === 'stale') return staleEnd(state, known, asked.epoch, result.epoch);
  const told = known.spentOn === undefined ? withAskedEpoch(known, asked.epoch) : undefined;
  if (!told) return undefined;
  if (result?.outcome === 'released') {
    if (result.again) return known.status === 'released' ? withEntry(state, told) : undefined;
    const isLive = known.status === 'held' && livesAt(known, now) !== 'no';
    const after = isLive ? withEntry(state, { ...told, status: 'released' }) : undefined;
    return after && result.handedTo ? handed(after, result.handedTo, now) : after;
  }
  return outcome === 'expired' || outcome === 'revoked'
    ? hasEnded(withEntry(state, told), told, outcome, now)
    : undefined;
}

function staleEnd(state: State, known: Entry, asked: number | undefined, epoch: number): State | undefined {
  if (known.spentOn !== undefined) return known.epoch === epoch ? state : undefined;
  if (asked === undefined ? known.isFirstEpoch : asked === epoch) return undefined;
  const told = withToldEpoch(known, epoch);
  return told && withEntry(state, told);
}

/** The epoch an answer named: the one it has, or the one nobody knew so far. */
function withToldEpoch(known: Entry, epoch: number): Entry | undefined {
  if (known.epoch !== undefined) return known.epoch === epoch ? known : undefined;
  return epoch > known.above ? { ...known, epoch } : undefined;
}

/** A cancel names no epoch: it means the grant itself. */
export function withAskedEpoch(known: Entry, epoch: number | undefined): Entry | undefined {
  if (epoch === undefined) return known.isFirstEpoch ? known : undefined;
  return withToldEpoch(known, epoch);
}

function withUntil(known: Entry, until: number): Entry | undefined {
  if (until < known.lo || (known.openMs === undefined && until > known.hi)) return undefined;
  return { ...known, lo: until, hi: until, openMs: undefined };
}

function changed(state: State, { asked, result, now }: Answered<'change'>): State | undefined {
  const known = state.entries.get(asked.id);
  if (result?.outcome === 'notHeld') return notHeld(state, known, asked.epoch, result, now);
  if (result?.outcome !== 'changed' || known?.status !== 'held' || livesAt(known, now) === 'no') return undefined;
  const { lease } = result;
  const told = withToldEpoch(known, asked.epoch);
  const until = told && withUntil(told, lease.expiresAt);
  if (!until) return undefined;
  if (asked.kind === 'downgrade') {
    const parts = asShared(known.parts);
    const isRight = lease.epoch === asked.epoch && sameParts(lease.parts, parts);
    return isRight && result.again === sameParts(parts, known.parts)
      ? withEntry(state, { ...until, parts })
      : undefined;
  }
  if (result.again || lease.owner !== asked.toOwner || lease.epoch <= highestOn(state, known.parts)) return undefined;
  const heir: Entry = { ...until, epoch: lease.epoch, owner: asked.toOwner, isFirstEpoch: false };
  return withEpoch(withEntry(state, heir), known.parts, lease.epoch);
}

function revoked(state: State, { asked, result, now }: Answered<'revoke'>): State | undefined {
  const known = state.entries.get(asked.id);
  const lives = known && (known.status === 'held' || known.status === 'waiting') ? livesAt(known, now) : 'no';
  const isUpTo = known?.status === 'held' ? known.epoch === undefined || known.epoch <= asked.upToEpoch : true;
  if (!result?.ended.includes(asked.id)) {
    const isSpared = lives !== 'yes' || known?.epoch === undefined || !isUpTo || known.status === 'waiting';
    return isSpared ? state : undefined;
  }
  if (!known || lives === 'no' || !isUpTo || result.epoch === undefined) return undefined;
  if (result.epoch <= highestOn(state, known.parts)) return undefined;
  return withEpoch(withEntry(state, { ...known, status: 'revoked' }), known.parts, result.epoch);
}
