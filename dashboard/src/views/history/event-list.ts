// Events newest first, without doubles, from pages that go back and from what comes in live. Bounded: past MOST_EVENTS the oldest
// are let go, and reading on begins there again (the id of an event is a cursor).
import type { LeaseEvent } from '../../api/types.js';

export const MOST_EVENTS = 5_000;

export interface EventList {
  readonly items: readonly LeaseEvent[];
  /** Where older ones are; undefined at the beginning of the log. */
  readonly cursor: string | undefined;
}

export const NO_EVENTS: EventList = { items: [], cursor: undefined };

export function withOlder(
  list: EventList,
  page: { readonly items: readonly LeaseEvent[]; readonly cursor?: string | undefined },
): EventList {
  const known = new Set(list.items.map(({ id }) => id));
  return { items: [...list.items, ...page.items.filter(({ id }) => !known.has(id))], cursor: page.cursor };
}

/** `fresh` in the order they happened. */
export function withNewer(list: EventList, fresh: readonly LeaseEvent[]): EventList {
  const known = new Set(list.items.slice(0, 1_000).map(({ id }) => id));
  const added = fresh.filter(({ id }) => !known.has(id)).reverse();
  if (added.length === 0) return list;
  const items = [...added, ...list.items];
  if (items.length <= MOST_EVENTS) return { ...list, items };
  const kept = items.slice(0, MOST_EVENTS);
  return { items: kept, cursor: kept.at(-1)?.id };
}
