// Every live lease and ticket by id, kept up to date from two sources that overtake each other: a snapshot, read in pages, and
// events. The rules that make the order of arrival not matter:
//
//   - what has ended stays ended, however late a page says otherwise (ids are never used twice)
//   - of two tellings of one lease the higher epoch counts, then the later renewal
//   - what a whole snapshot did not name, and no event touched while it was read, is gone
//
// Bounded: past MOST_RECORDS nothing new is taken in, and `isFull` says so.
import type { LeaseEvent, LeaseRecord, Part } from '../api/types.js';

export const MOST_RECORDS = 50_000;
const MOST_ENDED = 20_000;
const ENDS: ReadonlySet<string> = new Set(['released', 'expired', 'revoked', 'failed']);

export interface SnapshotReading {
  add(items: readonly LeaseRecord[]): void;
  /** All pages are in. */
  finish(): void;
}

interface Reading {
  readonly listed: Set<string>;
  readonly touched: Set<string>;
}

export class RecordBook {
  readonly #records = new Map<string, LeaseRecord>();
  readonly #ended = new Set<string>();
  #reading: Reading | undefined;

  get records(): ReadonlyMap<string, LeaseRecord> {
    return this.#records;
  }
  get isFull(): boolean {
    return this.#records.size >= MOST_RECORDS;
  }

  clear(): void {
    this.#records.clear();
    this.#ended.clear();
    this.#reading = undefined;
  }

  /** A reading begun later takes the place of one that was not finished. */
  beginSnapshot(): SnapshotReading {
    const reading: Reading = { listed: new Set(), touched: new Set() };
    this.#reading = reading;
    return {
      add: (items) => {
        for (const item of items) {
          reading.listed.add(item.id);
          this.learn(item);
        }
      },
      finish: () => {
        if (this.#reading !== reading) return;
        this.#reading = undefined;
        const isStale = (id: string): boolean => !reading.listed.has(id) && !reading.touched.has(id);
        for (const id of [...this.#records.keys()].filter(isStale)) this.#records.delete(id);
      },
    };
  }

  /** A record as the server tells it now. One that has ended is taken out. */
  learn(fresh: LeaseRecord): void {
    if (fresh.status !== 'active' && fresh.status !== 'pending') this.end(fresh.id);
    else if (!this.#ended.has(fresh.id)) this.#put(newer(this.#records.get(fresh.id), fresh));
  }

  end(id: string): void {
    this.#records.delete(id);
    this.#ended.add(id);
    if (this.#ended.size <= MOST_ENDED) return;
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      break;
    }
  }

  apply(event: LeaseEvent): void {
    const { leaseId: id } = event;
    if (id === undefined) return;
    this.#reading?.touched.add(id);
    if (event.to !== undefined && ENDS.has(event.to)) this.end(id);
    else if (event.type === 'lease.queued' || event.type === 'lease.acquired') this.learn(recordOf(event, id));
    else this.#change(event, id);
  }

  #change(event: LeaseEvent, id: string): void {
    const old = this.#records.get(id);
    if (!old || (event.epoch ?? 0) < old.epoch) return;
    const { data, owner = old.owner, epoch = old.epoch } = event;
    const { ticketId } = data as { ticketId?: unknown };
    if (typeof ticketId === 'string') this.end(ticketId);
    const parts = partsIn(data) ?? (event.type === 'lease.upgraded' ? old.parts.map(asExclusive) : old.parts);
    const changed = { ...old, owner, epoch, parts };
    if (event.type !== 'lease.renewed') this.#put(changed);
    else if (event.at >= old.renewedAt) this.#put({ ...changed, ...renewalIn(event, old), renewedAt: event.at });
  }

  #put(record: LeaseRecord): void {
    if (this.#records.has(record.id) || !this.isFull) this.#records.set(record.id, record);
  }
}

/** ISO times of one clock compare as text. */
export function newer(old: LeaseRecord | undefined, fresh: LeaseRecord): LeaseRecord {
  if (!old) return fresh;
  if (old.epoch !== fresh.epoch) return old.epoch > fresh.epoch ? old : { ...kept(old), ...fresh };
  return old.renewedAt > fresh.renewedAt ? { ...fresh, ...old } : { ...kept(old), ...fresh };
}

/** What events do not tell, and a record did. */
function kept({ metadata, operationId }: LeaseRecord): Partial<LeaseRecord> {
  const known = { metadata, operationId };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

function recordOf(event: LeaseEvent, id: string): LeaseRecord {
  const { data, at, owner = '', epoch = 0, resource = '' } = event;
  const isLease = event.type === 'lease.acquired';
  const { ttlMs, expiresAt } = data as { ttlMs?: unknown; expiresAt?: unknown };
  return {
    id,
    parts: [...(partsIn(data) ?? [{ name: resource, scope: 'node', mode: 'exclusive' }])],
    owner,
    epoch: isLease ? epoch : 0,
    status: isLease ? 'active' : 'pending',
    ttlMs: typeof ttlMs === 'number' ? ttlMs : 0,
    acquiredAt: at,
    renewedAt: at,
    expiresAt: typeof expiresAt === 'number' ? new Date(expiresAt).toISOString() : at,
    renewals: 0,
    maxRenewals: -1,
    skewMs: 0,
  };
}

function renewalIn({ data }: LeaseEvent, old: LeaseRecord): Pick<LeaseRecord, 'expiresAt' | 'renewals'> {
  const { expiresAt, renewals } = data as { expiresAt?: unknown; renewals?: unknown };
  return {
    expiresAt: typeof expiresAt === 'number' ? new Date(expiresAt).toISOString() : old.expiresAt,
    renewals: typeof renewals === 'number' ? renewals : old.renewals,
  };
}

function partsIn(data: LeaseEvent['data']): Part[] | undefined {
  const { parts } = data as { parts?: unknown };
  return Array.isArray(parts) ? (parts as Part[]) : undefined;
}

function asExclusive({ name, scope }: Part): Part {
  return { name, scope, mode: 'exclusive' };
}
