// Names as a tree.
import { expect, test } from 'vitest';
import type { LeaseRecord, Part } from '../../api/types.js';
import { treeRows, type TreeRow } from './tree.js';

let made = 0;
function lease(name: string | string[], changes: Partial<LeaseRecord> & { scope?: Part['scope'] } = {}): LeaseRecord {
  const { scope = 'node', ...rest } = changes;
  const names = typeof name === 'string' ? [name] : name;
  const parts = names.map((one) => ({ name: one, scope, mode: 'exclusive' }));
  return { id: `l${(made += 1)}`, owner: 'ann', status: 'active', parts, ...rest } as unknown as LeaseRecord;
}
const all = (): boolean => true;
const drawn = (rows: readonly TreeRow[]): string[] =>
  rows.map(({ depth, label, record }) => `${'  '.repeat(depth)}${label}${record ? ` (${record.owner})` : ''}`);

test('segments are levels, in order, and ways without a branch are one row', () => {
  const rows = treeRows([lease('repo/src/b'), lease('repo/src/a', { owner: 'bob' }), lease('jobs/x/y/z')], all);
  expect(drawn(rows)).toEqual(['jobs/x/y/z (ann)', 'repo/src', '  a (bob)', '  b (ann)']);
});

test('a lease of a subtree covers what is below it, the nearest one first', () => {
  const top = lease('repo', { scope: 'subtree', owner: 'top' });
  const inner = lease('repo/docs', { scope: 'subtree', owner: 'inner' });
  const rows = treeRows(
    [top, inner, lease('repo/docs/a', { status: 'pending' }), lease('repo/x'), lease('other')],
    all,
  );
  expect(rows.map(({ name, cover }) => [name, cover?.lease.owner])).toEqual([
    ['other', undefined],
    ['repo', undefined],
    ['repo/docs', 'top'],
    ['repo/docs/a', 'inner'],
    ['repo/x', 'top'],
  ]);
});

test('several holders of a name have a row each; those who wait are counted', () => {
  const waiting = lease('r', { status: 'pending', owner: 'w' });
  const shared = treeRows([lease('r', { owner: 'a' }), lease('r', { owner: 'b' }), waiting], all);
  expect(shared[0]).toMatchObject({ name: 'r', holders: 2, waiting: 1, isOpen: true });
  expect(drawn(shared)).toEqual(['r', '   (a)', '   (b)']);
  expect(new Set(shared.map(({ key }) => key)).size).toBe(3);
  const single = treeRows([lease('r', { owner: 'a' }), waiting, waiting], all);
  expect(drawn(single)).toEqual(['r (a)']);
  expect(single[0]).toMatchObject({ holders: 1, waiting: 2 });
  expect(drawn(treeRows([waiting], all))).toEqual(['r (w)']);
  expect(treeRows([waiting, waiting], all)).toMatchObject([{ record: undefined, waiting: 2 }]);
});

test('what is closed hides what is below, and says how much that is', () => {
  const rows = treeRows([lease('a'), lease('a/b'), lease('a/b/c'), lease('a/d')], () => false);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ name: 'a', isOpen: false, below: 3 });
});

test('a lease of several names is seen at each of them; odd slashes do no harm', () => {
  expect(drawn(treeRows([lease(['a/1', 'b/2'])], all))).toEqual(['a/1 (ann)', 'b/2 (ann)']);
  expect(treeRows([lease('/x'), lease('a//b'), lease('a/'), lease('')], all).length).toBeGreaterThan(0);
});

test('ten thousand names are laid out in a moment, however deep one of them is', () => {
  const many = Array.from({ length: 10_000 }, (_, n) => lease(`area-${n % 50}/team-${n % 7}/job-${n}`));
  const deep = lease(Array.from({ length: 200 }, () => 'd').join('/'));
  const rows = treeRows([...many, deep, lease('d/d', { scope: 'subtree' })], all);
  expect(rows.filter(({ record }) => record)).toHaveLength(10_002);
});
