// Pages over all streams, for a caller that is bound to a prefix (W3). Names are in byte order, so what it may see lies
// together: a page begins there, passes over the few names between that only look alike (`m-x` between `m` and `m/1`), and
// `more` is about what the caller may see. It could not go on from a name that it is not shown.
import { checkLimit } from '../../domain/check-request.js';
import { LIMITS } from '../../domain/limits.js';
import { compareNames, rangeBelow } from '../../domain/resource-name.js';
import type { ManualQuery, StreamQuery } from '../../domain/sequence-requests.js';
import type { ManualItemsReply, StreamsReply } from '../../stores/sequence-store.js';
import type { Caller } from '../context.js';
import { isWithin } from './rules.js';

/** A hundred thousand names that only look alike; beyond them the page is answered as it is, and `more` is true. */
const MOST_STEPS = 100;

export async function visibleStreams(
  { prefix }: Caller,
  query: StreamQuery,
  ask: (query: StreamQuery) => Promise<StreamsReply>,
): Promise<StreamsReply> {
  if (prefix === undefined || query.stream !== undefined) return ask(query);
  checkLimit(query.limit);
  const isBefore = query.after === undefined || compareNames(query.after, prefix) < 0;
  // `after` leaves out its own name, and no name is the last one before the prefix.
  const itself = isBefore ? (await ask({ stream: prefix, limit: 1 })).streams : [];
  let after: StreamQuery['after'] = isBefore ? prefix : query.after;
  const streams = [...itself];
  for (let step = 1; ; step += 1) {
    const page = await ask({ after, limit: LIMITS.rowsPerStep });
    streams.push(...page.streams.filter(({ name }) => isWithin(prefix, name)));
    after = page.streams.at(-1)?.name;
    const more = page.more && isBeforeEnd(prefix, after);
    const isFull = streams.length > query.limit;
    if (isFull || !more || step === MOST_STEPS)
      return { ...page, streams: streams.slice(0, query.limit), more: more || isFull };
  }
}

/** Items carry work: a page of the store is one page here, and of what follows only as much is read as `more` needs. */
export async function visibleManual(
  { prefix }: Caller,
  query: ManualQuery,
  ask: (query: ManualQuery) => Promise<ManualItemsReply>,
): Promise<ManualItemsReply> {
  if (prefix === undefined || query.stream !== undefined) return ask(query);
  const isBefore = query.after === undefined || compareNames(query.after.stream, prefix) < 0;
  let after: ManualQuery['after'] = isBefore ? { stream: prefix, number: 0 } : query.after;
  let items: ManualItemsReply['items'] = [];
  for (let step = 1; ; step += 1) {
    const page = await ask({ after, limit: items.length === 0 ? query.limit : 1 });
    const inside = page.items.filter(({ stream }) => isWithin(prefix, stream));
    if (items.length > 0 && inside.length > 0) return { ...page, items, more: true };
    if (items.length === 0) items = inside;
    const last = page.items.at(-1);
    const more = page.more && isBeforeEnd(prefix, last?.stream);
    if (!more || step === MOST_STEPS) return { ...page, items, more };
    after = last && { stream: last.stream, number: last.number };
  }
}

function isBeforeEnd(prefix: string, name: string | undefined): boolean {
  return name !== undefined && compareNames(name, rangeBelow(prefix).to) < 0;
}
