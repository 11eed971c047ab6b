// What a revocation is aimed at, as it stands now (C5): the leases and tickets it would end, and how they are then ended.
// A RESOURCE means its holders: they are ended by their ids, so that somebody who took over meanwhile is spared, and those
// who wait keep their places. `--under` and `--owner` end tickets too, as the library does (A7).
import { checkOwner } from '../domain/check-request.js';
import { checkName } from '../domain/resource-name.js';
import type { Holdfast, LeaseRecord } from '../index.js';
import { CommandError, EXIT, usage } from './exit-codes.js';
import { leaseView, type LeaseView } from './lease-view.js';
import { listing } from './listing.js';
import { span } from './times.js';

const NO_HISTORY = { history: 0 };

export interface TargetFlags {
  under?: string;
  lease?: string;
  owner?: string;
}

export interface RevokeTarget {
  /** What has to be typed to confirm, and is said in messages. */
  readonly name: string;
  readonly views: readonly LeaseView[];
  /** Said when there is nothing to show. */
  readonly none: string;
  /** How many wait for it. */
  readonly queueLength: number;
  readonly orders: readonly Order[];
  /** The name somebody may take over next, where there is one. */
  readonly resource?: string;
  /** Whoever takes over has a higher epoch than everybody who holds it now. */
  readonly highestEpoch: number;
}
type Order = { resource: string } | { under: string } | { leaseId: string } | { owner: string };

export async function targetOf(
  leases: Holdfast,
  resource: string | undefined,
  { under, lease, owner }: TargetFlags,
): Promise<RevokeTarget> {
  const given = [resource, under, lease, owner].filter((one) => one !== undefined);
  if (given.length !== 1) throw usage('name one thing to revoke: a RESOURCE, --under NAME, --lease ID or --owner ID');
  if (resource !== undefined) return holdersOf(leases, resource);
  if (lease !== undefined) return oneLease(leases, lease);
  // A list knows no bad names: nothing is found under them.
  return under === undefined ? allOf(leases, checkOwner(owner)) : allUnder(leases, checkName(under));
}

async function allOf(leases: Holdfast, owner: string): Promise<RevokeTarget> {
  const { views } = await listing(leases, { owner });
  const none = `${owner} holds nothing`;
  return { name: owner, views, none, queueLength: 0, orders: [{ owner }], highestEpoch: 0 };
}

async function allUnder(leases: Holdfast, under: string): Promise<RevokeTarget> {
  const { views } = await listing(leases, { prefix: under });
  const none = `nobody holds ${under} or anything below it`;
  return { name: under, views, none, queueLength: 0, orders: [{ under }], highestEpoch: 0 };
}

async function holdersOf(leases: Holdfast, resource: string): Promise<RevokeTarget> {
  const { holders, queueLength, holderCount, blockedMs } = await leases.show(resource, NO_HISTORY);
  const { storeNow } = await leases.now();
  const here = holders.filter(({ parts }) => parts.some(({ name }) => name === resource));
  const above = holders.find((holder) => !here.includes(holder));
  if (here.length === 0 && above) {
    const subtree = above.parts.map(({ name }) => name).join(', ');
    throw new CommandError(
      EXIT.refused,
      `${resource} is held by ${above.owner} through ${subtree}: revoke that instead`,
    );
  }
  if (holders.length === 0 && holderCount > 0) {
    const text = `${resource} is held outside what this token may see: it takes one with a wider prefix`;
    throw new CommandError(EXIT.refused, text);
  }
  if (here.length === 0 && blockedMs > 0 && queueLength > 0) {
    const text = `nobody holds ${resource}; it is blocked for ${span(blockedMs)} more, and ${queueLength} wait`;
    throw new CommandError(EXIT.refused, `${text}: let it pass, or end the waiting too with --under ${resource}`);
  }
  const views = here.map((record) => leaseView(record, storeNow, queueLength));
  const byId = here.map(({ id }) => ({ leaseId: id }));
  const orders = here.length === 0 && blockedMs > 0 ? [{ resource }] : byId; // revoking the name lifts its blocks (Q6)
  const none = `nobody holds ${resource}`;
  return { name: resource, views, none, queueLength, orders, resource, highestEpoch: highest(holders) };
}

async function oneLease(leases: Holdfast, id: string): Promise<RevokeTarget> {
  const record = await leases.get(id);
  const { storeNow } = await leases.now();
  const isStanding = record?.status === 'active' || record?.status === 'pending';
  const resource = record?.parts[0]?.name;
  const { queueLength, holders } =
    resource === undefined ? { queueLength: 0, holders: [] } : await leases.show(resource, NO_HISTORY);
  return {
    name: id,
    views: record && isStanding ? [leaseView(record, storeNow, queueLength)] : [],
    none: noLease(id, record),
    queueLength,
    orders: isStanding ? [{ leaseId: id }] : [],
    highestEpoch: highest(holders),
    ...(resource === undefined ? {} : { resource }),
  };
}

function noLease(id: string, record: LeaseRecord | undefined): string {
  if (!record) return `there is no lease ${id}`;
  return record.status === 'pending' ? `${id} holds nothing yet` : `the lease ${id} is over: ${record.status}`;
}

function highest(holders: readonly LeaseRecord[]): number {
  return Math.max(0, ...holders.map(({ epoch }) => epoch));
}

export async function carryOut(
  leases: Holdfast,
  orders: readonly Order[],
  how: { reason: string; keepOut?: number },
): Promise<LeaseRecord[]> {
  const ended: LeaseRecord[] = [];
  for (const order of orders) ended.push(...(await leases.revoke({ ...order, ...how })));
  return ended;
}
