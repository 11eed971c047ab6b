// Lists that Redis deals with as a whole (src/stores/redis/lua/acquire-list.ts, end-list.ts) and what they leave in the log. Whether the
// short way is taken shows in the fields of the log's last entry; what it answers is what item by item would have been answered.
import { afterEach, describe, expect, test } from 'vitest';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { makeId } from '../../src/domain/ids.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { exclusive } from '../support/domain-values.js';
import { changeCounters, changeCountersBack, readCounters, readCountersOfBefore } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, ROWS = '', , , , , LOG = ''] = keysOf('default');
const LAST = Number.MAX_SAFE_INTEGER;
let server: RedisServer;
let admin: Admin;
let store: Store;
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function other(): Promise<Store> {
  const opened = await openRedis(server.url, { clock });
  endings.push(() => opened.close());
  return opened;
}
type Change = Partial<AcquireRequest> & { readonly name: string };
async function requests(...changes: readonly (string | Change)[]): Promise<AcquireRequest[]> {
  const template = await ask(store, clock, 'any');
  return changes.map((change) => {
    const { name, ...rest } = typeof change === 'string' ? { name: change } : change;
    return { ...template, id: makeId(template.bornAt, clock.randomText()), parts: [exclusive(name)], ...rest };
  });
}
async function acquire(...changes: readonly (string | Change)[]): Promise<Lease[]> {
  return leasesOf(await store.acquire(await requests(...changes)));
}
function leasesOf({ results }: Awaited<ReturnType<Store['acquire']>>): Lease[] {
  return results.map((result) => {
    if (result.outcome !== 'granted') throw new Error(result.outcome);
    return result.lease;
  });
}
const release = ({ id, epoch }: Lease) => ({ id, epoch, requestId: clock.randomText(), why: 'released' as const });
const end = async (leases: readonly Lease[]) => (await store.end(leases.map(release))).results;
const outcomes = async (all: readonly AcquireRequest[]): Promise<string[]> =>
  (await store.acquire(all)).results.map(({ outcome }) => outcome);
const names = (count: number, prefix = 'x/'): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
/** The names of the fields of the newest entry. */
async function lastFields(): Promise<string[]> {
  const [entry] = await admin.sendCommand<[string, string[]][]>(['XREVRANGE', LOG, '+', '-', 'COUNT', '1']);
  return (entry?.[1] ?? []).filter((_, i) => i % 2 === 0);
}
async function log(query: Partial<Parameters<Store['events']>[0]> = {}) {
  const page = await store.events({ limit: 1_000, ...query });
  if (page.outcome === 'lost') throw new Error('lost');
  return page.rows;
}

