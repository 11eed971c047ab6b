// What a valid request is: every limit at its edge, just above it and far above it.
import { describe, expect, test } from 'vitest';
import { acquireRequest, exclusive, shared } from '../../test/support/domain-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import {
  checkAcquire,
  checkBatch,
  checkChange,
  checkEnd,
  checkLimit,
  checkNamespace,
  checkOwner,
  checkRenew,
  checkRevoke,
  checkText,
} from './check-request.js';
import { LIMITS } from './limits.js';
import type { AcquireRequest, RevokeOrder } from './requests.js';

const ID = 'lease-0123456789';
const DAY = 86_400_000;
const TOP = Number.MAX_SAFE_INTEGER;
const NOT_WHOLE = [NaN, Infinity, -Infinity, 1_000.5, '1000', null, {}, true];

const accepts = (changes: object): unknown => checkAcquire(acquireRequest(changes));
const refuses = (changes: object): string => invalidMessage(() => checkAcquire(acquireRequest(changes)));

describe('S18: text', () => {
  test('an owner has 1 to 128 bytes', () => {
    for (const owner of ['x', 'x'.repeat(128), 'é'.repeat(64), 'host-1-ab cd']) expect(checkOwner(owner)).toBe(owner);
    for (const [owner, bytes] of [
      ['', 0],
      ['x'.repeat(129), 129],
      ['é'.repeat(65), 130],
      ['x'.repeat(1e6), 1e6],
    ] as const) {
      expect(invalidMessage(() => checkOwner(owner))).toBe(`owner is from 1 to 128 bytes of UTF-8, got ${bytes}`);
    }
  });

  test.each([
    ['a\nb', /owner holds a control character: remove it/],
    ['\u0000', /control character/],
    ['\u009f', /control character/],
    ['\ud800', /owner holds a lone surrogate/],
    [undefined, /owner must be text, got undefined/],
    [5, /owner must be text, got number/],
    [null, /owner must be text, got object/],
  ])('an owner %j is refused', (owner, message) => {
    expect(invalidMessage(() => checkOwner(owner))).toMatch(message);
  });

  test('a reason has up to 1 KiB', () => {
    const check = (text: string): string => checkText(text, 'reason', 1, LIMITS.reasonBytes);
    expect(check('x'.repeat(1_024))).toHaveLength(1_024);
    expect(invalidMessage(() => check('x'.repeat(1_025)))).toMatch(/from 1 to 1024 bytes of UTF-8, got 1025/);
    expect(invalidMessage(() => check('é'.repeat(1e6)))).toMatch(/got 2000000/);
  });

  test('a namespace has 1 to 64 characters of its own alphabet', () => {
    for (const name of ['a', 'default', 'x'.repeat(64), 'A-z_0.9']) expect(checkNamespace(name)).toBe(name);
    for (const name of ['', 'x'.repeat(65), 'a/b', 'a b', 'a!', 'é', 'a\n', undefined, null, 5, ['a']]) {
      expect(invalidMessage(() => checkNamespace(name))).toMatch(/^a namespace is 1 to 64 characters/);
    }
  });
});

