// A lease as the command shows it: its cells, and whether its holder looks alive. Everything that came from elsewhere is
// made safe for a terminal here.
import type { LeaseRecord, Part, WaitGraph } from '../index.js';
import { safe } from './escape.js';
import { ago, span, utc } from './times.js';

/** A holder renews at 0.6 of the ttl at the latest; when this share has passed without a renewal, it is overdue. */
const SILENT_AFTER = 0.7;
/** A wait graph shows the oldest thousand tickets (S18). */
const MOST_TICKETS = 1_000;

export interface LeaseView {
  readonly record: LeaseRecord;
  readonly name: string;
  readonly mode: string;
  readonly owner: string;
  readonly epoch: string;
  readonly since: string;
  readonly age: string;
  readonly ageMs: number;
  readonly renewed: string;
  readonly silentMs: number;
  readonly left: string;
  readonly leftMs: number;
  /** Tickets that wait for it; for a ticket, how many are ahead of it. */
  readonly queueLength: number;
  readonly queue: string;
  readonly isSilent: boolean;
}

export function leaseView(record: LeaseRecord, storeNow: string, queueLength: number): LeaseView {
  const now = Date.parse(storeNow);
  const isTicket = record.status === 'pending';
  const ageMs = now - Date.parse(record.acquiredAt);
  const silentMs = Math.max(0, now - Date.parse(record.renewedAt));
  const leftMs = Date.parse(record.expiresAt) - now;
  return {
    record,
    name: namesOf(record.parts),
    mode: isTicket ? 'waiting' : modeOf(record.parts),
    owner: safe(record.owner),
    epoch: isTicket ? '-' : String(record.epoch),
    since: utc(record.acquiredAt),
    age: ago(ageMs),
    ageMs,
    renewed: isTicket ? '-' : ago(silentMs),
    silentMs,
    left: isTicket ? '-' : span(leftMs),
    leftMs,
    queueLength,
    queue: isTicket ? `#${queueLength + 1}` : queueLength >= MOST_TICKETS ? `${MOST_TICKETS}+` : String(queueLength),
    isSilent: !isTicket && silentMs > SILENT_AFTER * record.ttlMs,
  };
}

/** Whether somebody seems to look after the lease, and how we know. */
export function signsOfLife({ record, isSilent, silentMs }: LeaseView): string {
  const last = record.renewals > 0 ? `renewed ${ago(silentMs)} ago` : `taken ${ago(silentMs)} ago, never renewed`;
  const every = `lives ${span(record.ttlMs)} without a renewal`;
  return isSilent ? `looks silent: ${last}, ${every}, renewal is overdue` : `looks alive: ${last}, ${every}`;
}

/** `orders/0`, `orders/**` for a subtree, `orders/0 +2` for a lease of several. */
function namesOf(parts: readonly Part[]): string {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length > 1 ? `${partName(first)} +${parts.length - 1}` : partName(first);
}

export function partName({ name, scope }: Part): string {
  return scope === 'subtree' ? `${safe(name)}/**` : safe(name);
}

function modeOf(parts: readonly Part[]): string {
  const modes = new Set(parts.map(({ mode, limit }) => (limit === undefined ? mode : `${mode}/${limit}`)));
  return modes.size === 1 ? ([...modes][0] ?? '') : 'mixed';
}

/** How many wait for each lease, by its id; and how many are ahead of each ticket. */
export function queueLengths({ tickets }: WaitGraph): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const ticket of tickets) {
    const oneOf = ticket.waitsForOneOf;
    for (const { id } of [...ticket.waitsForLeases, ...(oneOf?.leases ?? [])]) {
      lengths.set(id, (lengths.get(id) ?? 0) + 1);
    }
    lengths.set(ticket.id, ticket.waitsForTickets.length + (oneOf?.tickets.length ?? 0));
  }
  return lengths;
}
