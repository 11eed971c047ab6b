// What is on the screen is asked again every two seconds, by id: renewals are not in the log unless a setting says so, and a bar
// that runs out although its holder is alive would be a lie. Bounded by what fits on a screen.
import { get } from '../api/client.js';
import type { Lookup } from '../api/types.js';
import { book, publish } from './records.js';

const EVERY_MS = 2_000;
const MOST_IDS = 100;

const shown = new Map<object, readonly string[]>();

/** Replaces what `owner` (a component) shows; an empty list when it is gone. */
export function setShown(owner: object, ids: readonly string[]): void {
  if (ids.length === 0) shown.delete(owner);
  else shown.set(owner, ids);
}

export function runShownRows(stop: AbortSignal): void {
  let isAsking = false;
  const timer = setInterval(() => {
    if (document.hidden || isAsking) return;
    isAsking = true;
    askShown(stop)
      .catch(() => undefined) // the connection tells
      .finally(() => {
        isAsking = false;
      });
  }, EVERY_MS);
  stop.addEventListener('abort', () => clearInterval(timer));
}

async function askShown(stop: AbortSignal): Promise<void> {
  const ids = [...new Set([...shown.values()].flat())].slice(0, MOST_IDS);
  if (ids.length === 0) return;
  const { items } = await get<Lookup>('/v1/lookup', { ids: ids.join(',') }, stop);
  const known = new Set(items.map(({ id }) => id));
  for (const item of items) book.learn(item);
  for (const id of ids) if (!known.has(id)) book.end(id);
  publish();
}
