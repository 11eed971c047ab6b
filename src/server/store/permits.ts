// W3 on the port: what a caller may ask of each method, item by item, before the store sees it. A list that is partly
// forbidden fails in those items alone (S21). Who may touch a lease is judged by the lease as the store keeps it; an id the
// store does not know is nobody's, and the store says so itself.
import { invalid, LeaseError } from '../../domain/errors.js';
import type { Lease } from '../../domain/lease.js';
import type { AcquireRequest, ChangeRequest, RevokeOrder } from '../../domain/requests.js';
import type { Store } from '../../stores/store.js';
import {
  actorOf,
  boundFilter,
  ownerFor,
  requireNames,
  requireReclaim,
  requireRevoke,
  requireRole,
  requireTouch,
  requireWhole,
  wrapMetadata,
} from '../access/index.js';
import type { Caller } from '../context.js';

/** Sees and touches everything: nothing is looked up for it. */
export function isUnbounded({ role, prefix }: Caller): boolean {
  return role === 'admin' && prefix === undefined;
}

/** The leases that items of a call are about, by id. */
export type Known = ReadonlyMap<string, Lease>;

interface Named {
  readonly id?: string;
  readonly holding?: readonly string[];
  readonly upgrades?: { readonly id: string } | undefined;
}

/** One look for all items of a call; `get` takes as many ids as a call can name only in pages. */
export async function lookUp(store: Store, caller: Caller, method: string, items: readonly object[]): Promise<Known> {
  if (isUnbounded(caller) || !LOOKS_AT.has(method)) return new Map();
  const ids = new Set((items as readonly Named[]).flatMap((item) => namedBy(method, item)));
  const known = new Map<string, Lease>();
  for (const page of pagesOf([...ids])) {
    for (const lease of (await store.get(page)).items) if (lease) known.set(lease.id, lease);
  }
  return known;
}

const LOOKS_AT: ReadonlySet<string> = new Set(['acquire', 'renew', 'end', 'change']);
const PAGE = 1_000;

function namedBy(method: string, { id, holding = [], upgrades }: Named): string[] {
  if (method === 'acquire') return upgrades === undefined ? [...holding] : [...holding, upgrades.id];
  return id === undefined ? [] : [id];
}

/** As many ids at a time as one `get` takes. */
export function* pagesOf(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE);
}

/** The item as it is put to the store, or FORBIDDEN. */
export function permitItem(method: string, caller: Caller, item: object, known: Known): object {
  if (method === 'acquire') return permitAcquire(caller, item as AcquireRequest, known);
  if (isUnbounded(caller)) return item;
  if (method.startsWith('sequences.')) return permitNumbers(caller, item as { stream: string; owner?: string });
  touch(caller, known, (item as Named).id);
  const change = item as ChangeRequest;
  if (method === 'change' && change.kind === 'resume') ownerFor(caller, change.toOwner);
  return item;
}

/** Taken through a server (S13), under the caller's own name, remembering its token. */
function permitAcquire(caller: Caller, item: AcquireRequest, known: Known): AcquireRequest {
  const owner = ownerFor(caller, item.owner) ?? item.owner;
  if (item.reclaim) requireReclaim(caller);
  if (!isUnbounded(caller)) {
    requireNames(
      caller,
      item.parts.map(({ name }) => name),
    );
    if (item.reclaim) requireReclaim(caller);
    for (const id of namedBy('acquire', item)) touch(caller, known, id);
  }
  const { metadata, ...rest } = item;
  const wrapped = wrapMetadata(caller, metadata);
  return { ...rest, owner, remote: true, ...(wrapped === undefined ? {} : { metadata: wrapped }) };
}

function permitNumbers(caller: Caller, item: { readonly stream: string; readonly owner?: string }): object {
  requireNames(caller, [item.stream]);
  if (item.owner !== undefined) ownerFor(caller, item.owner);
  return item;
}

function touch(caller: Caller, known: Known, id: string | undefined): void {
  const lease = id === undefined ? undefined : known.get(id);
  if (lease) requireTouch(caller, lease);
}

/** The arguments of a method that takes no list, as they are put to the store. */
export async function permitOrder(
  store: Store,
  method: string,
  caller: Caller,
  args: readonly unknown[],
): Promise<readonly unknown[]> {
  const [order] = args;
  if (method === 'revoke') return [await permitRevoke(store, caller, order as RevokeOrder)];
  if (isUnbounded(caller)) return args;
  switch (method) {
    case 'list':
    case 'events':
      return [boundFilter(caller, order as { prefix?: string })];
    case 'show':
      requireNames(caller, [String(order)]);
      return args;
    case 'failTicket':
      await permitCycle(store, caller, order as { id: string; cycle: readonly string[] });
      return args;
    case 'prune':
    case 'setSettings':
    case 'migrate':
      requireWhole(caller);
      return args;
    case 'sequences.read':
      if ((order as { seal: boolean }).seal) requireRole(caller, 'write');
      break;
    case 'sequences.cursor':
      if ((order as { act: string }).act === 'forget') requireRole(caller, 'admin'); // what it was kept for may be trimmed
      break;
    default:
      if (!method.startsWith('sequences.')) return args;
  }
  permitStream(method, caller, order as { stream?: string; owner?: string });
  return args;
}

const OVER_ALL_STREAMS: ReadonlySet<string> = new Set([
  'sequences.streams',
  'sequences.manualItems',
  'sequences.ready',
]);

function permitStream(method: string, caller: Caller, order: { stream?: string; owner?: string }): void {
  if (order.stream !== undefined) requireNames(caller, [order.stream]);
  else if (!OVER_ALL_STREAMS.has(method)) requireWhole(caller); // the others read only what may be seen
  if (order.owner !== undefined) ownerFor(caller, order.owner);
}

async function permitRevoke(store: Store, caller: Caller, order: RevokeOrder): Promise<RevokeOrder> {
  const { target } = order;
  const isByLease = 'leaseId' in target && caller.prefix !== undefined;
  const lease = isByLease ? (await store.get([target.leaseId])).items[0] : undefined;
  requireRevoke(caller, target, lease);
  return caller.tokenId === undefined ? order : { ...order, actor: actorOf(caller) };
}

/** A bounded caller breaks only cycles among names it may see. */
async function permitCycle(
  store: Store,
  caller: Caller,
  order: { id: string; cycle: readonly string[] },
): Promise<void> {
  if (caller.prefix === undefined) return;
  if (order.cycle.length > PAGE) throw invalid(`a cycle is a list of at most ${PAGE} ticket ids`);
  const { items } = await store.get([...order.cycle]);
  requireNames(
    caller,
    items.flatMap((ticket) => ticket?.parts.map(({ name }) => name) ?? []),
  );
}

/** The namespaces of the product's own: its services' turns are for whoever may do all, its tokens for nobody. */
export function permitNamespace(caller: Caller, namespace: string): void {
  if (!namespace.startsWith(INTERNAL) || (namespace === INTERNAL && isUnbounded(caller))) return;
  throw new LeaseError('FORBIDDEN', `the namespace ${namespace} is the server's own: name another`);
}
const INTERNAL = '_holdfast';
