// From the description of a step to one call of the port, in terms of what the program knows by then.
import type { ChangeRequest, EndRequest, EventQuery, ListFilter, RenewRequest } from '../../../domain/requests.js';
import type { RevokeTarget } from '../../../domain/requests.js';
import type { Call, Spot } from './call.js';
import { nth, type Known, type KnownId } from './known.js';
import type { Step, StepOf } from './steps.js';
import { toAcquire } from './to-acquire.js';

const FAR_AHEAD = 1_000_000_000;
const FOREIGN: Spot = {
  store: 'other!elsewhere!once!0000000000000001',
  model: 'other!elsewhere!once!0000000000000001',
};
const NONSENSE: Spot = { store: 'no position', model: 'no position' };

/** Steps that are one call each; the others (nothing, pass, failTicket, list) are the runner's. */
export type CallStep = Exclude<Step, { op: 'nothing' | 'pass' | 'failTicket' | 'list' }>;

export function toCall(step: CallStep, known: Known, wall: number): Call {
  switch (step.op) {
    case 'acquire':
      return { op: 'acquire', asked: step.what.map((item) => toAcquire(item, known, wall)) };
    case 'renew':
      return { op: 'renew', asked: step.what.map((item) => toRenew(item, known, wall)) };
    case 'end':
      return { op: 'end', asked: step.what.map((item) => toEnd(item, known)) };
    case 'change':
      return { op: 'change', asked: step.what.map((item) => toChange(item, known, wall)) };
    case 'revoke':
      return toRevoke(step.what, known);
    case 'sweep':
      return { op: 'sweep', asked: step.what };
    case 'events':
      return toEvents(step.what, known);
    case 'prune': {
      const { olderThanMs, limit, upTo, pick } = step.what;
      const asked = { olderThanMs, limit };
      return upTo === 'no' ? { op: 'prune', asked } : { op: 'prune', asked, upTo: spot(upTo, pick, false, known) };
    }
    case 'setSettings':
      return { op: 'setSettings', asked: step.what };
    case 'get':
      return { op: 'get', asked: step.what.picks.map((n) => nth(known.ids, n)?.id ?? 'an-id-nobody-made') };
    case 'show':
      return { op: 'show', asked: { resource: step.what.name, historyLimit: step.what.limit } };
    case 'settings':
    case 'waitGraph':
    case 'time':
      return { op: step.op, asked: null };
  }
}

export function toFilter(what: StepOf<'list'>['what']): ListFilter {
  const { limit, name, under, owner } = what;
  const filters: Record<(typeof what.filters)[number], Partial<ListFilter>> = {
    prefix: { prefix: under },
    resource: { resource: name },
    owner: { owner },
    active: { status: 'active' },
    pending: { status: 'pending' },
    older: { olderThanMs: 3_000 },
  };
  return Object.assign({ limit }, ...what.filters.map((one) => filters[one])) as ListFilter;
}

function toRenew(item: StepOf<'renew'>['what'][number], known: Known, wall: number): RenewRequest {
  const before = nth(known.asked.renew, item.pick);
  if (item.again && before) return before;
  const one = choose(item.among, item.pick, known);
  const asked = {
    id: one.id,
    epoch: toEpoch(item.epoch, one, known),
    requestId: known.newRequestId(),
    ttlMs: item.ttlMs,
    callerWall: wall,
  };
  known.asked.renew.push(asked);
  return asked;
}

function toEnd(item: StepOf<'end'>['what'][number], known: Known): EndRequest {
  const before = nth(known.asked.end, item.pick);
  if (item.again && before) return before;
  const one = choose(item.among, item.pick, known);
  const epoch = item.epoch === 'none' || one.epochs.length === 0 ? undefined : toEpoch(item.epoch, one, known);
  const asked = { id: one.id, epoch, requestId: known.newRequestId(), why: item.why };
  known.asked.end.push(asked);
  return asked;
}

function toChange(item: StepOf<'change'>['what'][number], known: Known, wall: number): ChangeRequest {
  const before = nth(known.asked.change, item.pick);
  if (item.again && before) return before;
  const { kind, toOwner } = item;
  const one = choose(item.among, item.pick, known);
  const base = { id: one.id, epoch: toEpoch(item.epoch, one, known), requestId: known.newRequestId() };
  const asked: ChangeRequest =
    kind === 'downgrade'
      ? { kind, ...base }
      : kind === 'delegate'
        ? { kind, ...base, toOwner }
        : { kind, ...base, toOwner, callerWall: wall };
  known.asked.change.push(asked);
  return asked;
}

function toRevoke(what: StepOf<'revoke'>['what'], known: Known): Call {
  const aim: Record<typeof what.target, RevokeTarget> = {
    resource: { resource: what.name },
    under: { under: what.name },
    lease: { leaseId: choose('seen', what.pick, known).id },
    owner: { owner: what.owner },
  };
  const upTo = { now: known.newestEpoch(), earlier: nth(known.epochs, what.pick) ?? 0, nothing: 0 };
  const asked = { reason: 'because', actor: 'the program', keepOutMs: what.keepOutMs };
  return { op: 'revoke', asked: { target: aim[what.target], upToEpoch: upTo[what.upTo], ...asked } };
}

function toEvents(what: StepOf<'events'>['what'], known: Known): Call {
  const { backward, limit, name, under, owner } = what;
  const filters: Record<(typeof what.filters)[number], Partial<EventQuery>> = {
    resource: { resource: name },
    prefix: { prefix: under },
    lease: { leaseId: nth(known.ids, what.pick)?.id },
    owner: { owner },
    type: { type: 'lease.acquired' },
    since: { since: known.now - 3_000 },
    until: { until: known.now - 3_000 },
  };
  const asked = Object.assign({ limit, backward }, ...what.filters.map((one) => filters[one])) as EventQuery;
  return { op: 'events', asked, from: what.from === 'start' ? undefined : spot(what.from, what.pick, backward, known) };
}

function spot(kind: 'next' | 'row' | 'foreign' | 'nonsense', pick: number, backward: boolean, known: Known) {
  if (kind === 'foreign') return FOREIGN;
  if (kind === 'nonsense') return NONSENSE;
  return nth(kind === 'row' ? known.spots.row : backward ? known.spots.back : known.spots.next, pick);
}

/** One of the ids there are; where there is none, one the store has not seen. */
function choose(among: 'live' | 'waiting' | 'seen' | 'unseen', pick: number, known: Known): KnownId {
  if (among === 'unseen') return known.newId('u', known.now);
  const there = among === 'live' ? known.live() : among === 'waiting' ? known.waiting() : [];
  return nth(there, pick) ?? nth(known.seen(), pick) ?? known.newId('u', known.now);
}

function toEpoch(which: 'right' | 'other' | 'old' | 'future', one: KnownId, known: Known): number {
  const newest = known.newestEpoch();
  if (which === 'future') return newest + FAR_AHEAD;
  if (which === 'old') return one.epochs[0] ?? newest;
  return which === 'right' ? (one.epochs.at(-1) ?? newest) : (known.epochs[0] ?? newest);
}
