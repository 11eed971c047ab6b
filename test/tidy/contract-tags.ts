// Every rule of docs/contract.md has a tag (`- **S1 …`), and every rule that is built has a test that names the tag.
// `(later)` right after the tag marks a rule that is not built yet.

import { stringsOf } from './syntax.js';
import { type SourceTree } from './tree.js';

interface ContractTags {
  readonly built: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
}

const tagWord = /(?<![\w-])[A-Z]\d{1,2}(?![\w-])/g;

/** The tags of the contract. */
export function tagsOf(contract: string): ContractTags {
  const built = new Set<string>();
  const later = new Set<string>();
  for (const [, tag, rest] of contract.matchAll(/^- \*\*([A-Z]\d{1,2})\b(.*)$/gm)) {
    if (tag !== undefined) (/^[.:*]*\s*\(later\)/.test(rest ?? '') ? later : built).add(tag);
  }
  return { built, later };
}

/** Rules that no test names, and tags in tests that the contract does not have. */
export function tagProblems(contract: string, tests: SourceTree): string[] {
  const { built, later } = tagsOf(contract);
  if (built.size === 0) return ['docs/contract.md: no rules found'];
  const letters = new Set([...built, ...later].map((tag) => tag.charAt(0)));
  const named = new Set<string>();
  const complaints: string[] = [];
  for (const [path, source] of tests) {
    const words = new Set(stringsOf(path, source).flatMap((text) => text.match(tagWord) ?? []));
    for (const tag of words) {
      named.add(tag);
      // A letter the contract never uses is a name of something else, such as a resource called A1.
      const unknown = letters.has(tag.charAt(0)) && !built.has(tag) && !later.has(tag);
      if (unknown) complaints.push(`${path}: names ${tag}, which docs/contract.md does not have`);
    }
  }
  for (const tag of built) if (!named.has(tag)) complaints.push(`${tag}: built, but no test names it`);
  return complaints;
}

/** The files whose strings count as tests: tests beside the source, the conformance suite, test/ without these checks. */
export function testsIn(files: SourceTree): SourceTree {
  return new Map(
    [...files]
      .filter(([path]) => path.endsWith('.test.ts') || path.startsWith('src/testing/') || path.startsWith('test/'))
      .filter(([path]) => !path.startsWith('test/tidy/')),
  );
}
