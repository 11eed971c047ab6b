// Filters of the first view.
import { expect, test } from 'vitest';
import type { LeaseRecord } from '../../api/types.js';
import { isFiltered, matching, wantedOf } from './filter.js';

const lease = (owner: string, ...names: string[]): LeaseRecord =>
  ({ owner, parts: names.map((name) => ({ name, scope: 'node', mode: 'exclusive' })) }) as unknown as LeaseRecord;
const all = [lease('Worker-1', 'orders/0'), lease('worker-2', 'orders/1', 'repo/a'), lease('ann', 'repo/b')];
const owners = (query: Record<string, string>): string[] => matching(all, wantedOf(query)).map(({ owner }) => owner);

test('by the beginning of any of its names, and by a piece of the owner', () => {
  expect(owners({})).toEqual(['Worker-1', 'worker-2', 'ann']);
  expect(owners({ prefix: 'repo/' })).toEqual(['worker-2', 'ann']);
  expect(owners({ owner: 'WORKER' })).toEqual(['Worker-1', 'worker-2']);
  expect(owners({ prefix: 'repo', owner: 'worker' })).toEqual(['worker-2']);
  expect(owners({ prefix: 'none' })).toEqual([]);
});

test('an address somebody made up means what is held', () => {
  expect(wantedOf({ status: 'nonsense' })).toEqual({ prefix: '', owner: '', status: 'held' });
  expect(wantedOf({ status: 'waiting' }).status).toBe('waiting');
  expect(wantedOf({ as: 'tree' }).status).toBe('all');
  expect(wantedOf({ as: 'tree', status: 'held' }).status).toBe('held');
  expect(isFiltered(wantedOf({ status: 'all' }))).toBe(false);
  expect(isFiltered(wantedOf({ owner: 'a' }))).toBe(true);
});