describe('S18: an acquire', () => {
  test('one as plain as can be passes, and its metadata comes back as text', () => {
    expect(accepts({})).toBeUndefined();
    expect(accepts({ metadata: { a: [1] } })).toBe('{"a":[1]}');
  });

  test.each<[keyof AcquireRequest, string, readonly number[], readonly number[]]>([
    ['ttlMs', 'ttl', [100, 30 * DAY], [99, 0, -1, 30 * DAY + 1, TOP]],
    ['minHoldMs', 'minHold', [0, DAY], [-1, DAY + 1, TOP]],
    ['lockDelayMs', 'lockDelay', [0, 60_000], [-1, 60_001, TOP]],
    ['maxHoldMs', 'maxHold', [100, 365 * DAY], [99, 0, -1, 365 * DAY + 1, TOP]],
    ['bornAt', 'bornAt', [0, TOP], [-1, 2 ** 53]],
  ])('%s at, above and far above', (field, what, good, bad) => {
    for (const value of good) accepts({ [field]: value });
    for (const value of [...bad, ...NOT_WHOLE]) {
      const allowed = `${what} is a whole number of milliseconds from ${good[0] ?? 0} to ${good[1] ?? 0}, got `;
      expect(refuses({ [field]: value }).startsWith(allowed)).toBe(true);
    }
  });

  test('priority is from -100 to 100', () => {
    for (const priority of [-100, 0, 100]) accepts({ priority });
    for (const priority of [-101, 101, 1e9, ...NOT_WHOLE]) {
      expect(refuses({ priority })).toMatch(/^priority is a whole number from -100 to 100, got /);
    }
  });

  test('maxRenewals is -1 or from 0', () => {
    for (const maxRenewals of [-1, 0, TOP]) accepts({ maxRenewals });
    for (const maxRenewals of [-2, 2 ** 53, ...NOT_WHOLE]) {
      expect(refuses({ maxRenewals })).toMatch(/^maxRenewals is -1 \(no bound\) or a whole number from 0, got /);
    }
  });

  test('parts: 64 of them, folded, sorted, valid', () => {
    const parts = (count: number) =>
      Array.from({ length: count }, (_, i) => exclusive(`n${String(i).padStart(6, '0')}`));
    accepts({ parts: parts(64) });
    accepts({ parts: [shared('a', 3), exclusive('b', 'subtree')] });
    expect(refuses({ parts: parts(65) })).toMatch(/at most 64 parts, got 65/);
    expect(refuses({ parts: parts(100_000) })).toMatch(/at most 64 parts, got 100000/);
    expect(refuses({ parts: [] })).toMatch(/name at least one resource/);
    for (const crooked of [
      [exclusive('b'), exclusive('a')],
      [exclusive('a'), exclusive('a')],
      ['a', 'b'],
    ]) {
      expect(refuses({ parts: crooked })).toBe('parts must be folded and sorted by name: use normaliseParts()');
    }
    expect(refuses({ parts: [exclusive('')] })).toMatch(/must not be empty/);
    expect(refuses({ parts: [exclusive('a//b')] })).toMatch(/empty segment/);
    expect(refuses({ parts: [{ ...exclusive('a'), limit: 2 }] })).toMatch(/limit needs mode 'shared'/);
    expect(refuses({ parts: [shared('a', 0)] })).toMatch(/limit is a whole number from 1/);
    expect(refuses({ parts: [exclusive('a', 'subtree'), exclusive('a/b')] })).toMatch(/lies below the subtree a/);
  });

  test('metadata has up to 4 KiB, an operation id up to 1 KiB', () => {
    accepts({ metadata: 'x'.repeat(4_094), operationId: 'x'.repeat(1_024) });
    expect(refuses({ metadata: 'x'.repeat(4_095) })).toMatch(/metadata is 4097 bytes/);
    expect(refuses({ metadata: 'x'.repeat(1e6) })).toMatch(/metadata is 1000002 bytes/);
    const wrapped = (bytes: number): object => ({ 'holdfast:token': 'a1', 'holdfast:metadata': 'x'.repeat(bytes) });
    accepts({ metadata: wrapped(4_094) });
    expect(refuses({ metadata: wrapped(4_200) })).toMatch(/metadata is \d+ bytes/);
    expect(refuses({ metadata: { ...wrapped(4_094), other: 1 } })).toMatch(/metadata is \d+ bytes/);
    expect(refuses({ metadata: { 'holdfast:token': 1, 'holdfast:metadata': 'x'.repeat(4_094) } })).toMatch(/bytes/);
    expect(refuses({ operationId: '' })).toMatch(/operationId is from 1 to 1024 bytes/);
    expect(refuses({ operationId: 'x'.repeat(1_025) })).toMatch(/operationId is from 1 to 1024 bytes/);
  });

  test('holding names up to 1,024 leases by their ids', () => {
    accepts({ holding: Array.from({ length: 1_024 }, () => ID) });
    expect(refuses({ holding: Array.from({ length: 1_025 }, () => ID) })).toMatch(/at most 1024 held leases, got 1025/);
    expect(refuses({ holding: ['x'] })).toMatch(/an id is 16 to 64 characters/);
  });

  test.each([undefined, null, 5, 'a', { length: 1 }])('parts and holding are lists, not %j', (value) => {
    expect(refuses({ parts: value })).toBe('parts and holding are lists');
    expect(refuses({ holding: value })).toBe('parts and holding are lists');
  });

  test('an id, an owner and a wall clock are needed', () => {
    expect(refuses({ id: 'short' })).toMatch(/an id is 16 to 64 characters/);
    expect(refuses({ owner: '' })).toMatch(/owner is from 1/);
    for (const callerWall of [NaN, Infinity, '5', undefined, 1e300, -1e300, 8.64e15 + 1, -8.64e15 - 1])
      expect(refuses({ callerWall })).toMatch(/callerWall must be/);
    for (const callerWall of [0.5, 8.64e15, -8.64e15]) accepts({ callerWall });
  });
});

