// What a path means on disk: every symlink followed, as the kernel would, also one whose target is not there yet. From
// the first thing that does not exist on, the path is taken by its text: it counts by its nearest existing parent.
//
// Only `readlink` is asked, so a path is never opened and a file that cannot be read can still be leased. The answer is
// true at the moment it was looked up and no longer: whoever moves things or turns links holds the folder they are in.
// Not recognised as one file: hard links, bind mounts, and spellings in upper and lower case where the disk ignores it.
import { readlink, realpath, stat } from 'node:fs/promises';
import { invalid, LeaseError, shown } from '../domain/errors.js';

/** As many as Linux follows in one path. */
const MAX_LINKS = 40;

/** Where relative roots begin, as of now: a later change of the working directory moves no root. */
export function absoluteRoot(root: unknown): string {
  const text = checkPath(root, 'root');
  if (text.startsWith('/')) return text;
  try {
    return `${process.cwd()}/${text}`;
  } catch (cause) {
    throw unusable(`the working directory is gone: give the root ${shown(text)} as an absolute path`, cause);
  }
}

/** The segments of the root's real path. Asked again at each use: a root may vanish. */
export async function resolveRoot(root: string): Promise<string[]> {
  let real: string;
  try {
    real = await realpath(root);
    if (!(await stat(real)).isDirectory()) {
      throw invalid(`the root ${shown(root)} is a file: give the folder it is in`);
    }
  } catch (error) {
    if (error instanceof LeaseError) throw error;
    throw unusable(rootTrouble(root, codeOf(error)), error);
  }
  return checkReadable(segmentsOf(real), root);
}

/** The segments of the path below the root; none for the root itself. A relative path begins at the root. */
export async function resolvePath(root: readonly string[], path: unknown): Promise<string[]> {
  const text = checkPath(path, 'path');
  const real = await follow(root, text);
  if (!root.every((segment, i) => real[i] === segment)) {
    const where = `/${real.join('/')}`;
    throw invalid(`${shown(text)} lies outside the root ${shown(`/${root.join('/')}`)}: it is ${shown(where)}`, {
      path: text,
      real: where,
    });
  }
  return checkReadable(real.slice(root.length), text);
}

export async function isFolder(root: readonly string[], path: readonly string[]): Promise<boolean> {
  const found = await stat(`/${[...root, ...path].join('/')}`).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

async function follow(root: readonly string[], path: string): Promise<string[]> {
  const ahead = path.split('/').reverse();
  let real = path.startsWith('/') ? [] : [...root];
  let missing = 0; // how many of the last segments do not exist
  let links = 0;
  for (let step = ahead.pop(); step !== undefined; step = ahead.pop()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      real.pop();
      missing = Math.max(0, missing - 1);
      continue;
    }
    real.push(step);
    const found = missing > 0 ? MISSING : await look(real, path);
    if (found === MISSING) missing += 1;
    if (typeof found !== 'string') continue;
    links += 1;
    if (links > MAX_LINKS) throw invalid(loop(path));
    if (found.startsWith('/')) real = [];
    else real.pop();
    ahead.push(...found.split('/').reverse());
  }
  return real;
}

const MISSING = Symbol('missing');

/** Where a link leads; nothing for anything else that is there. */
async function look(at: readonly string[], path: string): Promise<string | typeof MISSING | undefined> {
  try {
    return await readlink(`/${at.join('/')}`);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EINVAL') return undefined;
    if (code === 'ENOENT') return MISSING;
    throw unusable(pathTrouble(at, path, code), error);
  }
}

function checkPath(path: unknown, what: string): string {
  if (typeof path !== 'string') throw invalid(`a ${what} is a text, got ${shown(path)}`);
  if (path === '') throw invalid(`a ${what} must not be empty: '.' is the folder itself`);
  if (path.includes('\0')) throw invalid(`the ${what} ${shown(path)} holds a zero character: no file has such a name`);
  if (!path.isWellFormed()) throw invalid(`the ${what} ${shown(path)} is not valid Unicode: no file has such a name`);
  return path;
}

/** Bytes that are no UTF-8 are read as U+FFFD, all alike: two files would be one resource. */
function checkReadable(segments: string[], path: string): string[] {
  const bad = segments.find((segment) => segment.includes('\ufffd'));
  if (bad === undefined) return segments;
  throw invalid(
    `${shown(path)} has a name that is not valid UTF-8 (${shown(bad)}): rename it, or lease a folder above`,
  );
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function rootTrouble(root: string, code: string): string {
  if (code === 'ENOENT') return `the root ${shown(root)} is not there: make the folder, or give another root`;
  if (code === 'ENOTDIR') return `the root ${shown(root)} leads through a file: give a folder`;
  return code === 'ELOOP' ? loop(root) : `the root ${shown(root)} cannot be looked up (${code})`;
}

function pathTrouble(at: readonly string[], path: string, code: string): string {
  const above = shown(`/${at.slice(0, -1).join('/')}`);
  if (code === 'ENOTDIR') return `${shown(path)} leads through ${above}, which is a file: lease that instead`;
  if (code === 'EACCES') return `${shown(path)} cannot be looked up: ${above} may not be searched by this user`;
  return code === 'ELOOP' ? loop(path) : `${shown(path)} cannot be looked up (${code})`;
}

function loop(path: string): string {
  return `${shown(path)} goes round in a loop of symlinks, or through more than ${MAX_LINKS}: repair the link`;
}

function unusable(message: string, cause: unknown): LeaseError {
  return new LeaseError('INVALID_ARGUMENT', message, { cause });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
