// Calls with one item, which have a short way of their own (src/stores/redis/lua/one-item.ts). Whether it was taken shows in the
// commands the server has counted: everybody else reads the counters by HGET.
import { describe, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.js';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { AcquireResult, HandedOver, Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { changeCounters } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, ROWS = '', , , , , LOG = ''] = keysOf('default');
const LAST = Number.MAX_SAFE_INTEGER;
let server: RedisServer;
let admin: Admin;
let store: Store;

const request = (name: string, changes: Partial<AcquireRequest> = {}): Promise<AcquireRequest> =>
  ask(store, clock, name, changes);
async function asked(one: AcquireRequest): Promise<AcquireResult> {
  const [result] = (await store.acquire([one])).results;
  if (result === undefined || result.outcome === 'failed') throw result?.error ?? new Error('no result');
  return result;
}
async function take(name: string): Promise<Lease> {
  const result = await asked(await request(name));
  if (result.outcome !== 'granted') throw new Error(result.outcome);
  return result.lease;
}
async function release({ id, epoch }: Lease): Promise<string | undefined> {
  const { results } = await store.end([{ id, epoch, requestId: clock.randomText(), why: 'released' }]);
  return results[0]?.outcome;
}
/** Needs, epoch, now, arrival, seq and what follows. */
async function setCounters(change: (words: string[]) => void): Promise<void> {
  await changeCounters(admin, (text) => {
    const words = text.split(' ');
    change(words);
    return words.join(' ');
  });
}
const shortWays = async (): Promise<number> => {
  const stats = await admin.sendCommand<string>(['INFO', 'commandstats']);
  const calls = (name: string): number => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return calls('evalsha') - calls('hget');
};

describe.skipIf(isSkipped('redis'))('calls with one item', () => {
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });

  test('S6, S8: take the short way, and leave what any other would', async () => {
    const before = await shortWays();
    const leases: Lease[] = [];
    for (let i = 0; i < 40; i += 1) leases.push(await take(`x/${i}`));
    expect((await shortWays()) - before).toBeGreaterThan(20);
    expect((await store.get(leases.map(({ id }) => id))).items).toEqual(leases);
    for (const lease of leases) expect(await release(lease)).toBe('released');
    const { items } = await store.get(leases.map(({ id }) => id));
    expect(items).toEqual(
      leases.map((lease, i) => ({ ...lease, status: 'released', endedAt: items[i]?.endedAt ?? 'none' })),
    );
    const page = await store.events({ limit: 1_000 });
    const rows = page.outcome === 'rows' ? page.rows : [];
    expect(rows.map(({ type, leaseId, epoch }) => [type, leaseId, epoch])).toEqual([
      ...leases.map(({ id, epoch }) => ['lease.acquired', id, epoch]),
      ...leases.map(({ id, epoch }) => ['lease.released', id, epoch]),
    ]);
    expect(rows.slice(0, 40).map(({ data }) => data)).toEqual(
      leases.map(({ ttlMs, expiresAt }) => ({ ttlMs, expiresAt, waitedMs: 0 })),
    );
  });

  test('S2: after a pause too, when the server is asked who it is', async () => {
    let held = await take('baton');
    const line: AcquireRequest[] = [];
    for (let i = 0; i < 10; i += 1) {
      line.push(await request('baton', { join: true }));
      await asked(line[i] as AcquireRequest);
    }
    const before = await shortWays();
    const { incarnation } = await store.time(); // reads the counters by HGET
    for (const waiting of line) {
      server.clock.step(20);
      expect(await release(held)).toBe('released');
      server.clock.step(20);
      const result = await asked(waiting);
      if (result.outcome !== 'granted') throw new Error(result.outcome);
      expect(result.lease.epoch).toBe(held.epoch + 1);
      held = result.lease;
    }
    expect((await shortWays()) - before).toBe(20);
    expect(await store.get([held.id])).toMatchObject({ incarnation, items: [held] });
    expect((await store.waitGraph()).tickets).toEqual([]);
  });

  test('S1, S8: a held name is refused, a known id is answered with what it is', async () => {
    for (let i = 0; i < 10; i += 1) {
      const first = await request(`held/${i}`);
      const granted = await asked(first);
      expect(granted).toMatchObject({ outcome: 'granted', again: false });
      expect(await asked(first)).toMatchObject({ outcome: 'granted', again: true });
      expect(await asked(await request(`held/${i}`))).toMatchObject({
        outcome: 'refused',
        refusal: { reason: 'held' },
      });
      expect(await asked({ ...first, ttlMs: 9_000 })).toEqual({ outcome: 'mismatch' });
      const elsewhere = await request(`free/${i}`, { id: first.id });
      expect(await asked(elsewhere)).toEqual({ outcome: 'mismatch' });
      expect(await asked(await request(`free/${i}`))).toMatchObject({ outcome: 'granted' });
    }
  });

  test('S2, S17: counters go on by their last digit, across nines and up to the last safe integer', async () => {
    for (const start of [9_999_999_999_990, LAST - 20]) {
      await setCounters((words) => {
        words[1] = String(start);
        words[3] = '95';
      });
      for (let i = 1; i <= 20; i += 1) {
        const lease = await take(`n/${start}/${i}`);
        expect(lease.epoch).toBe(start + i);
        const row = (await admin.hGet(ROWS, lease.id)) ?? '';
        expect(row.split('\n')[0]?.split(' ')).toEqual(
          [
            'A',
            lease.epoch,
            lease.expiresAt,
            lease.acquiredAt,
            lease.acquiredAt,
            0,
            lease.skewMs,
            lease.ttlMs,
            95 + i,
            0,
            '',
          ].map(String),
        );
        await release(lease);
      }
    }
    await expect(take('one/more')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('S18: the log keeps its bound', async () => {
    for (let i = 0; i < 150; i += 1) await release(await take('x'));
    await setCounters((words) => {
      words[4] = '1999990';
    });
    for (let i = 0; i < 10; i += 1) await release(await take('x'));
    const [oldest] = await admin.sendCommand<[string, string[]][]>(['XRANGE', LOG, '-', '+', 'COUNT', '1']);
    expect(Number(oldest?.[0].split('-')[0])).toBeGreaterThan(1);
    const page = await store.events({ limit: 20, backward: true });
    expect(page).toMatchObject({ outcome: 'rows' });
  });

  test('S13: a clock that was set back stands still, and goes on when it is past', async () => {
    const first = await take('a');
    server.clock.step(-5_000);
    for (let i = 0; i < 10; i += 1) expect((await take(`b/${i}`)).acquiredAt).toBeGreaterThanOrEqual(first.acquiredAt);
    expect(await release(first)).toBe('released');
    server.clock.step(10_000);
    expect((await take('c')).acquiredAt).toBeGreaterThan(first.acquiredAt + 4_000);
  });

  test('H1: whoever watches is told, and nobody takes a longer way for that', async () => {
    let told = 0;
    const leave = store.subscribe({ changed: () => (told += 1) });
    await expect.poll(async () => (await release(await take('x')), told)).toBeGreaterThan(3); // it is known by then that somebody does
    const held = await take('baton');
    const next = await request('baton', { join: true, handOver: true });
    expect(await asked(next)).toMatchObject({ outcome: 'queued' });
    server.clock.step(5); // who joins in the very millisecond of a release is woken
    const [before, heard] = [await shortWays(), told];
    expect(await release(await take('y'))).toBe('released');
    const { results } = await store.end([{ id: held.id, epoch: held.epoch, requestId: 'watched', why: 'released' }]);
    expect(results).toMatchObject([{ outcome: 'released', handedTo: { id: next.id } }]);
    expect((await shortWays()) - before).toBe(3);
    await expect.poll(() => told - heard).toBeGreaterThanOrEqual(3);
    leave();
  });

  test('Q1: who comes later does not pass one who waits, on a name that is free just now or on any other', async () => {
    const held = await take('door');
    const waiting = await request('door', { join: true });
    expect(await asked(waiting)).toMatchObject({ outcome: 'queued', place: 1 });
    expect(await release(held)).toBe('released');
    for (let i = 0; i < 10; i += 1) {
      expect(await asked(await request('door'))).toMatchObject({ outcome: 'refused', refusal: { reason: 'queue' } });
      expect(await asked(await request(`other/${i}`))).toMatchObject({ outcome: 'granted' });
    }
    expect(await asked(waiting)).toMatchObject({ outcome: 'granted' });
  });

  test('Q1, Q3, S6: a turn in a line takes the short way, and leaves what any other would', async () => {
    const woken: string[] = [];
    const leave = store.subscribe({ wake: (ids) => woken.push(...ids) });
    let held = await take('baton');
    const line: AcquireRequest[] = [];
    for (let i = 0; i < 40; i += 1) {
      line.push(await request('baton', { join: true, owner: `waiter-${i % 3}` }));
      expect(await asked(line[i] as AcquireRequest)).toMatchObject({ outcome: 'queued', place: i + 1 });
    }
    const before = await shortWays();
    const turns: Lease[] = [];
    for (const [i, one] of line.entries()) {
      expect(await release(held)).toBe('released');
      const later = line[i + 1];
      if (later) expect(await asked(later)).toMatchObject({ outcome: 'queued', place: 2 });
      const result = await asked(one);
      if (result.outcome !== 'granted') throw new Error(result.outcome);
      expect(result.lease.epoch).toBe(held.epoch + 1);
      turns.push((held = result.lease));
    }
    expect((await shortWays()) - before).toBeGreaterThan(30);
    expect((await store.get([held.id])).items).toEqual([held]);
    expect(await release(held)).toBe('released');
    expect(await asked(line[39] as AcquireRequest)).toMatchObject({ outcome: 'ended', status: 'released' });
    await expect.poll(() => new Set(woken)).toEqual(new Set(line.map(({ id }) => id)));
    leave();
    const { items } = await store.get(turns.map(({ id }) => id));
    expect(items).toEqual(
      turns.map((lease, i) => ({ ...lease, status: 'released', endedAt: items[i]?.endedAt ?? 'none' })),
    );
    const page = await store.events({ limit: 1_000, type: 'lease.acquired' });
    const rows = page.outcome === 'rows' ? page.rows.slice(1) : [];
    expect(rows.map(({ leaseId, epoch, from, to }) => [leaseId, epoch, from, to])).toEqual(
      turns.map(({ id, epoch }) => [id, epoch, 'pending', 'active']),
    );
    expect(rows.every(({ data }) => Number(data['waitedMs']) > 0)).toBe(true);
    expect((await store.show('baton', 0)).queue).toEqual([]);
    expect((await store.waitGraph()).tickets).toEqual([]);
  });

  test('Q1, S6: a turn that is handed over takes the short way, and leaves what any other would', async () => {
    const told = new Map<string, HandedOver>();
    const leave = store.subscribe({ handedOver: (lease) => told.set(lease.id, lease) });
    const first = await take('baton');
    const line: AcquireRequest[] = [];
    for (let i = 0; i < 40; i += 1) {
      line.push(
        await request('baton', { join: true, handOver: true, owner: `waiter-${i % 3}`, metadata: { turn: i } }),
      );
      expect(await asked(line[i] as AcquireRequest)).toMatchObject({ outcome: 'queued', place: i + 1 });
    }
    const before = await shortWays();
    let held: Pick<Lease, 'id' | 'epoch'> = first;
    for (const one of line) {
      const requestId = clock.randomText();
      const { results } = await store.end([{ id: held.id, epoch: held.epoch, requestId, why: 'released' }]);
      held = { id: one.id, epoch: held.epoch + 1 };
      expect(results).toEqual([{ outcome: 'released', again: false, blockedMs: 0, handedTo: held }]);
      await expect.poll(() => told.has(one.id)).toBe(true); // from then on it is known here, and its release goes the short way
    }
    expect((await shortWays()) - before).toBe(40);
    leave();
    const { items } = await store.get(line.map(({ id }) => id));
    const turns = items.map((item) => item as Lease);
    expect(turns.map(({ status, metadata }) => [status, metadata])).toEqual(
      line.map(({ metadata }, i) => [i < 39 ? 'released' : 'active', metadata]),
    );
    for (const { id, epoch, acquiredAt, expiresAt, skewMs } of turns)
      expect(told.get(id)).toEqual({ id, epoch, acquiredAt, expiresAt, skewMs });
    expect(await release(turns[39] as Lease)).toBe('released');
    const page = await store.events({ limit: 1_000, type: 'lease.acquired' });
    const rows = page.outcome === 'rows' ? page.rows.slice(1) : [];
    expect(
      rows.map(({ leaseId, epoch, at, from, to, data }) => [leaseId, epoch, at, from, to, data['expiresAt']]),
    ).toEqual(
      turns.map(({ id, epoch, acquiredAt, expiresAt }) => [id, epoch, acquiredAt, 'pending', 'active', expiresAt]),
    );
    expect((await store.waitGraph()).tickets).toEqual([]);
    const [, , INDEX = '', ENDS = '', QUEUE = '', DYING = ''] = keysOf('default');
    for (const key of [INDEX, QUEUE, DYING]) expect(await admin.zRange(key, 0, -1)).toEqual(['']);
    server.clock.step(600_000);
    expect(await store.sweep({ limit: 1_000 })).toMatchObject({ leases: 0, tickets: 0, more: false });
    await store.prune({ olderThanMs: 300_000, limit: 1_000 });
    expect(await admin.zRange(ENDS, 0, -1)).toEqual(['']);
    expect(await admin.hKeys(ROWS)).toEqual(['']);
  });

  test('Q1, S4: so does a release of what this store renewed', async () => {
    const held = await take('baton');
    const waiting = await request('baton', { join: true, handOver: true });
    await asked(waiting);
    server.clock.step(2_000);
    const { id, epoch } = held;
    const renewal = { id, epoch, requestId: 'again', ttlMs: 60_000, callerWall: clock.wall() };
    expect((await store.renew([renewal])).results).toMatchObject([{ outcome: 'renewed', renewals: 1 }]);
    server.clock.step(5_000);
    const before = await shortWays();
    const { results, now } = await store.end([{ id, epoch, requestId: 'over', why: 'released' }]);
    expect(results).toMatchObject([{ outcome: 'released', handedTo: { id: waiting.id, epoch: epoch + 1 } }]);
    expect((await shortWays()) - before).toBe(1);
    const { items } = await store.get([id]);
    expect(items).toMatchObject([{ status: 'released', endedAt: now, renewals: 1, ttlMs: 60_000 }]);
    expect(await store.events({ limit: 1, backward: true, type: 'lease.released' })).toMatchObject({
      rows: [{ leaseId: id, data: { heldMs: now - held.acquiredAt } }],
    });
  });

  test('S17, S2: at the end of the counter nothing is handed over, and who is next is woken', async () => {
    const woken: string[] = [];
    const leave = store.subscribe({ wake: (ids) => woken.push(...ids) });
    await setCounters((words) => {
      words[1] = String(LAST - 1);
    });
    const held = await take('baton');
    const waiting = await request('baton', { join: true, handOver: true });
    await asked(waiting);
    server.clock.step(5);
    expect(await release(held)).toBe('released');
    await expect.poll(() => woken).toContain(waiting.id);
    leave();
    expect((await store.get([waiting.id])).items).toMatchObject([{ status: 'pending' }]);
  });

  test('Q1, Q2: where the first in line has died the next one is woken, and claims', async () => {
    const woken: string[] = [];
    const leave = store.subscribe({ wake: (ids) => woken.push(...ids) });
    const held = await take('baton');
    const dead = await request('baton', { join: true });
    await asked(dead);
    server.clock.step(9_000);
    const alive = await request('baton', { join: true });
    expect(await asked(alive)).toMatchObject({ outcome: 'queued', place: 2 });
    server.clock.step(2_000);
    expect(await release(held)).toBe('released');
    await expect.poll(() => woken).toContain(alive.id);
    leave();
    expect(await asked(alive)).toMatchObject({ outcome: 'granted' });
    expect(await asked(dead)).toMatchObject({ outcome: 'ended', reason: 'died' });
  });

  test('S8: another request under the id of the first in line is told so', async () => {
    const held = await take('baton');
    const waiting = await request('baton', { join: true });
    await asked(waiting);
    await release(held);
    expect(await asked({ ...waiting, owner: 'somebody-else' })).toEqual({ outcome: 'mismatch' });
    expect(await asked({ ...waiting, parts: [{ name: 'other', scope: 'node', mode: 'exclusive' }] })).toEqual({
      outcome: 'mismatch',
    });
    expect(await asked(waiting)).toMatchObject({ outcome: 'granted' });
  });

  test('S1: a subtree keeps a single request below it out', async () => {
    const parts = [{ name: 'tree', scope: 'subtree', mode: 'exclusive' }] as const;
    expect(await asked(await request('tree', { parts }))).toMatchObject({ outcome: 'granted' });
    for (let i = 0; i < 10; i += 1) {
      expect(await asked(await request(`tree/${i}`))).toMatchObject({
        outcome: 'refused',
        refusal: { reason: 'held' },
      });
      expect(await asked(await request(`trees/${i}`))).toMatchObject({ outcome: 'granted' });
    }
  });

  test('S8: an id that is older than ids live is refused', async () => {
    const old = (await store.time()).now - 61_000;
    expect(await asked(await request('x', { bornAt: old, id: makeId(old, clock.randomText()) }))).toEqual({
      outcome: 'tooOld',
    });
  });
});
