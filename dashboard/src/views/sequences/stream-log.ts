// What the log says of one stream: read once when it is opened, then followed with the page's own events. Newest first, and
// never more than so many: what is older is in the history.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { get } from '../../api/client.js';
import type { HistoryPage, LeaseEvent } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { onEvents } from '../../state/records.js';

const MOST_EVENTS = 500;
const MOST_RECOVERIES = 50;
const RECOVERIES = ['recovery.succeeded', 'recovery.failed'] as const;

export interface StreamLog {
  readonly isLoaded: boolean;
  readonly events: readonly LeaseEvent[];
  readonly recoveries: readonly LeaseEvent[];
  readonly error: unknown;
  readonly again: () => void;
}

export function useStreamLog(stream: string): StreamLog {
  const live = useSignal<{ stream: string; events: readonly LeaseEvent[] }>({ stream, events: [] });
  const asked = useAsked(`log ${stream}`, (stop) => readLog(stream, stop));
  useEffect(
    () =>
      onEvents((events) => {
        if (events.some(({ type }) => type === 'events.lost')) asked.again();
        const here = events.filter(({ resource }) => resource === stream).toReversed();
        if (here.length === 0) return;
        const before = live.peek().stream === stream ? live.peek().events : [];
        live.value = { stream, events: [...here, ...before].slice(0, MOST_EVENTS) };
      }),
    [stream],
  );
  const { value, error, again } = asked;
  const heard = live.value.stream === stream ? live.value.events : [];
  return useMemo(() => {
    const events = joined(heard, value?.events ?? []).slice(0, MOST_EVENTS);
    const recent = heard.filter(({ type }) => (RECOVERIES as readonly string[]).includes(type));
    const recoveries = joined(recent, value?.recoveries ?? []).slice(0, MOST_RECOVERIES);
    return { isLoaded: value !== undefined, events, recoveries, error, again };
  }, [heard, value, error]);
}

async function readLog(stream: string, stop: AbortSignal): Promise<Pick<StreamLog, 'events' | 'recoveries'>> {
  const ask = (limit: number, type?: string): Promise<HistoryPage> =>
    get<HistoryPage>('/v1/history', { resource: stream, type, limit }, stop);
  const [all, ...found] = await Promise.all([
    ask(MOST_EVENTS),
    ...RECOVERIES.map((type) => ask(MOST_RECOVERIES, type)),
  ]);
  const recoveries = found.flatMap(({ items }) => items).toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return { events: all.items, recoveries };
}

/** What was heard may have been read as well. */
function joined(heard: readonly LeaseEvent[], read: readonly LeaseEvent[]): LeaseEvent[] {
  const known = new Set(heard.map(({ id }) => id));
  return [...heard, ...read.filter(({ id }) => !known.has(id))];
}
