// The line to the store: what a reply teaches, when settings are read again, and that no answer is an answer in time.
import { describe, expect, test } from 'vitest';
import { ask, grant } from '../../test/support/ask.js';
import { pass, watched } from '../../test/support/manager-site.js';
import { recordingObserver, type RecordingObserver } from '../../test/support/recording-observer.js';
import { LeaseError } from '../domain/errors.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';
import { answerWithin, StoreLink } from './store-link.js';

interface Site {
  readonly clock: FakeClock;
  readonly truth: MemoryStore;
  readonly store: FaultyStore;
  readonly link: StoreLink;
  readonly observer: RecordingObserver;
}

/** The store's clock is its own, ahead of this machine's by `aheadMs`. */
function site(aheadMs = 0): Site {
  const clock = new FakeClock();
  const truth = new MemoryStore({ clock: new FakeClock({ wall: clock.wall() + aheadMs }) });
  const store = new FaultyStore(truth, clock);
  const observer = recordingObserver();
  return { clock, truth, store, observer, link: new StoreLink(store, clock, observer) };
}

describe('S13: what a reply teaches', () => {
  test('before the first one the wall clock has to do; after it the store clock is known', async () => {
    const { link, clock } = site(60_000);
    expect(link.now()).toBe(clock.wall());
    await link.call('time', (store) => store.time());
    expect(link.now()).toBe(clock.wall() + 60_000);
    await clock.advance(1_500);
    clock.stepWall(-3_600_000);
    expect(link.now()).toBe(clock.wall() + 60_000 + 3_600_000);
  });

  test('A10: the skew is this wall clock against the store, half the way taken off', async () => {
    const { link, clock, store, observer } = site(-2_000);
    store.order({ calls: 'time', requestMs: 50, replyMs: 50 });
    const asked = link.call('time', (one) => one.time());
    await pass(clock, 100);
    await asked;
    // The store's clock stood still meanwhile: 100 ms have passed here, half of it is taken for the way.
    expect(link.skewMs).toBe(2_050);
    expect(observer.told).toContainEqual(['skew', 2_050]);
  });

  test('the latency is a moving average, and every call is timed with how it ended', async () => {
    const { link, clock, store, observer } = site();
    store.order({ calls: 'time', replyMs: 100 });
    const asked = link.call('time', (one) => one.time());
    await pass(clock, 100);
    await asked;
    expect(link.latencyMs).toBeCloseTo(20);
    expect(observer.told).toContainEqual(['storeCall', 'time', 'ok', 100]);
    store.order({ fault: 'fail', calls: 'get' });
    await expect(link.call('get', (one) => one.get([]))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(observer.told).toContainEqual(['storeCall', 'get', 'error', 0]);
  });
});

describe('O4: settings', () => {
  test('are read once, and again when a reply carries another version', async () => {
    const { link, store, truth } = site();
    expect((await link.settings()).held_ttl_seconds).toBe(30);
    expect(link.settings()).not.toBeInstanceOf(Promise);
    expect(store.count('settings')).toBe(1);
    await truth.setSettings({ held_ttl_seconds: 60 });
    expect(link.settings()).not.toBeInstanceOf(Promise);
    await link.call('time', (one) => one.time());
    const [first, second] = await Promise.all([link.settings(), link.settings()]);
    expect([first.held_ttl_seconds, second.held_ttl_seconds]).toEqual([60, 60]);
    expect(store.count('settings')).toBe(2);
  });

  test('what was read on connecting is not read again', async () => {
    const { link, store, truth } = site();
    link.know(await truth.settings());
    await link.call('time', (one) => one.time());
    expect(link.settings()).not.toBeInstanceOf(Promise);
    expect(store.count('settings')).toBe(0);
  });

  test('where they cannot be read the known ones go on, and the next one tries again', async () => {
    const { link, clock, store, truth } = site();
    link.know(await truth.settings());
    await truth.setSettings({ held_ttl_seconds: 60 });
    await link.call('time', (one) => one.time());
    store.order({ fault: 'loseReply', calls: 'settings' }).order({ fault: 'fail', calls: 'settings' });
    const silent = watched(Promise.resolve(link.settings()));
    await pass(clock, 999);
    expect(silent.now().state).toBe('open');
    await pass(clock, 1);
    expect(silent.now().value?.held_ttl_seconds).toBe(30);
    expect((await link.settings()).held_ttl_seconds).toBe(30);
    expect((await link.settings()).held_ttl_seconds).toBe(60);
  });

  test('with none known at all it is the error that is answered', async () => {
    const { link, store } = site();
    store.order({ fault: 'fail', calls: 'settings' });
    await expect(link.settings()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

describe('S15: within a time', () => {
  test('no answer is STORE_UNAVAILABLE with how long it was waited, and leaves no timer', async () => {
    const { link, clock } = site();
    const silence = new Promise<never>(() => {
      // Nobody answers.
    });
    const answer = watched(link.within(250, 'renew', silence));
    await pass(clock, 250);
    expect(answer.now().error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      message: 'no answer to renew within 250 ms: look at the store',
      details: { timedOut: true, waitedMs: 250 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  test('an answer or an error in time passes, and a failure after the time is nobody’s', async () => {
    const clock = new FakeClock();
    expect(await answerWithin(clock, 10, 'x', Promise.resolve(7))).toBe(7);
    await expect(answerWithin(clock, 10, 'x', Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(clock.pendingTimers).toBe(0);
    let fail = (_: Error): void => undefined;
    const failing = new Promise((_, reject) => {
      fail = reject;
    });
    const late = watched(answerWithin(clock, 10, 'x', failing));
    await pass(clock, 10);
    fail(new Error('too late to matter'));
    await pass(clock, 0);
    expect(late.now().error).toMatchObject({ details: { timedOut: true } });
  });

  test('S21: time in the line does not count, only time on the way', async () => {
    const { link, clock, store, truth } = site();
    const first = await ask(truth, clock, 'a');
    const second = await ask(truth, clock, 'b');
    store.order({ calls: 'acquire', requestMs: 90 });
    const one = watched(link.acquire(first));
    await pass(clock, 0);
    const waited = watched(link.sentWithin(50, 'acquire', second, link.acquire(second)));
    expect(link.leftAt(first)).toBeLessThan(Infinity);
    expect(link.leftAt(second)).toBe(Infinity);
    await pass(clock, 80);
    expect(waited.now().state).toBe('open');
    await pass(clock, 20);
    expect([one.now().state, waited.now().state]).toEqual(['done', 'done']);
  });

  test('an error is an error, though another copy of the request is still in the line', async () => {
    const { link, clock, store, truth } = site();
    const request = await ask(truth, clock, 'a');
    store.order({ fault: 'fail', calls: 'acquire' }).order({ calls: 'acquire', requestMs: 50 });
    const failed = link.acquire(request);
    watched(failed);
    await pass(clock, 0);
    const blocker = watched(link.acquire(await ask(truth, clock, 'b')));
    await pass(clock, 0);
    const copy = watched(link.acquire(request));
    await expect(link.sentWithin(10, 'acquire', request, failed)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await pass(clock, 50);
    expect([blocker.now().state, copy.now().state]).toEqual(['done', 'done']);
  });

  test('S9: what has not left yet can be taken back', async () => {
    const { link, clock, store, truth } = site();
    const [first, second] = [await ask(truth, clock, 'a'), await ask(truth, clock, 'b')];
    store.order({ calls: 'acquire', requestMs: 50 });
    const one = watched(link.acquire(first));
    await pass(clock, 0);
    const two = watched(link.acquire(second));
    expect([link.withdraw(first), link.withdraw(second), link.withdraw(second)]).toEqual([false, true, false]);
    await pass(clock, 50);
    expect(one.now().state).toBe('done');
    expect(two.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(store.count('acquire')).toBe(1);
  });
});

test('S21: what is asked one by one leaves in lists', async () => {
  const { link, clock, store, truth } = site();
  const held = await Promise.all(['a', 'b', 'c'].map((name) => grant(truth, clock, name)));
  const ids = held.map(({ id, epoch }, i) => ({ id, epoch, requestId: `r${i}` }));
  await Promise.all(ids.map((one) => link.renew({ ...one, callerWall: 0 })));
  await Promise.all(ids.map((one) => link.change({ ...one, requestId: `c${one.id}`, kind: 'downgrade' })));
  await Promise.all(ids.map((one) => link.end({ ...one, why: 'released' })));
  expect(store.calls.map(({ call, asked }) => `${call} ${asked.length}`)).toEqual(['renew 3', 'change 3', 'end 3']);
  const { results } = await link.renewTogether(ids.map((one) => ({ ...one, callerWall: 0 })));
  expect(results.map((result) => result.outcome)).toEqual(['notHeld', 'notHeld', 'notHeld']);
  await expect(link.end({ id: 'short', requestId: 'r', why: 'released' })).rejects.toBeInstanceOf(LeaseError);
});
