// Revoking: one bounded order, nothing sent for what is gone or changed, and what is told when no answer comes.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../api/client.js';
import type { LeaseRecord, Revoked } from '../api/types.js';
import { revoke, type RevokeOrder } from './revoke-steps.js';

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const held: LeaseRecord = {
  ...{ id: 'l1', parts: [{ name: 'a', scope: 'node', mode: 'exclusive' }], owner: 'ann', epoch: 41, status: 'active' },
  ...{
    ttlMs: 30_000,
    acquiredAt: at(0),
    renewedAt: at(18),
    expiresAt: at(48),
    renewals: 1,
    maxRenewals: -1,
    skewMs: 0,
  },
};
const ended: LeaseRecord = { ...held, status: 'revoked', reason: 'stuck', endedAt: at(20) };
const noAnswer = new ApiError({ detail: 'the server does not answer' });

/** `looks` are answered in turn, `answer` is what the order is met with. */
function site(looks: (LeaseRecord | undefined)[], answer: Revoked | Error, nowS = 20) {
  const sent: RevokeOrder[] = [];
  const parts = {
    look: async () => looks.shift(),
    send: async (order: RevokeOrder) => {
      sent.push(order);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    now: () => nowS * 1_000,
  };
  return { sent, act: (shown: LeaseRecord = held) => revoke(shown, { reason: 'stuck' }, parts), left: looks };
}
const one: Revoked = { count: 1, items: [ended] };
const none: Revoked = { count: 0, items: [] };

describe('revoking', () => {
  test('one order, bounded by the epoch that was seen', async () => {
    const { sent, act } = site([held], one);
    expect(await act()).toEqual({ is: 'done', record: ended });
    expect(sent).toEqual([{ leaseId: 'l1', upToEpoch: 41, reason: 'stuck' }]);
  });

  test('a ticket has no epoch yet', async () => {
    const ticket: LeaseRecord = { ...held, status: 'pending', epoch: 0 };
    const { sent, act } = site([ticket], one);
    await act(ticket);
    expect(sent).toEqual([{ leaseId: 'l1', reason: 'stuck' }]);
  });

  test.each([
    ['released meanwhile', { ...held, status: 'released' as const }, 'gone'],
    ['forgotten', undefined, 'gone'],
    ['handed on', { ...held, owner: 'bob', epoch: 42 }, 'changed'],
    ['upgraded', { ...held, epoch: 42 }, 'changed'],
  ])('nothing is sent for what was %s', async (_, fresh, is) => {
    const { sent, act } = site([fresh], one);
    expect(await act()).toMatchObject({ is });
    expect(sent).toEqual([]);
  });

  test('a holder that looked silent and has renewed is asked about again, one that kept renewing is not', async () => {
    const back = { ...held, renewedAt: at(44), expiresAt: at(74), renewals: 2 };
    const silent = site([back], one, 45);
    expect(await silent.act()).toMatchObject({
      is: 'changed',
      why: 'It was renewed while you looked: the holder is alive after all.',
    });
    expect(silent.sent).toEqual([]);
    const busy = site([{ ...back, renewedAt: at(36) }], one, 37);
    expect(await busy.act({ ...held, renewedAt: at(18) })).toMatchObject({ is: 'done' });
  });

  test('an order that ended nothing tells what is there now', async () => {
    expect(await site([held, { ...held, status: 'released' }], none).act()).toMatchObject({ is: 'gone' });
    expect(await site([held, { ...held, owner: 'bob', epoch: 42 }], none).act()).toMatchObject({ is: 'changed' });
  });

  test('without an answer the store is asked what came of it', async () => {
    expect(await site([held, ended], noAnswer).act()).toEqual({ is: 'done', record: ended });
    expect(await site([held, held], noAnswer).act()).toMatchObject({ is: 'unclear', error: noAnswer });
    expect(await site([held, { ...ended, reason: 'of another' }], noAnswer).act()).toMatchObject({ is: 'gone' });
  });

  test('a refusal is thrown, and nothing is asked again', async () => {
    const refusal = new ApiError({ status: 403, code: 'FORBIDDEN', detail: 'this needs the role admin' });
    const { act, left } = site([held, held], refusal);
    await expect(act()).rejects.toBe(refusal);
    expect(left).toHaveLength(1);
  });
});
