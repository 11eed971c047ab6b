// Following a log: a base is counted once and exactly, others take it over, a lost position begins a new one, and what a scrape
// asks for does not grow with what is stored.
import { beforeEach, describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { countStanding } from './count-standing.js';
import { LogFollower, type FollowedStore, type Note } from './log-follower.js';
import { createServerMetrics } from './server-metrics.js';

let clock: FakeClock;
let store: MemoryStore;
let note: Note & { value: unknown };
let bases = 0;
beforeEach(() => {
  clock = new FakeClock();
  store = new MemoryStore({ clock });
  note = {
    value: undefined,
    read: async () => note.value,
    write: async (value) => {
      note.value = structuredClone(value);
    },
  };
});
const follower = (over: FollowedStore = store): LogFollower =>
  new LogFollower({ store: over, note, newBase: () => `base-${(bases += 1)}` });

describe('O2: a base', () => {
  test('O2: is counted where there is none, and only in a turn', async () => {
    await grant(store, clock, 'a');
    const one = follower();
    await one.catchUp();
    expect([one.totals, one.needsBase]).toEqual([undefined, true]);
    await one.keep();
    expect(one.totals).toMatchObject({ active: 1, acquired: 0, pending: 0 });
  });

  test('O2: is taken over by others, who then count the same', async () => {
    const one = follower();
    await one.keep();
    await grant(store, clock, 'a');
    const other = follower();
    await other.catchUp();
    await one.catchUp();
    expect(other.totals).toEqual(one.totals);
    expect(other.totals).toMatchObject({ acquired: 1, active: 1 });
    expect(other.base).toBe(one.base);
  });

  test('O2: is exact though leases come and go while it is counted, over several pages', async () => {
    const held: Lease[] = [];
    for (let i = 0; i < LIMITS.rowsPerStep + 50; i += 1) held.push(await grant(store, clock, `held/${i}`));
    let pages = 0;
    const busy: FollowedStore = {
      events: (query) => store.events(query),
      list: async (filter) => {
        const page = await store.list(filter);
        pages += 1;
        if (pages > 1) return page;
        await grant(store, clock, 'new/1');
        await grant(store, clock, 'new/2');
        for (const { id, epoch } of [...held.slice(0, 1), ...held.slice(-1)]) {
          await store.end([{ id, epoch, requestId: clock.randomText(), why: 'released' }]);
        }
        return page;
      },
    };
    const told: string[] = [];
    const standing = await countStanding(busy, ({ type }) => told.push(type));
    expect(standing).toMatchObject({ active: held.length, pending: 0 });
    expect(told).toHaveLength(4);
    expect(pages).toBeGreaterThan(2);
  });

  test('O2: what had lapsed unseen when it was counted is not taken away twice', async () => {
    await grant(store, clock, 'a', { ttlMs: 1_000 });
    await grant(store, clock, 'b', { ttlMs: 60_000 });
    await clock.advance(2_000);
    const one = follower();
    await one.keep();
    expect(one.totals).toMatchObject({ active: 1 });
    await store.sweep({ limit: 10 });
    await one.catchUp();
    expect(one.totals).toMatchObject({ active: 1, expired: 1 });
  });

  test('O2: small figures are counted again at each checkpoint, so that no mistake stays', async () => {
    await grant(store, clock, 'a', { ttlMs: 1_000 });
    const one = follower();
    await one.keep();
    const before = one.base;
    await clock.advance(2_000); // lapsed, and nobody has written it down
    await one.keep();
    expect(one.totals).toMatchObject({ active: 0 });
    expect(one.base).not.toBe(before);
    await store.sweep({ limit: 10 });
    await one.catchUp();
    expect(one.totals).toMatchObject({ active: 0, expired: 1 });
  });
});

describe('O2: a position that is lost', () => {
  test('O2: begins a new base; totals go on, and everybody follows it', async () => {
    const [one, other] = [follower(), follower()];
    await one.keep();
    await grant(store, clock, 'a');
    await one.keep();
    await other.catchUp();
    await store.setSettings({ keep_history: false });
    await grant(store, clock, 'b');
    await store.setSettings({ keep_history: true });
    await one.catchUp();
    await other.catchUp();
    expect([one.needsBase, other.needsBase]).toEqual([true, true]);
    await one.keep();
    expect(one.totals).toMatchObject({ acquired: 1, active: 2 });
    await grant(store, clock, 'c');
    await one.catchUp();
    await other.catchUp();
    expect(other.totals).toEqual(one.totals);
    expect(other.totals).toMatchObject({ acquired: 2, active: 3 });
  });

  test('O2: also of the checkpoint a restarted server finds', async () => {
    await follower().keep();
    await store.setSettings({ keep_history: false });
    await store.setSettings({ keep_history: true });
    const restarted = follower();
    await restarted.catchUp();
    expect(restarted.needsBase).toBe(true);
    await restarted.keep();
    expect([restarted.needsBase, restarted.totals?.active]).toEqual([false, 0]);
  });
});

test('O2: a scrape asks for what is new and for nothing else, however much there is', async () => {
  const callsWith = async (leases: number): Promise<string[]> => {
    store = new MemoryStore({ clock });
    note.value = undefined;
    for (let i = 0; i < leases; i += 1) await grant(store, clock, `held/${i}`);
    const calls: string[] = [];
    const watched = new Proxy(store, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          calls.push(String(key));
          return Reflect.apply(member, target, args);
        };
      },
    });
    const metrics = await createServerMetrics({ store: watched, note, clock });
    await metrics.follower.keep();
    await metrics.text();
    calls.length = 0;
    expect(await metrics.text()).toContain(`active_leases{status="active"} ${leases}`);
    return calls.sort();
  };
  expect(await callsWith(3_000)).toEqual(await callsWith(3));
  expect(await callsWith(3)).toEqual(['events', 'info', 'time']);
});

test('O2: a store that is away leaves the figures of the process, and the last ones of the namespace', async () => {
  await grant(store, clock, 'a');
  const metrics = await createServerMetrics({ store, note, clock });
  await metrics.follower.keep();
  await metrics.text();
  const away = (): Promise<never> => Promise.reject(new Error('away'));
  Object.assign(store, { events: away, time: away, info: away });
  expect(await metrics.text()).toContain('active_leases{status="active"} 1');
});
