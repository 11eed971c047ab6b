// Q1: a release may claim for the first in line, where that one left it to others. A store need not do it; what follows from it is the
// same on every store that does.
import assert from 'node:assert/strict';
import type { Lease } from '../../../domain/lease.js';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { EndResult, HandedOver } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type CaseContext, type Client } from '../context.js';
import { shared } from '../parts.js';

const LIFE_MS = 10_000;
const AGE_MS = 2_000;
const needs = { handsOver: true } as const;

/** A ticket that may be claimed for, a moment old. */
async function queueUp({ passTime }: CaseContext, client: Client, wanted: object = {}): Promise<AcquireRequest> {
  const ticket = await client.queue({ name: 'a', join: true, handOver: true, ...wanted });
  await passTime(5);
  return ticket;
}

function handedBy(result: EndResult): { readonly id: string; readonly epoch: number } {
  const { handedTo } = expectOutcome(result, 'released');
  assert.ok(handedTo, 'the release claims for the first in line');
  return handedTo;
}

function notHandedBy(result: EndResult): void {
  assert.equal(expectOutcome(result, 'released').handedTo, undefined);
}

/** Somebody holds the name, somebody waits, and the first lets go when the ticket has the age. */
async function handOver(context: CaseContext): Promise<{ ticket: AcquireRequest; before: Lease; after: Lease }> {
  const waiter = await context.anotherClient();
  const before = await context.grant('a');
  const ticket = await queueUp(context, waiter);
  await context.passTime(AGE_MS);
  const handed = handedBy(await context.release(before));
  const after = await context.record(ticket.id);
  assert.deepEqual(handed, { id: ticket.id, epoch: after.epoch });
  return { ticket, before, after };
}

