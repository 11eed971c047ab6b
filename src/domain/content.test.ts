// The hash that recognises a repeated acquire: the same for the same request, another for any other.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acquireRequest, exclusive, shared } from '../../test/support/domain-values.js';
import { contentOf } from './content.js';
import type { AcquireRequest } from './requests.js';

const hash = (changes: Partial<AcquireRequest> = {}): number => {
  const request = acquireRequest(changes);
  return contentOf(request, request.metadata === undefined ? undefined : JSON.stringify(request.metadata));
};

test('S8: a repeat has the same content, in every process and for ever', () => {
  expect(hash()).toBe(hash());
  expect(hash({ metadata: { a: 1 } })).toBe(hash({ metadata: { a: 1 } }));
  expect(hash({ maxHoldMs: undefined, upgrades: undefined, operationId: undefined })).toBe(hash());
});

describe('S8: what belongs to how it is asked, and not to what, leaves it alone', () => {
  test.each<[string, Partial<AcquireRequest>]>([
    ['the id it is kept under', { id: 'another-0123456789' }],
    ['when the id was made', { bornAt: 5 }],
    ['whether it joins the queue: a waiter may stop or start waiting', { join: true }],
    ['the wall clock of the caller', { callerWall: 5 }],
    ['the way it came', { remote: true }],
  ])('%s', (_what, changes) => {
    expect(hash(changes)).toBe(hash());
  });

  test('the epoch an upgrade names: the lease may have been delegated meanwhile', () => {
    const id = 'lease-0123456789';
    expect(hash({ upgrades: { id, epoch: 1 } })).toBe(hash({ upgrades: { id, epoch: 2 } }));
  });
});

describe('S8: any other content is another hash', () => {
  const variants: [string, Partial<AcquireRequest>][] = [
    ['nothing changed', {}],
    ['owner', { owner: 'someone else' }],
    ['name', { parts: [exclusive('orders/1')] }],
    ['mode', { parts: [shared('orders/0')] }],
    ['scope', { parts: [exclusive('orders/0', 'subtree')] }],
    ['limit', { parts: [shared('orders/0', 1)] }],
    ['another limit', { parts: [shared('orders/0', 2)] }],
    ['one more part', { parts: [exclusive('orders/0'), exclusive('orders/1')] }],
    ['ttl', { ttlMs: 30_001 }],
    ['priority', { priority: 1 }],
    ['the opposite priority', { priority: -1 }],
    ['maxRenewals', { maxRenewals: 0 }],
    ['maxHold', { maxHoldMs: 1_000 }],
    ['another maxHold', { maxHoldMs: 2_000 }],
    ['minHold', { minHoldMs: 1_000 }],
    ['lockDelay', { lockDelayMs: 1_000 }],
    ['reclaim', { reclaim: true }],
    ['holding', { holding: ['lease-0123456789'] }],
    ['holding two', { holding: ['lease-0123456789', 'lease-9876543210'] }],
    ['upgrades', { upgrades: { id: 'lease-0123456789', epoch: 1 } }],
    ['operationId', { operationId: 'op' }],
    ['metadata', { metadata: { a: 1 } }],
    ['other metadata', { metadata: { a: 2 } }],
    ['metadata null', { metadata: null }],
  ];

  test.each(variants)('%s', (what, changes) => {
    expect(variants.filter(([, other]) => hash(other) === hash(changes)).map(([name]) => name)).toEqual([what]);
  });

  test('no text can pass for the border between two fields', () => {
    expect(hash({ owner: 'x', parts: [exclusive('a|b')] })).not.toBe(hash({ owner: 'x|a', parts: [exclusive('b')] }));
    expect(hash({ parts: [exclusive('aen|b')] })).not.toBe(hash({ parts: [exclusive('a'), exclusive('b')] }));
    expect(hash({ operationId: 'o|m1' })).not.toBe(hash({ operationId: 'o', metadata: 1 }));
    expect(hash({ parts: [shared('a', 1)] })).not.toBe(hash({ parts: [shared('asn1')] }));
  });

  test('two requests that differ in some fields have the same hash if and only if they ask the same', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '|', ',', 'e', 'n', 's', 'u', 'm', '1'),
      minLength: 1,
      maxLength: 3,
    });
    const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
    const part = fc.oneof(
      text.map((name) => exclusive(name)),
      fc.tuple(text, optional(fc.constantFrom(1, 11))).map(([name, limit]) => shared(name, limit)),
    );
    const asked = fc.record({
      owner: text,
      parts: fc.array(part, { minLength: 1, maxLength: 2 }),
      ttlMs: fc.constantFrom(1, 11),
      minHoldMs: fc.constantFrom(1, 11),
      maxHoldMs: optional(fc.constantFrom(1, 11)),
      operationId: optional(text),
      metadata: optional(text),
    });
    fc.assert(
      fc.property(
        asked,
        asked,
        fc.subarray(['owner', 'parts', 'maxHoldMs', 'operationId', 'metadata']),
        (a, other, kept) => {
          const b = {
            ...other,
            ...Object.fromEntries(Object.entries(a).filter(([key]) => kept.includes(key as 'owner'))),
          };
          expect(hash(a) === hash(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('a hundred thousand requests that differ by a digit have as many hashes, all safe integers but 0', () => {
    const seen = new Set<number>();
    for (let i = 0; i < 100_000; i += 1) seen.add(hash({ operationId: `op-${i}` }));
    expect(seen.size).toBe(100_000);
    expect([...seen].every((one) => Number.isSafeInteger(one) && one > 0)).toBe(true);
  });
});
