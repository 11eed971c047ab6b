// What the package shows the world: package.json's exports against the source tree, and nothing invented: no author, no
// address, no instruction to install what nobody has published.

import { type SourceTree } from './tree.js';

const inventedFields = ['author', 'contributors', 'maintainers', 'repository', 'homepage', 'bugs', 'funding'];

/** Exports without a source file, in the wrong order of conditions, and index files that are not exported. */
export function exportProblems(manifest: Readonly<Record<string, unknown>>, files: SourceTree): string[] {
  const complaints: string[] = [];
  const exported = new Set<string>();
  for (const [subpath, target] of Object.entries(asRecord(manifest['exports']))) {
    if (subpath === './package.json') continue;
    const conditions = asRecord(target);
    const code = typeof conditions['default'] === 'string' ? conditions['default'] : '';
    const source = code.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts');
    exported.add(source);
    if (!files.has(source)) complaints.push(`exports["${subpath}"]: no source file ${source}`);
    if (Object.keys(conditions)[0] !== 'types') complaints.push(`exports["${subpath}"]: types must come first`);
    if (conditions['types'] !== code.replace(/\.js$/, '.d.ts')) {
      complaints.push(`exports["${subpath}"]: types do not stand beside the code`);
    }
  }
  for (const path of files.keys()) {
    if (path.endsWith('/index.ts') && !isOpen(path, exported)) complaints.push(`${path}: an index nobody can import`);
  }
  return complaints;
}

/** Fields that would name a person or a place that does not exist. */
export function inventedIn(manifest: Readonly<Record<string, unknown>>): string[] {
  return inventedFields.filter((field) => field in manifest);
}

/** Lines that tell the reader to install the package from a registry. */
export function registryInstalls(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /\b(npm|pnpm|yarn|bun)\s+(install|i|add)\s+(-\S+\s+)*holdfast(@\S+)?(?![\w./-])/.test(line));
}

/** Exported itself, or an inner index of a folder that is (src/ itself does not count as such a folder). */
function isOpen(path: string, exported: ReadonlySet<string>): boolean {
  if (exported.has(path)) return true;
  return [...exported].some(
    (entry) =>
      entry !== 'src/index.ts' && entry.endsWith('/index.ts') && path.startsWith(entry.slice(0, -'index.ts'.length)),
  );
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
