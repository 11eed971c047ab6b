// Who is told in Redis, and who is left alone (Q3). Each owner has a channel; where nobody hears it, everybody is told; changes have a
// channel of their own. What is published is seen here by a client that listens to all of it, and by the stores themselves.
import { afterEach, describe, expect, test } from 'vitest';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { changesChannelOf, channelOf } from '../../src/stores/redis/keys.js';
import type { HandedOver, Store, StoreListener } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { startCutProxy } from '../support/servers/cut-proxy.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const FOR_ALL = channelOf('default');
const CHANGES = changesChannelOf('default');
const KEPT_IDLE = 32;
const TURNS = 20;
let server: RedisServer;
let admin: Admin;
let store: Store;
const endings: (() => unknown)[] = [];

interface Process {
  readonly store: Store;
  readonly woken: string[];
  readonly owners: Set<string>;
  changes: number;
}

/** What another process would have: a store of its own, and somebody who listens. */
async function process(watches = false, by = clock, url = server.url): Promise<Process> {
  const own = await openRedis(url, { clock: by });
  endings.push(() => own.close());
  const found: Process = { store: own, woken: [], owners: new Set(), changes: 0 };
  const listener: StoreListener = { wake: (ids) => void found.woken.push(...ids) };
  const isUp = new Promise<void>((up) => {
    const watching = watches ? { changed: () => void (found.changes += 1) } : {};
    own.subscribe({ ...listener, ...watching, up });
  });
  await isUp;
  return found;
}

/** Joins the line for a name that is held. The first of its owner is woken when that one's channel comes to be heard: forgotten here. */
async function join({ store: own, woken, owners }: Process, name: string, owner: string): Promise<AcquireRequest> {
  const request = await ask(own, clock, name, { owner, join: true });
  await own.acquire([request]);
  if (!owners.has(owner)) await expect.poll(() => woken).toContain(request.id);
  owners.add(owner);
  woken.length = 0;
  return request;
}

async function heardAt(channel: string): Promise<number> {
  return (await admin.pubSubNumSub([channel]))[channel] ?? 0;
}

/** What is published from now on, as `channel payload`: everything, or in one channel. A pattern counts as somebody who hears. */
async function published(channel?: string): Promise<string[]> {
  const all: string[] = [];
  const ear = admin.duplicate();
  await ear.connect();
  const hear = (payload: string, from: string): void => void all.push(`${from} ${payload}`);
  await (channel === undefined ? ear.pSubscribe('holdfast:{default}:*', hear) : ear.subscribe(channel, hear));
  endings.push(() => ear.destroy());
  return all;
}

const end = ({ id, epoch }: Lease) =>
  store.end([{ id, epoch, requestId: clock.randomText(), why: 'released' as const }]);

