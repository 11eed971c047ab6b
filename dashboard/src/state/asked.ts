// An answer of the server in a component: asked when it appears and whenever `key` changes, given up when it goes, asked again
// on demand or every so often while somebody looks. An old answer stays until the new one is there, unless somebody else has
// signed in: what one may see is not shown to the other.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { session, signedIn } from './session.js';

export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isAsking: boolean;
  readonly again: () => void;
}

export interface AskOptions {
  /** Ask again this often; not while the tab is hidden. */
  readonly everyMs?: number;
}

export function useAsked<T>(topic: string, ask: (stop: AbortSignal) => Promise<T>, options: AskOptions = {}): Asked<T> {
  const key = `${signedIn.value} ${topic}`;
  const state = useSignal<{ key: string; value: T | undefined; error: unknown }>({
    key,
    value: undefined,
    error: undefined,
  });
  const isAsking = useSignal(true);
  const round = useSignal(0);
  const asking = useRef(ask);
  asking.current = ask;
  const { everyMs } = options;
  useEffect(() => {
    const stop = new AbortController();
    isAsking.value = true;
    const kept = state.peek().key === key ? state.peek().value : undefined;
    asking
      .current(stop.signal)
      .then(
        (value) => ({ key, value, error: undefined }),
        (error: unknown) => ({ key, value: kept, error }),
      )
      .then((next) => {
        if (stop.signal.aborted) return;
        state.value = next;
        isAsking.value = false;
      })
      .catch(() => undefined);
    return () => stop.abort();
  }, [key, round.value]);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      const isVain = document.hidden || session.peek().is === 'refused';
      if (!isVain && !isAsking.peek()) round.value += 1;
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  const { value, error, key: answered } = state.value;
  return {
    value: answered === key ? value : undefined,
    error: answered === key ? error : undefined,
    isAsking: isAsking.value,
    again: () => {
      round.value += 1;
    },
  };
}
