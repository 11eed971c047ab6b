// The outer shape of a source file: its length, its opening comment, its name; and index.ts, which only re-exports.

import ts from 'typescript';
import { type SourceTree } from './tree.js';

const maxLines = 300;
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Files that are too long: time to split them. */
export function tooLong(files: SourceTree): string[] {
  return [...files]
    .map(([path, source]) => ({ path, lines: source.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ path, lines }) => `${path}: ${lines} lines, at most ${maxLines}`);
}

/** Files that do not open with a comment saying what they are for (after `#!`, where there is one). */
export function withoutOpening(files: SourceTree): string[] {
  return [...files]
    .filter(([, source]) => !/^(#!.*\n)?(\/\/ ?\S|\/\*\*)/.test(source))
    .map(([path]) => `${path}: the first line is no comment that says what the file is for`);
}

/** Paths with a file or folder name that is not kebab-case; `.test` before the ending is fine. */
export function badNames(paths: Iterable<string>): string[] {
  return [...paths]
    .filter((path) => {
      const folders = path.split('/');
      const file = (folders.pop() ?? '').replace(/\.[a-z]+$/, '').replace(/\.test$/, '');
      return ![...folders, file].every((name) => kebabCase.test(name));
    })
    .map((path) => `${path}: not kebab-case`);
}

/** What src/index.ts holds besides re-exports. */
export function moreThanReexports(path: string, source: string): string[] {
  return ts
    .createSourceFile(path, source, ts.ScriptTarget.Latest, true)
    .statements.filter((statement) => !(ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined))
    .map((statement) => `${path}: not a re-export: ${statement.getText().slice(0, 60)}`);
}
