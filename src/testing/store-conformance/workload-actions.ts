// What a client of the concurrent part may do next, with how often it does it. Names are few and overlap, leases are
// short, some are forgotten, some releases come late: everything that could go wrong has the chance to.
import { asExclusive, normaliseParts, type Part, type PartInput } from '../../domain/part.js';
import type { AcquireRequest, RevokeTarget } from '../../domain/requests.js';
import { findCycles, youngest } from '../../domain/wait-graph.js';
import type { Held, WorkloadClient } from './workload-client.js';

const NAMES = ['a', 'a/b', 'a/b/c', 'a/d', 'e', 'e/f', 'g', 'g/h', 'i', 'j', 'k', 'l'];
const TTL_MS = { min: 100, spread: 400 };
const MOST_HELD = 3;
const MOST_TICKETS = 2;

export type Random = () => number;
type Action = (client: WorkloadClient, random: Random) => Promise<void>;

const ACTIONS: readonly (readonly [weight: number, action: Action])[] = [
  [28, acquireSome],
  [24, claim],
  [10, renewSome],
  [26, release],
  [3, releaseLate],
  [3, cancel],
  [3, repeat],
  [5, upgrade],
  [4, downgrade],
  [3, delegate],
  [1, revoke],
  [2, sweep],
  [2, breakDeadlock],
  [3, forgetOne],
];

export async function actOnce(client: WorkloadClient, random: Random): Promise<void> {
  if (client.held.size > MOST_HELD) return release(client, random);
  if (client.tickets.size > MOST_TICKETS) return random() < 0.8 ? claim(client) : cancel(client, random);
  let left = random() * ACTIONS.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, action] of ACTIONS) {
    left -= weight;
    if (left < 0) return action(client, random);
  }
}

function one<T>(list: readonly T[], random: Random): T | undefined {
  return list[Math.floor(random() * list.length)];
}
function oneHeld(client: WorkloadClient, random: Random): Held | undefined {
  return one([...client.held.values()], random);
}

async function acquireSome(client: WorkloadClient, random: Random): Promise<void> {
  const count = random() < 0.75 ? 1 : 2;
  await client.acquire(Array.from({ length: count }, () => newRequest(client, random)));
}

function newRequest(client: WorkloadClient, random: Random): AcquireRequest {
  const mine = random() < 0.05 ? oneHeld(client, random) : undefined;
  return {
    id: client.newId(),
    bornAt: client.now,
    owner: client.name,
    parts: mine?.parts ?? somePartsOf(random),
    ttlMs: TTL_MS.min + Math.floor(random() * TTL_MS.spread),
    priority: random() < 0.9 ? 0 : random() < 0.5 ? 1 : -1,
    join: random() < 0.4,
    holding: random() < 0.4 ? [...client.held.keys()] : [],
    reclaim: mine !== undefined,
    maxRenewals: random() < 0.9 ? -1 : 1,
    maxHoldMs: random() < 0.9 ? undefined : 300,
    minHoldMs: random() < 0.97 ? 0 : 50,
    lockDelayMs: random() < 0.97 ? 0 : 50,
    remote: false,
    callerWall: client.wall,
    handOver: random() < 0.5,
  };
}

function somePartsOf(random: Random): Part[] {
  const first = somePart(random);
  const inputs = random() < 0.7 ? [first] : [first, somePart(random)];
  try {
    return normaliseParts(inputs);
  } catch {
    return normaliseParts(first); // the two do not go together
  }
}

function somePart(random: Random): PartInput {
  const name = one(NAMES, random) ?? 'a';
  const scope = random() < 0.85 ? 'node' : 'subtree';
  if (random() < 0.5) return { name, scope, mode: 'exclusive' };
  return random() < 0.5 ? { name, scope, mode: 'shared' } : { name, scope, mode: 'shared', limit: 2 };
}

async function claim(client: WorkloadClient): Promise<void> {
  const waiting = [...client.tickets.values()];
  if (waiting.length > 0) await client.acquire(waiting.map((request) => ({ ...request, callerWall: client.wall })));
}

