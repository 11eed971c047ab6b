// The conflict rule of S1, in one place. Two parts conflict if their names overlap and one is exclusive; shared parts
// on one name fit while there are no more of them than the smallest limit any of them gave.
import type { Part } from './part.js';
import { isAbove } from './resource-name.js';

export function overlaps(a: Part, b: Part): boolean {
  if (a.name === b.name) return true;
  if (a.scope === 'subtree' && isAbove(a.name, b.name)) return true;
  return b.scope === 'subtree' && isAbove(b.name, a.name);
}

export function conflicts(a: Part, b: Part): boolean {
  return (a.mode === 'exclusive' || b.mode === 'exclusive') && overlaps(a, b);
}

export function anyOverlap(a: readonly Part[], b: readonly Part[]): boolean {
  return a.some((x) => b.some((y) => overlaps(x, y)));
}

/** Something that stands on resources: a live lease, a block, or a ticket counted as if granted. */
export interface Standing {
  readonly parts: readonly Part[];
}

export interface InTheWay<S extends Standing> {
  /** Those that conflict outright. */
  readonly direct: S[];
  /** Those that fill up a limit: shared holders of a name that has no room for one more. */
  readonly byLimit: S[];
}

/** What keeps `parts` from being granted beside `standing`. Both lists empty means: it fits. */
export function inTheWay<S extends Standing>(parts: readonly Part[], standing: readonly S[]): InTheWay<S> {
  if (standing.length === 0) return { direct: [], byLimit: [] };
  const direct = standing.filter((other) => parts.some((part) => other.parts.some((its) => conflicts(part, its))));
  const byLimit = new Set<S>();
  for (const part of parts) {
    if (part.mode !== 'shared') continue;
    for (const holder of fullHolders(part, standing)) byLimit.add(holder);
  }
  return { direct, byLimit: [...byLimit].filter((holder) => !direct.includes(holder)) };
}

export function fits<S extends Standing>(parts: readonly Part[], standing: readonly S[]): boolean {
  const { direct, byLimit } = inTheWay(parts, standing);
  return direct.length === 0 && byLimit.length === 0;
}

function fullHolders<S extends Standing>(part: Part, standing: readonly S[]): S[] {
  let smallest = part.limit ?? Infinity;
  const holders: S[] = [];
  for (const other of standing) {
    const same = other.parts.find((its) => its.name === part.name && its.mode === 'shared');
    if (!same) continue;
    holders.push(other);
    smallest = Math.min(smallest, same.limit ?? Infinity);
  }
  return holders.length + 1 > smallest ? holders : [];
}
