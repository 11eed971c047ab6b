// The history of a filter in a component: read from the newest back, a page at a time, and, if wanted, followed live. A filter that
// changes begins anew; what was under way for the old one is given up. A page of events that were lost is read again.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, isAbort } from '../../api/client.js';
import type { HistoryPage } from '../../api/types.js';
import { onEvents } from '../../state/records.js';
import { NO_EVENTS, withNewer, withOlder, type EventList } from './event-list.js';
import { isWanted, type HistoryFilter } from './history-filter.js';

export interface ReadHistory extends EventList {
  readonly error: unknown;
  readonly isAsking: boolean;
  readonly older: () => void;
  readonly again: () => void;
}

const PAGE = 200;
/** While somebody types, the server is not asked. */
const PAUSE_MS = 250;

export function useHistory(filter: HistoryFilter, isLive: boolean): ReadHistory {
  const key = JSON.stringify(filter);
  const list = useSignal(NO_EVENTS);
  const error = useSignal<unknown>(undefined);
  const isAsking = useSignal(true);
  const asked = useSignal(0);
  const stop = useSignal(new AbortController());
  const read = async (cursor: string | undefined, signal: AbortSignal): Promise<void> => {
    isAsking.value = true;
    try {
      const page = await get<HistoryPage>('/v1/history', { ...filter, limit: PAGE, cursor }, signal);
      if (signal.aborted) return;
      list.value = withOlder(cursor === undefined ? NO_EVENTS : list.peek(), page);
      error.value = undefined;
    } catch (thrown) {
      if (signal.aborted || isAbort(thrown)) return;
      error.value = thrown;
    }
    isAsking.value = false;
  };
  useEffect(() => {
    const mine = new AbortController();
    stop.value = mine;
    isAsking.value = true;
    const timer = setTimeout(() => quietly(read(undefined, mine.signal)), asked.peek() === 0 ? 0 : PAUSE_MS);
    asked.value += 1;
    return () => {
      clearTimeout(timer);
      mine.abort();
    };
  }, [key]);
  useEffect(() => {
    if (!isLive) return undefined;
    return onEvents((events) => {
      if (events.some(({ type }) => type === 'events.lost')) quietly(read(undefined, stop.peek().signal));
      list.value = withNewer(
        list.peek(),
        events.filter((event) => isWanted(event, filter)),
      );
    });
  }, [key, isLive]);
  return {
    ...list.value,
    error: error.value,
    isAsking: isAsking.value,
    older: () => {
      const { cursor } = list.peek();
      if (cursor !== undefined && !isAsking.peek()) quietly(read(cursor, stop.peek().signal));
    },
    again: () => quietly(read(undefined, stop.peek().signal)),
  };
}

/** `read` keeps its failure in `error`. */
function quietly(work: Promise<void>): void {
  work.catch(() => undefined);
}
