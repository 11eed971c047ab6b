// The event log in types (H2, H3) and its plain sentences. A store keeps `LogRow`s; everybody else sees `LeaseEvent`,
// the row with its sentence. One sentence per type, held by a table test.
import type { LeaseStatus } from './expiry.js';
import { isoTime } from './lease.js';
import type { WaitStep } from './wait-graph.js';

/** Kept in the log by the store. */
export const STORED_TYPES = [
  'lease.queued',
  'lease.acquired',
  'lease.renewed',
  'lease.released',
  'lease.expired',
  'lease.revoked',
  'lease.failed',
  'lease.delegated',
  'lease.upgraded',
  'lease.downgraded',
  'deadlock.detected',
  'sequence.leased',
  'sequence.committed',
  'sequence.gap',
  'sequence.filled',
  'sequence.moved',
  'recovery.succeeded',
  'recovery.failed',
  'cascade.entered',
  'cascade.left',
  'alert.raised',
  'alert.cleared',
  'store.clock_stepped',
  'store.incarnation',
] as const;
/** Announced in the process only (`lease.renewed` is stored too, with `history_renewals`). */
export const LOCAL_TYPES = [
  'lease.refused',
  'lease.renewal_failed',
  'lease.lost',
  'guard.rejected',
  'events.lost',
] as const;

export type StoredType = (typeof STORED_TYPES)[number];
export type EventType = StoredType | (typeof LOCAL_TYPES)[number];

export interface EventFacts {
  readonly type: EventType;
  /** Store clock, milliseconds. */
  readonly at: number;
  /** The first name of the lease. */
  readonly resource?: string | undefined;
  /** All its names, where there is more than one. */
  readonly resources?: readonly string[] | undefined;
  readonly leaseId?: string | undefined;
  readonly owner?: string | undefined;
  readonly epoch?: number | undefined;
  readonly from?: LeaseStatus | undefined;
  readonly to?: LeaseStatus | undefined;
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One row of the log as a store answers it. `id` is its position. */
export interface LogRow extends EventFacts {
  readonly id: string;
  readonly type: StoredType;
  /** The machine's wall clock when it was written. */
  readonly wallAt: number;
  readonly namespace: string;
}

export interface LeaseEvent<T extends string = string> {
  readonly id: string;
  readonly type: T;
  readonly at: string;
  readonly wallAt?: string;
  readonly namespace: string;
  readonly resource?: string;
  readonly resources?: readonly string[];
  readonly leaseId?: string;
  readonly owner?: string;
  readonly epoch?: number;
  readonly from?: LeaseStatus;
  readonly to?: LeaseStatus;
  readonly actor: string;
  readonly reason?: string;
  readonly error?: string;
  readonly sentence: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function toEvent(row: LogRow): LeaseEvent<StoredType> {
  const { type, id, namespace, wallAt } = row;
  return { ...toLocalEvent(row, { id, namespace, wallAt }), type };
}

/** What happened in this process, in the shape of an event of the log. */
export function toLocalEvent(
  facts: EventFacts,
  home: { readonly id: string; readonly namespace: string; readonly wallAt: number },
): LeaseEvent<EventType> {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(known) as Omit<LeaseEvent<EventType>, 'at' | 'wallAt'>),
    id: home.id,
    namespace: home.namespace,
    at: isoTime(facts.at),
    wallAt: isoTime(home.wallAt),
    actor: facts.actor ?? facts.owner ?? 'store',
    sentence: sentenceOf(facts),
  };
}

/** H1: what is told to a reader whose position is gone. */
export function lostEvent(namespace: string, at: number, oldest: string): LeaseEvent {
  const facts: EventFacts = { type: 'events.lost', at, data: { oldest } };
  const sentence = sentenceOf(facts);
  return { id: oldest, type: facts.type, at: isoTime(at), namespace, actor: 'store', sentence, data: facts.data };
}

type Sentence = (event: EventFacts) => string;

