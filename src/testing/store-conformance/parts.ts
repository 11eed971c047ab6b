// Short names for the parts of a request, and a line of text for each, for titles.
import type { Part } from '../../domain/part.js';

export function node(name: string): Part {
  return { name, scope: 'node', mode: 'exclusive' };
}
export function subtree(name: string): Part {
  return { name, scope: 'subtree', mode: 'exclusive' };
}
export function shared(name: string, limit?: number): Part {
  return { name, scope: 'node', mode: 'shared', ...(limit === undefined ? {} : { limit }) };
}
export function sharedSubtree(name: string, limit?: number): Part {
  return { ...shared(name, limit), scope: 'subtree' };
}

/** `shared subtree a (limit 2)`: a part in words. */
export function inWords({ name, scope, mode, limit }: Part): string {
  return `${mode} ${scope} ${name}${limit === undefined ? '' : ` (limit ${limit})`}`;
}
