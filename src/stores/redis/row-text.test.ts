// The text of a row, as this process reads it; the scripts' side of it is held by the conformance suite.
import { describe, expect, test } from 'vitest';
import type { AcquireRequest } from '../../domain/requests.js';
import { decodeCycle, decodeParts, decodeRow, encodeAsked, encodeParts } from './row-text.js';

const plain: AcquireRequest = {
  id: 'id-of-a-lease-00001',
  bornAt: 1,
  owner: 'host 1',
  parts: [{ name: 'orders/0', scope: 'node', mode: 'exclusive' }],
  ttlMs: 30_000,
  priority: 0,
  join: false,
  holding: [],
  reclaim: false,
  maxRenewals: -1,
  minHoldMs: 0,
  lockDelayMs: 0,
  remote: false,
  callerWall: 0,
};

describe('the text of a row', () => {
  test('a plain lease that was released has that before its row, and reads as if it had been written anew', () => {
    const asked = encodeAsked(plain, 77, undefined);
    const was = `A 12 1030 1000 1010 1 -5 30000 12 0 request-1\n\n${asked}`;
    expect(decodeRow(`r1020 ${was}`)).toEqual(decodeRow(`r 12 1030 1000 1010 1 -5 30000 12 1020 \n\n${asked}`));
    expect(decodeRow(`r1020 ${was}`)).toMatchObject({ status: 'released', endedAt: 1_020, epoch: 12, skewMs: -5 });
  });

  test('a plain lease is numbers and what was asked; nothing rare, no terms', () => {
    const asked = encodeAsked(plain, 77, undefined);
    expect(asked).toBe('id-of-a-lease-00001\thost 1\txn:orders/0\t77\t\t\t');
    const row = decodeRow(`A 9007199254740991 1030 1000 1010 1 -5 30000 12 0 request-1\n\n${asked}`);
    expect(row).toMatchObject({
      ...{
        id: plain.id,
        owner: 'host 1',
        status: 'active',
        epoch: Number.MAX_SAFE_INTEGER,
        grantEpoch: Number.MAX_SAFE_INTEGER,
      },
      ...{ expiresAt: 1_030, acquiredAt: 1_000, renewedAt: 1_010, renewals: 1, skewMs: -5, ttlMs: 30_000, arrival: 12 },
      ...{
        endedAt: undefined,
        lastRequest: 'request-1',
        content: 77,
        parts: plain.parts,
        maxRenewals: -1,
        holding: [],
      },
    });
  });

  test('S17: terms, operation and metadata come back as they were given, to the last digit', () => {
    const request: AcquireRequest = {
      ...plain,
      ...{
        priority: -3,
        maxRenewals: Number.MAX_SAFE_INTEGER,
        maxHoldMs: 5_000,
        minHoldMs: 7,
        lockDelayMs: 8,
        remote: true,
      },
      ...{
        upgrades: { id: 'the-lease-it-upgrades', epoch: 4 },
        holding: ['held-lease-000000001', 'held-lease-000000002'],
      },
      operationId: 'op: 1',
    };
    const asked = encodeAsked(request, 1, '{"a":"\\t\\n"}');
    const row = decodeRow(`p 0 10 1 1 0 0 30000 3 0 \n0 1 2 0 0 0 0\t\t\n${asked}`);
    expect(row).toMatchObject({
      ...{ status: 'pending', priority: -3, maxRenewals: Number.MAX_SAFE_INTEGER, maxHoldMs: 5_000, minHoldMs: 7 },
      ...{
        lockDelayMs: 8,
        remote: true,
        upgrades: 'the-lease-it-upgrades',
        holding: request.holding,
        operationId: 'op: 1',
      },
      ...{ metadata: { a: '\t\n' }, joinedEpoch: 2, rank: 1 + 3 * 30_000, reason: undefined, lastRequest: undefined },
    });
  });

  test('parts of every kind, and names that look like marks', () => {
    const parts = [
      { name: 'a:b', scope: 'node', mode: 'exclusive' },
      { name: 'sn3:x', scope: 'subtree', mode: 'shared', limit: 12 },
      { name: 'é 😀', scope: 'node', mode: 'shared' },
    ] as const;
    expect(decodeParts(encodeParts(parts))).toEqual(parts);
    expect(decodeParts('')).toEqual([]);
  });

  test('what ended, why, and the cycle it was failed for', () => {
    const cycle = 't1\u001eann\u001ea\u001ebob\u001ft2\u001ebob\u001eb\u001eann';
    const row = decodeRow(
      `f 0 10 1 1 0 0 30000 3 9 \n0 1 2 20 30 40 50\tdeadlock\t${cycle}\n${encodeAsked(plain, 1, undefined)}`,
    );
    expect(row).toMatchObject({ status: 'failed', reason: 'deadlock', endedAt: 9, blockedUntil: 20, keepOutUntil: 30 });
    expect(row).toMatchObject({ blockEpoch: 40, becameEpoch: 50, cycle: decodeCycle(cycle) });
    expect(decodeCycle(cycle)[1]).toEqual({ ticketId: 't2', owner: 'bob', resource: 'b', heldBy: 'ann' });
  });
});
