// Every method of the port that can be called over HTTP, by its name on the wire: how its arguments are checked, what a
// caller must be allowed to, and how it is put to a store. Sequences carry their half's name: `sequences.commit`.
//
// `backup` is not here: it would write a file of the caller's choice on the server's disk. `subscribe` is the event stream
// of hints, `within` the namespace of a call, `close` the client's own affair.
import type { z } from 'zod';
import { LeaseError } from '../../domain/errors.js';
import type { SequenceStore } from '../../stores/sequence-store.js';
import type { Answers, Store } from '../../stores/store.js';
import type { Role } from '../context.js';
import * as lease from './lease-schemas.js';
import * as sequence from './sequence-schemas.js';

export interface ListMethod {
  readonly takes: 'list';
  readonly role: Role;
  readonly item: z.ZodType<object>;
  call(store: Store, items: readonly object[]): Promise<Answers<object>>;
}
export interface OneMethod {
  readonly takes: 'one';
  readonly role: Role;
  readonly args: z.ZodType<readonly unknown[]>;
  call(store: Store, args: readonly unknown[]): Promise<object>;
}
export type PortMethod = ListMethod | OneMethod;

function list<Q extends object>(
  role: Role,
  item: z.ZodType<Q>,
  call: (store: Store, items: readonly Q[]) => Promise<Answers<object>>,
): ListMethod {
  return { takes: 'list', role, item, call: (store, items) => call(store, items as readonly Q[]) };
}

function one<A extends readonly unknown[]>(
  role: Role,
  args: z.ZodType<A>,
  call: (store: Store, ...args: A) => Promise<object>,
): OneMethod {
  return { takes: 'one', role, args, call: (store, given) => call(store, ...(given as unknown as A)) };
}

const { leaseArguments: la } = lease;
const { sequenceArguments: sa } = sequence;

const METHODS: ReadonlyMap<string, PortMethod> = new Map<string, PortMethod>([
  ['acquire', list('write', lease.acquireItem, (store, items) => store.acquire(items))],
  ['renew', list('write', lease.renewItem, (store, items) => store.renew(items))],
  ['end', list('write', lease.endItem, (store, items) => store.end(items))],
  ['change', list('write', lease.changeItem, (store, items) => store.change(items))],

  ['revoke', one('admin', la.revoke, (store, order) => store.revoke(order))],
  ['failTicket', one('write', la.failTicket, (store, order) => store.failTicket(order))],
  ['sweep', one('write', la.sweep, (store, order) => store.sweep(order))],
  ['events', one('read', la.events, (store, query) => store.events(query))],
  ['prune', one('admin', la.prune, (store, order) => store.prune(order))],
  ['settings', one('read', la.none, (store) => store.settings())],
  ['setSettings', one('admin', la.setSettings, (store, changes) => store.setSettings(changes))],
  ['waitGraph', one('read', la.none, (store) => store.waitGraph())],
  ['get', one('read', la.get, (store, ids) => store.get(ids))],
  ['list', one('read', la.list, (store, filter) => store.list(filter))],
  ['show', one('read', la.show, (store, resource, history) => store.show(resource, history))],
  ['info', one('read', la.none, (store) => store.info())],
  ['time', one('read', la.none, (store) => store.time())],
  ['migrate', one('admin', la.migrate, (store, order) => store.migrate(order))],

  ['sequences.ready', one('read', sa.ready, (store, order) => streams(store).ready(order))],
  ['sequences.lease', list('write', sequence.leaseNumbers, (store, items) => streams(store).lease(items))],
  ['sequences.progress', list('write', sequence.progressItem, (store, items) => streams(store).progress(items))],
  ['sequences.commit', list('write', sequence.commitItem, (store, items) => streams(store).commit(items))],
  ['sequences.release', list('write', sequence.releaseNumbers, (store, items) => streams(store).release(items))],
  ['sequences.append', list('write', sequence.appendItem, (store, items) => streams(store).append(items))],
  ['sequences.fill', list('write', sequence.fillItem, (store, items) => streams(store).fill(items))],
  ['sequences.claim', one('admin', sa.claim, (store, order) => streams(store).claim(order))],
  ['sequences.renewClaims', list('admin', sequence.claimRenewal, (store, items) => streams(store).renewClaims(items))],
  ['sequences.settle', list('admin', sequence.settleItem, (store, items) => streams(store).settle(items))],
  ['sequences.read', one('read', sa.read, (store, order) => streams(store).read(order))],
  ['sequences.barrier', one('write', sa.barrier, (store, order) => streams(store).barrier(order))],
  ['sequences.cursor', one('write', sa.cursor, (store, order) => streams(store).cursor(order))],
  ['sequences.trim', one('admin', sa.trim, (store, order) => streams(store).trim(order))],
  ['sequences.gaps', one('read', sa.gaps, (store, query) => streams(store).gaps(query))],
  ['sequences.manualItems', one('read', sa.manualItems, (store, query) => streams(store).manualItems(query))],
  ['sequences.manual', one('admin', sa.manual, (store, order) => streams(store).manual(order))],
  ['sequences.streams', one('read', sa.streams, (store, query) => streams(store).streams(query))],
]);

export function portMethod(name: string): PortMethod {
  const found = METHODS.get(name);
  if (found) return found;
  const known = portMethodNames().join(', ');
  throw new LeaseError('INVALID_ARGUMENT', `the store has no method of that name: known are ${known}`);
}

export function portMethodNames(): readonly string[] {
  return [...METHODS.keys()];
}

function streams(store: Store): SequenceStore {
  if (store.sequences) return store.sequences;
  throw new LeaseError('STORE_INCOMPATIBLE', 'the store behind this server keeps no sequences: serve another one');
}
