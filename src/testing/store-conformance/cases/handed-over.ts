// Q1: what becomes of a lease that was handed over: it lives as its ticket would have, until its owner says anything about it.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { AGE_MS, handedBy, handOver, HANDS_OVER, queueUp, TICKET_LIVES_MS } from '../hand-over-scene.js';

export const handedOver: readonly ConformanceCase[] = [
  {
    tags: ['Q2', 'S3'],
    title:
      'what is handed over lives as its ticket would have, and who hears nothing of it is in the way no longer than that',
    needs: { ...HANDS_OVER, passMs: 3_000 + TICKET_LIVES_MS },
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
    needs: HANDS_OVER,
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
    needs: HANDS_OVER,
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
    needs: HANDS_OVER,
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
    needs: HANDS_OVER,
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
    tags: ['Q1', 'H2'],
    title: 'the claim of what was handed over is a renewal in the log, where renewals are kept',
    needs: HANDS_OVER,
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
    needs: HANDS_OVER,
    run: async (context) => {
      const { ticket, after } = await handOver(context);
      expectOutcome(await context.cancel(ticket.id), 'released');
      assert.deepEqual((await context.record(ticket.id)).reason, 'cancelled');
      const { lease } = expectOutcome(await context.acquire('a'), 'granted');
      assert.equal(lease.epoch, after.epoch + 1);
    },
  },
];
