// A long line for one name. The usual steps of it (join, release, claim of the first, ask again) take a short way through the scripts
// (src/stores/redis/lua/acquire-plain.ts); whatever is unusual about the line takes the long one. Both must say the same.
import { afterEach, describe, expect, test } from 'vitest';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { channelOf, keysOf } from '../../src/stores/redis/keys.js';
import type { AcquireResult, Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { readCounters } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, , INDEX = '', , QUEUE = '', DYING = ''] = keysOf('default');
const TICKET_LIFE_MS = 10_000;
let server: RedisServer;
let admin: Admin;
let store: Store;
const endings: (() => void)[] = [];

/** Give or take half a second. */
const about = (ms: number): unknown => expect.closeTo(ms, -3);

async function send(request: AcquireRequest): Promise<AcquireResult> {
  const [result] = (await store.acquire([request])).results;
  if (!result || result.outcome === 'failed') throw new Error('no answer');
  return result;
}
async function join(name: string, changes: Partial<AcquireRequest> = {}): Promise<[AcquireRequest, AcquireResult]> {
  const request = await ask(store, clock, name, { join: true, ...changes });
  return [request, await send(request)];
}
async function line(name: string, count: number): Promise<AcquireRequest[]> {
  const requests = [];
  for (let i = 0; i < count; i += 1) requests.push((await join(name))[0]);
  return requests;
}
const end = ({ id, epoch }: Lease) =>
  store.end([{ id, epoch, requestId: clock.randomText(), why: 'released' as const }]);
async function claim(request: AcquireRequest): Promise<Lease> {
  const result = await send(request);
  if (result.outcome !== 'granted') throw new Error(result.outcome);
  return result.lease;
}
/** What the scripts themselves say: a store that has just subscribed wakes everybody, to be sure. */
async function hear(): Promise<string[]> {
  const woken: string[] = [];
  const listener = admin.duplicate();
  await listener.connect();
  await listener.subscribe(channelOf('default'), (message) => void woken.push(...message.split(' ').filter(Boolean)));
  endings.push(() => listener.destroy());
  return woken;
}
/** What the counters say, and what there is: tickets, and members of the three keys about them. */
async function counted(): Promise<number[]> {
  const meta = (await readCounters(admin)).split(' ');
  const waiting = (await admin.zRangeByLex(INDEX, '[w', '(x')).length;
  return [Number(meta[5]), waiting, (await admin.zCard(QUEUE)) - 1, (await admin.zCard(DYING)) - 1];
}

/** The steps of a line: the holder lets go, a new one joins while nobody holds, the first claims, another joins, one in the middle
 *  asks again, and somebody who does not wait is refused. */
const STEPS = ['end', 'join free', 'claim', 'join', 'refresh', 'refuse'] as const;
type Micros = Record<(typeof STEPS)[number], number>;

/** Microseconds of the server for each step: medians of many turns. */
async function turnOf(name: string, count: number): Promise<Micros> {
  let held = await grant(store, clock, name);
  const waiting = await line(name, count);
  const turns: Micros[] = [];
  while (turns.length < 41) {
    const micros = {} as Micros;
    const timed = async <T>(step: (typeof STEPS)[number], act: () => Promise<T>): Promise<T> => {
      await admin.configResetStat();
      const result = await act();
      micros[step] = await scriptMicros();
      return result;
    };
    const next = [
      await ask(store, clock, name, { join: true }),
      await ask(store, clock, name, { join: true }),
    ] as const;
    const passing = await ask(store, clock, name);
    await timed('end', () => end(held));
    await timed('join free', () => send(next[0]));
    held = await timed('claim', () => claim(waiting.shift() as AcquireRequest));
    await timed('join', () => send(next[1]));
    await timed('refresh', () => send(waiting[count >> 1] as AcquireRequest));
    expect((await timed('refuse', () => send(passing))).outcome).toBe('refused');
    waiting.push(...next);
    await store.end([{ id: waiting.pop()?.id ?? '', requestId: clock.randomText(), why: 'cancelled' }]);
    turns.push(micros);
  }
  const median = (values: readonly number[]): number => [...values].sort((x, y) => x - y)[20] as number;
  return Object.fromEntries(STEPS.map((step) => [step, median(turns.map((turn) => turn[step]))])) as Micros;
}
async function scriptMicros(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await admin.info('commandstats'))?.[1]);
}

