// How many wait for what a lease holds, out of all tickets: for its very names, for anything below a subtree it holds, and for
// a subtree that lies above it.
import type { LeaseRecord } from '../api/types.js';

export class Queues {
  readonly #at = new Map<string, number>();
  readonly #below = new Map<string, number>();
  readonly #subtrees = new Map<string, number>();

  constructor(records: Iterable<LeaseRecord>) {
    for (const { status, parts } of records) {
      if (status !== 'pending') continue;
      for (const { name, scope } of parts) {
        count(this.#at, name);
        if (scope === 'subtree') count(this.#subtrees, name);
        for (const above of ancestorsOf(name)) count(this.#below, above);
      }
    }
  }

  /** Those who wait for this name itself. */
  at(name: string): number {
    return this.#at.get(name) ?? 0;
  }

  behind({ parts }: Pick<LeaseRecord, 'parts'>): number {
    let sum = 0;
    for (const { name, scope } of parts) {
      sum += this.at(name);
      if (scope === 'subtree') sum += this.#below.get(name) ?? 0;
      if (this.#subtrees.size > 0) for (const above of ancestorsOf(name)) sum += this.#subtrees.get(above) ?? 0;
    }
    return sum;
  }
}

/** `a/b/c` is below `a/b` and `a`. */
export function* ancestorsOf(name: string): Generator<string> {
  for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) yield name.slice(0, at);
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
