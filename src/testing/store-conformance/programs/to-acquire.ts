// From the description of an acquire to the request itself, in terms of what the program knows by then.
import { anyOverlap } from '../../../domain/conflict.js';
import { asExclusive, normaliseParts, type Part } from '../../../domain/part.js';
import type { AcquireRequest } from '../../../domain/requests.js';
import { nth, type Known, type KnownId } from './known.js';
import type { AcquireItem } from './steps.js';

export function toAcquire(item: AcquireItem, known: Known, wall: number): AcquireRequest {
  if (item.form === 'repeat' || item.form === 'altered') {
    const choice = item.join && known.waiting().length > 0 ? known.waiting() : known.ids;
    const request = nth(
      choice.flatMap((one) => one.request ?? []),
      item.pick,
    );
    if (request && item.form === 'repeat') return { ...request, join: item.join, callerWall: wall };
    if (request) return { ...request, ttlMs: request.ttlMs + 1, callerWall: wall };
  }
  if (item.form === 'upgrade') return toUpgrade(item, known, wall);
  if (item.form === 'beside') return toBeside(item, known, wall);
  return item.form === 'crossing' ? toCrossing(item, known, wall) : toFresh(item, known, wall);
}

function toFresh(item: AcquireItem, known: Known, wall: number): AcquireRequest {
  const unseen = nth(
    known.ids.filter((one) => one.request === undefined),
    item.pick,
  );
  const id = item.form === 'unseen' && unseen ? unseen : known.newId(item.mark, known.now - item.ageMs);
  const earlier = nth(
    known.ids.flatMap((one) => one.request ?? []),
    item.pick,
  );
  const again = item.reclaim ? earlier : undefined;
  const owner = again?.owner ?? item.owner;
  const request: AcquireRequest = {
    id: id.id,
    bornAt: id.bornAt,
    owner,
    parts: again?.parts ?? toParts(item.parts),
    ttlMs: item.ttlMs,
    priority: item.priority,
    join: item.join,
    holding: toHolding(item, known, owner),
    reclaim: item.reclaim,
    maxRenewals: item.maxRenewals,
    maxHoldMs: item.maxHoldMs,
    minHoldMs: item.minHoldMs,
    lockDelayMs: item.lockDelayMs,
    operationId: item.extra === 'operation' ? 'operation 7' : undefined,
    metadata: item.extra === 'metadata' ? { why: ['because', 1, null, { deep: 'é' }] } : undefined,
    remote: item.extra === 'remote',
    callerWall: wall,
    handOver: item.handOver,
  };
  return known.remember(request);
}

/** Another holder beside one that shares. */
function toBeside(item: AcquireItem, known: Known, wall: number): AcquireRequest {
  const parts = known.leaseOf(nth(sharing(known), item.pick))?.parts;
  const fresh = toFresh({ ...item, form: 'fresh', reclaim: false }, known, wall);
  return parts ? known.remember({ ...fresh, parts }) : fresh;
}

function sharing(known: Known): KnownId[] {
  return known.live().filter((one) => known.leaseOf(one)?.parts.some(({ mode }) => mode === 'shared'));
}

/** Q5: of a live lease with a shared part, where there is one; sooner one that has company and is not upgrading yet. */
function toUpgrade(item: AcquireItem, known: Known, wall: number): AcquireRequest {
  const upgrading = known.waiting().flatMap((one) => one.request?.upgrades?.id ?? []);
  const partsOf = (one: KnownId): readonly Part[] => known.leaseOf(one)?.parts ?? [];
  const shared = sharing(known);
  const inCompany = shared.filter(
    (one) =>
      !upgrading.includes(one.id) && shared.some((other) => other !== one && anyOverlap(partsOf(one), partsOf(other))),
  );
  const held = nth(inCompany.length > 0 ? inCompany : shared, item.pick);
  const lease = known.leaseOf(held);
  const epoch = item.stale ? known.epochs[0] : held?.epochs.at(-1);
  const fresh = toFresh({ ...item, form: 'fresh', reclaim: false }, known, wall);
  if (!held || !lease || epoch === undefined) return fresh;
  const { owner } = lease;
  return known.remember({ ...fresh, owner, parts: asExclusive(lease.parts), upgrades: { id: held.id, epoch } });
}

/** Q4: a holder that joins the queue for what another holds; sooner one that another holder is waiting for. */
function toCrossing(item: AcquireItem, known: Known, wall: number): AcquireRequest {
  const live = known.live();
  const waiting = known.waitGraph().tickets.filter((one) => one.holding.length > 0 && one.waitsForLeases.length > 0);
  const waiter = nth(waiting, item.pick);
  const mine = waiter ? live.find(({ id }) => id === waiter.waitsForLeases[0]?.id) : nth(live, item.pick);
  const theirs = waiter ? live.find(({ id }) => waiter.holding.includes(id)) : nth(live, item.pick + 1);
  const [own, wanted] = [known.leaseOf(mine), known.leaseOf(theirs)];
  const fresh = toFresh({ ...item, form: 'fresh', reclaim: false }, known, wall);
  if (!mine || !own || !wanted) return fresh;
  return known.remember({
    ...fresh,
    owner: own.owner,
    parts: asExclusive(wanted.parts),
    holding: [mine.id],
    join: true,
  });
}

function toHolding(item: AcquireItem, known: Known, owner: string): string[] {
  if (item.holding === 'nothing') return [];
  if (item.holding === 'ended') return known.ids.slice(0, 1).map(({ id }) => id);
  const live = known.live();
  if (item.holding === 'all') return live.filter((one) => known.leaseOf(one)?.owner === owner).map(({ id }) => id);
  const one = nth(live, item.pick);
  return one ? [one.id] : [];
}

/** Parts that do not go together stay as they are: a bad item, which must fail alone and with the same words. */
function toParts(described: AcquireItem['parts']): readonly Part[] {
  const parts: Part[] = described.map(({ name, scope, mode, limit }) =>
    limit === undefined || mode === 'exclusive' ? { name, scope, mode } : { name, scope, mode, limit },
  );
  try {
    return normaliseParts(parts);
  } catch {
    return parts;
  }
}
