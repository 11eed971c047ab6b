// Which rows of the log answer a query.
import { describe, expect, test } from 'vitest';
import { matchesQuery } from './event-query.js';
import type { LogRow } from './events.js';
import type { EventQuery } from './requests.js';

const row: LogRow = {
  id: 'p',
  type: 'lease.acquired',
  at: 1_000,
  wallAt: 1_000,
  namespace: 'default',
  resource: 'orders/0',
  leaseId: 'lease-0123456789',
  owner: 'alice',
  data: {},
};
const several: LogRow = { ...row, resources: ['orders/0', 'stock/7'] };
const nameless: LogRow = { ...row, resource: undefined };
const matches = (query: Partial<EventQuery>, one = row): boolean => matchesQuery(one, { limit: 10, ...query });

test('an empty query is answered by every row', () => {
  for (const one of [row, several, nameless]) expect(matches({}, one)).toBe(true);
});

describe('each condition', () => {
  test.each<[Partial<EventQuery>, boolean]>([
    [{ leaseId: 'lease-0123456789' }, true],
    [{ leaseId: 'another' }, false],
    [{ owner: 'alice' }, true],
    [{ owner: 'ali' }, false],
    [{ type: 'lease.acquired' }, true],
    [{ type: 'lease' }, false],
    [{ since: 1_000 }, true],
    [{ since: 1_001 }, false],
    [{ until: 1_001 }, true],
    [{ until: 1_000 }, false],
    [{ resource: 'orders/0' }, true],
    [{ resource: 'orders' }, false],
    [{ prefix: 'orders' }, true],
    [{ prefix: 'orders/0' }, true],
    [{ prefix: 'order' }, false],
    [{ prefix: 'orders/0/x' }, false],
    [{ owner: 'alice', type: 'lease.acquired', since: 0, until: 2_000, prefix: 'orders' }, true],
    [{ owner: 'alice', type: 'lease.released' }, false],
    [{ resource: 'orders/0', prefix: 'stock' }, false],
  ])('%j: %s', (query, expected) => {
    expect(matches(query)).toBe(expected);
  });

  test('any of several names will do', () => {
    expect(matches({ resource: 'stock/7' }, several)).toBe(true);
    expect(matches({ prefix: 'stock' }, several)).toBe(true);
    expect(matches({ resource: 'stock/8' }, several)).toBe(false);
  });

  test('a row without a name answers no question about names', () => {
    expect(matches({ resource: 'orders/0' }, nameless)).toBe(false);
    expect(matches({ prefix: 'orders' }, nameless)).toBe(false);
  });
});
