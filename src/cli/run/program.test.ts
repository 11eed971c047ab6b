// What is a program, what is none, and what is not there, before a lease is asked for.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { checkProgram } from './program.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const at = (name: string): string => join(folder.path, name);
mkdirSync(at('one'));
mkdirSync(at('two'));
mkdirSync(at('one/folder'));
for (const name of ['one/plain', 'two/tool', 'two/-dash']) writeFileSync(at(name), '#!/bin/sh\n');
for (const name of ['two/tool', 'two/-dash']) chmodSync(at(name), 0o755);
const path = `${at('one')}:${at('two')}`;

test('a program in PATH or by its path is handed on as it was typed', () => {
  expect(checkProgram(['tool', '-x', ''], path)).toEqual(['tool', '-x', '']);
  expect(checkProgram([at('two/tool')], '')).toEqual([at('two/tool')]);
  expect(checkProgram(['sh'], undefined)).toEqual(['sh']);
});

test('one whose name is an option of exec is named by its path', () => {
  expect(checkProgram(['-dash', '-y'], path)).toEqual([at('two/-dash'), '-y']);
});

test.each([
  [127, 'no-such', /no such program in PATH/],
  [127, './no-such', /there is no such file/],
  [127, 'folder', /no such program in PATH/],
  [127, '', /is empty: name a program/],
  [126, 'plain', /one\/plain is no program: it may not be executed/],
  [126, '/', /is no program: it is a folder/],
])('C2: %i for %j', (exitCode, name, message) => {
  expect(() => checkProgram([name], path)).toThrow(
    expect.objectContaining({ exitCode, message: expect.stringMatching(message) as string }),
  );
});
