// The repository names no machine; and the check can fail.

import { expect, test } from 'vitest';
import { machinePaths } from './machine-paths.js';
import { readRepository } from './tree.js';

const check = (text: string) => machinePaths(new Map([['a.md', text]]));

test('no file that is or could be committed names a machine, a folder outside, or a registry', () => {
  const files = readRepository();
  expect(files.size).toBeGreaterThan(10);
  expect(machinePaths(files)).toEqual([]);
});

test('the check finds each of them', () => {
  expect(check(['see ', 'work', 'main'].join('/'))).toHaveLength(1);
  expect(check(['"', 'root', 'x"'].join('/'))).toHaveLength(1);
  expect(check(['', 'home', 'someone', 'x'].join('/'))).toHaveLength(1);
  expect(check(['see ..', 'shared', 'x.md'].join('/'))).toHaveLength(1);
  expect(check(['https://registry', 'npmjs', 'org/x'].join('.'))).toHaveLength(1);
  expect(check(['https://registry', 'yarnpkg', 'com/x'].join('.'))).toHaveLength(1);
});

test('the check leaves other paths and binary files alone', () => {
  expect(check('jobs/work/1 and ./work/x and docs/home/x and a/root/b')).toEqual([]);
  expect(check(`\0${['', 'work', ''].join('/')}`)).toEqual([]);
});
