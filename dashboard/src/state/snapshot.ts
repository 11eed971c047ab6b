// The present state in pages, read at the start, after events were lost, and every half minute besides: renewals are not in the
// log unless a setting says so, and what a page missed would otherwise stay wrong for ever.
import { get } from '../api/client.js';
import type { LeasePage } from '../api/types.js';
import { isLoaded } from './connection.js';
import { book, publish } from './records.js';
import { MOST_RECORDS } from './record-book.js';

const PAGE = 1_000;

/** One at a time: whoever asks while one is read gets that one. */
let underWay: { readonly stop: AbortSignal; readonly read: Promise<void> } | undefined;

export function readSnapshot(stop: AbortSignal): Promise<void> {
  if (underWay?.stop === stop) return underWay.read;
  const mine = {
    stop,
    read: read(stop).finally(() => {
      if (underWay === mine) underWay = undefined;
    }),
  };
  underWay = mine;
  return mine.read;
}

async function read(stop: AbortSignal): Promise<void> {
  const reading = book.beginSnapshot();
  let cursor: string | undefined;
  for (let taken = 0; taken < MOST_RECORDS; taken += PAGE) {
    const page = await get<LeasePage>('/v1/leases', { limit: PAGE, cursor }, stop);
    stop.throwIfAborted();
    reading.add(page.items);
    publish();
    ({ cursor } = page);
    if (cursor === undefined) break;
  }
  // With more than fit there is no telling what is gone: what ends is told by events then.
  if (cursor === undefined) reading.finish();
  isLoaded.value = true;
  publish();
}
