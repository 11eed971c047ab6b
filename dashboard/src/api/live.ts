// The event stream, kept open: read with fetch, resumed where it stopped, tried again with growing pauses.
//
//   connecting --answered--> live --cut, or silent for 40 s--> gone (since when) --answered--> live
//        └──401, 403--> refused: the token is no good any more; ends until somebody signs in
//        └──400--> unlogged: this namespace keeps no log; whoever listens asks for the present state instead, and we ask again
//
// Nothing is missing between two connections: the position of the last whole event is sent along. Where the log was cut below
// that position the server says `events.lost`, which is handed on like any event, and the listener reads everything again.
import { ApiError } from './client.js';
import { readFrames, type Frame } from './sse.js';
import type { LeaseEvent } from './types.js';

export type LiveState =
  | { readonly is: 'connecting' }
  | { readonly is: 'live' }
  | { readonly is: 'gone'; readonly since: number; readonly why: string }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'unlogged'; readonly why: string };

export interface LiveParts {
  /** Answers the stream after this position, or throws an ApiError. */
  readonly open: (after: string | undefined, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /** Milliseconds that only grow. */
  readonly monotonic: () => number;
  readonly onEvents: (events: readonly LeaseEvent[]) => void;
  readonly onState: (state: LiveState) => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** The server gives a sign of life every 15 s. */
const SILENCE_MS = 40_000;

export async function follow(parts: LiveParts, signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  let goneSince: number | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  parts.onState({ is: 'connecting' });
  while (!signal.aborted) {
    try {
      const body = await parts.open(after, signal);
      for await (const frames of withoutSilence(readFrames(body), parts, signal)) {
        if (signal.aborted) return;
        if (goneSince !== undefined || after === undefined) parts.onState({ is: 'live' });
        goneSince = undefined;
        pauseMs = FIRST_PAUSE_MS;
        after = lastId(frames) ?? after;
        const end = frames.find(({ event }) => event === 'end');
        const events = frames.flatMap(eventOf);
        if (events.length > 0) parts.onEvents(events);
        if (end) throw endOf(end);
      }
      throw new ApiError({ detail: 'the connection was closed', retryable: true });
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : 'the connection broke';
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 401 || status === 403) {
        parts.onState({ is: 'refused', why });
        return;
      }
      if (status === 400 && after === undefined) {
        parts.onState({ is: 'unlogged', why });
        await parts.sleep(LONGEST_PAUSE_MS, signal);
        continue;
      }
      if (status === 400) after = undefined; // a position the server cannot read: begin anew
      goneSince ??= parts.monotonic();
      parts.onState({ is: 'gone', since: goneSince, why });
    }
    await parts.sleep(pauseMs * (0.5 + parts.random() / 2), signal);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** A connection that looks open and says nothing is not there. */
async function* withoutSilence<T>(
  items: AsyncGenerator<T>,
  { sleep }: LiveParts,
  signal: AbortSignal,
): AsyncGenerator<T> {
  try {
    for (;;) {
      const stop = new AbortController();
      const silence = sleep(SILENCE_MS, AbortSignal.any([signal, stop.signal])).then(() => 'silence' as const);
      const next = await Promise.race([items.next(), silence]);
      stop.abort();
      if (next === 'silence') {
        throw new ApiError({ detail: 'the connection has gone silent', retryable: true });
      }
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a read that never ends would keep us here.
    items.return(undefined).catch(() => undefined);
  }
}

function lastId(frames: readonly Frame[]): string | undefined {
  return frames.findLast(({ id }) => id !== undefined)?.id;
}

function eventOf({ event, data }: Frame): LeaseEvent[] {
  return event === 'message' && data !== '' ? [JSON.parse(data) as LeaseEvent] : [];
}

/** The server's last words: why the stream ends. */
function endOf({ data }: Frame): ApiError {
  const { code = 'STORE_UNAVAILABLE' } = JSON.parse(data) as { code?: string };
  const isRefusal = code === 'UNAUTHORIZED' || code === 'FORBIDDEN';
  const detail = isRefusal ? 'the token is not valid any more' : `the server ended the stream (${code})`;
  return new ApiError({ status: isRefusal ? 401 : 503, code, detail, retryable: !isRefusal });
}
