// Looking (A8): what the store knows, in the shapes people see; nothing here changes anything.
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { managerSite, watched } from '../../test/support/manager-site.js';
import { shared } from '../../test/support/domain-values.js';

describe('A8: leases and tickets', () => {
  test('A10: get answers the record, of tickets and ended ones too', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { metadata: { pod: 1 }, operationId: 'op' });
    expect(await site.leases.get(lease.id)).toEqual(lease.toJSON());
    expect(await site.leases.get(lease.id)).toMatchObject({
      ...{ id: lease.id, owner: 'alice', epoch: lease.epoch, status: 'active', ttlMs: 30_000, renewals: 0 },
      ...{ maxRenewals: -1, skewMs: 0, operationId: 'op', metadata: { pod: 1 } },
    });
    await lease.release();
    expect(await site.leases.get(lease.id)).toMatchObject({
      status: 'released',
      endedAt: expect.any(String) as string,
    });
    expect(await site.leases.get('nobody-knows-this-id')).toBeUndefined();
  });

  test('list: by prefix, resource, owner, status and age, in pages', async () => {
    const site = await managerSite();
    for (const name of ['a/1', 'a/2', 'b']) await grant(site.truth, site.clock, name, { owner: `owner of ${name}` });
    await site.pass(5_000);
    await grant(site.truth, site.clock, 'a/3', { owner: 'late' });
    watched(site.leases.acquire('b', { wait: 'forever' }));
    await site.pass(0);
    const names = async (filter: Parameters<typeof site.leases.list>[0]): Promise<string[]> =>
      (await site.leases.list(filter)).items.map(({ parts }) => parts[0]?.name ?? '').toSorted();
    expect(await names({ prefix: 'a' })).toEqual(['a/1', 'a/2', 'a/3']);
    expect(await names({ resource: 'a/1' })).toEqual(['a/1']);
    expect(await names({ owner: 'late' })).toEqual(['a/3']);
    expect(await names({ status: 'pending' })).toEqual(['b']);
    expect(await names({ olderThan: '4s', prefix: 'a' })).toEqual(['a/1', 'a/2']);
    const first = await site.leases.list({ prefix: 'a', limit: 2 });
    expect([first.items.length, typeof first.cursor]).toEqual([2, 'string']);
    const rest = await site.leases.list({ prefix: 'a', limit: 2, cursor: first.cursor ?? '' });
    expect([rest.items.length, rest.cursor]).toEqual([1, undefined]);
  });

  test('list refuses what it cannot look for', async () => {
    const site = await managerSite();
    await expect(site.leases.list({ status: 'released' as never })).rejects.toThrow(/what has ended is in history/);
    await expect(site.leases.list({ olderThan: 'old' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(site.leases.list({ limit: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test.each([{ prefix: 'a/' }, { prefix: '' }, { resource: '/a' }, { resource: 'a//b' }])(
    'what cannot be a name is refused, not answered with nothing: %j',
    async (filter) => {
      const site = await managerSite();
      await site.leases.acquire('a/1');
      await expect(site.leases.list(filter)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await expect(site.leases.history(filter)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    },
  );

  test('nor are events of a type there is none of, and what is no cursor', async () => {
    const site = await managerSite();
    await expect(site.leases.history({ type: 'released' })).rejects.toThrow(
      /no events of type "released": .*lease\.released/,
    );
    await expect(site.leases.list({ cursor: 'xx' })).rejects.toThrow(/no cursor of a list/);
  });

  test('H1: a page that goes on from another life of the log says so', async () => {
    const site = await managerSite();
    await (await site.leases.acquire('x')).release();
    const { cursor = '' } = await site.leases.history({ limit: 1 });
    const [store, namespace, , key] = cursor.split('!');
    const items = async (from: string): Promise<string[]> =>
      (await site.leases.history({ cursor: from })).items.map(({ type }) => type);
    expect(await items(cursor)).toEqual(['lease.acquired']);
    expect(await items([store, namespace, 'another-life', key].join('!'))).toEqual(['events.lost']);
    expect(await items('no position at all')).toEqual(['events.lost']);
  });

  test('show: who has it, who waits, what blocks it, what happened', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { minHold: '10s' });
    watched(site.leases.acquire('x', { wait: 'forever', owner: 'bob' }));
    await site.pass(1_000);
    const view = await site.leases.show('x');
    expect(view).toMatchObject({ holders: [{ owner: 'alice' }], queue: [{ owner: 'bob' }], blockedMs: 0 });
    expect(view.history.map(({ sentence }) => sentence)).toEqual([
      'bob is waiting for x, place 1',
      `Acquired x, epoch ${lease.epoch}`,
    ]);
    expect(await site.leases.show('x', { history: 0 })).toEqual({ ...view, history: [] });
    expect((await site.leases.show('x', { history: 1 })).history).toEqual(view.history.slice(0, 1));
    await lease.release();
    expect((await site.leases.show('x')).blockedMs).toBe(9_000);
  });

  test('show: a history of no length there is, and options there are not, are refused', async () => {
    const { leases } = await managerSite();
    for (const history of [-1, 1.5, 1e9, '3' as unknown as number]) {
      await expect(leases.show('x', { history })).rejects.toThrow(/history is a whole number from 0 to/);
    }
    await expect(leases.show('x', { histroy: 0 } as object)).rejects.toThrow(/histroy/);
  });

  test('isLocked: an exclusive request would be refused now', async () => {
    const site = await managerSite();
    const { leases } = site;
    expect(await leases.isLocked('x')).toBe(false);
    const lease = await leases.acquire('x', { mode: 'shared', minHold: '5s' });
    expect(await leases.isLocked('x')).toBe(true);
    await lease.release();
    expect(await leases.isLocked('x')).toBe(true);
    await site.pass(5_000);
    expect(await leases.isLocked('x')).toBe(false);
    await leases.acquire('t', { scope: 'subtree' });
    expect([await leases.isLocked('t/below'), await leases.isLocked('tt')]).toEqual([true, false]);
  });

  test('holds: this owner, this name, also by a subtree above it', async () => {
    const site = await managerSite();
    await site.leases.acquire({ name: 't', scope: 'subtree', mode: 'shared' });
    await grant(site.truth, site.clock, 'x', { owner: 'bob', parts: [shared('x')] });
    const asked: [string, string][] = [
      ['alice', 't/deep/below'],
      ['alice', 't'],
      ['alice', 'x'],
      ['bob', 'x'],
      ['bob', 't'],
    ];
    const answers = await Promise.all(asked.map(([owner, name]) => site.leases.holds(owner, name)));
    expect(answers).toEqual([true, true, false, true, false]);
  });

  test('Q4: waitGraph says who waits for whom', async () => {
    const site = await managerSite();
    const a = await site.leases.acquire('a');
    watched(site.leases.acquire('a', { owner: 'bob', wait: 'forever' }));
    await site.pass(0);
    const { tickets } = await site.leases.waitGraph();
    expect(tickets).toMatchObject([{ owner: 'bob', resource: 'a', waitsForLeases: [{ id: a.id }] }]);
  });
});

describe('A8: history', () => {
  test('newest first, filtered, in pages that a cursor goes on from', async () => {
    const site = await managerSite();
    for (let i = 0; i < 4; i += 1) await (await site.leases.acquire(`x/${i}`)).release();
    const first = await site.leases.history({ limit: 3 });
    expect(first.items.map(({ type, resource }) => `${type} ${resource ?? ''}`)).toEqual([
      'lease.released x/3',
      'lease.acquired x/3',
      'lease.released x/2',
    ]);
    const rest = await site.leases.history({ limit: 10, cursor: first.cursor ?? '' });
    expect([rest.items.length, rest.cursor]).toEqual([5, undefined]);
    const some = await site.leases.history({ resource: 'x/1', type: 'lease.released' });
    expect(some.items).toMatchObject([{ resource: 'x/1', type: 'lease.released', actor: 'alice' }]);
  });

  test('by time, and times that are none are refused', async () => {
    const site = await managerSite();
    await (await site.leases.acquire('early')).release();
    await site.pass(10_000);
    const since = new Date(site.clock.wall()).toISOString();
    await (await site.leases.acquire('late')).release();
    expect((await site.leases.history({ since })).items.map(({ resource }) => resource)).toEqual(['late', 'late']);
    expect((await site.leases.history({ until: since })).items.map(({ resource }) => resource)).toEqual([
      'early',
      'early',
    ]);
    await expect(site.leases.history({ since: 'yesterday' })).rejects.toThrow(/since is a time such as/);
    await expect(site.leases.history({ limit: 1_001 })).rejects.toThrow(/limit is a whole number/);
    await expect(site.leases.history({ limit: NaN })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('A8: clocks and health', () => {
  test('now: the store’s time, the skew, the way', async () => {
    const site = await managerSite();
    site.store.order({ calls: 'time', requestMs: 20, replyMs: 20 });
    const asked = site.leases.now();
    await site.pass(40);
    expect(await asked).toMatchObject({ roundTripMs: 40, skewMs: expect.any(Number) as number });
  });

  test('health: what is held, waited for and lost, and whether the store answers', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '2s', renew: 'manual' });
    watched(site.leases.acquire('x', { wait: '60s', owner: 'bob' }));
    await site.pass(10);
    expect(await site.leases.health()).toMatchObject({ ok: true, held: 1, waiting: 1, lostLastHour: 0 });
    await site.pass(2_000);
    expect([lease.isHeld, (await site.leases.health()).lostLastHour]).toEqual([false, 1]);
    site.store.order({ fault: 'fail', times: Infinity });
    expect(await site.leases.health()).toMatchObject({ ok: false, lostLastHour: 1 });
    await site.clock.advance(3_700_000);
    expect((await site.leases.health()).lostLastHour).toBe(0);
  });

  test.each([
    ['get', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.get('nobody-knows-this-id')],
    ['list', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.list()],
    ['show', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.show('x')],
    ['time', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.now()],
    ['events', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.history()],
    ['waitGraph', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.waitGraph()],
    ['sweep', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.sweep()],
    ['settings', (site: Awaited<ReturnType<typeof managerSite>>) => site.leases.config.all()],
  ] as const)('A11: %s without an answer is an error, never a hang', async (_, look) => {
    const site = await managerSite();
    site.store.freeze();
    const answer = watched(look(site) as Promise<unknown>);
    await site.pass(10_000);
    expect(answer.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { timedOut: true } });
  });
});