describe.skipIf(isSkipped('redis'))('a long line in Redis', () => {
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });
  afterEach(() => {
    for (const ending of endings.splice(0)) ending();
  });

  test('Q1, Q3, S6: 300 in line: each is told its place, the first is woken and served, and the log says so', async () => {
    let held = await grant(store, clock, 'hot');
    const waiting: AcquireRequest[] = [];
    for (let i = 0; i < 300; i += 1) {
      const [request, result] = await join('hot');
      waiting.push(request);
      const refusal = { reason: 'held', holderCount: 1, queueLength: i, holders: [{ id: held.id }] };
      expect(result).toMatchObject({ outcome: 'queued', place: i + 1, ticketLeftMs: TICKET_LIFE_MS, refusal });
    }
    expect(await counted()).toEqual([300, 300, 300, 300]);
    const woken = await hear();
    for (let i = 0; i < 20; i += 1) {
      await end(held);
      expect((await send(waiting[i + 1] as AcquireRequest)).outcome).toBe('queued');
      held = await claim(waiting[i] as AcquireRequest);
    }
    await expect.poll(() => woken).toEqual(waiting.slice(0, 20).map(({ id }) => id));
    expect(await counted()).toEqual([280, 280, 280, 280]);
    const rows = await store.events({ leaseId: waiting[19]?.id ?? '', limit: 10 });
    expect(rows).toMatchObject({
      rows: [
        { type: 'lease.queued', to: 'pending', data: { place: 20, priority: 0, because: 'held' } },
        { type: 'lease.acquired', from: 'pending', to: 'active', epoch: held.epoch, data: { ttlMs: held.ttlMs } },
      ],
    });
    const renewal = { id: held.id, epoch: held.epoch, requestId: 'again', callerWall: clock.wall() };
    expect((await store.renew([renewal])).results[0]).toMatchObject({ outcome: 'renewed', renewals: 1 });
    expect((await store.get([held.id])).items[0]).toMatchObject({ status: 'active', renewals: 1, epoch: held.epoch });
    expect((await end(held)).results[0]).toMatchObject({ outcome: 'released', again: false });
    expect((await end(held)).results[0]).toMatchObject({ outcome: 'released', again: true });
  });

  test('S18: no step takes the server longer in a line of 250 than in a line of 5 beside it', async () => {
    const short = await turnOf('short', 5);
    const long = await turnOf('long', 250);
    for (const step of STEPS) expect(long[step] / short[step], step).toBeLessThan(3);
  });

  test('S18: nor does it in a list, where many join one line, or ask again for many places in it', async () => {
    const alone = await turnOf('short', 5);
    await grant(store, clock, 'long');
    const requests = await Promise.all(Array.from({ length: 250 }, () => ask(store, clock, 'long', { join: true })));
    const places = async (asked: readonly AcquireRequest[]): Promise<[number[], number]> => {
      await admin.configResetStat();
      const { results } = await store.acquire(asked);
      const micros = (await scriptMicros()) / asked.length;
      return [results.map((result) => (result.outcome === 'queued' ? result.place : 0)), micros];
    };
    const inOrder = requests.map((_, i) => i + 1);
    const [joined, joinMicros] = await places(requests);
    const [asked, askMicros] = await places(requests);
    const [second, secondMicros] = await places(requests.filter((_, i) => i % 2 === 1));
    expect([joined, asked, second]).toEqual([inOrder, inOrder, inOrder.filter((place) => place % 2 === 0)]);
    for (const micros of [joinMicros, askMicros, secondMicros]) expect(micros).toBeLessThan(alone.refresh * 1.5);
  });

  test('S18, Q2: nor where others have died, unless they are of this line', async () => {
    await grant(store, clock, 'other', { ttlMs: 60_000 });
    await line('other', 5);
    server.clock.step(11_000);
    const long = await turnOf('long', 250);
    server.clock.step(11_000);
    await store.sweep({ limit: 1_000 });
    const short = await turnOf('short', 5);
    for (const step of STEPS) expect(long[step] / short[step], step).toBeLessThan(3);
  });

  test('Q1: who is told when to ask again is told by the first in the way that ends, of whatever line', async () => {
    await grant(store, clock, 'hot', { ttlMs: 60_000 });
    await grant(store, clock, 'cold', { ttlMs: 4_000 });
    expect((await join('hot'))[1]).toMatchObject({ refusal: { retryAfterMs: about(60_000) } });
    server.clock.step(3_000);
    expect((await join('hot'))[1]).toMatchObject({ place: 2, refusal: { retryAfterMs: about(7_000) } });
    expect((await join('cold'))[1]).toMatchObject({ place: 1, refusal: { retryAfterMs: about(1_000) } });
  });

  test('Q2: a dead ticket at the front is passed over by joins, claims and wake-ups', async () => {
    const held = await grant(store, clock, 'hot', { ttlMs: 60_000 });
    await line('hot', 1);
    server.clock.step(6_000);
    const [next] = await line('hot', 1);
    server.clock.step(6_000);
    expect((await join('hot'))[1]).toMatchObject({ place: 2, refusal: { queueLength: 1 } });
    const woken = await hear();
    await end(held);
    await expect.poll(() => woken).toEqual([next?.id]);
    expect((await claim(next as AcquireRequest)).id).toBe(next?.id);
  });

  test('Q1, Q3: tickets that share, are of a set, or go before others are seen by those who take the short way', async () => {
    const held = await grant(store, clock, 'hot', { ttlMs: 60_000 });
    const shared = { parts: [{ name: 'hot', scope: 'node', mode: 'shared' } as const] };
    const set = { parts: ['hot', 'other'].map((name) => ({ name, scope: 'node', mode: 'exclusive' }) as const) };
    const readers = [(await join('hot', shared))[0], (await join('hot', shared))[0]];
    await join('hot', set);
    const [plain, result] = await join('hot');
    expect(result).toMatchObject({ place: 4, refusal: { queueLength: 3 } });
    const [urgent] = await join('hot', { priority: 1 });
    const woken = await hear();
    await end(held);
    await expect.poll(() => woken).toEqual([urgent.id]);
    expect((await send(plain)).outcome).toBe('queued');
    await end(await claim(urgent));
    await expect.poll(() => woken.slice(1)).toEqual(readers.map(({ id }) => id));
    expect((await send(plain)).outcome).toBe('queued');
    for (const reader of readers) await claim(reader);
  });
});
