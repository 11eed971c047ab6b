// The names of plain leases this store was granted itself, so that a release can be locked without looking its name up first
// (schema/releasing.ts). Only a hint, and bounded: what is not remembered is looked up, and what is not true is not found.
import { Recent } from '../../domain/recent.js';
import type { EndRequest } from '../../domain/requests.js';
import type { AcquireResult, Failed } from '../store.js';
import type { CheckedAcquire } from './encode-acquire.js';

/** As many as are held for a moment at the same time. */
const MOST = 10_000;

export class OwnNames {
  readonly #names = new Recent<string>(MOST);

  /** What was granted of a list of plain requests. */
  remember(items: readonly CheckedAcquire[], results: readonly (AcquireResult | Failed)[]): void {
    for (let i = 0; i < items.length; i += 1) {
      const { id, parts } = (items[i] as CheckedAcquire).request;
      if (results[i]?.outcome === 'granted') this.#names.set(id, parts[0]?.name as string);
    }
  }

  /** Of a list that is about to be ended, each another one; remembered no longer. Undefined unless all of them are known. */
  take(items: readonly EndRequest[]): string[] | undefined {
    const names: string[] = [];
    for (const { id } of items) {
      const name = this.#names.take(id);
      if (name !== undefined) names.push(name);
    }
    return names.length > 0 && names.length === items.length ? names : undefined;
  }
}
