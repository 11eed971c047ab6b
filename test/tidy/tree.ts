// Reads the working tree for the tidy checks: paths are relative to the root of the project, with forward slashes. The
// checks themselves are pure functions over such a map, so a test can hand them a tree that was never on disk.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type SourceTree = ReadonlyMap<string, string>;

const root = fileURLToPath(new URL('../..', import.meta.url));
const generated = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Every file below `folder` whose name ends in one of `endings`, with its text; an absent folder is an empty tree. */
export function readTree(folder: string, endings: readonly string[] = ['.ts']): SourceTree {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return new Map();
  return readAll(walk(folder).filter((path) => endings.some((ending) => path.endsWith(ending))));
}

/** Every file that is, or could be, committed: tracked or new, but not ignored. Without git: every file not generated. */
export function readRepository(): SourceTree {
  let paths: string[];
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    paths = listed.split('\0').filter((path) => path !== '');
  } catch {
    paths = walk('.').map((path) => path.replace(/^\.\//, ''));
  }
  return readAll(paths.filter((path) => existsSync(join(root, path))));
}

/** The text of one file, or undefined when it does not exist. */
export function readText(path: string): string | undefined {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
}

/** Test files and the helpers that only tests load. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (generated.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}

function readAll(paths: readonly string[]): SourceTree {
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
