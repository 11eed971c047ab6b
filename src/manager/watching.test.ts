// watch (A8, H1): the namespace's log as it is written, from every process, from now on or from a position; never
// silence where something was lost.
import { describe, expect, test } from 'vitest';
import { managerSite, type Member } from '../../test/support/manager-site.js';
import type { LeaseEvent } from '../domain/events.js';
import type { WatchFilter } from './watching.js';

interface Watching {
  readonly seen: LeaseEvent[];
  readonly stop: AbortController;
  readonly over: Promise<unknown>;
}

function watching({ leases }: Member, filter: WatchFilter = {}): Watching {
  const [seen, stop]: [LeaseEvent[], AbortController] = [[], new AbortController()];
  const over = (async () => {
    for await (const event of leases.watch({ ...filter, signal: stop.signal })) seen.push(event);
    return 'ended';
  })().catch((error: unknown) => error);
  return { seen, stop, over };
}
const words = ({ seen }: Watching): string[] => seen.map(({ type, resource }) => `${type} ${resource ?? ''}`);

describe('A8: watch', () => {
  test('from now on, what any process does, each row once and in order', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    await (await site.leases.acquire('before')).release();
    const watch = watching(site);
    await site.pass(0);
    await (await other.leases.acquire('x')).release();
    await site.pass(10);
    await (await site.leases.acquire('y')).release();
    await site.pass(10);
    expect(words(watch)).toEqual(['lease.acquired x', 'lease.released x', 'lease.acquired y', 'lease.released y']);
    expect(watch.seen[0]).toMatchObject({ owner: 'bob', actor: 'bob', namespace: 'default' });
    watch.stop.abort();
    await site.pass(0);
    expect(await watch.over).toBe('ended');
  });

  test('told by the store it does not wait for its next look; untold it looks four times a second', async () => {
    const site = await managerSite();
    const watch = watching(site);
    await site.pass(0);
    await site.leases.acquire('told');
    await site.pass(0);
    expect(words(watch)).toEqual(['lease.acquired told']);
    site.store.forgetCalls();
    await site.pass(1_000);
    expect(site.store.count('events')).toBe(4);
  });

  test('filtered by prefix, type, owner and lease', async () => {
    const site = await managerSite();
    const watches = [
      watching(site, { prefix: 'a' }),
      watching(site, { type: 'lease.released' }),
      watching(site, { owner: 'bob' }),
      watching(site, { resource: 'b' }),
    ];
    await site.pass(0);
    await (await site.leases.acquire('a/1')).release();
    await (await site.leases.acquire('b', { owner: 'bob' })).release();
    await site.pass(300);
    expect(watches.map(words)).toEqual([
      ['lease.acquired a/1', 'lease.released a/1'],
      ['lease.released a/1', 'lease.released b'],
      ['lease.acquired b', 'lease.released b'],
      ['lease.acquired b', 'lease.released b'],
    ]);
  });

  test('H1: goes on after the last event that was seen', async () => {
    const site = await managerSite();
    for (const name of ['a', 'b', 'c']) await site.leases.acquire(name);
    const { items } = await site.leases.history();
    const after = items.find(({ resource }) => resource === 'a')?.id ?? '';
    const watch = watching(site, { after });
    await site.pass(0);
    expect(words(watch)).toEqual(['lease.acquired b', 'lease.acquired c']);
  });

  test('H1: a position that is gone gives one events.lost with the oldest there is, and goes on from there', async () => {
    const site = await managerSite();
    await (await site.leases.acquire('old')).release();
    const { items } = await site.leases.history({ limit: 1 });
    await site.pass(10_000);
    await (await site.leases.acquire('older')).release();
    await site.clock.advance(300_000);
    await site.leases.acquire('kept');
    await site.truth.prune({ olderThanMs: 60_000, limit: 1_000 });
    const watch = watching(site, { after: items[0]?.id ?? '' });
    await site.pass(0);
    expect(words(watch)).toEqual(['events.lost ', 'lease.acquired kept']);
    expect(watch.seen[0]?.sentence).toMatch(/are gone: read the present state again$/);
    await site.leases.acquire('next');
    await site.pass(0);
    expect(words(watch).slice(2)).toEqual(['lease.acquired next']);
  });

  test('S18: a long log comes in pages, none of it twice', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('first');
    const { items } = await site.leases.history({ limit: 1 });
    for (let i = 0; i < 600; i += 1) await site.leases.acquire(`x/${i}`);
    const watch = watching(site, { after: items[0]?.id ?? '' });
    await site.pass(10);
    expect(watch.seen.map(({ resource }) => resource)).toEqual(Array.from({ length: 600 }, (_, i) => `x/${i}`));
    expect(first.isHeld).toBe(true);
  });

  test('through a store that is away: asked again, nothing is missed', async () => {
    const site = await managerSite();
    const watch = watching(site);
    await site.pass(0);
    site.store.order({ fault: 'fail', calls: 'events', times: Infinity });
    const other = await site.join({ owner: 'bob' });
    await other.leases.acquire('meanwhile');
    await site.pass(20_000);
    expect(words(watch)).toEqual([]);
    site.store.heal();
    await site.pass(2_100);
    expect(words(watch)).toEqual(['lease.acquired meanwhile']);
  });

  test('ends when its consumer leaves the loop, and then asks no more', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    const { items } = await site.leases.history({ limit: 1 });
    await site.leases.acquire('y');
    for await (const event of site.leases.watch({ after: items[0]?.id ?? '' })) {
      expect(event.resource).toBe('y');
      break;
    }
    site.store.forgetCalls();
    await site.pass(2_000);
    expect(site.store.count('events')).toBe(0);
  });

  test('A9: ends with a shutdown; aborted before it begins it never begins', async () => {
    const site = await managerSite();
    const watch = watching(site);
    await site.pass(0);
    const early = watching(site);
    early.stop.abort();
    await site.pass(0);
    expect(await early.over).toBe('ended');
    await site.leases.shutdown();
    await site.pass(0);
    expect(await watch.over).toBe('ended');
    expect(site.clock.pendingTimers).toBe(0);
  });

  test('H4: without a history there is nothing to watch, and it says so; nor with a time that is none', async () => {
    const site = await managerSite();
    expect(await watching(site, { since: 'soon' }).over).toMatchObject({ code: 'INVALID_ARGUMENT' });
    await site.leases.config.set('keep_history', false);
    expect(await watching(site).over).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('keep_history is off') as string,
    });
  });
});
