// One resource as the server tells it, kept fresh: asked again every few seconds, and soon after an event that concerns it. Never
// two questions at once, and not more than two a second, however much happens to it.
import { useEffect, useRef } from 'preact/hooks';
import { get } from '../../api/client.js';
import type { LeaseEvent, ResourceView } from '../../api/types.js';
import { useAsked, type Asked } from '../../state/asked.js';
import { onEvents } from '../../state/records.js';
import { ancestorsOf } from '../../state/queues.js';

const EVERY_MS = 2_000;
/** A long queue is a long answer. */
const LONG_EVERY_MS = 6_000;
const LONG_QUEUE = 200;
const PAUSE_MS = 500;

export function useResource(name: string): Asked<ResourceView> {
  const length = useRef(0);
  const everyMs = length.current > LONG_QUEUE ? LONG_EVERY_MS : EVERY_MS;
  const asked = useAsked(`resource ${name}`, (stop) => get<ResourceView>('/v1/resource', { name }, stop), { everyMs });
  length.current = asked.value?.queue.length ?? 0;
  const now = useRef(asked);
  now.current = asked;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (now.current.isAsking) soon();
        else now.current.again();
      }, PAUSE_MS);
    };
    const concerned = concerns(name);
    const stop = onEvents((events) => {
      if (events.some(concerned)) soon();
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [name]);
  return asked;
}

/** The name itself, what is above it, and what is below it: each of them can stand in its way. */
export function concerns(name: string): (event: LeaseEvent) => boolean {
  const above = new Set([name, ...ancestorsOf(name)]);
  return ({ resource, resources }) =>
    (resources ?? [resource ?? '']).some((touched) => above.has(touched) || touched.startsWith(`${name}/`));
}
