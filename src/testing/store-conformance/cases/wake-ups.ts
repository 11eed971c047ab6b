// Q3: whoever frees a name wakes the first waiters there; the woken claim by themselves. Hints may be needless, so only
// that they come is tested, never that they do not.
import assert from 'node:assert/strict';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type CaseContext, type Client } from '../context.js';
import { node, shared, subtree } from '../parts.js';

interface Listening {
  readonly waiter: Client;
  readonly woken: (ticket: AcquireRequest) => Promise<void>;
}

/** A second client that listens for its tickets. */
async function listen({ anotherClient, hint }: CaseContext): Promise<Listening> {
  const waiter = await anotherClient();
  const ids = new Set<string>();
  waiter.store.subscribe({ wake: (woken) => woken.forEach((id) => ids.add(id)) });
  return { waiter, woken: (ticket) => hint(`ticket ${ticket.id} is woken`, () => ids.has(ticket.id)) };
}

type Freeing = (
  context: CaseContext,
  waiter: Client,
) => Promise<{ ticket: AcquireRequest; free: () => Promise<unknown> }>;

/** Ways a name becomes free. Each sets the scene, then frees; the ticket must be woken and be granted. */
const freeings: Readonly<Record<string, Freeing>> = {
  'a release': async ({ grant, release }, waiter) => {
    const lease = await grant('a');
    return { ticket: await waiter.queue('a'), free: () => release(lease) };
  },
  'the release of a subtree above it': async ({ grant, release }, waiter) => {
    const lease = await grant({ parts: [subtree('a')] });
    return { ticket: await waiter.queue('a/b/c'), free: () => release(lease) };
  },
  'the release of something below its subtree': async ({ grant, release }, waiter) => {
    const lease = await grant('a/b/c');
    return { ticket: await waiter.queue({ parts: [subtree('a')] }), free: () => release(lease) };
  },
  'the release of one part of its set': async ({ grant, release }, waiter) => {
    const lease = await grant('b');
    return { ticket: await waiter.queue({ parts: [node('a'), node('b')] }), free: () => release(lease) };
  },
  'a place in a full limit': async ({ grant, release }, waiter) => {
    const lease = await grant({ parts: [shared('pool', 1)] });
    return { ticket: await waiter.queue({ parts: [shared('pool', 1)] }), free: () => release(lease) };
  },
  'the cancel of the ticket ahead': async ({ grant, queue, release, cancel }, waiter) => {
    const lease = await grant('a');
    const ahead = await queue('a');
    const ticket = await waiter.queue('a');
    await release(lease);
    return { ticket, free: () => cancel(ahead.id) };
  },
  'a downgrade': async ({ grant, change }, waiter) => {
    const lease = await grant('a');
    return { ticket: await waiter.queue({ parts: [shared('a')] }), free: () => change(lease, 'downgrade') };
  },
  'a revocation': async ({ grant, revoke, store }, waiter) => {
    await grant('a');
    const { epoch: upToEpoch } = await store.time();
    await grant('elsewhere');
    return { ticket: await waiter.queue('a'), free: () => revoke({ resource: 'a' }, { upToEpoch }) };
  },
  'the lifting of a block': async ({ grant, release, revoke, store }, waiter) => {
    await release(await grant({ name: 'a', minHoldMs: 60_000 }));
    const { epoch: upToEpoch } = await store.time();
    await grant('elsewhere');
    return { ticket: await waiter.queue('a'), free: () => revoke({ resource: 'a' }, { upToEpoch }) };
  },
  'an expiry that a sweep wrote down': async ({ grant, store, passTime, shortTtlMs }, waiter) => {
    await grant({ name: 'a', ttlMs: shortTtlMs });
    const ticket = await waiter.queue('a');
    await passTime(shortTtlMs);
    return { ticket, free: () => store.sweep({ limit: 10 }) };
  },
  'an expiry that a late release found': async ({ grant, release, passTime, shortTtlMs }, waiter) => {
    const lease = await grant({ name: 'a', ttlMs: shortTtlMs });
    const ticket = await waiter.queue('a');
    await passTime(shortTtlMs);
    return { ticket, free: () => release(lease) };
  },
};

