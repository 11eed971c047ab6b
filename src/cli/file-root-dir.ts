// Which tree is meant (C6): --root, else the nearest folder above the working directory that has a .git, else the working
// directory itself. Paths are read as every command reads them: from the working directory.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usage } from './exit-codes.js';

export function rootDirectory(given: string | undefined): string {
  const here = workingDirectory();
  if (given !== undefined) return resolve(here, given);
  for (let folder = here; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return here;
  }
}

/** Joined as text: what `..` means after a symlink is for the library to find out. */
export function fromHere(path: string): string {
  return path === '' || path.startsWith('/') ? path : `${workingDirectory()}/${path}`;
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw usage('the working directory is gone: go to one that exists');
  }
}
