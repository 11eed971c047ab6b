// Nothing in the repository may name the machine it was written on. Written as patterns, the needles do not match
// themselves, so this file needs no exception.

import { type SourceTree } from './tree.js';

const needles: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a path of one machine', /(?<![\w.~-])\/(work|root|home\/\w+)\//],
  ['a folder outside the repository', /\.\.\/shared\b/],
  ['the host of a package registry', /registry\.(npmjs|yarnpkg)/],
];

/** Sentences, one for each line that names a machine. */
export function machinePaths(files: SourceTree): string[] {
  const complaints: string[] = [];
  for (const [path, text] of files) {
    if (text.includes('\0')) continue; // not text
    for (const [index, line] of text.split('\n').entries()) {
      for (const [what, pattern] of needles) {
        if (pattern.test(line)) complaints.push(`${path}:${index + 1}: ${what}`);
      }
    }
  }
  return complaints;
}