describe.skipIf(isSkipped('redis'))('hints of Redis', () => {
  onRedis(clock, {}, (site) => {
    ({ server, admin, store } = site);
  });
  afterEach(async () => {
    for (const ending of endings.splice(0).reverse()) await ending();
  });

  test('S7: news of a hand-over is believed once, of a ticket that is known, and only as it would be said', async () => {
    const waiter = await process();
    const told: HandedOver[] = [];
    waiter.store.subscribe({ handedOver: (lease) => told.push(lease) });
    await grant(store, clock, 'baton');
    const { id } = await join(waiter, 'baton', 'bob');
    const tell = (payload: string): Promise<unknown> => admin.publish(channelOf('default', 'bob'), payload);
    const wrong = [
      '',
      ' 7',
      ' 7 1 2',
      ' 7 1 2 0 9',
      ' x 1 2 0',
      ' 0 1 2 0',
      ' 7 2 1 0',
      ' 7 1 1e300 0',
      ' 7.5 1 2 0',
      ' 7 1 2 NaN',
    ];
    for (const figures of wrong) await tell(`= ${id}${figures}`);
    await expect.poll(() => waiter.woken).toEqual(wrong.map(() => id));
    expect(told).toEqual([]);
    for (const payload of ['= somebody-else-0123 7 1 2 0', `= ${id} 7 1 2 0`, `= ${id} 8 1 2 0`]) await tell(payload);
    await expect.poll(() => told).toEqual([{ id, epoch: 7, acquiredAt: 1, expiresAt: 2, skewMs: 0 }]);
    await tell(id); // it is no ticket any more
    expect(waiter.woken).toHaveLength(wrong.length + 1); // the listener that knows of wake-ups alone
  });

  test('Q1, Q3: whose turn it is hears of it before who let go is answered', async () => {
    const waiter = await process();
    const order: string[] = [];
    await grant(store, clock, 'other');
    await join(waiter, 'other', 'bob'); // its channel is heard from here on
    const told = (): void => void order.push('told');
    waiter.store.subscribe({ wake: told, handedOver: told }); // woken, where it joined in the very millisecond of the release
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const held = await grant(store, clock, `baton/${turn}`);
      const next = await ask(waiter.store, clock, `baton/${turn}`, { owner: 'bob', join: true, handOver: true });
      await waiter.store.acquire([next]);
      await end(held);
      order.push('answered');
      await expect.poll(() => order).toHaveLength(2 * turn);
    }
    const toldFirst = order.filter((what, i) => i % 2 === 0 && what === 'told');
    expect(toldFirst.length).toBeGreaterThan(TURNS / 2); // nearly all: nobody promises it
  });

  test('A11: a user who may not ask for what makes it so lets go all the same', async () => {
    await admin.sendCommand(['ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', '&*', '+@all', '-ping']);
    const quiet = await openRedis(server.url.replace('//', '//quiet:secret@'), { clock });
    endings.push(() => quiet.close());
    const { id, epoch } = await grant(quiet, clock, 'a');
    const { results } = await quiet.end([{ id, epoch, requestId: clock.randomText(), why: 'released' }]);
    expect(results).toMatchObject([{ outcome: 'released' }]);
    expect(await admin.sendCommand<string>(['INFO', 'errorstats'])).toContain('NOPERM'); // it was asked for
  });

  test('Q3: a freed name is told to the process that is next, and to no other', async () => {
    const [first, second] = [await process(), await process()];
    const held = await grant(store, clock, 'a');
    const next = await join(first, 'a', 'first');
    await join(second, 'a', 'second');
    const said = await published();
    await end(held);
    await expect.poll(() => first.woken).toEqual([next.id]);
    expect(said).toEqual([`${channelOf('default', 'first')} ${next.id}`]);
    expect(second.woken).toEqual([]);
  });

  test('Q3: one release that frees names of two owners tells each of its own', async () => {
    const [first, second] = [await process(), await process()];
    const names = ['a', 'b', 'c'];
    const held = [];
    for (const name of names) held.push(await grant(store, clock, name));
    const a = await join(first, 'a', 'first');
    const b = await join(second, 'b', 'second');
    const c = await join(first, 'c', 'first');
    const said = await published();
    await store.end(held.map(({ id, epoch }) => ({ id, epoch, requestId: clock.randomText(), why: 'released' })));
    await expect.poll(() => first.woken).toEqual([a.id, c.id]);
    await expect.poll(() => second.woken).toEqual([b.id]);
    const one = `${channelOf('default', 'first')} ${a.id} ${c.id}`;
    await expect.poll(() => said.sort()).toEqual([one, `${channelOf('default', 'second')} ${b.id}`]);
  });

  test('Q3: where nobody hears the channel of its owner everybody is told', async () => {
    const listening = await process();
    const held = await grant(store, clock, 'a');
    const request = await ask(store, clock, 'a', { owner: 'deaf', join: true });
    await store.acquire([request]); // through a store to which nobody listens
    const said = await published(FOR_ALL);
    await end(held);
    await expect.poll(() => said).toEqual([`${FOR_ALL} ${request.id}`]);
    expect(listening.woken).toEqual([]); // not one of its own
  });

  test('Q3: two processes of one owner both hear, and each wakes its own', async () => {
    const [first, second] = [await process(), await process()];
    const held = [await grant(store, clock, 'a'), await grant(store, clock, 'b')] as const;
    const a = await join(first, 'a', 'twins');
    const b = await join(second, 'b', 'twins');
    await end(held[1]);
    await expect.poll(() => second.woken).toEqual([b.id]);
    await end(held[0]);
    await expect.poll(() => first.woken).toEqual([a.id]);
  });

  test('Q3: after a lost connection every channel is heard again, and everybody who waits is woken', async () => {
    const first = await process();
    const held = await grant(store, clock, 'a');
    const next = await join(first, 'a', 'first');
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
    await expect.poll(() => first.woken, { timeout: 5_000 }).toContain(next.id);
    await expect.poll(() => heardAt(channelOf('default', 'first')), { timeout: 5_000 }).toBe(1);
    await expect.poll(() => first.woken.length).toBeGreaterThan(1);
    first.woken.length = 0;
    await end(held);
    await expect.poll(() => first.woken).toEqual([next.id]);
  });

  test('Q3: a wake-up that overtakes the answer to its own question is heard', async () => {
    const proxy = await startCutProxy(server.port);
    endings.push(() => proxy.close());
    const first = await process(false, clock, server.url.replace(`:${server.port}`, `:${proxy.port}`));
    const held = await grant(store, clock, 'a');
    const request = await ask(store, clock, 'a', { owner: 'first', join: true });
    proxy.delayAnswers(1_000, 1); // of the connection for commands
    let isAnswered = false;
    const asked = first.store.acquire([request]).then(() => (isAnswered = true));
    await expect.poll(async () => (await store.get([request.id])).items[0]?.status).toBe('pending');
    await end(held);
    await expect.poll(() => first.woken).toEqual([request.id]);
    expect(isAnswered).toBe(false);
    await asked;
  });

  test('S12: one that throws at a wake-up disturbs nobody, and whoever is next claims in the very turn it is told', async () => {
    const first = await process();
    const held = await grant(store, clock, 'a');
    const next = await join(first, 'a', 'first');
    const turns: string[] = [];
    first.store.subscribe({
      wake() {
        setImmediate(() => turns.push('the turn is over'));
        throw new Error('a listener of the caller');
      },
    });
    first.store.subscribe({ wake: (ids) => void turns.push(...ids) });
    await end(held);
    await expect.poll(() => turns).toEqual([next.id, 'the turn is over']);
    expect(first.woken).toEqual([next.id]);
  });

  test('Q3: who watches is told of every change, and who waits is not disturbed by it', async () => {
    const [waiting, watching] = [await process(), await process(true)];
    await grant(store, clock, 'a');
    await join(waiting, 'a', 'first');
    await expect.poll(() => heardAt(CHANGES)).toBe(1);
    const said = await published();
    watching.changes = 0;
    await grant(store, clock, 'b');
    await expect.poll(() => watching.changes).toBeGreaterThan(0);
    expect(said).toEqual([`${CHANGES} `]);
  });

  test('S18: the channels of owners who have gone are left, but for a few', async () => {
    const desk = await process();
    const held = await grant(store, clock, 'a');
    for (let i = 0; i < KEPT_IDLE + 8; i += 1) {
      const request = await ask(desk.store, clock, 'a', { owner: `guest ${i}`, join: true });
      await desk.store.acquire([request]);
      await desk.store.end([{ id: request.id, requestId: clock.randomText(), why: 'cancelled' }]);
    }
    const channels = () => admin.pubSubChannels(channelOf('default', '*'));
    await expect.poll(async () => (await channels()).length).toBe(KEPT_IDLE);
    expect(await channels()).toContain(channelOf('default', `guest ${KEPT_IDLE + 7}`));
    const back = await join(desk, 'a', 'guest 0');
    await end(held);
    await expect.poll(() => desk.woken).toEqual([back.id]);
  });

  test('S18: tickets that nobody asks for any more are forgotten, and their channels with them', async () => {
    let ahead = 0;
    const later = { ...clock, monotonic: () => clock.monotonic() + ahead };
    const desk = await process(false, later);
    await grant(store, clock, 'a');
    const join = async (owner: string): Promise<void> => {
      await desk.store.acquire([await ask(desk.store, clock, 'a', { owner, join: true })]);
    };
    for (let i = 0; i < KEPT_IDLE + 8; i += 1) await join(`guest ${i}`);
    const channels = async () => (await admin.pubSubChannels(channelOf('default', '*'))).length;
    await expect.poll(channels).toBe(KEPT_IDLE + 8);
    ahead = 30_000;
    await join('the next');
    await expect.poll(channels).toBe(KEPT_IDLE + 1);
  });

  test('Q3: a ticket that was there before anybody listened has its channel too', async () => {
    const held = await grant(store, clock, 'a');
    const early = await openRedis(server.url, { clock });
    endings.push(() => early.close());
    const request = await ask(early, clock, 'a', { owner: 'early', join: true });
    await early.acquire([request]);
    const woken: string[] = [];
    early.subscribe({ wake: (ids) => void woken.push(...ids) });
    await expect.poll(() => heardAt(channelOf('default', 'early'))).toBe(1);
    await expect.poll(() => woken.length).toBeGreaterThan(1); // by both channels, as they came to be heard
    woken.length = 0;
    await end(held);
    await expect.poll(() => woken).toEqual([request.id]);
  });
});
