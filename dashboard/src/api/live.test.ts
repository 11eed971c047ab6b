// The event stream over connections that break: what is asked for next, and what the page is told about it.
import { expect, test } from 'vitest';
import { ApiError } from './client.js';
import { follow, type LiveState } from './live.js';
import type { LeaseEvent } from './types.js';

/** One connection: the text it sends before it closes, or the answer that refuses it; 'silent' says nothing for ever. */
type Connection = readonly string[] | ApiError | 'silent';

const SILENCE_MS = 40_000;
const frame = (id: number): string => `id: ${id}\ndata: {"id":"${id}","type":"lease.acquired"}\n\n`;
const hello = (id: number): string => `retry: 1000\nid: ${id}\n\n`;

async function run(connections: readonly Connection[]) {
  const asked: (string | undefined)[] = [];
  const states: LiveState[] = [];
  const events: string[] = [];
  const pauses: number[] = [];
  const stop = new AbortController();
  const left = [...connections];
  let now = 0;
  await follow(
    {
      open: async (after) => {
        asked.push(after);
        const next = left.shift();
        if (next === undefined) {
          stop.abort();
          throw new ApiError({});
        }
        if (next instanceof ApiError) throw next;
        return streamOf(next === 'silent' ? undefined : next);
      },
      sleep: async (ms, signal) => {
        const isPause = ms !== SILENCE_MS;
        if (isPause) pauses.push(ms);
        // Only a silent connection is waited out: every other one speaks in time.
        else if (connections[asked.length - 1] !== 'silent')
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve());
          });
        now += ms;
      },
      random: () => 1,
      monotonic: () => now,
      onEvents: (some: readonly LeaseEvent[]) => events.push(...some.map(({ id }) => id)),
      onState: (state) => states.push(state),
    },
    stop.signal,
  );
  return { asked, states: states.map(({ is }) => is), events, pauses, last: states.at(-1) };
}

/** In small pieces: events are cut wherever a network likes. */
function streamOf(texts: readonly string[] | undefined): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(texts?.join('') ?? '');
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 5) controller.enqueue(bytes.slice(at, at + 5));
      if (texts) controller.close();
    },
  });
}

test('it resumes after the last whole event, and half an event is asked for again', async () => {
  const cut = frame(3).slice(0, 12);
  const { asked, events, states } = await run([
    [hello(0), frame(1), frame(2) + cut],
    [hello(2), frame(3)],
  ]);
  expect(asked).toEqual([undefined, '2', '3']);
  expect(events).toEqual(['1', '2', '3']);
  expect(states).toEqual(['connecting', 'live', 'gone', 'live', 'gone']);
});

test('an event cut in the middle of characters and line ends arrives whole', async () => {
  const name = 'ä€😀'.repeat(5);
  const { events } = await run([[hello(0), `id: 1\r\ndata: {"id":"${name}"}\r\n\r\n`]]);
  expect(events).toEqual([name]);
});

test('the pauses grow to a bound, and start small again after an answer', async () => {
  const away = Array.from({ length: 8 }, () => new ApiError({ retryable: true }));
  const { pauses, states } = await run([...away, [hello(0)], new ApiError({})]);
  expect(pauses.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  expect(pauses[8]).toBe(500);
  expect(states.slice(0, 2)).toEqual(['connecting', 'gone']);
});

test('since when it is gone is told from the first failure on', async () => {
  const { last } = await run([[hello(0)], new ApiError({}), new ApiError({ detail: 'away' })]);
  expect(last).toEqual({ is: 'gone', since: 0, why: 'away' });
  const silent = await run(['silent', new ApiError({ detail: 'away' })]);
  expect(silent.last).toEqual({ is: 'gone', since: 40_000, why: 'away' });
});

test('a connection that says nothing is given up', async () => {
  const { asked, states } = await run(['silent', [hello(5), frame(6)]]);
  expect(asked).toHaveLength(3);
  expect(states).toContain('live');
});

test.each([401, 403])('an answer of %d ends it: somebody has to sign in', async (status) => {
  const { last, asked } = await run([[hello(0)], new ApiError({ status, detail: 'no' }), [hello(0)]]);
  expect(last).toEqual({ is: 'refused', why: 'no' });
  expect(asked).toHaveLength(2);
});

test('a token that ends while the stream is open ends it too; a server that goes does not', async () => {
  const revoked = await run([[hello(0), 'event: end\ndata: {"code":"UNAUTHORIZED"}\n\n']]);
  expect(revoked.last).toMatchObject({ is: 'refused' });
  const leaving = await run([[hello(0), 'event: end\ndata: {"code":"SHUTTING_DOWN"}\n\n'], [hello(0)]]);
  expect(leaving.states).toEqual(['connecting', 'live', 'gone', 'live', 'gone']);
});

test('without a log it says so, and asks now and then; a position the server cannot read is left out', async () => {
  const unlogged = await run([new ApiError({ status: 400, detail: 'keep_history is off' })]);
  expect(unlogged.last).toMatchObject({ is: 'unlogged' });
  expect(unlogged.pauses).toEqual([15_000]);
  const logged = await run([new ApiError({ status: 400 }), [hello(0)]]);
  expect(logged.states).toEqual(['connecting', 'unlogged', 'live', 'gone']);
  const { asked } = await run([[hello(7)], new ApiError({ status: 400 }), [hello(9)]]);
  expect(asked).toEqual([undefined, '7', undefined, '9']);
});
