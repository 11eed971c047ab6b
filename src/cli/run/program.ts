// Can this command be started at all? Asked before the lease is, so that a slip of the pen takes nothing from anybody.
// 127 is the shell's code for what is not there, 126 for what is there and is no program.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandError } from '../exit-codes.js';

const NOT_FOUND = 127;
const NO_PROGRAM = 126;

/** The command's words as they are handed to `exec`, or a CommandError that says why they cannot be. */
export function checkProgram(command: readonly string[], path: string | undefined): readonly string[] {
  const [name = '', ...args] = command;
  if (name === '') throw new CommandError(NOT_FOUND, 'the command after -- is empty: name a program');
  const isPath = name.includes('/');
  const places = isPath
    ? [name]
    : (path ?? '/usr/bin:/bin').split(delimiter).map((folder) => join(folder || '.', name));
  const found = places.filter((place) => kindOf(place) !== 'nothing' && (isPath || kindOf(place) !== 'folder'));
  const program = found.find((place) => kindOf(place) === 'program');
  // A name that begins with a dash would be an option of the shell's exec.
  if (program !== undefined) return [name.startsWith('-') ? program : name, ...args];
  if (found[0] === undefined) {
    const where = isPath ? 'there is no such file' : 'no such program in PATH';
    throw new CommandError(NOT_FOUND, `${name} cannot be started: ${where}`);
  }
  const why = kindOf(found[0]) === 'folder' ? 'it is a folder' : 'it may not be executed (chmod +x makes it a program)';
  throw new CommandError(NO_PROGRAM, `${found[0]} is no program: ${why}`);
}

function kindOf(place: string): 'program' | 'file' | 'folder' | 'nothing' {
  try {
    if (statSync(place).isDirectory()) return 'folder';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'file' : 'nothing';
  }
  try {
    accessSync(place, constants.X_OK);
    return 'program';
  } catch {
    return 'file';
  }
}