describe('Q5: an upgrade', () => {
  const upgrade = { upgrades: { id: ID, epoch: 7 } };

  test('names a lease, its epoch and exclusive parts', () => {
    accepts(upgrade);
  });

  test.each([
    [{ upgrades: { id: 'x', epoch: 7 } }, /an id is 16 to 64 characters/],
    [{ upgrades: { id: ID, epoch: 0 } }, /carries the epoch of the lease/],
    [{ upgrades: { id: ID } }, /carries the epoch of the lease/],
    [{ upgrades: { id: acquireRequest().id, epoch: 7 } }, /an id of its own/],
    [{ ...upgrade, reclaim: true }, /cannot upgrade and reclaim at once/],
    [{ ...upgrade, parts: [shared('a')] }, /asks for exclusive parts/],
    [{ ...upgrade, parts: [exclusive('a'), shared('b')] }, /asks for exclusive parts/],
  ])('%j is refused', (changes, message) => {
    expect(refuses(changes)).toMatch(message);
  });
});

describe('S5: renew, end and change carry id, epoch and request id', () => {
  const authority = { id: ID, epoch: 7, requestId: 'r' };
  const renew = (changes: object): void => checkRenew({ ...authority, callerWall: 0, ...changes });
  const end = (changes: object): void => checkEnd({ ...authority, why: 'released', ...changes });
  const change = (changes: object): void =>
    checkChange({ kind: 'delegate', toOwner: 'other', ...authority, ...changes });

  test.each<[string, (changes: object) => void]>([
    ['renew', renew],
    ['end', end],
    ['change', change],
  ])('%s', (_what, check) => {
    check({});
    check({ epoch: TOP });
    for (const requestId of ['!', '~', 'x'.repeat(64), 'a/b:"c"']) check({ requestId });
    for (const id of ['', 'x', 5]) expect(invalidMessage(() => check({ id }))).toMatch(/an id is/);
    for (const epoch of [0, -1, 1.5, NaN, 2 ** 53, '7', null]) {
      expect(invalidMessage(() => check({ epoch }))).toMatch(/not an epoch/);
    }
    const badText = ['', 'x'.repeat(65), 'x'.repeat(1e6), ' ', 'a b', 'a\n', '\u0000', '\u007f', 'é', '\ud800'];
    for (const requestId of [...badText, 5, null, undefined, ['r']]) {
      expect(invalidMessage(() => check({ requestId }))).toBe('a request id is 1 to 64 printable ASCII characters');
    }
  });

  test('a cancel knows no epoch; nothing else may leave it out', () => {
    end({ epoch: undefined });
    expect(invalidMessage(() => renew({ epoch: undefined }))).toMatch(/not an epoch/);
    expect(invalidMessage(() => change({ epoch: undefined }))).toMatch(/not an epoch/);
  });

  test('a renewal may name a ttl within the bounds, and names the wall clock', () => {
    renew({ ttlMs: 100 });
    for (const ttlMs of [0, 99, 30 * DAY + 1, NaN])
      expect(invalidMessage(() => renew({ ttlMs }))).toMatch(/^ttl is a whole/);
    for (const callerWall of [NaN, 1e300]) expect(invalidMessage(() => renew({ callerWall }))).toMatch(/callerWall/);
  });

  test('delegate and resume name the new owner, a downgrade does not', () => {
    change({ kind: 'downgrade', toOwner: undefined });
    for (const kind of ['delegate', 'resume']) {
      expect(invalidMessage(() => change({ kind, toOwner: '' }))).toMatch(/owner is from 1/);
    }
  });

  test('a resumption names the wall clock', () => {
    change({ kind: 'resume', callerWall: 0 });
    for (const callerWall of [undefined, NaN, 1e300])
      expect(invalidMessage(() => change({ kind: 'resume', callerWall }))).toMatch(/callerWall/);
  });
});

