// One name for a file. SQLite keeps the WAL and the bell is beside the name a file was opened by: who comes by another sees
// neither, and two worlds share one file, with two holders of one epoch. Symbolic links are followed once, to the file they lead
// to; a hard link cannot be told from the file, so one that has several names is refused.
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { LeaseError } from '../../domain/errors.js';

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** Where the file is, or will be: a link may lead to one that is not made yet. What cannot be followed stays as it was
 *  written, and opening it says what is wrong. */
export function realFile(path: string): string {
  let at = path;
  try {
    for (let links = 0; links <= MOST_LINKS; links += 1) {
      at = join(realpathSync(dirname(at)), basename(at));
      if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at;
      at = resolve(dirname(at), readlinkSync(at));
    }
  } catch {
    // A folder that is missing or closed to this user.
  }
  return path;
}

export function refuseOtherNames(path: string): void {
  const names = countNames(path);
  if (names <= 1) return;
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    `${path} has ${names} names (hard links), and who opens it by another does not see what is written here: ` +
      `find them with \`find -samefile ${path}\` and remove all but one; for a copy use \`holdfast backup\``,
    { details: { path, names } },
  );
}

/** One when it is not there, or cannot be looked at: opening it says why. */
function countNames(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  } catch {
    return 1;
  }
}
