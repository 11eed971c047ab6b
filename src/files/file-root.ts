// One root and what paths below it are called. Every path is leased as a subtree: a folder with all that is in it, a
// file with its sections, and what does not exist yet as either, because nobody knows which it will be.
//
// The root is looked up at each use, so the answer is as fresh as the question. Equal paths, and paths and sections
// below another path of the same call, are dropped: the one above covers them.
import { checkKeys } from '../domain/check-keys.js';
import { invalid, shown } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { PartInput } from '../domain/part.js';
import { checkName, namesAbove } from '../domain/resource-name.js';
import { baseOfName, baseOfPath, nameOf, sectionOf } from './file-name.js';
import { absoluteRoot, isFolder, resolvePath, resolveRoot } from './resolve-path.js';

/** A path, a part that `section()` made, or a list of them. */
export type Paths = string | PartInput | readonly (string | PartInput)[];

export interface FileRootOptions {
  /** What the root is called in resource names: the same in each checkout that shall agree. */
  readonly name?: string;
}

/** What was asked for, and the name of the root it was resolved against. */
export interface FileParts {
  readonly base: string;
  readonly parts: readonly PartInput[];
}

const KNOWN: ReadonlySet<string> = new Set<keyof FileRootOptions>(['name']);
/** Before folding; as many as `normaliseParts` takes. */
const MAX_PATHS = LIMITS.partsPerLease * 16;

export class FileRoot {
  readonly #root: string;
  readonly #base: string | undefined;

  constructor(root: string, options: FileRootOptions = {}) {
    checkKeys(options, KNOWN, 'of files');
    const { name } = options;
    this.#root = absoluteRoot(root);
    this.#base = name === undefined ? undefined : baseOfName(name);
  }

  async base(): Promise<string> {
    return this.#baseAt(await resolveRoot(this.#root));
  }

  async parts(paths: Paths): Promise<FileParts> {
    const wanted = listOf(paths);
    const root = await resolveRoot(this.#root);
    const base = this.#baseAt(root);
    const parts: PartInput[] = [];
    for (const one of wanted) {
      if (typeof one === 'string') parts.push({ name: nameOf(base, await resolvePath(root, one)), scope: 'subtree' });
      else parts.push(checkPart(one));
    }
    return { base, parts: fold(parts) };
  }

  async name(path: string): Promise<string> {
    const root = await resolveRoot(this.#root);
    return nameOf(this.#baseAt(root), await resolvePath(root, path));
  }

  async section(path: string, section: string): Promise<PartInput> {
    const root = await resolveRoot(this.#root);
    const real = await resolvePath(root, path);
    if (await isFolder(root, real)) throw invalid(`${shown(path)} is a folder: only files have sections`);
    return { name: sectionOf(nameOf(this.#baseAt(root), real), section), scope: 'node' };
  }

  #baseAt(root: readonly string[]): string {
    return this.#base ?? baseOfPath(root);
  }
}

function listOf(paths: Paths): readonly (string | PartInput)[] {
  const wanted: readonly (string | PartInput)[] = Array.isArray(paths) ? paths : [paths as string | PartInput];
  if (wanted.length === 0) throw invalid('name at least one path');
  if (wanted.length <= MAX_PATHS) return wanted;
  throw invalid(`at most ${MAX_PATHS} paths in one call, got ${wanted.length}: lease a folder above them instead`);
}

function checkPart(part: PartInput): PartInput {
  if (typeof part === 'object' && part !== null) return { ...part, name: checkName(part.name) };
  throw invalid(`a path is a text, or what section() answered, got ${shown(part)}`);
}

function fold(parts: readonly PartInput[]): PartInput[] {
  const byName = new Map<string, PartInput>();
  for (const part of parts) {
    const same = byName.get(part.name);
    if (same && !isAlike(same, part)) return [...parts]; // a contradiction: the request is refused with its reason
    byName.set(part.name, part);
  }
  const isCovered = (part: PartInput): boolean =>
    namesAbove(part.name).some((above) => {
      const upper = byName.get(above);
      return upper?.scope === 'subtree' && upper.mode === part.mode && upper.limit === part.limit;
    });
  return [...byName.values()].filter((part) => !isCovered(part));
}

function isAlike(a: PartInput, b: PartInput): boolean {
  return a.scope === b.scope && a.mode === b.mode && a.limit === b.limit;
}
