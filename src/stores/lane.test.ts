// A lane: what rides together, what fails alone, and that nothing waits (S21).
import { expect, test } from 'vitest';
import { LeaseError } from '../domain/errors.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { EndRequest } from '../domain/requests.js';
import { FakeClock } from '../testing/fake-clock.js';
import { Lane } from './lane.js';
import type { Answers, EndResult, Failed } from './store.js';

interface Sent {
  readonly requests: readonly EndRequest[];
  answer(results?: readonly (EndResult | Failed)[]): void;
  fail(error: Error): void;
}

/** A lane over a store that answers when it is told to. */
function laneWithStore(clock?: FakeClock): { lane: Lane<EndRequest, EndResult>; sent: Sent[] } {
  const sent: Sent[] = [];
  const send = (requests: readonly EndRequest[]): Promise<Answers<EndResult>> =>
    new Promise((resolve, reject) => {
      const left = (): EndResult[] => requests.map(() => ({ outcome: 'left' }));
      const answer = (results: readonly (EndResult | Failed)[] = left()): void =>
        resolve({ now: 1, incarnation: 'one', settingsVersion: 1, results });
      sent.push({ requests, answer, fail: reject });
    });
  return { lane: new Lane(send, clock), sent };
}

const item = (id: string): EndRequest => ({ id, requestId: 'r', why: 'cancelled' });
async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

test('S21: an idle lane sends within the turn, and what is asked meanwhile rides in the next call', async () => {
  const { lane, sent } = laneWithStore();
  const first = lane.ask(item('a'));
  await Promise.resolve();
  expect(sent.map((call) => call.requests.length)).toEqual([1]);
  const others = ['b', 'c', 'd'].map((id) => lane.ask(item(id)));
  await turn();
  expect(sent).toHaveLength(1);
  sent[0]?.answer();
  expect(await first).toMatchObject({ now: 1, result: { outcome: 'left' } });
  expect(sent[1]?.requests.map((request) => request.id)).toEqual(['b', 'c', 'd']);
  sent[1]?.answer();
  await Promise.all(others);
});

test('S18, S21: a batch is bounded by items and by parts', async () => {
  const { lane, sent } = laneWithStore();
  const asked = Array.from({ length: 600 }, (_, i) => lane.ask(item(`i${i}`)));
  for (let call = 0; call < 3; call += 1) {
    await turn();
    sent[call]?.answer();
  }
  await Promise.all(asked);
  expect(sent.map((call) => call.requests.length)).toEqual([256, 256, 88]);

  const sizes: number[] = [];
  const parts = Array.from({ length: 64 }, (_, i) => ({ name: `n${i}`, scope: 'node', mode: 'exclusive' }) as const);
  const wide = new Lane<Pick<AcquireRequest, 'id' | 'parts'>, EndResult>((requests) => {
    sizes.push(requests.length);
    const results = requests.map((): EndResult => ({ outcome: 'left' }));
    return Promise.resolve({ now: 1, incarnation: 'one', settingsVersion: 1, results });
  });
  await Promise.all(Array.from({ length: 20 }, (_, i) => wide.ask({ id: `w${i}`, parts })));
  expect(sizes).toEqual([16, 4]);
});

test('S21: a bad item fails alone; a call that fails fails its items and no others', async () => {
  const { lane, sent } = laneWithStore();
  const [good, bad] = [lane.ask(item('good')), lane.ask(item('bad'))];
  const later = turn().then(() => lane.ask(item('later')));
  await turn();
  await turn();
  const error = new LeaseError('INVALID_ARGUMENT', 'no');
  sent[0]?.answer([{ outcome: 'left' }, { outcome: 'failed', error }]);
  expect((await good).result.outcome).toBe('left');
  await expect(bad).rejects.toBe(error);
  await turn();
  sent[1]?.fail(new LeaseError('STORE_UNAVAILABLE', 'gone'));
  await expect(later).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const after = lane.ask(item('after'));
  await turn();
  sent[2]?.answer();
  expect((await after).result.outcome).toBe('left');
});

test('S21: cancelling one item leaves the others; before it was sent it never is', async () => {
  const { lane, sent } = laneWithStore();
  const abort = new AbortController();
  const first = lane.ask(item('first'), abort.signal);
  await turn();
  const queued = lane.ask(item('queued'), abort.signal);
  const neighbour = lane.ask(item('neighbour'));
  abort.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  await expect(queued).rejects.toThrow('enough');
  await expect(lane.ask(item('late'), abort.signal)).rejects.toThrow('enough');
  sent[0]?.answer();
  await turn();
  expect(sent[1]?.requests.map((request) => request.id)).toEqual(['neighbour']);
  sent[1]?.answer();
  expect((await neighbour).result.outcome).toBe('left');
});

test('S21: without a clock a lane waits for an answer as long as it takes', async () => {
  const { lane, sent } = laneWithStore();
  const asked = [lane.ask(item('a'))];
  await turn();
  asked.push(lane.ask(item('b')));
  await turn();
  expect(sent).toHaveLength(1);
  sent[0]?.answer();
  await turn();
  sent[1]?.answer();
  expect(await Promise.all(asked)).toHaveLength(2);
});

