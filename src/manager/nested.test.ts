// Q4: leases taken through one another, and the deadlocks that come of it: refused in the step that makes them, or found
// while they are waited for, with the youngest told the cycle and nobody losing what it has.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite, type Watched } from '../../test/support/manager-site.js';
import type { LeaseError } from '../domain/errors.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { HeldLease } from './face.js';

interface Deadlock {
  readonly site: ManagerSite;
  readonly held: readonly HeldLease[];
  readonly older: { now(): Watched<HeldLease> };
  readonly younger: { now(): Watched<HeldLease> };
}

/** alice has a and wants b; bob, in another process, has b and wants a. */
async function deadlock(): Promise<Deadlock> {
  const site = await managerSite();
  const bob = await site.join({ owner: 'bob' });
  const held = [await site.leases.acquire('a'), await bob.leases.acquire('b')] as const;
  const older = watched(held[0].acquire('b', { wait: '60s' }));
  await site.pass(10);
  const younger = watched(held[1].acquire('a', { wait: '60s' }));
  await site.pass(0);
  return { site, held, older, younger };
}

describe('Q4: nested acquires', () => {
  test('record what is held: the lease they were taken through and those above it, not its other children', async () => {
    const site = await managerSite();
    const a = await site.leases.acquire('a');
    const b = await a.acquire('b');
    const c = await b.acquire('c');
    await site.leases.acquire('apart');
    await a.acquire('d');
    const asked = site.store.calls.flatMap((one) => one.asked as AcquireRequest[]);
    expect(asked.map(({ holding }) => [...holding])).toEqual([[], [a.id], [b.id, a.id], [], [a.id]]);
    await b.release();
    await c.acquire('e');
    expect((site.store.calls.at(-1)?.asked[0] as AcquireRequest).holding).toEqual([c.id, a.id]);
  });

  test('of two tasks wait for one another like any others', async () => {
    const site = await managerSite();
    const outer = await site.leases.acquire('a');
    const first = await outer.acquire('b');
    const second = outer.acquire('b');
    await site.clock.advance(1_000);
    await first.release();
    await site.clock.advance(10);
    expect((await second).epoch).toBeGreaterThan(first.epoch);
  });

  test('waiting for what one holds oneself is refused in the step that makes it', async () => {
    const site = await managerSite();
    const a = await site.leases.acquire('a');
    await expect(a.acquire('a')).rejects.toMatchObject({ code: 'DEADLOCK', retryable: false });
    const subtree = await site.leases.acquire('t', { scope: 'subtree' });
    await expect(subtree.acquire('t/below')).rejects.toMatchObject({ code: 'DEADLOCK' });
    await expect(a.acquire('a', { wait: 0 })).rejects.toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { refusal: { reason: 'held_by_self' } },
    });
    expect([a.isHeld, (await site.live('pending')).length]).toEqual([true, 0]);
  });

  test('need the outer lease: once it is gone its loss is the answer', async () => {
    const site = await managerSite();
    const a = await site.leases.acquire('a');
    await a.release();
    await expect(a.acquire('b')).rejects.toMatchObject({ code: 'NOT_HELD' });
    expect(await site.live()).toEqual([]);
  });
});

describe('Q4: a cycle across processes', () => {
  test('the youngest gives up, is told the cycle, and keeps its lease; the other goes on when it lets go', async () => {
    const { site, held, older, younger } = await deadlock();
    await site.pass(600);
    const error = younger.now().error as LeaseError;
    expect(error).toMatchObject({ code: 'DEADLOCK', retryable: true });
    expect(error.details['cycle']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ owner: 'alice', resource: 'b', heldBy: 'bob' }),
        expect.objectContaining({ owner: 'bob', resource: 'a', heldBy: 'alice' }),
      ]),
    );
    expect([held[0]?.isHeld, held[1]?.isHeld, older.now().state]).toEqual([true, true, 'open']);
    await held[1]?.release();
    await site.pass(0);
    expect(older.now().state).toBe('done');
  });

  test('three in a ring: one gives up, the others finish', async () => {
    const site = await managerSite();
    const names = ['a', 'b', 'c'];
    const held = await Promise.all(names.map((name) => site.leases.acquire(name)));
    const waiting: { now(): Watched<HeldLease> }[] = [];
    for (const [i, lease] of held.entries()) {
      waiting.push(watched(lease.acquire(names[(i + 1) % 3] ?? '', { wait: '60s' })));
      await site.pass(10);
    }
    await site.pass(1_000);
    expect(waiting.map((one) => one.now().state)).toEqual(['open', 'open', 'failed']);
    expect(waiting[2]?.now().error).toMatchObject({ code: 'DEADLOCK', details: { cycle: { length: 3 } } });
    await held[2]?.release();
    await site.pass(10);
    expect(waiting[1]?.now().state).toBe('done');
  });

  test('H3: announced once, in words', async () => {
    const { site, younger } = await deadlock();
    const bob = await site.join({ owner: 'carol' });
    await site.pass(600);
    expect(younger.now().state).toBe('failed');
    expect(bob.types()).toEqual([]);
    const rows = await site.truth.events({ limit: 100, type: 'deadlock.detected' });
    expect(rows).toMatchObject({ rows: [{ type: 'deadlock.detected' }] });
  });

  test('a look whose answer is lost is followed by another', async () => {
    const site = await managerSite();
    const held = [await site.leases.acquire('a'), await site.leases.acquire('b')] as const;
    site.store.order({ fault: 'loseReply', calls: 'waitGraph' });
    const older = watched(held[0].acquire('b', { wait: '60s' }));
    const younger = watched(held[1].acquire('a', { wait: '60s' }));
    await site.pass(4_000);
    expect([older.now().state, younger.now().state]).toEqual(['open', 'open']);
    await site.pass(2_000);
    expect([older.now().state, younger.now().state]).toContain('failed');
    expect(site.types().filter((type) => type === 'deadlock.detected')).toHaveLength(1);
  });

  test('who waits without holding anything looks for none', async () => {
    const site = await managerSite();
    await site.leases.acquire('x', { ttl: '60s' });
    watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(10_000);
    expect(site.store.count('waitGraph')).toBe(0);
  });

  test('S12: the looking ends with the waiting', async () => {
    const { site, held, older, younger } = await deadlock();
    await site.pass(1_000);
    await held[1]?.release();
    await site.pass(1_000);
    expect([older.now().state, younger.now().state]).toEqual(['done', 'failed']);
    site.store.forgetCalls();
    await site.pass(5_000);
    expect(site.store.count('waitGraph')).toBe(0);
  });
});
