// Turns: one process works in an interval, none is needed, and nothing of a turn stays behind.
import { expect, test, vi } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { serviceSite, settled, type ServiceSite } from '../../test/support/service-site.js';
import type { LeaseError } from '../domain/errors.js';
import { FakeClock } from '../testing/fake-clock.js';
import { INTERNAL_NAMESPACE, takeTurn, turnName, type Turn, type TurnOptions, type Work } from './turn.js';

const EVERY_MS = 30_000;

function turnOf(site: ServiceSite, owner: string, signal = new AbortController().signal): TurnOptions {
  return { service: 'sweeper', namespace: 'default', everyMs: EVERY_MS, owner, clock: site.clock, signal };
}
const done = (): Promise<Work> => Promise.resolve('done');
const holders = async ({ store }: ServiceSite): Promise<number> =>
  (await store.within(INTERNAL_NAMESPACE).list({ status: 'active', limit: 10 })).items.length;

test('O1: of many processes one works in an interval, and the next interval is free for all', async () => {
  const site = serviceSite();
  const worked: string[] = [];
  const ask = (owner: string): Promise<unknown> =>
    takeTurn(site.store, turnOf(site, owner), () => {
      worked.push(owner);
      return done();
    });
  expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['done', 'refused', 'refused']);
  await site.clock.advance(EVERY_MS * 0.85);
  expect(await Promise.all(['b', 'c', 'a'].map(ask))).toEqual(['refused', 'refused', 'refused']);
  await site.clock.advance(EVERY_MS * 0.1);
  expect(await ask('a')).toBe('done');
  expect(worked).toEqual(['a', 'a']);
  expect(await holders(site)).toBe(0);
});

test('O1: namespaces and services do not take turns from each other, whatever they are called', async () => {
  const site = serviceSite();
  for (const namespace of ['default', 'other', '.', '..', INTERNAL_NAMESPACE, 'x'.repeat(64)]) {
    for (const service of ['sweeper', 'history-pruner']) {
      expect(await takeTurn(site.store, { ...turnOf(site, 'a'), namespace, service }, done)).toBe('done');
    }
  }
});

test.each<[string, () => Promise<Work>]>([
  ['failed', () => Promise.reject(new Error('disk full'))],
  ['has more to do', () => Promise.resolve('more')],
])('O1: a turn whose work %s is free at once', async (_what, work) => {
  const site = serviceSite();
  await takeTurn(site.store, turnOf(site, 'a'), work).catch((error: unknown) =>
    expect((error as Error).message).toBe('disk full'),
  );
  expect(await takeTurn(site.store, turnOf(site, 'b'), done)).toBe('done');
});

test('O1: a turn cut short by the stop of its service is free at once', async () => {
  const site = serviceSite();
  const stop = new AbortController();
  const outcome = takeTurn(site.store, turnOf(site, 'a', stop.signal), async ({ signal }) => {
    stop.abort(new Error('stopping'));
    expect(signal.reason).toBe(stop.signal.reason);
    return Promise.resolve('done');
  });
  expect(await outcome).toBe('done');
  expect(await takeTurn(site.store, turnOf(site, 'b'), done)).toBe('done');
});

test('S7: the signal aborts at the deadline, counted from when the turn was asked for', async () => {
  const site = serviceSite();
  let turn: Turn | undefined;
  let finish: (work: Work) => void = () => undefined;
  const outcome = takeTurn(site.store, turnOf(site, 'a'), (given) => {
    turn = given;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await settled();
  await site.clock.advance(54_000);
  expect(turn?.signal.aborted).toBe(false);
  expect(() => turn?.throwIfOver()).not.toThrow();
  await site.clock.advance(1_000); // 60 s less the margin of 5 s and 30 ms
  expect(turn?.signal.aborted).toBe(true);
  expect((turn?.signal.reason as LeaseError).code).toBe('LEASE_LOST');
  expect(() => turn?.throwIfOver()).toThrow(/is over/);
  finish('more');
  expect(await outcome).toBe('more');
  expect(site.clock.pendingTimers).toBe(0);
});

test('S7: a grant that was too long on its way is no turn', async () => {
  const site = serviceSite();
  const home = site.store.within(INTERNAL_NAMESPACE);
  const acquire = home.acquire.bind(home);
  vi.spyOn(home, 'acquire').mockImplementationOnce(async (requests) => {
    const answer = await acquire(requests);
    await site.clock.advance(56_000);
    return answer;
  });
  const work = vi.fn(done);
  await expect(takeTurn(site.store, turnOf(site, 'a'), work)).rejects.toThrow(/is over/);
  expect(work).not.toHaveBeenCalled();
  expect(await takeTurn(site.store, turnOf(site, 'b'), done)).toBe('done');
});

test('S15: an acquire without an answer is ended by its id, whether it was granted or not', async () => {
  const site = serviceSite();
  const home = site.store.within(INTERNAL_NAMESPACE);
  const acquire = home.acquire.bind(home);
  vi.spyOn(home, 'acquire').mockImplementationOnce(async (requests) => {
    await acquire(requests);
    throw new Error('connection lost');
  });
  await expect(takeTurn(site.store, turnOf(site, 'a'), done)).rejects.toThrow('connection lost');
  expect(await holders(site)).toBe(0);

  // And when that cannot be sent either, the turn lapses with its ttl.
  vi.spyOn(home, 'acquire').mockImplementationOnce(async (requests) => {
    await acquire(requests);
    throw new Error('connection lost');
  });
  vi.spyOn(home, 'end').mockRejectedValueOnce(new Error('still lost'));
  await site.clock.advance(EVERY_MS);
  await expect(takeTurn(site.store, turnOf(site, 'a'), done)).rejects.toThrow('connection lost');
  expect(await takeTurn(site.store, turnOf(site, 'b'), done)).toBe('refused');
  await site.clock.advance(60_000);
  expect(await takeTurn(site.store, turnOf(site, 'b'), done)).toBe('done');
});

test('an answer that is neither yes nor no is an error, and work that is done stays done when the store goes', async () => {
  const site = serviceSite();
  const home = site.store.within(INTERNAL_NAMESPACE);
  const reply = { now: 1, incarnation: 'x', settingsVersion: 1 };
  vi.spyOn(home, 'acquire').mockResolvedValueOnce({ ...reply, results: [{ outcome: 'tooOld' }] });
  await expect(takeTurn(site.store, turnOf(site, 'a'), done)).rejects.toThrow(/answered tooOld/);
  const error = new Error('bad item') as LeaseError;
  vi.spyOn(home, 'acquire').mockResolvedValueOnce({ ...reply, results: [{ outcome: 'failed', error }] });
  await expect(takeTurn(site.store, turnOf(site, 'a'), done)).rejects.toBe(error);
  vi.spyOn(home, 'end').mockRejectedValueOnce(new Error('gone'));
  expect(await takeTurn(site.store, turnOf(site, 'a'), done)).toBe('done');
});

test('S18: a long interval asks for no longer hold than a store allows', async () => {
  const site = serviceSite();
  const options = { ...turnOf(site, 'a'), everyMs: 40 * 24 * 3_600_000 };
  expect(await takeTurn(site.store, options, done)).toBe('done');
});

test('a turn somebody holds by hand is refused without an error', async () => {
  const site = serviceSite();
  const clock = new FakeClock({ seed: 9 });
  await grant(site.store.within(INTERNAL_NAMESPACE), clock, turnName('default', 'sweeper'));
  expect(await takeTurn(site.store, turnOf(site, 'a'), done)).toBe('refused');
});