const SENTENCES: { readonly [T in EventType]: Sentence } = {
  'lease.queued': (e) => `${who(e)} is waiting for ${what(e)}, place ${num(e, 'place')}`,
  'lease.acquired': (e) => `Acquired ${what(e)}, epoch ${e.epoch ?? 0}`,
  'lease.refused': (e) => refused(e),
  'lease.renewed': (e) => `Renewed ${what(e)}, epoch ${e.epoch ?? 0}, until ${time(e, 'expiresAt')}`,
  'lease.renewal_failed': (e) => renewalFailed(e),
  'lease.released': (e) => `Released ${what(e)}, epoch ${e.epoch ?? 0}`,
  'lease.expired': (e) => `Lease of ${who(e)} on ${what(e)} expired at ${time(e, 'expiresAt')}, epoch ${e.epoch ?? 0}`,
  'lease.lost': (e) => `Lost lease for ${what(e)} (${text(e, 'how', 'expired')} at ${time(e, 'lostAt')})`,
  'lease.revoked': (e) => `${by(e)} revoked ${what(e)} from ${who(e)}: ${e.reason ?? 'no reason given'}`,
  'lease.failed': (e) => `${who(e)} stopped waiting for ${what(e)}: ${e.reason ?? 'cancelled'}`,
  'lease.delegated': (e) => `${text(e, 'fromOwner', 'somebody')} handed ${what(e)} to ${who(e)}, epoch ${e.epoch ?? 0}`,
  'lease.upgraded': (e) => `Upgraded ${what(e)} to exclusive, epoch ${e.epoch ?? 0}`,
  'lease.downgraded': (e) => `Downgraded ${what(e)} to shared, epoch ${e.epoch ?? 0}`,
  'deadlock.detected': (e) => `Deadlock: ${cycleText(e.data['cycle'])}; ${who(e)} gives up its place`,
  'guard.rejected': (e) => `Stale write rejected: epoch ${num(e, 'attempted')} < current epoch ${num(e, 'current')}`,
  'sequence.leased': (e) => `Leased ${numbers(e)} of ${what(e)}`,
  'sequence.committed': (e) => `Committed ${numbers(e)} of ${what(e)}`,
  'sequence.gap': (e) => `Created sequence gap ${num(e, 'number')}`,
  'sequence.filled': (e) => `Filled sequence gap ${num(e, 'number')}`,
  'sequence.moved': (e) => `Moved operation from ${num(e, 'number')} to ${num(e, 'movedTo')}`,
  'recovery.succeeded': (e) => recovered(e),
  'recovery.failed': (e) => `Recovery of number ${num(e, 'number')} failed: ${e.error ?? 'unknown error'}`,
  'cascade.entered': (e) => `Recovery mode on: ${num(e, 'expired')} leases expired within one sweep interval`,
  'cascade.left': () => 'Recovery mode off: expiries are back to normal',
  'alert.raised': (e) => `Alert ${text(e, 'alert', 'unnamed')} raised: ${e.reason ?? ''}`,
  'alert.cleared': (e) => `Alert ${text(e, 'alert', 'unnamed')} cleared`,
  'store.clock_stepped': (e) => `The store's clock stepped by ${num(e, 'byMs')} ms`,
  'store.incarnation': (e) => `A new incarnation of the store began: ${e.reason ?? 'unknown cause'}`,
  'events.lost': (e) => `Events before ${text(e, 'oldest', 'the oldest kept')} are gone: read the present state again`,
};

export function sentenceOf(event: EventFacts): string {
  return SENTENCES[event.type](event);
}

function refused(e: EventFacts): string {
  if ((e.reason ?? 'held') === 'held') return `Already held by ${who(e)} until ${time(e, 'until')}`;
  return `Refused ${what(e)}: ${e.reason ?? ''}`;
}

function renewalFailed(e: EventFacts): string {
  if (e.data['current'] === undefined) return `Renewal failed: ${e.error ?? e.reason ?? 'not held any more'}`;
  return `Renewal failed: stale epoch (current: ${num(e, 'current')}, attempted: ${num(e, 'attempted')})`;
}

function recovered(e: EventFacts): string {
  const method = text(e, 'method', 'unknown');
  if (method === 'partial_work') return 'Recovered from partial work';
  return method === 'recommitted' ? 'Retried completed operation' : `Recovered number ${num(e, 'number')} by ${method}`;
}

function cycleText(cycle: unknown): string {
  if (!Array.isArray(cycle)) return 'a cycle of waiters';
  return (cycle as WaitStep[]).map((s) => `${s.owner} waits for ${s.resource} held by ${s.heldBy}`).join(', ');
}

const what = (e: EventFacts): string => e.resource ?? 'a resource';
const who = (e: EventFacts): string => e.owner ?? 'unknown owner';
const by = (e: EventFacts): string => e.actor ?? 'Somebody';

function num(e: EventFacts, key: string): string {
  const value = e.data[key];
  return typeof value === 'number' ? String(value) : '?';
}
function numbers({ data: { number, count } }: EventFacts): string {
  if (typeof number !== 'number') return 'number ?';
  return typeof count === 'number' ? `numbers ${number} to ${number + count - 1}` : `number ${number}`;
}
function text(e: EventFacts, key: string, fallback: string): string {
  const value = e.data[key];
  return typeof value === 'string' ? value : fallback;
}
function time(e: EventFacts, key: string): string {
  const value = e.data[key];
  return typeof value === 'number' ? isoTime(value) : '?';
}
