// Q1: a release may claim for the first in line, where that one left it to others. A store need not do it; what follows from it is the
// same on every store that does.
import assert from 'node:assert/strict';
import type { EndResult, HandedOver } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { handedBy, handOver, HANDS_OVER, notHandedBy, queueUp, TICKET_LIVES_MS } from '../hand-over-scene.js';
import { shared } from '../parts.js';

export const handOvers: readonly ConformanceCase[] = [
  {
    tags: ['Q1', 'S2', 'S6'],
    title: 'a release claims for the first in line, in its own step: the next epoch, and the log row of a claim',
    needs: HANDS_OVER,
    run: async (context) => {
      const { ticket, before, after } = await handOver(context);
      assert.deepEqual([after.status, after.epoch, after.renewals], ['active', before.epoch + 1, 0]);
      assert.equal(after.acquiredAt, (await context.record(before.id)).endedAt);
      const [released, acquired] = (await context.events()).slice(-2);
      assert.deepEqual(
        [released?.type, released?.leaseId, released?.at],
        ['lease.released', before.id, after.acquiredAt],
      );
      const { type, leaseId, owner, epoch, from, to, at } = acquired ?? {};
      assert.deepEqual([type, leaseId, owner, epoch], ['lease.acquired', ticket.id, ticket.owner, after.epoch]);
      assert.deepEqual([from, to, at], ['pending', 'active', after.acquiredAt]);
      assert.deepEqual(Object.keys(acquired?.data ?? {}).sort(), ['expiresAt', 'ttlMs', 'waitedMs']);
      assert.deepEqual([acquired?.data['ttlMs'], acquired?.data['expiresAt']], [ticket.ttlMs, after.expiresAt]);
      assert.deepEqual((await context.store.show('a', 0)).queue, []);
      assert.deepEqual((await context.store.waitGraph()).tickets, []);
      assert.equal((await context.refuse('a')).holders[0]?.id, ticket.id);
    },
  },
  {
    tags: ['Q1', 'S3'],
    title: 'what lapsed on the name is written down before it is handed over',
    needs: HANDS_OVER,
    run: async (context) => {
      const lapsed = await context.grant({ parts: [shared('a')], ttlMs: context.shortTtlMs });
      const before = await context.grant({ parts: [shared('a')] });
      const ticket = await queueUp(context, context);
      await context.passTime(context.shortTtlMs);
      await context.release(before);
      expectOutcome(await context.acquire(ticket), 'granted');
      const rows = (await context.events()).filter(({ type }) => type === 'lease.expired' || type === 'lease.acquired');
      assert.deepEqual(
        rows.slice(-2).map(({ leaseId }) => leaseId),
        [lapsed.id, ticket.id],
      );
    },
  },
  {
    tags: ['S5', 'Q1'],
    title: 'a release that is repeated hands nothing over again',
    needs: HANDS_OVER,
    run: async (context) => {
      const { store } = context;
      const before = await context.grant('a');
      const ticket = await queueUp(context, context);
      const request = { id: before.id, epoch: before.epoch, requestId: 'once', why: 'released' } as const;
      const first = (await store.end([request])).results[0] as EndResult;
      const handed = handedBy(first);
      expectOutcome(await context.release(handed), 'released');
      const later = (await store.end([request])).results[0] as EndResult;
      assert.deepEqual(later, { outcome: 'released', again: true, blockedMs: 0 });
      assert.equal((await context.record(ticket.id)).status, 'released');
    },
  },
  {
    tags: ['Q2', 'Q1'],
    title: 'nothing is handed to one that has died, and the next is woken or served',
    needs: { ...HANDS_OVER, passMs: TICKET_LIVES_MS + 5 },
    run: async (context) => {
      const before = await context.grant('a');
      const dead = await queueUp(context, context);
      await context.passTime(6_000);
      const alive = await queueUp(context, context);
      await context.passTime(TICKET_LIVES_MS - 6_000);
      const { handedTo } = expectOutcome(await context.release(before), 'released');
      assert.ok(handedTo === undefined || handedTo.id === alive.id);
      expectOutcome(await context.acquire(alive), 'granted');
      assert.equal(expectOutcome(await context.acquire(dead), 'ended').reason, 'died');
    },
  },
  {
    tags: ['Q1'],
    title: 'who did not leave it to others claims by itself, and nobody behind is served before',
    needs: HANDS_OVER,
    run: async (context) => {
      const before = await context.grant('a');
      const first = await queueUp(context, context, { handOver: false });
      const second = await queueUp(context, context);
      notHandedBy(await context.release(before));
      assert.equal(expectOutcome(await context.acquire(second), 'queued').place, 2);
      handedBy(await context.release(await context.grant(first)));
    },
  },
  ...Object.entries<object>({
    'with a priority': { priority: 1 },
    'with a bound on its life': { maxHoldMs: 20_000 },
    'with a bound on its renewals': { maxRenewals: 3 },
    'that leaves a block': { minHoldMs: 3_000 },
    'that keeps others out when it is lost': { lockDelayMs: 3_000 },
    'for a share': { parts: [shared('a')] },
    'of a server’s client': { remote: true },
  }).map(([what, wanted]): ConformanceCase => ({
    tags: ['Q1'],
    title: `a request ${what} claims by itself`,
    needs: HANDS_OVER,
    run: async (context) => {
      const before = await context.grant('a');
      const ticket = await queueUp(context, context, wanted);
      notHandedBy(await context.release(before));
      expectOutcome(await context.acquire(ticket), 'granted');
    },
  })),
  {
    tags: ['Q1', 'Q4'],
    title: 'nor does one that holds something while it waits',
    needs: HANDS_OVER,
    run: async (context) => {
      const [before, own] = [await context.grant('a'), await context.grant('b')];
      const ticket = await queueUp(context, context, { holding: [own.id] });
      notHandedBy(await context.release(before));
      expectOutcome(await context.acquire(ticket), 'granted');
    },
  },
  {
    tags: ['Q6', 'Q1'],
    title: 'who is kept out of a name is not handed it meanwhile',
    needs: { ...HANDS_OVER, passMs: 6_000 },
    run: async (context) => {
      const old = await context.anotherClient();
      await old.grant('a');
      await context.revoke({ resource: 'a' }, { keepOutMs: 6_000 });
      const before = await context.grant('a');
      const ticket = await queueUp(context, old);
      notHandedBy(await context.release(before));
      assert.equal(expectOutcome(await old.acquire(ticket), 'queued').refusal.reason, 'lock_delay');
      await context.passTime(6_000);
      await old.grant(ticket);
    },
  },
  {
    tags: ['Q3', 'S7'],
    title: 'who waits is told what it was handed; a listener that only knows of wake-ups is woken',
    needs: { ...HANDS_OVER, wakeUps: true },
    run: async (context) => {
      const waiter = await context.anotherClient();
      const told: HandedOver[] = [];
      const woken = new Set<string>();
      waiter.store.subscribe({ handedOver: (lease) => told.push(lease) });
      waiter.store.subscribe({ wake: (ids) => ids.forEach((id) => woken.add(id)) });
      const before = await context.grant('a');
      const ticket = await queueUp(context, waiter);
      await context.release(before);
      await context.hint(`of ${ticket.id}`, () => told.length > 0 && woken.has(ticket.id));
      const { epoch, acquiredAt, expiresAt, skewMs } = await context.record(ticket.id);
      assert.deepEqual(told, [{ id: ticket.id, epoch, acquiredAt, expiresAt, skewMs }]);
      const next = await queueUp(context, waiter);
      handedBy(await waiter.release({ id: ticket.id, epoch }));
      await context.hint(`of ${next.id}`, () => told.at(-1)?.id === next.id);
    },
  },
];
