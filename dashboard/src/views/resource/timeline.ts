// Who had a resource, one span after the other, told from its events and its present holders. A span is one owner under one
// epoch: handing a lease on, or making it exclusive, ends one span and begins the next.
import type { LeaseEvent, LeaseRecord } from '../../api/types.js';

export type SpanEnd = 'held' | 'released' | 'expired' | 'revoked' | 'delegated' | 'upgraded' | 'unknown';

export interface Span {
  readonly key: string;
  readonly leaseId: string;
  readonly owner: string;
  readonly epoch: number;
  /** Milliseconds of the store; undefined where the beginning is further back than what was read. */
  readonly from: number | undefined;
  /** Undefined while it is held. */
  readonly to: number | undefined;
  readonly end: SpanEnd;
  readonly reason?: string | undefined;
  /** Who ended it, where that was not its owner. */
  readonly by?: string | undefined;
  /** Who got it, where it was handed on. */
  readonly toOwner?: string | undefined;
  /** When it would have run out without a renewal. */
  readonly lapsesAt?: number | undefined;
}

const ENDS: Readonly<Record<string, SpanEnd>> = {
  'lease.released': 'released',
  'lease.expired': 'expired',
  'lease.revoked': 'revoked',
};

/** Newest first, whatever is still held before everything else. `events` in any order. */
export function spansOf(events: readonly LeaseEvent[], holders: readonly LeaseRecord[]): Span[] {
  const open = new Map<string, Span>();
  const done: Span[] = [];
  const close = (event: LeaseEvent, how: Pick<Span, 'end' | 'to'> & Partial<Span>): void => {
    const { leaseId = '' } = event;
    const span = open.get(leaseId) ?? spanOf(event, undefined);
    open.delete(leaseId);
    done.push({ ...span, ...how });
  };
  for (const event of [...events].sort(byTime)) {
    if (event.leaseId === undefined) continue;
    const at = Date.parse(event.at);
    const end = ENDS[event.type];
    if (event.type === 'lease.acquired') open.set(event.leaseId, spanOf(event, at));
    else if (end !== undefined && event.from !== 'pending' && event.data['lifted'] === undefined) {
      close(event, { end, to: endOf(event, at), reason: event.reason, by: byOf(event) });
    } else if (event.type === 'lease.delegated') {
      const { fromOwner } = event.data;
      const before = typeof fromOwner === 'string' ? { owner: fromOwner } : {};
      if (open.has(event.leaseId)) close(event, { end: 'delegated', to: at, toOwner: event.owner, ...before });
      open.set(event.leaseId, spanOf(event, at));
    } else if (event.type === 'lease.upgraded') {
      if (open.has(event.leaseId)) close(event, { end: 'upgraded', to: at });
      open.set(event.leaseId, spanOf(event, at));
    }
  }
  return [...presentSpans(open, holders, done), ...done].sort(newestFirst);
}

/** What no event ended: held, if the store says so; else it has run out and was not written down yet. Where the log knows the end
 *  of a holder it is ahead of that answer: what began since is held, as far as anybody knows. */
function presentSpans(open: ReadonlyMap<string, Span>, holders: readonly LeaseRecord[], done: readonly Span[]): Span[] {
  const over = new Set(done.filter(({ end }) => end !== 'delegated' && end !== 'upgraded').map(({ key }) => key));
  const still = holders.filter(({ id, epoch }) => !over.has(`${id} ${epoch}`));
  const isBehind = still.length < holders.length;
  const held = still.map(({ id, owner, epoch, acquiredAt }): Span => {
    const told = open.get(id);
    const from = told?.epoch === epoch ? told.from : Date.parse(acquiredAt);
    return { key: `${id} ${epoch}`, leaseId: id, owner, epoch, from, to: undefined, end: 'held' };
  });
  const ids = new Set(holders.map(({ id }) => id));
  const lapsed = [...open.values()]
    .filter(({ leaseId }) => !ids.has(leaseId))
    .map((span) => (isBehind ? { ...span, end: 'held' as const } : { ...span, to: span.lapsesAt }));
  return [...held, ...lapsed];
}

function spanOf(event: LeaseEvent, from: number | undefined): Span {
  const { leaseId = '', owner = '', epoch = 0 } = event;
  const { expiresAt } = event.data;
  const lapsesAt = typeof expiresAt === 'number' ? expiresAt : undefined;
  return { key: `${leaseId} ${epoch}`, leaseId, owner, epoch, from, to: undefined, end: 'unknown', lapsesAt };
}

/** An expiry is written down when somebody comes by; it happened when the lease ran out. */
function endOf({ type, data }: LeaseEvent, at: number): number {
  const { expiresAt } = data;
  return type === 'lease.expired' && typeof expiresAt === 'number' ? Math.min(expiresAt, at) : at;
}

function byOf({ type, actor }: LeaseEvent): string | undefined {
  return type === 'lease.revoked' ? actor : undefined;
}

function byTime(a: LeaseEvent, b: LeaseEvent): number {
  return a.at === b.at ? (a.epoch ?? 0) - (b.epoch ?? 0) || rank(a) - rank(b) : a.at < b.at ? -1 : 1;
}

/** Of events of one moment, what ends something comes after what began it. */
function rank({ type }: LeaseEvent): number {
  return type === 'lease.acquired' ? 0 : 1;
}

function newestFirst(a: Span, b: Span): number {
  const isHeld = Number(b.end === 'held') - Number(a.end === 'held');
  return isHeld || startOf(b) - startOf(a) || b.epoch - a.epoch;
}

function startOf({ from, to }: Span): number {
  return from ?? to ?? 0;
}

export interface Bar {
  /** Shares of the whole width. */
  readonly start: number;
  readonly width: number;
}

/** Where a span lies between the first beginning and now. */
export function barsOf(spans: readonly Span[], now: number): Map<string, Bar> {
  const begin = Math.min(now - 1, ...spans.map(startOf));
  const whole = Math.max(1, now - begin);
  const share = (at: number): number => Math.min(1, Math.max(0, (at - begin) / whole));
  return new Map(
    spans.map((span) => {
      const start = share(span.from ?? begin);
      return [span.key, { start, width: Math.max(0, share(span.to ?? now) - start) }];
    }),
  );
}
