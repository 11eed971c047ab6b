// What makes the page live: who am I, what time is it, the event stream, the present state, and asking again. One run per
// session; signing in or out ends the run and begins another.
//
//   whoami --answered--> clock, stream, snapshot, and every half minute again
//     └──no answer--> gone, asked again with growing pauses     └──401--> refused: waits for a token
import { effect, untracked } from '@preact/signals';
import { ApiError, request, whenRefused } from '../api/client.js';
import { follow, type LiveState } from '../api/live.js';
import { whoami } from '../api/session.js';
import type { LeaseEvent } from '../api/types.js';
import { connection, isLoaded } from './connection.js';
import { book, publish, takeEvents } from './records.js';
import { recognised, refused, signedIn, who } from './session.js';
import { runShownRows } from './shown-rows.js';
import { readSnapshot } from './snapshot.js';
import { runClock, syncClock } from './time.js';

const BEAT_MS = 1_000;
const AGAIN_MS = 30_000;
/** Without a log nothing else tells what changes. */
const UNLOGGED_MS = 2_500;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

let current = new AbortController();

export function startFeed(): void {
  whenRefused((status, why) => {
    if (status === 401) turnAway(why);
    else if (who.peek()) quietly(introduceAgain(current.signal));
  });
  effect(() => {
    if (signedIn.value < 0) return;
    untracked(begin);
  });
}

function begin(): void {
  forget();
  const { signal: stop } = (current = new AbortController());
  run(stop).catch((error: unknown) => {
    if (!stop.aborted) reportError(error);
  });
}

/** Nothing is asked any more, and what somebody else may not see is not left on the screen. */
function turnAway(why: string): void {
  forget();
  connection.value = { is: 'refused', why };
  refused(why);
}

function forget(): void {
  current.abort();
  book.clear();
  isLoaded.value = false;
  publish();
}

async function run(stop: AbortSignal): Promise<void> {
  connection.value = { is: 'connecting' };
  if (!(await introduce(stop))) return;
  await syncClock(stop).catch(() => undefined);
  runClock(stop);
  runShownRows(stop);
  runAgain(stop);
  await follow(
    {
      open: async (after, signal) => {
        const position: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
        const { body } = await request('GET', '/v1/events', { accept: 'text/event-stream', ...position }, signal);
        if (!body) throw new ApiError({ detail: 'the stream has no body', retryable: true });
        return body;
      },
      sleep,
      random: Math.random,
      monotonic: () => performance.now(),
      onEvents: (events) => onEvents(events, stop),
      onState: (state) => onState(state, stop),
    },
    stop,
  );
}

/** False when somebody has to sign in first. */
async function introduce(stop: AbortSignal): Promise<boolean> {
  const since = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; !stop.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      recognised(await whoami(stop));
      return true;
    } catch (error) {
      if (stop.aborted) return false;
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        turnAway(error.message);
        return false;
      }
      connection.value = { is: 'gone', since, why: error instanceof Error ? error.message : 'no answer' };
    }
    await sleep(pauseMs, stop);
  }
  return false;
}

function onState(state: LiveState, stop: AbortSignal): void {
  connection.value = state;
  if (state.is === 'refused') turnAway(state.why);
  if (state.is !== 'live' && state.is !== 'unlogged') return;
  quietly(syncClock(stop));
  quietly(introduceAgain(stop));
  // Also after a gap: cheaper than to reason about what happened meanwhile.
  isPictureWhole = false;
  quietly(takePicture(stop));
}

/** What failed is tried again by the next beat of `runAgain`. */
let isPictureWhole = false;

async function takePicture(stop: AbortSignal): Promise<void> {
  await readSnapshot(stop);
  isPictureWhole = true;
}

/** One at a time: it may be its own answer that asks for it. */
let isIntroducing = false;

async function introduceAgain(stop: AbortSignal): Promise<void> {
  if (isIntroducing) return;
  isIntroducing = true;
  try {
    recognised(await whoami(stop));
  } finally {
    isIntroducing = false;
  }
}

function onEvents(events: readonly LeaseEvent[], stop: AbortSignal): void {
  takeEvents(events);
  const isLost = events.some(({ type }) => type === 'events.lost' || type === 'store.incarnation');
  if (isLost) quietly(takePicture(stop));
}

function runAgain(stop: AbortSignal): void {
  let readAt = performance.now();
  const timer = setInterval(() => {
    const { is } = connection.value;
    if (document.hidden || (is !== 'live' && is !== 'unlogged')) return;
    const everyMs = is === 'unlogged' || !isPictureWhole ? UNLOGGED_MS : AGAIN_MS;
    if (performance.now() - readAt < everyMs) return;
    readAt = performance.now();
    quietly(introduceAgain(stop));
    quietly(takePicture(stop));
  }, BEAT_MS);
  stop.addEventListener('abort', () => clearInterval(timer));
}

/** What fails here is asked again soon, and the stream tells that the server is away. */
function quietly(work: Promise<void>): void {
  work.catch(() => undefined);
}

function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  });
}
