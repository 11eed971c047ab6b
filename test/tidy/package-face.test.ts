// package.json, its exports and the README, held against the tree; and each check can fail.

import { expect, test } from 'vitest';
import { exportProblems, inventedIn, registryInstalls } from './package-face.js';
import { readText, readTree } from './tree.js';

const manifest = JSON.parse(readText('package.json') ?? '{}') as Record<string, unknown>;
const entry = (path: string) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` });
const tree = (...paths: string[]) => new Map(paths.map((path) => [path, '']));

test('every export has its source and every index is exported', () => {
  expect(exportProblems(manifest, readTree('src'))).toEqual([]);
});

test('the export check fails on a missing source, a wrong order, misplaced types and a hidden index', () => {
  const good = { exports: { '.': entry('index'), './testing': entry('testing/index') } };
  expect(exportProblems(good, tree('src/index.ts', 'src/testing/index.ts', 'src/testing/suite/index.ts'))).toEqual([]);
  expect(exportProblems(good, tree('src/index.ts'))).toHaveLength(1);
  expect(exportProblems({ exports: { '.': entry('index') } }, tree('src/index.ts', 'src/files/index.ts'))).toHaveLength(
    1,
  );
  const reversed = { default: './dist/index.js', types: './dist/index.d.ts' };
  expect(exportProblems({ exports: { '.': reversed } }, tree('src/index.ts'))).toHaveLength(1);
  const elsewhere = { types: './types/index.d.ts', default: './dist/index.js' };
  expect(exportProblems({ exports: { '.': elsewhere } }, tree('src/index.ts'))).toHaveLength(1);
});

test('package.json names no person and no place', () => {
  expect(inventedIn(manifest)).toEqual([]);
  expect(inventedIn({ author: 'x', repository: 'y' })).toEqual(['author', 'repository']);
});

test('the README does not tell anyone to install from a registry', () => {
  expect(registryInstalls(readText('README.md') ?? '')).toEqual([]);
});

test('the README check tells a registry from a file', () => {
  expect(registryInstalls('npm install holdfast\nnpm i -D holdfast@1\nyarn add holdfast')).toHaveLength(3);
  expect(registryInstalls('npm install ./holdfast-0.1.0.tgz\nnpm install holdfast-0.1.0.tgz')).toEqual([]);
});
