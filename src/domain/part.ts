// Parts: one resource of a lease with its scope and mode. `normaliseParts` is the only way in; what it returns is
// sorted by name, folded (S10) and safe to store.
import { checkKeys } from './check-keys.js';
import { invalid, shown } from './errors.js';
import { LIMITS } from './limits.js';
import { checkName, compareNames, isAbove } from './resource-name.js';

export type Mode = 'exclusive' | 'shared';
export type Scope = 'node' | 'subtree';

export interface Part {
  readonly name: string;
  readonly scope: Scope;
  readonly mode: Mode;
  readonly limit?: number;
}

/** What a caller may write: a name, or a part with defaults left out. */
export interface PartInput {
  readonly name: string;
  readonly scope?: Scope;
  readonly mode?: Mode;
  readonly limit?: number;
}
export type Resources = string | PartInput | readonly (string | PartInput)[];
export type PartDefaults = Omit<PartInput, 'name'>;

const KNOWN: ReadonlySet<string> = new Set<keyof PartInput>(['name', 'scope', 'mode', 'limit']);

export function normaliseParts(resources: Resources, defaults: PartDefaults = {}): Part[] {
  const inputs: readonly (string | PartInput)[] = isList(resources) ? resources : [resources];
  if (inputs.length === 0) throw invalid('name at least one resource');
  if (inputs.length > LIMITS.partsPerLease * 16) throw tooManyParts(inputs.length);
  const parts = inputs.map((input) => normalisePart(input, defaults));
  if (parts.length === 1) return parts;
  parts.sort((a, b) => compareNames(a.name, b.name));
  const folded = foldEqual(parts);
  if (folded.length > LIMITS.partsPerLease) throw tooManyParts(folded.length);
  refuseNested(folded);
  return folded;
}

function isList(resources: Resources): resources is readonly (string | PartInput)[] {
  return Array.isArray(resources);
}

function tooManyParts(count: number): Error {
  return invalid(`a lease has at most ${LIMITS.partsPerLease} parts, got ${count}: lease a subtree instead`);
}

function normalisePart(input: string | PartInput, defaults: PartDefaults): Part {
  const given: Partial<PartInput> = typeof input === 'string' ? { name: input } : input;
  if (typeof given !== 'object' || given === null) throw invalid('a resource is a name or an object with a name');
  const name = checkName(given.name);
  if (given === input) checkKeys(given, KNOWN, 'of a resource');
  const scope = given.scope ?? defaults.scope ?? 'node';
  const mode = given.mode ?? defaults.mode ?? 'exclusive';
  const limit = given.limit ?? (mode === 'shared' ? defaults.limit : undefined);
  if (scope !== 'node' && scope !== 'subtree') throw invalid(`scope is 'node' or 'subtree', got ${shown(scope)}`);
  if (mode !== 'exclusive' && mode !== 'shared') throw invalid(`mode is 'exclusive' or 'shared', got ${shown(mode)}`);
  if (limit === undefined) return { name, scope, mode };
  if (mode === 'exclusive') throw invalid(`limit needs mode 'shared': an exclusive part of ${name} has one holder`);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.sharedLimit) {
    throw invalid(`limit is a whole number from 1 to ${LIMITS.sharedLimit}, got ${shown(limit)}`);
  }
  return { name, scope, mode, limit };
}

function foldEqual(sorted: readonly Part[]): Part[] {
  const folded: Part[] = [];
  for (const part of sorted) {
    const last = folded.at(-1);
    if (last?.name !== part.name) {
      folded.push(part);
      continue;
    }
    if (!samePart(last, part)) throw invalid(`${part.name} is named twice with different mode, scope or limit`);
  }
  return folded;
}

/** Sorted input: whatever is below a subtree follows it, though names such as `a-b` may lie between `a` and `a/b`. */
function refuseNested(sorted: readonly Part[]): void {
  const subtrees = sorted.filter((part) => part.scope === 'subtree');
  for (const part of sorted) {
    const over = subtrees.find((subtree) => isAbove(subtree.name, part.name));
    if (over) throw invalid(`${part.name} lies below the subtree ${over.name} of the same request: drop it`);
  }
}

/** What a store keeps and what it hands out are never the same object: nobody changes a record from outside. */
export function copyPart({ name, scope, mode, limit }: Part): Part {
  return limit === undefined ? { name, scope, mode } : { name, scope, mode, limit };
}

export function samePart(a: Part, b: Part): boolean {
  return a.name === b.name && a.scope === b.scope && a.mode === b.mode && a.limit === b.limit;
}

export function sameParts(a: readonly Part[], b: readonly Part[]): boolean {
  return a.length === b.length && a.every((part, i) => samePart(part, b[i] as Part));
}

/** The form nearly every lease has; stores keep it without spelling it out. */
export function isPlain(parts: readonly Part[]): boolean {
  const only = parts[0];
  return parts.length === 1 && only?.mode === 'exclusive' && only.scope === 'node';
}

export function asExclusive(parts: readonly Part[]): Part[] {
  return parts.map(({ name, scope }) => ({ name, scope, mode: 'exclusive' }));
}

/** Q5: a downgraded part is shared without a limit of its own; the limits other holders give still bind it. */
export function asShared(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.mode === 'shared' ? part : { name: part.name, scope: part.scope, mode: 'shared' }));
}