export const wakeUps: readonly ConformanceCase[] = [
  ...Object.entries(freeings).map(([what, prepare]): ConformanceCase => ({
    tags: ['Q3'],
    title: `${what} wakes the waiter, on its own connection, and it gets the lease`,
    needs: { wakeUps: true },
    run: async (context) => {
      const { waiter, woken } = await listen(context);
      const { ticket, free } = await prepare(context, waiter);
      await free();
      await woken(ticket);
      expectOutcome(await waiter.acquire(ticket), 'granted');
    },
  })),
  {
    tags: ['Q3', 'Q1'],
    title: 'readers that wait together are woken together',
    needs: { wakeUps: true },
    run: async (context) => {
      const { waiter, woken } = await listen(context);
      const writer = await context.grant('file');
      const readers = [];
      for (let i = 0; i < 3; i += 1) readers.push(await waiter.queue({ parts: [shared('file')] }));
      await context.release(writer);
      for (const reader of readers) await woken(reader);
    },
  },
  {
    tags: ['Q3', 'Q5'],
    title: 'an upgrade is woken when the last other reader goes',
    needs: { wakeUps: true },
    run: async (context) => {
      const { waiter, woken } = await listen(context);
      const own = await waiter.grant({ parts: [shared('file')] });
      const other = await context.grant({ parts: [shared('file')] });
      const upgrade = await waiter.queue({ parts: [node('file')], upgrades: { id: own.id, epoch: own.epoch } });
      await context.release(other);
      await woken(upgrade);
      expectOutcome(await waiter.acquire(upgrade), 'granted');
    },
  },
  {
    tags: ['Q3', 'Q4'],
    title: 'the victim of a deadlock is woken to be told',
    needs: { wakeUps: true },
    run: async (context) => {
      const { waiter, woken } = await listen(context);
      const a = await context.grant('a');
      const b = await waiter.grant('b');
      const first = await context.queue({ name: 'b', holding: [a.id] });
      const victim = await waiter.queue({ name: 'a', holding: [b.id] });
      await context.store.failTicket({ id: victim.id, cycle: [first.id, victim.id] });
      await woken(victim);
      expectOutcome(await waiter.acquire(victim), 'deadlock');
    },
  },
  {
    tags: ['Q3'],
    title: 'a waiter learns from retryAfterMs when the holder will be dead, without any message',
    run: async ({ grant, queue, acquire, passTime, shortTtlMs, lastNow }) => {
      const lease = await grant({ name: 'a', ttlMs: shortTtlMs });
      const ticket = await queue('a');
      const { refusal } = expectOutcome(await acquire(ticket), 'queued');
      assert.equal(refusal.retryAfterMs, lease.expiresAt - lastNow());
      await passTime(refusal.retryAfterMs);
      await grant(ticket);
    },
  },
  {
    tags: ['Q3', 'S12'],
    title: 'a listener that throws keeps nobody from being woken, and takes nothing with it',
    needs: { wakeUps: true },
    run: async (context) => {
      const waiter = await context.anotherClient();
      let threw = 0;
      waiter.store.subscribe({
        wake: () => {
          threw += 1;
          throw new Error('what a listener throws is its own affair');
        },
        changed: () => {
          throw new Error('of every change, too');
        },
      });
      const ids = new Set<string>();
      waiter.store.subscribe({ wake: (woken) => woken.forEach((id) => ids.add(id)) });
      const lease = await context.grant('a');
      const ticket = await waiter.queue('a');
      await context.release(lease);
      await context.hint(`ticket ${ticket.id} is woken`, () => ids.has(ticket.id));
      assert.ok(threw > 0);
      expectOutcome(await waiter.acquire(ticket), 'granted');
    },
  },
  {
    tags: ['Q3'],
    title: 'a listener that left hears nothing more, and leaving twice is harmless',
    needs: { wakeUps: true },
    run: async (context) => {
      const { waiter, woken } = await listen(context);
      let heard = 0;
      const leave = waiter.store.subscribe({ wake: () => (heard += 1) });
      leave();
      leave();
      const lease = await context.grant('a');
      const ticket = await waiter.queue('a');
      await context.release(lease);
      await woken(ticket);
      assert.equal(heard, 0);
    },
  },
];