test('S15, S21: a call that hangs does not take with it what was asked later', async () => {
  const clock = new FakeClock();
  const { lane, sent } = laneWithStore(clock);
  const [hung, later] = [lane.ask(item('hung')), turn().then(() => lane.ask(item('later')))];
  await turn();
  await turn();
  await clock.advance(99);
  expect(sent).toHaveLength(1);
  await clock.advance(1);
  expect(sent[1]?.requests.map(({ id }) => id)).toEqual(['later']);
  sent[1]?.answer();
  expect((await later).result.outcome).toBe('left');
  sent[0]?.answer();
  expect((await hung).result.outcome).toBe('left'); // late, and it still counts
  expect(clock.pendingTimers).toBe(0);
});

test('S21: the late answer of a call that was given up on sends nothing early and mixes nothing up', async () => {
  const clock = new FakeClock();
  const { lane, sent } = laneWithStore(clock);
  const first = lane.ask(item('first'));
  await turn();
  const second = lane.ask(item('second'));
  await clock.advance(100);
  const third = lane.ask(item('third'));
  await turn();
  expect(sent.map(({ requests }) => requests.map(({ id }) => id))).toEqual([['first'], ['second']]);
  sent[0]?.fail(new LeaseError('STORE_UNAVAILABLE', 'the old one'));
  await expect(first).rejects.toThrow('the old one');
  await turn();
  expect(sent).toHaveLength(2); // the third waits for the second, not for the first
  sent[1]?.answer();
  await turn();
  expect(sent[2]?.requests.map(({ id }) => id)).toEqual(['third']);
  sent[2]?.answer([{ outcome: 'released', again: false, blockedMs: 0 }]);
  expect([(await second).result.outcome, (await third).result.outcome]).toEqual(['left', 'released']);
});

test('S21: an idle lane keeps no timer, and is idle again after a hang', async () => {
  const clock = new FakeClock();
  const { lane, sent } = laneWithStore(clock);
  expect(clock.pendingTimers).toBe(0);
  const hung = lane.ask(item('hung'));
  await turn();
  await clock.advance(1_000);
  expect([sent.length, clock.pendingTimers]).toEqual([1, 0]);
  const next = lane.ask(item('next'));
  await turn();
  sent[1]?.answer();
  await next;
  sent[0]?.answer();
  await hung;
});

const left: EndResult = { outcome: 'left' };
test.each<[string, unknown]>([
  ['too few results', [left]],
  ['too many', [left, left, left]],
  ['a hole among them', [undefined, left]],
  ['no list at all', { length: 2 }],
])(
  'S12, S21: an answer with %s is a failure of the call: everybody in it is told, and the lane goes on',
  async (_what, results) => {
    const { lane, sent } = laneWithStore();
    const asked = ['a', 'b'].map((id) => lane.ask(item(id)));
    await turn();
    sent[0]?.answer(results as EndResult[]);
    const failed = { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE', retryable: true } };
    expect(await Promise.allSettled(asked)).toMatchObject([failed, failed]);
    const after = lane.ask(item('after'));
    await turn();
    sent[1]?.answer();
    expect((await after).result.outcome).toBe('left');
  },
);

test('S9: what stands in the line can be taken back; what has left cannot', async () => {
  const { lane, sent } = laneWithStore();
  const [gone, waiting] = [item('gone'), item('waiting')];
  const first = lane.ask(gone);
  await turn();
  const second = lane.ask(waiting);
  expect([lane.leftAt(gone), lane.leftAt(waiting)]).toEqual([expect.any(Number), Infinity]);
  expect([lane.withdraw(gone), lane.withdraw(waiting), lane.withdraw(waiting)]).toEqual([false, true, false]);
  await expect(second).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  sent[0]?.answer();
  await first;
  await turn();
  expect(sent).toHaveLength(1);
});

test('S9: taken back after its signal is forgotten: the signal has nothing left to abort', async () => {
  const { lane, sent } = laneWithStore();
  const abort = new AbortController();
  const first = lane.ask(item('first'));
  await turn();
  const request = item('waiting');
  const waiting = lane.ask(request, abort.signal);
  lane.withdraw(request);
  await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  abort.abort();
  sent[0]?.answer();
  expect((await first).result.outcome).toBe('left');
});

test('S12, S21: whoever listens hears of each item once, and what it throws reaches nobody', async () => {
  const heard: [number, boolean][] = [];
  const clock = new FakeClock({ monotonic: 5 });
  const results: (EndResult | Failed)[] = [
    { outcome: 'left' },
    { outcome: 'failed', error: new LeaseError('INVALID_ARGUMENT', 'bad') },
    { outcome: 'left' },
  ];
  const answer = { now: 1, incarnation: 'one', settingsVersion: 1, results };
  const lane = new Lane<EndRequest, EndResult>(
    () => Promise.resolve(answer),
    clock,
    'promises',
    undefined,
    (askedAt, reply) => {
      heard.push([askedAt, reply !== undefined]);
      throw new Error('of the listener');
    },
  );
  const asked = await Promise.allSettled(['a', 'b', 'c'].map((id) => lane.ask(item(id))));
  expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(heard).toEqual([
    [5, true],
    [5, false],
    [5, true],
  ]);
});