describe.skipIf(isSkipped('redis'))('lists that are dealt with as a whole', () => {
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });

  test('S6, H1: what they leave in the log is told event by event, in full, also filtered', async () => {
    const leases = await acquire(
      ...names(3),
      { name: 'y', owner: 'b', ttlMs: 60_000 },
      { name: 'z', operationId: 'o' },
    );
    expect(await lastFields()).toEqual(['A3', 'A1', 'A1']);
    server.clock.step(700);
    await end(leases);
    expect(await lastFields()).toEqual(['R3', 'R1', 'R1']);
    const rows = await log();
    expect(rows).toHaveLength(10);
    for (const [i, lease] of leases.entries()) {
      const { id, owner, epoch, ttlMs, acquiredAt, expiresAt } = lease;
      const same = { leaseId: id, owner, epoch, resource: lease.parts[0]?.name, namespace: 'default' };
      const data = { ttlMs, expiresAt, waitedMs: 0 };
      expect(rows[i]).toMatchObject({ ...same, type: 'lease.acquired', to: 'active', at: acquiredAt, data });
      expect(rows[i]?.from).toBeUndefined();
      const at = rows[i + 5]?.at ?? 0;
      expect(at).toBeGreaterThanOrEqual(acquiredAt + 700);
      const released = { ...same, type: 'lease.released', from: 'active', to: 'released' };
      expect(rows[i + 5]).toMatchObject({ ...released, at, data: { heldMs: at - acquiredAt } });
      expect(await log({ leaseId: id })).toEqual([rows[i], rows[i + 5]]);
      expect(await log({ resource: same.resource, type: 'lease.released' })).toEqual([rows[i + 5]]);
    }
    expect(await log({ owner: 'b' })).toEqual([rows[3], rows[8]]);
    expect(await log({ owner: 'b', backward: true })).toEqual([rows[8], rows[3]]);
    expect(await log({ after: rows[1]?.id, limit: 3 })).toEqual(rows.slice(2, 5));
    expect(await log({ before: rows[8]?.id, backward: true, limit: 4 })).toEqual(rows.slice(4, 8).reverse());
  });

  test('S8: their rows are those of leases granted one by one, before and after the release', async () => {
    const leases = await acquire(...names(5), { name: 'y', metadata: { a: 'ü' }, ttlMs: 3_600_000 });
    expect((await store.get(leases.map(({ id }) => id))).items).toEqual(leases);
    const again = await store.acquire(await Promise.all(leases.map(({ id }) => ask(store, clock, 'other', { id }))));
    expect(again.results.map(({ outcome }) => outcome)).toEqual(leases.map(() => 'mismatch'));
    await end(leases);
    const { items, now } = await store.get(leases.map(({ id }) => id));
    for (const [i, lease] of leases.entries()) {
      expect(items[i]).toEqual({ ...lease, status: 'released', endedAt: items[i]?.endedAt });
      expect(items[i]?.endedAt).toBeLessThanOrEqual(now);
    }
    expect(await end(leases)).toEqual(leases.map(() => ({ outcome: 'released', again: true, blockedMs: 0 })));
  });

  test('S5, S8: what happened meanwhile to one of a list is found, and the others are released', async () => {
    const [renewed, delegated, revoked, ended, untouched] = (await acquire(...names(5))) as [
      Lease,
      Lease,
      Lease,
      Lease,
      Lease,
    ];
    const second = await other();
    const authority = ({ id, epoch }: Lease) => ({ id, epoch, requestId: 'r', callerWall: clock.wall() });
    await second.renew([{ ...authority(renewed), ttlMs: 60_000 }]);
    await second.change([{ ...authority(delegated), kind: 'delegate', toOwner: 'b' }]);
    await second.revoke({ target: { leaseId: revoked.id }, upToEpoch: LAST, reason: 'x', actor: 'me', keepOutMs: 0 });
    await second.end([release(ended)]);
    const results = await end([renewed, delegated, revoked, ended, untouched]);
    const now = await store.get([delegated.id]);
    expect(results).toEqual([
      { outcome: 'released', again: false, blockedMs: 0 },
      { outcome: 'stale', epoch: now.items[0]?.epoch },
      { outcome: 'revoked' },
      { outcome: 'released', again: true, blockedMs: 0 },
      { outcome: 'released', again: false, blockedMs: 0 },
    ]);
    expect(now.items[0]).toMatchObject({ status: 'active', owner: 'b' });
  });

  test('S4, S5: one that somebody else renewed is live for longer than was believed, and goes with its list', async () => {
    const leases = await acquire(...names(3));
    const renewed = leases[1] as Lease;
    const authority = { id: renewed.id, epoch: renewed.epoch, requestId: 'other', callerWall: clock.wall() };
    await (await other()).renew([{ ...authority, ttlMs: 90_000 }]);
    expect((await end(leases)).map(({ outcome }) => outcome)).toEqual(['released', 'released', 'released']);
    expect(await lastFields()).toEqual(['R3']);
    const { items } = await store.get(leases.map(({ id }) => id));
    expect(items.map((item) => [item?.status, item?.renewals, item?.endedAt])).toEqual(
      leases.map((_, i) => ['released', i === 1 ? 1 : 0, items[0]?.endedAt]),
    );
    expect(items[1]).toMatchObject({ ttlMs: 90_000, expiresAt: (items[1]?.renewedAt ?? 0) + 90_000 });
    expect(await end([renewed])).toEqual([{ outcome: 'released', again: true, blockedMs: 0 }]);
  });

  test('S3, S5, S8: the same of one that is released alone', async () => {
    const second = await other();
    const all = names(6).map((name) => ({ name, ttlMs: 5_000 }));
    const leases: Lease[] = [];
    for (const one of all) leases.push(...(await acquire(one)));
    const [renewed, delegated, revoked, ended, lapsed, mistaken] = leases as [Lease, Lease, Lease, Lease, Lease, Lease];
    const authority = ({ id, epoch }: Lease) => ({ id, epoch, requestId: 'r', callerWall: clock.wall() });
    await second.renew([{ ...authority(renewed), ttlMs: 60_000 }]);
    await second.change([{ ...authority(delegated), kind: 'delegate', toOwner: 'b' }]);
    await second.revoke({ target: { leaseId: revoked.id }, upToEpoch: LAST, reason: 'x', actor: 'me', keepOutMs: 0 });
    await second.end([release(ended)]);
    expect((await store.end([{ ...release(mistaken), epoch: mistaken.epoch + 1 }])).results).toEqual([
      { outcome: 'stale', epoch: mistaken.epoch },
    ]);
    expect(await end([delegated])).toMatchObject([{ outcome: 'stale' }]);
    server.clock.step(6_000);
    expect(await end([renewed])).toEqual([{ outcome: 'released', again: false, blockedMs: 0 }]);
    expect(await end([revoked])).toEqual([{ outcome: 'revoked' }]);
    expect(await end([ended])).toEqual([{ outcome: 'released', again: true, blockedMs: 0 }]);
    expect(await end([lapsed])).toEqual([{ outcome: 'expired' }]);
    expect(await end([mistaken])).toEqual([{ outcome: 'expired' }]);
    expect((await store.get([renewed.id])).items[0]).toMatchObject({ status: 'released', renewals: 1 });
  });

  test('S3, S5: of a list that lapsed in part, what lapsed has expired and what is live is released', async () => {
    const leases = await acquire({ name: 'a', ttlMs: 5_000 }, 'b');
    server.clock.step(6_000);
    expect((await end(leases)).map(({ outcome }) => outcome)).toEqual(['expired', 'released']);
    expect((await log()).map(({ type }) => type)).toEqual([
      'lease.acquired',
      'lease.acquired',
      'lease.expired',
      'lease.released',
    ]);
  });

  test('S5: a release with another epoch, or without one, is judged by the row', async () => {
    const [a, b] = (await acquire('a', 'b')) as [Lease, Lease];
    const { results } = await store.end([
      { ...release(a), epoch: a.epoch - 1 },
      { id: b.id, requestId: 'r', why: 'cancelled' },
    ]);
    expect(results).toEqual([
      { outcome: 'stale', epoch: a.epoch },
      { outcome: 'released', again: false, blockedMs: 0 },
    ]);
    expect((await store.get([b.id])).items[0]).toMatchObject({ status: 'released', reason: 'cancelled' });
  });

  test('S1, S21: a name or an id twice in a list: the second meets what the first did', async () => {
    const [a, b, same] = (await requests('a', 'b', 'a')) as [AcquireRequest, AcquireRequest, AcquireRequest];
    expect(await outcomes([a, b, same])).toEqual(['granted', 'granted', 'refused']);
    const [c] = (await requests('c')) as [AcquireRequest];
    const { results } = await store.acquire([c, c]);
    expect(results).toMatchObject([{ again: false }, { again: true }]);
    const leases = leasesOf({ results } as never);
    expect(await end(leases)).toMatchObject([{ again: false }, { again: true }]);
  });

  test('S1, S21: one that is held, waited for, too old or not plain leaves the others of its list as they would be', async () => {
    await grant(store, clock, 'held/1');
    const [waiting] = await requests({ name: 'held/1', join: true });
    await store.acquire([waiting as AcquireRequest]);
    const shared = { parts: [{ name: 'shared', scope: 'node', mode: 'shared' } as const] };
    const mixed = await requests('free/1', 'held/1', { name: 'shared', ...shared }, 'free/2', {
      name: 'old',
      bornAt: clock.wall() - 90_000,
    });
    const expected = ['granted', 'refused', 'granted', 'granted', 'tooOld'];
    expect(await outcomes(mixed)).toEqual(expected);
    const epochs = (await store.list({ limit: 10 })).items.filter(({ id }) => mixed.some((one) => one.id === id));
    expect(epochs.sort((a, b) => a.epoch - b.epoch).map(({ id }) => id)).toEqual(
      [mixed[0], mixed[2], mixed[3]].map((one) => one?.id),
    );
    expect(await outcomes(await requests({ name: 'old', bornAt: clock.wall() + 90_000 }, 'free/3'))).toEqual([
      'tooOld',
      'granted',
    ]);
  });

  test('Q1: who comes later does not pass one who waits for a name that is free just now', async () => {
    const [held] = (await acquire('a', 'b')) as [Lease];
    const [waiting] = await requests({ name: 'a', join: true });
    await store.acquire([waiting as AcquireRequest]);
    await end([held]);
    expect(await outcomes(await requests('a', 'c'))).toEqual(['refused', 'granted']);
    expect(await outcomes(await requests('d', 'e'))).toEqual(['granted', 'granted']);
    expect(await lastFields()).toEqual(['A2']);
    expect(await outcomes([waiting as AcquireRequest])).toEqual(['granted']);
  });

  test('S1: a subtree keeps out what is below it, and nothing else', async () => {
    await grant(store, clock, 'tree', { parts: [{ name: 'tree', scope: 'subtree', mode: 'exclusive' }] });
    expect(await outcomes(await requests('a', 'tree/x', 'tree'))).toEqual(['granted', 'refused', 'refused']);
    expect(await outcomes(await requests('b', 'c'))).toEqual(['granted', 'granted']);
    expect(await lastFields()).toEqual(['A2']);
    expect(
      await outcomes(await requests({ name: 'x', parts: [{ name: 'b', scope: 'subtree', mode: 'exclusive' }] })),
    ).toEqual(['refused']);
  });

  test('S1: a name is found between the lowest and the highest of a list in the order of bytes, whatever they are', async () => {
    await acquire(...names(200));
    expect(await outcomes(await requests('x/3', 'x/free'))).toEqual(['refused', 'granted']);
    expect(await outcomes(await requests('x/free-2', 'x/free-3'))).toEqual(['granted', 'granted']);
    expect(await lastFields()).toEqual(['A2']);
    await acquire('\u{1F600}');
    expect(await outcomes(await requests('\u{1F601}', '\u{1F600}'))).toEqual(['granted', 'refused']);
    expect(await outcomes(await requests('x', 'x/'.repeat(3) + 'x'))).toEqual(['granted', 'granted']);
    expect(await outcomes(await requests('x'))).toEqual(['refused']);
    await acquire('\uFFFD');
    expect(await outcomes(await requests('\u{1F602}', '\uFFFD', 'y'))).toEqual(['granted', 'refused', 'granted']);
    expect(await outcomes(await requests('y', '\u{1F603}', '\uE000'))).toEqual(['refused', 'granted', 'granted']);
  });

  test('Q3: who waits for a name that a list frees is woken, and only the first', async () => {
    const held = await acquire('a', 'b', 'c');
    const second = await other();
    const woken: string[] = [];
    await new Promise<void>((up) => {
      second.subscribe({ wake: (ids) => void woken.push(...ids), up });
    });
    const waiting = await Promise.all(
      ['a', 'b', 'b'].map((name, i) => ask(second, clock, name, { owner: `w${i}`, join: true })),
    );
    for (const one of waiting) await second.acquire([one]);
    await expect.poll(() => new Set(woken).size).toBe(3); // each owner's channel is heard from here on
    woken.length = 0;
    await end(held);
    expect(await lastFields()).toEqual(['R3']);
    await expect.poll(() => [...woken].sort()).toEqual([waiting[0]?.id, waiting[1]?.id].sort());
  });

  test('H1: without history nothing is written down, and what comes after is numbered on', async () => {
    const before = await acquire('a', 'b');
    await store.setSettings({ keep_history: false });
    await end(before);
    const unseen = await acquire('a', 'b', 'c');
    await store.setSettings({ keep_history: true });
    await end(unseen);
    expect((await log()).map(({ type }) => type)).toEqual(Array.from({ length: 3 }, () => 'lease.released'));
    expect((await store.get(unseen.map(({ id }) => id))).items.map((item) => item?.status)).toEqual(
      Array.from({ length: 3 }, () => 'released'),
    );
  });

  test('S2, S17: epochs and arrivals are exact across thousands and up to the last safe integer', async () => {
    for (const start of [LAST - 7_000 - (LAST % 1_000), LAST - 250]) {
      await changeCounters(admin, (text) => text.replace(/^(\S+) \S+ (\S+) \S+/, `$1 ${start} $2 ${start - 60}`));
      const leases = await acquire(...names(200));
      expect(leases.map(({ epoch }) => epoch)).toEqual(leases.map((_, i) => start + 1 + i));
      const rows = await admin.hmGet(
        ROWS,
        leases.map(({ id }) => id),
      );
      expect(rows.map((row) => row?.split('\n')[0]?.split(' ').slice(1, 9))).toEqual(
        leases.map((lease, i) =>
          [
            lease.epoch,
            lease.expiresAt,
            lease.acquiredAt,
            lease.acquiredAt,
            0,
            lease.skewMs,
            lease.ttlMs,
            start - 59 + i,
          ].map(String),
        ),
      );
      expect((await store.time()).epoch).toBe(start + 200);
      expect((await end(leases)).map(({ outcome }) => outcome)).toEqual(leases.map(() => 'released'));
      expect((await log({ backward: true, limit: 200 })).map(({ epoch }) => epoch).reverse()).toEqual(
        leases.map(({ epoch }) => epoch),
      );
    }
    const { results } = await store.acquire(await requests(...names(60)));
    expect(results.filter(({ outcome }) => outcome === 'granted')).toHaveLength(50);
    expect(results.slice(50).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 10 }, () => 'failed'));
  });

  test('S2: the first thousand arrivals of a namespace are numbers without zeros before them', async () => {
    for (let round = 0; round < 5; round += 1) await end(await acquire(...names(250)));
    const rows = Object.entries(await admin.hGetAll(ROWS)).filter(([id]) => id !== '');
    const arrivals = rows.map(([, row]) => /(\d+) 0 \n/.exec(row)?.[1] ?? '').sort((a, b) => Number(a) - Number(b));
    expect(arrivals).toEqual(Array.from({ length: 1_250 }, (_, i) => String(i + 1)));
  });

  test('S3, S18: leases of many durations, released in one list, leave nothing behind', async () => {
    const durations = [5_000, 30_000, 30_000, 900_000, 3_600_000];
    const leases = await acquire(...durations.map((ttlMs, i) => ({ name: `d/${i}`, ttlMs })));
    await end(leases);
    for (const ttlMs of [5_000, 100_000, 900_000]) {
      await end(await acquire({ name: 'one', ttlMs }));
      await end(await acquire({ name: 'two', ttlMs }, { name: 'three', ttlMs }));
    }
    const long = await acquire({ name: 'l/1', ttlMs: 900_000 }, { name: 'l/2', ttlMs: 3_600_000 });
    await end(long);
    server.clock.step(200_000);
    await store.sweep({ limit: 1_000 });
    expect(await store.prune({ olderThanMs: 0, limit: 1_000 })).toMatchObject({ ids: 16, more: false });
    expect(await admin.hLen(ROWS)).toBe(1);
    expect((await store.sweep({ limit: 1_000 })).nextAt).toBeUndefined();
  });

  test('O4: the log of format 2 is read as it is, before and behind what is written now', async () => {
    await grant(store, clock, 'a');
    const wall = clock.wall();
    const event = (letter: string, i: number) =>
      `${letter} ${wall} ${wall} ${i} ${letter === 'A' ? '-a' : 'ar'}\nid-${i}\nme\nname/${i}\n\n\nheldMs#1`;
    await admin.del(LOG);
    await admin.sendCommand(['XADD', LOG, '3', ...[1, 2, 3].flatMap((i) => ['e', event('A', i)])]);
    await admin.sendCommand(['XADD', LOG, '4', 'e', event('R', 4)]);
    await changeCountersBack(admin, (text) => text.replace(/^4 (\S+ \S+ \S+) 1 /, '2 $1 4 '));
    expect((await log()).map(({ leaseId }) => leaseId)).toEqual(['id-1', 'id-2', 'id-3', 'id-4']);
    const leases = await acquire('b', 'c');
    expect(await readCounters(admin)).toMatch(/^4 /);
    expect(await readCountersOfBefore(admin)).toMatch(/^4 /);
    const all = ['id-1', 'id-2', 'id-3', 'id-4', ...leases.map(({ id }) => id)];
    expect((await log()).map(({ leaseId }) => leaseId)).toEqual(all);
    expect((await log({ backward: true })).map(({ leaseId }) => leaseId)).toEqual([...all].reverse());
  });
});
