// What handlers share: grants as they are shown, who may touch what, and options without what was left out.
import type { LeaseError } from '../../domain/errors.js';
import { isoTime, toRecord, type LeaseRecord } from '../../domain/lease.js';
import type { Resources } from '../../domain/part.js';
import type { SequenceStore } from '../../stores/sequence-store.js';
import type { Reply } from '../../stores/store.js';
import { requireTouch, visibleLease, visibleLeases } from '../access/index.js';
import type { Caller, ServerContext } from '../context.js';
import type { Granted, Stay } from '../lease-desk.js';
import { withStatus } from '../problem.js';
import type { AnyAsked } from '../route.js';
import { pagesOf } from '../store/permits.js';

export type ShownGrant = LeaseRecord & { remainingMs: number; storeNow: string };

export function granted(caller: Caller, { lease, remainingMs, now }: Granted): ShownGrant {
  const shown = visibleLease(caller, toRecord(lease));
  return { ...found(shown, `lease ${lease.id}`), remainingMs, storeNow: isoTime(now) };
}

export function page<P extends { items: LeaseRecord[] }>(caller: Caller, { items, ...rest }: P): P {
  return { items: visibleLeases(caller, items), ...rest } as unknown as P;
}

export function found<T>(value: T | undefined, what: string): T {
  if (value !== undefined) return value;
  throw missing(what);
}

export function missing(what: string): LeaseError {
  return withStatus(404, 'NOT_HELD', `there is no ${what}: it never was, or has been forgotten`);
}

/** W3: leases are touched, and named as held, by those who may. An admin without bounds costs no look at the store. */
export async function requireHeld({ desk }: ServerContext, caller: Caller, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || (caller.role === 'admin' && caller.prefix === undefined)) return;
  for (const some of pagesOf(ids)) {
    const { items } = await desk.ask('get', (store) => store.get(some));
    for (const lease of items) if (lease) requireTouch(caller, lease);
  }
}

/** What may wait is counted, and ends with its client and with its token. */
export function stayOf({ signal, caller }: AnyAsked, wait: unknown, { waits }: ServerContext): Stay {
  return wait === 0 ? { signal } : { signal, enter: (stop) => waits.enter(caller, stop) };
}

export function namesOf(resources: Resources): string[] {
  const list = Array.isArray(resources) ? (resources as readonly (string | { name: string })[]) : [resources];
  return list.map((one) => (typeof one === 'string' ? one : (one as { name: string }).name));
}

/** N6, asked once for those who accept loss and once for the others. */
const writable = {
  strictly: new WeakMap<SequenceStore, Promise<unknown>>(),
  loosely: new WeakMap<SequenceStore, Promise<unknown>>(),
};

/** Before anything is stored in a stream: does the store keep what it answers? Looking needs no such promise. */
export async function mayWrite({ desk, store }: ServerContext, acceptLoss: boolean): Promise<void> {
  const sequences = streamsOf(store);
  const known = acceptLoss ? writable.loosely : writable.strictly;
  const asked = known.get(sequences) ?? desk.ask('sequence.ready', () => sequences.ready({ acceptLoss }));
  known.set(sequences, asked);
  await asked.catch((error: unknown) => {
    known.delete(sequences); // asked again by the next
    throw error;
  });
}

function streamsOf({ sequences, kind }: ServerContext['store']): SequenceStore {
  if (sequences) return sequences;
  throw withStatus(400, 'STORE_INCOMPATIBLE', `a ${kind} store keeps no sequences: serve another one`);
}

/** A call of the store's second half, timed and bounded like the rest. */
export async function askStreams<T extends Reply>(
  { desk, store }: ServerContext,
  operation: string,
  act: (sequences: SequenceStore) => Promise<T>,
): Promise<T> {
  const sequences = streamsOf(store);
  return desk.ask(`sequence.${operation}`, () => act(sequences));
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** An option that was left out is not there at all. */
export function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}