describe('A7: a revocation', () => {
  const order: RevokeOrder = { target: { resource: 'a' }, reason: 'gone', actor: 'admin', upToEpoch: 7, keepOutMs: 0 };
  const refusesRevoke = (changes: object): string => invalidMessage(() => checkRevoke({ ...order, ...changes }));

  test('aims at a resource, a subtree, a lease or an owner', () => {
    for (const target of [{ resource: 'a' }, { under: 'a/b' }, { leaseId: ID }, { owner: 'x' }]) {
      checkRevoke({ ...order, target });
    }
    expect(refusesRevoke({ target: { resource: '' } })).toMatch(/must not be empty/);
    expect(refusesRevoke({ target: { under: 'a/' } })).toMatch(/empty segment/);
    expect(refusesRevoke({ target: { leaseId: 'x' } })).toMatch(/an id is/);
    expect(refusesRevoke({ target: { owner: '' } })).toMatch(/owner is from 1/);
    expect(refusesRevoke({ target: {} })).toMatch(/owner must be text/);
  });

  test('needs a reason, an actor and an epoch, and keeps out for up to 30 days', () => {
    checkRevoke({ ...order, reason: 'x'.repeat(1_024), keepOutMs: 30 * DAY, upToEpoch: TOP });
    expect(refusesRevoke({ reason: '' })).toMatch(/reason is from 1 to 1024 bytes/);
    expect(refusesRevoke({ reason: 'x'.repeat(1_025) })).toMatch(/reason is from 1 to 1024 bytes/);
    expect(refusesRevoke({ actor: '' })).toBe('actor is from 1 to 128 bytes of UTF-8, got 0');
    expect(refusesRevoke({ actor: 'a\nb' })).toMatch(/^actor holds a control character/);
    expect(refusesRevoke({ actor: undefined })).toBe('actor must be text, got undefined');
    expect(refusesRevoke({ upToEpoch: 2 ** 53 })).toMatch(/not an epoch/);
    for (const keepOutMs of [-1, 30 * DAY + 1, NaN])
      expect(refusesRevoke({ keepOutMs })).toMatch(/^keepOut is a whole/);
  });
});

describe('S18: batches and pages', () => {
  const items = (count: number, parts?: number): object[] =>
    Array.from({ length: count }, () => (parts === undefined ? {} : { parts: Array.from({ length: parts }, () => 0) }));

  test('256 items pass, 257 and far more do not', () => {
    checkBatch([]);
    checkBatch(items(256));
    expect(invalidMessage(() => checkBatch(items(257)))).toBe('a batch has at most 256 items, got 257: split it');
    expect(invalidMessage(() => checkBatch(items(1e6)))).toMatch(/got 1000000: split it/);
  });

  test('1,024 parts pass, 1,025 and far more do not; an item without parts counts as one', () => {
    checkBatch(items(16, 64));
    expect(invalidMessage(() => checkBatch([...items(16, 64), {}]))).toBe(
      'a batch has at most 1024 parts, got 1025: split it',
    );
    expect(invalidMessage(() => checkBatch(items(256, 64)))).toMatch(/got 16384/);
  });

  test('a step has 1 to 1,000 rows', () => {
    for (const limit of [1, 1_000]) expect(checkLimit(limit)).toBe(limit);
    for (const limit of [0, -1, 1_001, 1e9, 1.5, NaN, '5', undefined]) {
      expect(invalidMessage(() => checkLimit(limit))).toMatch(/^limit is a whole number from 1 to 1000, got /);
    }
  });
});
