// Waiting at the barrier while the store is away, and while what blocks it is being recovered.
import { expect, test } from 'vitest';
import { never, streamStage, TTL_MS } from '../../test/support/stream-stage.js';
import { LeaseError } from '../domain/errors.js';

const stage = streamStage();

/** How it stands with the work now: `waiting`, `done`, or the code of its error. No time passes. */
async function stateOf(work: Promise<unknown>): Promise<string> {
  let state = 'waiting';
  work.then(
    () => (state = 'done'),
    (error: unknown) => (state = (error as LeaseError).code),
  );
  await stage.clock.advance(0);
  return state;
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) await stage.clock.advance(10);
}

test.each([
  ['while an answer is owed', 'loseRequest', undefined, 'ACQUIRE_ABORTED'],
  ['between two tries', 'fail', undefined, 'ACQUIRE_ABORTED'],
  ['with a reason of its own', 'fail', new LeaseError('STORE_UNAVAILABLE', 'enough'), 'STORE_UNAVAILABLE'],
] as const)('N3: a signal ends the wait at once while the store is away: %s', async (_, fault, reason, code) => {
  await stage.lease('slow');
  stage.store.order({ calls: 'sequence.barrier', fault, times: Infinity });
  const stop = new AbortController();
  const waiting = stage.stream.waitFor(2, { signal: stop.signal });
  await pass(500);
  expect(await stateOf(waiting)).toBe('waiting');
  stop.abort(reason);
  expect(await stateOf(waiting)).toBe(code);
});

test('N3: the time of a wait is over for a store that says nothing, too', async () => {
  await stage.lease('slow');
  stage.store.order({ calls: 'sequence.barrier', fault: 'loseRequest', times: Infinity });
  const waiting = stage.stream.waitFor(2, { timeout: '200ms' });
  await pass(190);
  expect(await stateOf(waiting)).toBe('waiting');
  await pass(100);
  expect(await stateOf(waiting)).toBe('ACQUIRE_TIMEOUT');
  await expect(waiting).rejects.toThrow(/has not answered/);
});

test('N3: a store that falls silent later: the error still says what was in the way', async () => {
  await stage.lease('slow');
  const waiting = stage.stream.waitFor(2, { timeout: '3s' });
  await pass(1_000);
  stage.store.order({ calls: 'sequence.barrier', fault: 'loseRequest', times: Infinity });
  await pass(2_100);
  expect(await stateOf(waiting)).toBe('ACQUIRE_TIMEOUT');
  await expect(waiting).rejects.toMatchObject({ details: { blocker: { operationId: 'slow' } } });
});

test('N3: a wait of no time is a question, and is answered', async () => {
  const { number } = await stage.lease('slow');
  stage.store.order({ calls: 'sequence.barrier', replyMs: 40, times: 2 });
  await stage.meanwhile(stage.stream.waitFor(number, { timeout: 0 }));
  await expect(stage.meanwhile(stage.stream.waitFor(number + 1, { timeout: 0 }))).rejects.toMatchObject({
    code: 'ACQUIRE_TIMEOUT',
    details: { blocker: { operationId: 'slow' } },
  });
});

test.each([
  ['sequence.cursor', 'loseRequest'],
  ['sequence.cursor', 'fail'],
  ['sequence.read', 'loseRequest'],
  ['sequence.read', 'fail'],
] as const)('N5: a signal ends a reader at once and quietly while the store is away: %s, %s', async (calls, fault) => {
  stage.store.order({ calls, fault, times: Infinity });
  const stop = new AbortController();
  const following = stage.stream.reader('r').follow({ signal: stop.signal })[Symbol.asyncIterator]().next();
  await pass(500);
  expect(await stateOf(following)).toBe('waiting');
  stop.abort();
  expect(await stateOf(following)).toBe('done');
  expect(await following).toEqual({ done: true, value: undefined });
});

test('N3, V2: a recovery that takes long holds up neither time nor signals, and there is one of it', async () => {
  await (await stage.lease('slow')).partial('half');
  stage.stream.recovery.rebuild('order', never);
  await stage.clock.advance(TTL_MS);
  const stop = new AbortController();
  stage.store.forgetCalls();
  const timed = stage.stream.waitFor(2, { timeout: '3s' });
  const aborted = stage.stream.waitFor(2, { signal: stop.signal });
  const following = stage.stream.reader('r').follow({ signal: stop.signal })[Symbol.asyncIterator]().next();
  await pass(2_900);
  expect(await Promise.all([timed, aborted, following].map(stateOf))).toEqual(['waiting', 'waiting', 'waiting']);
  await pass(200);
  expect(await stateOf(timed)).toBe('ACQUIRE_TIMEOUT');
  stop.abort();
  expect([await stateOf(aborted), await stateOf(following)]).toEqual(['ACQUIRE_ABORTED', 'done']);
  expect(stage.store.count('sequence.claim')).toBe(1);
  expect(stage.store.count('sequence.barrier')).toBeLessThan(10);
});

test('N3, V2: what could not be recovered is tried again, not at once and not in two places', async () => {
  await stage.lease('slow');
  await stage.clock.advance(TTL_MS);
  stage.store.order({ calls: 'sequence.claim', fault: 'fail', times: Infinity });
  stage.store.forgetCalls();
  const waiting = stage.stream.waitFor(2);
  await pass(1_000);
  expect(stage.store.count('sequence.claim')).toBeGreaterThan(10);
  expect(stage.store.count('sequence.claim')).toBeLessThan(25);
  stage.store.heal();
  await stage.meanwhile(waiting, 1_000);
});
