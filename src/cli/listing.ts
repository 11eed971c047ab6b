// Reading what stands in the store: page by page, up to a bound, with the store's time and the queues.
import type { Filter, Holdfast, LeaseRecord } from '../index.js';
import { leaseView, queueLengths, type LeaseView } from './lease-view.js';

const PAGE = 1_000;
/** More rows than anybody reads; beyond it the command says that there are more. */
const MOST_ROWS = 10_000;

export interface Listing {
  readonly storeNow: string;
  readonly views: readonly LeaseView[];
  readonly isCut: boolean;
}

export async function listing(leases: Holdfast, filter: Filter): Promise<Listing> {
  const records: LeaseRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await leases.list({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    records.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && records.length < MOST_ROWS);
  const lengths = queueLengths(await leases.waitGraph());
  const { storeNow } = await leases.now();
  const views = records.map((record) => leaseView(record, storeNow, lengths.get(record.id) ?? 0));
  return { storeNow, views, isCut: cursor !== undefined };
}

/** The record with how many wait for it (or, for a ticket, are ahead of it). */
export function withQueue({ record, queueLength }: LeaseView): LeaseRecord & { queueLength: number } {
  return { ...record, queueLength };
}
