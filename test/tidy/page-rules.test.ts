// Holds dashboard/ against its rules; and each check can fail.

import { expect, test } from 'vitest';
import { badNames, tooLong, withoutOpening } from './file-shape.js';
import { brokenPagePromises, forbiddenPageImports } from './page-rules.js';
import { readTree } from './tree.js';

const page = readTree('dashboard/src', ['.ts', '.tsx']);
const one = (source: string, path = 'dashboard/src/views/now/now.tsx') => new Map([[path, source]]);

test('the page takes types of schemas from the server, and nothing else', () => {
  expect(page.size).toBeGreaterThan(20);
  expect(forbiddenPageImports(page)).toEqual([]);
});

test('the import check tells types from code', () => {
  const schema = '../../../../src/server/schemas/common.js';
  expect(
    forbiddenPageImports(one(`import type { a } from '${schema}';\nimport { b } from '../../ui/name.js';`)),
  ).toEqual([]);
  expect(forbiddenPageImports(one(`import { a } from '${schema}';`))).toHaveLength(1);
  expect(forbiddenPageImports(one(`import type { a } from '../../../../src/domain/lease.js';`))).toHaveLength(1);
  expect(forbiddenPageImports(one(`import { z } from '@hono/zod-openapi';`))).toHaveLength(1);
  expect(forbiddenPageImports(one(`import 'react';`))).toHaveLength(1);
});

test('the page keeps its promises', () => {
  expect(brokenPagePromises(page)).toEqual([]);
});

test('the check of promises finds each of them', () => {
  expect(brokenPagePromises(one('Date.now();'))).toHaveLength(1);
  expect(brokenPagePromises(one('new Date();'))).toHaveLength(1);
  expect(brokenPagePromises(one('new Date(5);'))).toEqual([]);
  expect(brokenPagePromises(one('a.innerHTML = b;'))).toHaveLength(1);
  expect(brokenPagePromises(one('const a = <p dangerouslySetInnerHTML={b} />;'))).toHaveLength(1);
  expect(brokenPagePromises(one('localStorage.x;'))).toHaveLength(1);
  expect(brokenPagePromises(one('localStorage.x;', 'dashboard/src/ui/theme.ts'))).toEqual([]);
});

test('its files are short, open with a comment and are named in kebab-case', () => {
  expect(tooLong(page)).toEqual([]);
  expect(withoutOpening(page)).toEqual([]);
  expect(badNames(readTree('dashboard/src', ['.ts', '.tsx', '.css']).keys())).toEqual([]);
});
