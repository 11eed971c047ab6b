// Batching over a store that works on several calls at once: what leaves beside a call in flight, and what does not.
import { expect, test } from 'vitest';
import { acquireRequest } from '../../test/support/domain-values.js';
import { makeId } from '../domain/ids.js';
import { normaliseParts, type PartInput } from '../domain/part.js';
import type { AcquireRequest } from '../domain/requests.js';
import { FakeClock } from '../testing/fake-clock.js';
import { Batching } from './batching.js';
import { Lane } from './lane.js';
import { MemoryStore } from './memory/memory-store.js';
import type { Answers, EndResult } from './store.js';

interface Asked {
  readonly id: string;
  /** Undefined: it goes alone. */
  readonly about: string | undefined;
}

/** A lane with two calls at once, the ids of each call, and a way to answer one. */
function laneOfTwo(
  clock?: FakeClock,
  underWay = { calls: 0 },
): {
  ask: (...abouts: readonly (string | undefined)[]) => Promise<void>;
  sent: string[][];
  answer: (call: number) => Promise<void>;
} {
  const sent: string[][] = [];
  const answers: (() => void)[] = [];
  const send = (requests: readonly Asked[]): Promise<Answers<EndResult>> =>
    new Promise((resolve) => {
      sent.push(requests.map(({ id }) => id));
      const results = requests.map((): EndResult => ({ outcome: 'left' }));
      answers.push(() => resolve({ now: 1, incarnation: 'one', settingsVersion: 1, results }));
    });
  const beside = { calls: 2, enough: 64, key: ({ about }: Asked) => about, underWay };
  const lane = new Lane<Asked, EndResult>(send, clock, 'promises', beside);
  let count = 0;
  const ask = async (...abouts: readonly (string | undefined)[]): Promise<void> => {
    for (const about of abouts) {
      count += 1;
      lane.ask({ id: `${count}`, about }).catch(() => undefined);
    }
    await turn();
  };
  const answer = async (call: number): Promise<void> => {
    answers[call]?.();
    await turn();
  };
  return { ask, sent, answer };
}

async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
const names = (count: number, prefix = 'n'): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const ids = (first: number, count: number): string[] => Array.from({ length: count }, (_, i) => `${first + i}`);
const sizes = (sent: readonly (readonly string[])[]): number[] => sent.map(({ length }) => length);

test('S21: a long line leaves in two halves, and no third call leaves beside them', async () => {
  const { ask, sent, answer } = laneOfTwo();
  await ask(...names(200));
  expect(sizes(sent)).toEqual([100, 100]);
  await ask(...names(70, 'more'));
  expect(sizes(sent)).toEqual([100, 100]);
  await answer(1);
  expect(sizes(sent)).toEqual([100, 100, 70]);
  expect(sent.flat()).toEqual(ids(1, 270));
});

test('S21: a line is halved for a store that has nothing to do; halves that came apart are not halved again', async () => {
  const underWay = { calls: 0 };
  const [acquires, ends] = [laneOfTwo(undefined, underWay), laneOfTwo(undefined, underWay)];
  await acquires.ask(...names(256));
  expect(sizes(acquires.sent)).toEqual([128, 128]);
  await acquires.answer(0);
  await ends.ask(...names(128));
  expect(sizes(ends.sent)).toEqual([128]);
  await acquires.answer(1);
  await ends.ask(...names(128, 'more'));
  expect(sizes(ends.sent)).toEqual([128, 128]);
  await ends.answer(0);
  await ends.answer(1);
  expect(underWay.calls).toBe(0);
  await ends.ask(...names(128));
  expect(sizes(ends.sent)).toEqual([128, 128, 64, 64]);
});

test('S21: a few ride in the next call, as they do everywhere; many leave at once', async () => {
  const { ask, sent, answer } = laneOfTwo();
  await ask('first');
  await ask(...names(63));
  expect(sizes(sent)).toEqual([1]);
  await ask('one more');
  expect(sizes(sent)).toEqual([1, 64]);
  await ask('late');
  await answer(0);
  expect(sizes(sent)).toEqual([1, 64]); // one call is in flight, and one request is not worth a second
  await answer(1);
  expect(sizes(sent)).toEqual([1, 64, 1]);
});

test('Q1, S21: what names something under way stays in line, and nobody behind passes it', async () => {
  const { ask, sent, answer } = laneOfTwo();
  await ask('door');
  await ask(...names(40), 'door', ...names(40, 'behind'));
  expect(sent).toEqual([['1'], ids(2, 40)]);
  await answer(1);
  expect(sent).toHaveLength(2); // the door is still under way
  await answer(0);
  expect(sizes(sent)).toEqual([1, 40, 41]);
});

test('Q1, S21: nothing goes beside a request that overlaps more than its own name, nor it beside others', async () => {
  const { ask, sent, answer } = laneOfTwo();
  await ask('first');
  await ask(undefined, ...names(80));
  expect(sizes(sent)).toEqual([1]);
  await answer(0);
  await ask(...names(80, 'more'));
  expect(sizes(sent)).toEqual([1, 81]);
  await answer(1);
  expect(sizes(sent)).toEqual([1, 81, 80]);
});

test('S21: a line for one name is not halved: its second half could not leave', async () => {
  const { ask, sent } = laneOfTwo();
  await ask(...names(200).map(() => 'door'));
  expect(sizes(sent)).toEqual([200]);
});

test('S15, S21: of two calls one that hangs is given up on alone', async () => {
  const clock = new FakeClock();
  const { ask, sent, answer } = laneOfTwo(clock);
  await ask(...names(128));
  await clock.advance(50);
  await answer(1);
  await ask('later');
  await clock.advance(50);
  expect(sizes(sent)).toEqual([64, 64, 1]);
  await answer(2);
  await answer(0);
  expect(clock.pendingTimers).toBe(0);
});

test('S21: a store says how many calls it works on at once; sets and subtrees go alone', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const sent: number[] = [];
  const counted = Object.assign(Object.create(store) as MemoryStore, {
    callsAtOnce: { calls: 2, enough: 64 },
    acquire: (requests: readonly AcquireRequest[]) => {
      sent.push(requests.length);
      return store.acquire(requests);
    },
  });
  const batching = new Batching(counted, clock);
  const ask = (parts: readonly PartInput[]): Promise<unknown> =>
    batching.acquire(
      acquireRequest({
        id: makeId(clock.wall(), clock.randomText()),
        bornAt: clock.wall(),
        parts: normaliseParts(parts),
      }),
    );
  await Promise.all(names(160).map((name) => ask([{ name }])));
  expect(sent).toEqual([80, 80]);
  await Promise.all(names(160, 'tree').map((name) => ask([{ name, scope: 'subtree' }])));
  expect(sent).toEqual([80, 80, 160]);
  await Promise.all(names(20, 'set').map((name) => ask([{ name }, { name: `${name}-too` }])));
  expect(sent).toEqual([80, 80, 160, 20]);
});
