// Questions to the log (H1). A script finds the rows in which a text of the query occurs, a name as a whole, in a bounded stretch (S18);
// here they are read and filtered exactly. What was not looked at is said to be `more`.
import { matchesQuery } from '../../domain/event-query.js';
import type { LogRow } from '../../domain/events.js';
import { formatPosition, parsePosition } from '../../domain/position.js';
import type { EventQuery } from '../../domain/requests.js';
import type { Events, Reply } from '../store.js';
import { decodeLog } from './log-text.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Namespace } from './namespace.js';

export const STORE = 'redis';
/** Never a position of a life of this data. */
const ELSEWHERE = '?';
/** Rows that hold the text need not match: so many more than asked for may be sent, and this many at least. */
const SPARE = 4;
const FEW = 200;

export async function readLog(namespace: Namespace, query: EventQuery): Promise<Events> {
  const asked = query.backward ? query.before : query.after;
  const [life, key] = asked === undefined ? ['', ''] : placeOf(asked, namespace.name);
  const isFiltered = FILTERS.some((name) => query[name] !== undefined);
  const wanted = isFiltered ? Math.max(FEW, query.limit * SPARE) : query.limit + 1;
  const stretch = [query.backward ? 'b' : 'f', life, key, String(wanted)];
  const [needle, kind] = needleOf(query);
  const args = [...stretch, needle, String(query.since ?? ''), kind];
  const { reply, rest } = await namespace.look(SCRIPTS.events, args);
  const position = (at: unknown): string => positionOf(reply, namespace.name, String(at));
  const [oldest, outcome, reached, hasMore, entries] = rest;
  if (outcome === 'lost') return { ...reply, outcome, oldest: position(oldest) };
  const found = (entries as readonly [number, string][]).map(([at, text]) =>
    decodeLog(text, position(at), namespace.name),
  );
  const rows = isFiltered ? found.filter((row) => matchesQuery(row, query)) : found;
  if (rows.length <= query.limit)
    return { ...reply, outcome: 'rows', rows, next: position(reached), more: hasMore === 1 };
  const cut = rows.slice(0, query.limit);
  return { ...reply, outcome: 'rows', rows: cut, next: (cut.at(-1) as LogRow).id, more: true };
}

const FILTERS = ['resource', 'prefix', 'leaseId', 'owner', 'type', 'since', 'until'] as const;

/** A text that every row of the answer holds, and what it is if it is a name; the rarest first. */
function needleOf({ leaseId, resource, prefix, owner }: EventQuery): [needle: string, kind: '' | 'name' | 'prefix'] {
  if (leaseId !== undefined) return [leaseId, ''];
  if (resource !== undefined) return [resource, 'name'];
  return prefix === undefined ? [owner ?? '', ''] : [prefix, 'prefix'];
}

function positionOf({ incarnation }: Reply, namespace: string, key: string): string {
  return formatPosition({ store: STORE, namespace, incarnation, key });
}

/** Life and key of a position; a life that never was for anything else. */
export function placeOf(text: string, namespace: string): [life: string, key: string] {
  const position = parsePosition(text);
  const isHere = position?.store === STORE && position.namespace === namespace && /^\d{1,15}$/.test(position.key);
  return isHere ? [position.incarnation, position.key] : [ELSEWHERE, ''];
}