export const handOvers: readonly ConformanceCase[] = [
  {
    tags: ['Q1', 'S2', 'S6'],
    title: 'a release claims for the first in line, in its own step: the next epoch, and the log row of a claim',
    needs,
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
    tags: ['Q2', 'S3'],
    title:
      'what is handed over lives as its ticket would have, and who hears nothing of it is in the way no longer than that',
    needs: { ...needs, passMs: 3_000 + LIFE_MS },
    run: async (context) => {
      const waiter = await context.anotherClient();
      const before = await context.grant('a');
      const dead = await queueUp(context, waiter);
      const died = (await context.record(dead.id)).expiresAt;
      await context.passTime(AGE_MS);
      const alive = await queueUp(context, waiter, { handOver: false });
      handedBy(await context.release(before));
      assert.equal((await context.record(dead.id)).expiresAt, died);
      const { refusal } = expectOutcome(await waiter.acquire(alive), 'queued');
      assert.equal(refusal.retryAfterMs, died - waiter.lastNow());
      await context.passTime(refusal.retryAfterMs);
      await waiter.grant(alive);
      assert.equal((await context.record(dead.id)).status, 'expired');
    },
  },
  {
    tags: ['Q1'],
    title: 'a ttl that is shorter than what its ticket has left is not prolonged',
    needs,
    run: async (context) => {
      const before = await context.grant('a');
      const ticket = await queueUp(context, context, { ttlMs: 4_000 });
      handedBy(await context.release(before));
      const after = await context.record(ticket.id);
      assert.equal(after.expiresAt, after.acquiredAt + 4_000);
      const again = expectOutcome(await context.acquire(ticket), 'granted');
      assert.deepEqual([again.lease.expiresAt, again.lease.renewals], [after.expiresAt, 0]);
    },
  },
  {
    tags: ['Q1', 'Q3', 'S8'],
    title: 'who was handed a lease and asks again is told so, and this claims it for its whole ttl, once',
    needs,
    run: async (context) => {
      const { ticket, after } = await handOver(context);
      const claimed = expectOutcome(await context.acquire(ticket), 'granted');
      assert.equal(claimed.again, true);
      assert.deepEqual([claimed.lease.epoch, claimed.lease.renewals], [after.epoch, 1]);
      assert.equal(claimed.lease.expiresAt, context.lastNow() + ticket.ttlMs);
      assert.equal(claimed.remainingMs, ticket.ttlMs);
      await context.passTime(1_000);
      const again = expectOutcome(await context.acquire(ticket), 'granted');
      assert.deepEqual([again.again, again.lease], [true, claimed.lease]);
    },
  },
  {
    tags: ['Q1', 'S4'],
    title: 'a renewal of what was handed over gives it its ttl, and asking again changes nothing then',
    needs,
    run: async (context) => {
      const { ticket, after } = await handOver(context);
      const renewed = expectOutcome(await context.renew(after), 'renewed');
      assert.equal(renewed.expiresAt, context.lastNow() + ticket.ttlMs);
      await context.passTime(1_000);
      const again = expectOutcome(await context.acquire(ticket), 'granted');
      assert.deepEqual([again.lease.expiresAt, again.lease.renewals], [renewed.expiresAt, 1]);
    },
  },
  {
    tags: ['Q1', 'A6'],
    title: 'a delegation of what was handed over gives it its ttl first',
    needs,
    run: async (context) => {
      const { ticket, after } = await handOver(context);
      const { lease } = expectOutcome(await context.change(after, { delegate: 'an-heir' }), 'changed');
      assert.deepEqual([lease.owner, lease.renewals], ['an-heir', 1]);
      assert.equal(lease.expiresAt, context.lastNow() + ticket.ttlMs);
      assert.equal(lease.skewMs, after.skewMs);
      assert.equal((await context.record(ticket.id)).expiresAt, lease.expiresAt);
    },
  },
  {
    tags: ['Q1', 'S3'],
    title: 'what lapsed on the name is written down before it is handed over',
    needs,
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
    tags: ['Q1', 'H2'],
    title: 'the claim of what was handed over is a renewal in the log, where renewals are kept',
    needs,
    run: async (context) => {
      await context.store.setSettings({ history_renewals: true });
      const { ticket } = await handOver(context);
      const { lease } = expectOutcome(await context.acquire(ticket), 'granted');
      const row = (await context.events()).at(-1);
      assert.deepEqual([row?.type, row?.leaseId, row?.epoch], ['lease.renewed', lease.id, lease.epoch]);
      assert.deepEqual(row?.data, { expiresAt: lease.expiresAt, renewals: 1, maxRenewals: -1 });
    },
  },
  {
    tags: ['S9', 'S8'],
    title: 'a waiter that has gone ends by its id what it was handed meanwhile',
    needs,
    run: async (context) => {
      const { ticket, after } = await handOver(context);
      expectOutcome(await context.cancel(ticket.id), 'released');
      assert.deepEqual((await context.record(ticket.id)).reason, 'cancelled');
      const { lease } = expectOutcome(await context.acquire('a'), 'granted');
      assert.equal(lease.epoch, after.epoch + 1);
    },
  },
  {
    tags: ['S5', 'Q1'],
    title: 'a release that is repeated hands nothing over again',
    needs,
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
    needs: { ...needs, passMs: LIFE_MS + 5 },
    run: async (context) => {
      const before = await context.grant('a');
      const dead = await queueUp(context, context);
      await context.passTime(6_000);
      const alive = await queueUp(context, context);
      await context.passTime(LIFE_MS - 6_000);
      const { handedTo } = expectOutcome(await context.release(before), 'released');
      assert.ok(handedTo === undefined || handedTo.id === alive.id);
      expectOutcome(await context.acquire(alive), 'granted');
      assert.equal(expectOutcome(await context.acquire(dead), 'ended').reason, 'died');
    },
  },
  {
    tags: ['Q1'],
    title: 'who did not leave it to others claims by itself, and nobody behind is served before',
    needs,
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
    needs,
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
    needs,
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
    needs: { ...needs, passMs: 6_000 },
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
    needs: { ...needs, wakeUps: true },
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
