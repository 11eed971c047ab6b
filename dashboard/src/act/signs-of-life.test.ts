// Whether a holder looks alive, from its last renewal, its rhythm and its ttl.
import { expect, test } from 'vitest';
import { signsOfLife } from './signs-of-life.js';

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const lease = (renewedAt: number, renewals: number) => ({
  acquiredAt: at(0),
  renewedAt: at(renewedAt),
  expiresAt: at(renewedAt + 30),
  ttlMs: 30_000,
  renewals,
});

test.each([
  [lease(18, 1), 21, 'alive', 'Renewed 3 s ago, usually every 18 s: looks alive'],
  [lease(90, 9), 95, 'alive', 'Renewed 5 s ago, usually every 10 s: looks alive'],
  [lease(90, 9), 108, 'overdue', 'Renewed 18 s ago, usually every 10 s: overdue'],
  [lease(18, 1), 40, 'overdue', 'Renewed 22 s ago, usually every 18 s: overdue'],
  [lease(0, 0), 5, 'new', 'Taken 5 s ago for 30 s and never renewed: too early to tell'],
  [lease(0, 0), 25, 'overdue', 'Taken 25 s ago for 30 s and never renewed: overdue'],
  [lease(18, 1), 50, 'over', 'Silent for 32 s: it has run out'],
])('the last renewal is held against the rhythm and the ttl: %#', (record, now, is, text) => {
  expect(signsOfLife(record, now * 1_000)).toEqual({ is, text });
});

test('a clock that is a little behind does not make the future silent', () => {
  expect(signsOfLife(lease(18, 1), 17_500)).toEqual({
    is: 'alive',
    text: 'Renewed 0.0 s ago, usually every 18 s: looks alive',
  });
});
