// The filter of the history: from the address, against live events, and times in their fields.
import { expect, test } from 'vitest';
import { STORED_TYPES } from '../../../../src/domain/events.js';
import type { LeaseEvent } from '../../api/types.js';
import { EVENT_TYPES, fieldOf, filterOf, isoOf, isWanted } from './history-filter.js';

const event: LeaseEvent = {
  ...{ id: '1', type: 'lease.acquired', at: '2026-01-31T12:00:00.000Z', namespace: 'n', resource: 'orders/0' },
  ...{ leaseId: 'l1', owner: 'ann', epoch: 1, actor: 'ann', sentence: '', data: {} },
};

test('every type of the log is offered', () => {
  expect([...EVENT_TYPES].sort()).toEqual([...STORED_TYPES].sort());
});

test('the address becomes a filter; what is empty is left out', () => {
  expect(
    filterOf({ resource: 'orders/', owner: '', lease: ' l1 ', type: 'lease.acquired', from: 'x', live: '1' }),
  ).toEqual({
    ...{ prefix: 'orders', leaseId: 'l1', type: 'lease.acquired', since: 'x' },
  });
});

test.each([
  [{}, true],
  [{ prefix: 'orders' }, true],
  [{ prefix: 'orders/0' }, true],
  [{ prefix: 'order' }, false],
  [{ resource: 'orders' }, false],
  [{ resource: 'orders/0' }, true],
  [{ owner: 'an' }, false],
  [{ leaseId: 'l2' }, false],
  [{ type: 'lease.released' }, false],
  [{ since: '2026-01-31T12:00:00.000Z' }, true],
  [{ since: '2026-01-31T12:00:00.001Z' }, false],
  [{ until: '2026-01-31T12:00:00.000Z' }, false],
])('a live event is judged as the server would: %j', (filter, is) => {
  expect(isWanted(event, filter)).toBe(is);
});

test('all names of a lease count', () => {
  expect(isWanted({ ...event, resource: 'a', resources: ['a', 'b/c'] }, { prefix: 'b' })).toBe(true);
});

test('a moment survives the field it is shown in', () => {
  expect(isoOf(fieldOf('2026-01-31T12:00:05.000Z'))).toBe('2026-01-31T12:00:05.000Z');
  expect([fieldOf(undefined), fieldOf('nonsense'), isoOf(''), isoOf('nonsense')]).toEqual([
    '',
    '',
    undefined,
    undefined,
  ]);
});
