// What of all leases and tickets somebody wants to see, as the address says it: ?prefix=orders/&owner=worker&status=waiting.
import type { LeaseRecord } from '../../api/types.js';

export type Status = 'held' | 'waiting' | 'all';

export interface Wanted {
  /** Names that begin like this, letter by letter: it is being typed. */
  readonly prefix: string;
  /** Anywhere in the owner, whatever the case. */
  readonly owner: string;
  readonly status: Status;
}

interface Asked {
  readonly prefix?: string;
  readonly owner?: string;
  readonly status?: string;
  readonly as?: string;
}

/** What is below a lease of a subtree mostly waits for it: a tree without those who wait would show nothing there. */
export function usualStatus({ as }: Asked): Status {
  return as === 'tree' ? 'all' : 'held';
}

export function wantedOf(query: Asked): Wanted {
  const { prefix = '', owner = '', status } = query;
  const isKnown = status === 'held' || status === 'waiting' || status === 'all';
  return { prefix, owner, status: isKnown ? status : usualStatus(query) };
}

export function isFiltered({ prefix, owner }: Wanted): boolean {
  return prefix !== '' || owner !== '';
}

export function matching(records: readonly LeaseRecord[], { prefix, owner }: Wanted): readonly LeaseRecord[] {
  if (prefix === '' && owner === '') return records;
  const wantedOwner = owner.toLowerCase();
  return records.filter(
    (record) =>
      (prefix === '' || record.parts.some(({ name }) => name.startsWith(prefix))) &&
      (owner === '' || record.owner.toLowerCase().includes(wantedOwner)),
  );
}
