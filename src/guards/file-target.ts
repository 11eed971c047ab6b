// Which file a write of fileGate means: one below the folder, whatever `..` or symbolic links on the way say.
import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { invalid, shown } from '../domain/errors.js';
import { explainFile } from './file-error.js';

export const GATE_NAME = '.holdfast-gate.db';

export function checkFolder(folder: unknown): string {
  if (typeof folder !== 'string' || folder === '') throw invalid(`fileGate takes a folder, got ${shown(folder)}`);
  try {
    if (statSync(folder).isDirectory()) return realpathSync(folder);
  } catch (cause) {
    throw invalid(`the folder ${shown(folder)} cannot be opened: create it first`, { cause: String(cause) });
  }
  throw invalid(`${shown(folder)} is no folder: name the folder the files are in`);
}

/** The real path of the target. Its parent must exist; it itself need not. */
export function targetIn(home: string, file: unknown): string {
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    throw invalid(`a file is named by its path below the folder, got ${shown(file)}`);
  }
  const named = resolve(home, file);
  let parent: string;
  try {
    parent = realpathSync(dirname(named));
  } catch {
    throw invalid(`the folder of ${shown(file)} does not exist: create it first`);
  }
  const target = join(parent, basename(named));
  const path = relative(home, target);
  if (path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) {
    throw invalid(`${shown(file)} lies outside the folder of this gate`, { folder: home });
  }
  if (basename(target).startsWith(GATE_NAME)) throw invalid(`${shown(file)} is the file of the gate itself`);
  const found = lookAt(target);
  if (found?.isDirectory()) throw invalid(`${shown(file)} is a folder: a gate writes files`);
  if (found?.isSymbolicLink()) throw invalid(`${shown(file)} is a symbolic link: name the file it leads to`);
  return target;
}

function lookAt(target: string): Stats | undefined {
  try {
    return lstatSync(target, { throwIfNoEntry: false });
  } catch (error) {
    throw explainFile(error, `looking at ${target}`, target);
  }
}