async function renewSome(client: WorkloadClient, random: Random): Promise<void> {
  const some = [...client.held.values()].filter(() => random() < 0.7);
  if (some.length === 0) return;
  const callerWall = client.wall;
  await client.renew(some.map(({ id, epoch }) => ({ id, epoch, requestId: client.newRequestId(), callerWall })));
}

async function release(client: WorkloadClient, random: Random): Promise<void> {
  const held = oneHeld(client, random);
  if (held) await client.end([{ id: held.id, epoch: held.epoch, requestId: client.newRequestId(), why: 'released' }]);
}

/** S5: of a lease that is over, or with an epoch it had once. */
async function releaseLate(client: WorkloadClient, random: Random): Promise<void> {
  const past = one(client.past, random);
  if (past) await client.end([{ id: past.id, epoch: past.epoch, requestId: client.newRequestId(), why: 'released' }]);
}

/** S8: by id alone; a grant on its way is ended with it. */
async function cancel(client: WorkloadClient, random: Random): Promise<void> {
  const ticket = one([...client.tickets.keys()], random);
  if (ticket) await client.end([{ id: ticket, requestId: client.newRequestId(), why: 'cancelled' }]);
}

async function repeat(client: WorkloadClient, random: Random): Promise<void> {
  const request = one(client.granted, random);
  if (request) await client.acquire([request]);
}

async function upgrade(client: WorkloadClient, random: Random): Promise<void> {
  const shared = [...client.held.values()].filter(({ parts }) => parts.some(({ mode }) => mode === 'shared'));
  const held = one(shared, random);
  if (!held) return;
  const { id, epoch, parts } = held;
  const wanted = { parts: asExclusive(parts), upgrades: { id, epoch }, reclaim: false };
  await client.acquire([{ ...newRequest(client, random), ...wanted }]);
}

async function downgrade(client: WorkloadClient, random: Random): Promise<void> {
  const held = oneHeld(client, random);
  if (!held) return;
  await client.change([{ kind: 'downgrade', id: held.id, epoch: held.epoch, requestId: client.newRequestId() }]);
}

async function delegate(client: WorkloadClient, random: Random): Promise<void> {
  const held = oneHeld(client, random);
  if (!held) return;
  const [toOwner, requestId] = [random() < 0.5 ? client.name : `${client.name}-heir`, client.newRequestId()];
  const base = { id: held.id, epoch: held.epoch, requestId, toOwner };
  await client.change([
    random() < 0.5 ? { kind: 'delegate', ...base } : { kind: 'resume', ...base, callerWall: client.wall },
  ]);
}

async function revoke(client: WorkloadClient, random: Random): Promise<void> {
  const name = one(NAMES, random) ?? 'a';
  const mine = oneHeld(client, random)?.id;
  const targets: RevokeTarget[] = [{ resource: name }, { under: name }, { owner: `${client.name}-heir` }];
  if (mine !== undefined) targets.push({ leaseId: mine });
  const target = one(targets, random) ?? { resource: name };
  const order = { reason: 'to see what happens', actor: client.name, upToEpoch: client.epoch };
  await client.revoke({ target, ...order, keepOutMs: random() < 0.5 ? 0 : 20 });
}

async function sweep(client: WorkloadClient): Promise<void> {
  await client.sweep({ limit: 100 });
}

async function breakDeadlock(client: WorkloadClient): Promise<void> {
  const cycles = findCycles(await client.store.waitGraph());
  for (const cycle of cycles) {
    await client.failTicket({ id: youngest(cycle).id, cycle: cycle.map(({ id }) => id) });
  }
}

/** A client that forgets: its lease runs out, its ticket dies. */
async function forgetOne(client: WorkloadClient, random: Random): Promise<void> {
  const held = oneHeld(client, random);
  if (held) client.forget(held.id);
  else if (random() < 0.1) client.tickets.delete(one([...client.tickets.keys()], random) ?? '');
}
