// Events from pages and from the stream make one list, bounded and without doubles.
import { expect, test } from 'vitest';
import type { LeaseEvent } from '../../api/types.js';
import { MOST_EVENTS, NO_EVENTS, withNewer, withOlder } from './event-list.js';

const event = (id: number): LeaseEvent => ({
  ...{ id: String(id), type: 'lease.acquired', at: '', namespace: 'n', actor: '', sentence: '', data: {} },
});
const ids = ({ items }: { readonly items: readonly LeaseEvent[] }): string[] => items.map(({ id }) => id);

test('pages go back, live events come on top, nothing is there twice', () => {
  const first = withOlder(NO_EVENTS, { items: [event(5), event(4)], cursor: '4' });
  const live = withNewer(first, [event(5), event(6), event(7)]);
  const older = withOlder(live, { items: [event(4), event(3)] });
  expect(ids(older)).toEqual(['7', '6', '5', '4', '3']);
  expect(older.cursor).toBeUndefined();
  expect(withNewer(older, [event(7)])).toBe(older);
});

test('past the bound the oldest go, and can be read again from where it was cut', () => {
  const full = withOlder(NO_EVENTS, { items: Array.from({ length: MOST_EVENTS }, (_, n) => event(MOST_EVENTS - n)) });
  const live = withNewer(full, [event(MOST_EVENTS + 1)]);
  expect(live.items).toHaveLength(MOST_EVENTS);
  expect(live.cursor).toBe('2');
});
