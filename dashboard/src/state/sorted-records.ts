// The records of one status in order, told again and again from a map that changes a little each time: what was in order stays
// in order, only what is new is sorted and merged in. Sorting ten thousand names anew several times a second would be felt.
import type { LeaseRecord } from '../api/types.js';

export type KeyOf = (record: LeaseRecord) => string;

export class SortedRecords {
  readonly #status: LeaseRecord['status'];
  readonly #keyOf: KeyOf;
  #sorted: readonly LeaseRecord[] = [];

  /** By the text of a key, and by id where that is the same. */
  constructor(status: LeaseRecord['status'], keyOf: KeyOf) {
    this.#status = status;
    this.#keyOf = keyOf;
  }

  /** A new list; the same records in the same order answer the list from before. */
  update(records: ReadonlyMap<string, LeaseRecord>): readonly LeaseRecord[] {
    const kept: LeaseRecord[] = [];
    const keptIds = new Set<string>();
    for (const old of this.#sorted) {
      const record = records.get(old.id);
      if (record?.status !== this.#status || this.#keyOf(record) !== this.#keyOf(old)) continue;
      kept.push(record);
      keptIds.add(record.id);
    }
    const fresh: LeaseRecord[] = [];
    for (const record of records.values()) {
      if (record.status === this.#status && !keptIds.has(record.id)) fresh.push(record);
    }
    if (fresh.length === 0 && kept.length === this.#sorted.length && kept.every((one, at) => one === this.#sorted[at]))
      return this.#sorted;
    this.#sorted = this.#merge(kept, fresh.sort(this.#compare));
    return this.#sorted;
  }

  #merge(kept: readonly LeaseRecord[], fresh: readonly LeaseRecord[]): LeaseRecord[] {
    const merged: LeaseRecord[] = [];
    let at = 0;
    for (const record of kept) {
      for (let next = fresh[at]; next && this.#compare(next, record) < 0; next = fresh[at]) {
        merged.push(next);
        at += 1;
      }
      merged.push(record);
    }
    return at < fresh.length ? merged.concat(fresh.slice(at)) : merged;
  }

  readonly #compare = (a: LeaseRecord, b: LeaseRecord): number => {
    const left = this.#keyOf(a);
    const right = this.#keyOf(b);
    if (left !== right) return left < right ? -1 : 1;
    return a.id < b.id ? -1 : 1;
  };
}
