// Length, opening comment and name of every source file; and each check can fail.

import { expect, test } from 'vitest';
import { badNames, moreThanReexports, tooLong, withoutOpening } from './file-shape.js';
import { readText, readTree } from './tree.js';

const one = (source: string) => new Map([['src/a.ts', source]]);

test('no source file is over 300 lines', () => {
  expect(tooLong(readTree('src'))).toEqual([]);
});

test('the length check counts lines, not line ends', () => {
  expect(tooLong(one('x\n'.repeat(300)))).toEqual([]);
  expect(tooLong(one('x\n'.repeat(301)))).toHaveLength(1);
});

test('every source file opens with a comment', () => {
  expect(withoutOpening(readTree('src'))).toEqual([]);
});

test('the opening check tells a comment from code', () => {
  expect(withoutOpening(one('// What it is for.\n'))).toEqual([]);
  expect(withoutOpening(one('/** What it is for. */\n'))).toEqual([]);
  expect(withoutOpening(one('#!/usr/bin/env node\n// What it is for.\n'))).toEqual([]);
  expect(withoutOpening(one(`import x from 'y';\n// late\n`))).toHaveLength(1);
  expect(withoutOpening(one('//\n'))).toHaveLength(1);
  expect(withoutOpening(one(''))).toHaveLength(1);
});

test('files and folders are named in kebab-case', () => {
  const endings = ['.ts', '.mjs', '.sql'];
  expect(
    badNames(['src', 'test', 'bench', 'examples', 'scripts'].flatMap((f) => [...readTree(f, endings).keys()])),
  ).toEqual([]);
});

test('the name check knows kebab-case', () => {
  expect(badNames(['src/held-lease.ts', 'src/held-lease.test.ts', 'src/v2/schema-1.sql'])).toEqual([]);
  expect(badNames(['src/heldLease.ts', 'src/held_lease.ts', 'src/Held/lease.ts', 'src/a--b.ts'])).toHaveLength(4);
});

test('src/index.ts holds re-exports only', () => {
  expect(moreThanReexports('src/index.ts', readText('src/index.ts') ?? 'missing')).toEqual([]);
});

test('the re-export check finds anything else', () => {
  expect(moreThanReexports('i.ts', `// x\nexport * from './a.js';\nexport type { B } from './b.js';`)).toEqual([]);
  expect(moreThanReexports('i.ts', `export const a = 1;\nimport './b.js';\nexport { a as c };`)).toHaveLength(3);
});
