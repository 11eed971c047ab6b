// The event log: every type has its plain sentence, word for word, and a log row becomes an event without empty fields.
import { describe, expect, test } from 'vitest';
import {
  LOCAL_TYPES,
  sentenceOf,
  STORED_TYPES,
  toEvent,
  toLocalEvent,
  type EventFacts,
  type EventType,
  type LogRow,
} from './events.js';

const NOON = Date.UTC(2026, 0, 2, 12);
const ALL_TYPES: readonly EventType[] = [...STORED_TYPES, ...LOCAL_TYPES];

const facts = (type: EventType, changes: Partial<EventFacts> = {}): EventFacts => ({
  type,
  at: NOON,
  data: {},
  ...changes,
});
const onOrders = { resource: 'orders/0', owner: 'alice', epoch: 43 };
const cycle = [
  { ticketId: 'x', owner: 'alice', resource: 'a', heldBy: 'bob' },
  { ticketId: 'y', owner: 'bob', resource: 'b', heldBy: 'alice' },
];

const SENTENCES: { readonly [T in EventType]: readonly [Partial<EventFacts>, string] } = {
  'lease.queued': [{ ...onOrders, data: { place: 3 } }, 'alice is waiting for orders/0, place 3'],
  'lease.acquired': [onOrders, 'Acquired orders/0, epoch 43'],
  'lease.refused': [{ ...onOrders, data: { until: NOON } }, 'Already held by alice until 2026-01-02T12:00:00.000Z'],
  'lease.renewed': [
    { ...onOrders, data: { expiresAt: NOON } },
    'Renewed orders/0, epoch 43, until 2026-01-02T12:00:00.000Z',
  ],
  'lease.renewal_failed': [
    { ...onOrders, data: { current: 42, attempted: 41 } },
    'Renewal failed: stale epoch (current: 42, attempted: 41)',
  ],
  'lease.released': [onOrders, 'Released orders/0, epoch 43'],
  'lease.expired': [
    { ...onOrders, data: { expiresAt: NOON } },
    'Lease of alice on orders/0 expired at 2026-01-02T12:00:00.000Z, epoch 43',
  ],
  'lease.lost': [
    { ...onOrders, data: { lostAt: NOON } },
    'Lost lease for orders/0 (expired at 2026-01-02T12:00:00.000Z)',
  ],
  'lease.revoked': [{ ...onOrders, actor: 'admin', reason: 'stuck' }, 'admin revoked orders/0 from alice: stuck'],
  'lease.failed': [{ ...onOrders, reason: 'timeout' }, 'alice stopped waiting for orders/0: timeout'],
  'lease.delegated': [{ ...onOrders, data: { fromOwner: 'bob' } }, 'bob handed orders/0 to alice, epoch 43'],
  'lease.upgraded': [onOrders, 'Upgraded orders/0 to exclusive, epoch 43'],
  'lease.downgraded': [onOrders, 'Downgraded orders/0 to shared, epoch 43'],
  'deadlock.detected': [
    { ...onOrders, data: { cycle } },
    'Deadlock: alice waits for a held by bob, bob waits for b held by alice; alice gives up its place',
  ],
  'guard.rejected': [{ data: { current: 42, attempted: 41 } }, 'Stale write rejected: epoch 41 < current epoch 42'],
  'sequence.leased': [{ resource: 'orders', data: { number: 41 } }, 'Leased number 41 of orders'],
  'sequence.committed': [{ resource: 'orders', data: { number: 41 } }, 'Committed number 41 of orders'],
  'sequence.gap': [{ data: { number: 41 } }, 'Created sequence gap 41'],
  'sequence.filled': [{ data: { number: 41 } }, 'Filled sequence gap 41'],
  'sequence.moved': [{ data: { number: 41, movedTo: 57 } }, 'Moved operation from 41 to 57'],
  'recovery.succeeded': [{ data: { method: 'partial_work' } }, 'Recovered from partial work'],
  'recovery.failed': [{ error: 'no disk', data: { number: 41 } }, 'Recovery of number 41 failed: no disk'],
  'cascade.entered': [{ data: { expired: 11 } }, 'Recovery mode on: 11 leases expired within one sweep interval'],
  'cascade.left': [{}, 'Recovery mode off: expiries are back to normal'],
  'alert.raised': [{ reason: '12 gaps', data: { alert: 'gaps' } }, 'Alert gaps raised: 12 gaps'],
  'alert.cleared': [{ data: { alert: 'gaps' } }, 'Alert gaps cleared'],
  'store.clock_stepped': [{ data: { byMs: -250 } }, "The store's clock stepped by -250 ms"],
  'store.incarnation': [{ reason: 'restore' }, 'A new incarnation of the store began: restore'],
  'events.lost': [{ data: { oldest: 'p' } }, 'Events before p are gone: read the present state again'],
};

describe('H3: one plain sentence for each type', () => {
  test('numbers that were leased together are told together', () => {
    const three = facts('sequence.leased', { resource: 'orders', data: { number: 5, count: 3 } });
    expect(sentenceOf(three)).toBe('Leased numbers 5 to 7 of orders');
  });

  test.each(Object.entries(SENTENCES) as [EventType, (typeof SENTENCES)[EventType]][])(
    'H3: %s',
    (type, [changes, sentence]) => {
      expect(sentenceOf(facts(type, changes))).toBe(sentence);
    },
  );

  test('H3: the same types with other facts', () => {
    const lost = facts('lease.lost', { ...onOrders, data: { how: 'revoked', lostAt: NOON } });
    expect(sentenceOf(lost)).toBe('Lost lease for orders/0 (revoked at 2026-01-02T12:00:00.000Z)');
    expect(sentenceOf(facts('lease.renewal_failed', { error: 'store silent' }))).toBe('Renewal failed: store silent');
    const until = { ...onOrders, data: { until: NOON } };
    expect(sentenceOf(facts('lease.refused', { ...until, reason: 'held' }))).toBe(
      'Already held by alice until 2026-01-02T12:00:00.000Z',
    );
    for (const reason of ['queue', 'limit', 'min_hold', 'lock_delay', 'pinned', 'held_by_self']) {
      expect(sentenceOf(facts('lease.refused', { ...until, reason }))).toBe(`Refused orders/0: ${reason}`);
    }
    expect(sentenceOf(facts('lease.renewal_failed'))).toBe('Renewal failed: not held any more');
    expect(sentenceOf(facts('recovery.succeeded', { data: { method: 'recommitted' } }))).toBe(
      'Retried completed operation',
    );
    expect(sentenceOf(facts('recovery.succeeded', { data: { method: 'gap', number: 41 } }))).toBe(
      'Recovered number 41 by gap',
    );
    expect(sentenceOf(facts('deadlock.detected', { owner: 'alice' }))).toBe(
      'Deadlock: a cycle of waiters; alice gives up its place',
    );
  });

  test.each(ALL_TYPES)('H3: %s without any fact, or with facts of the wrong kind, is still a sentence', (type) => {
    const wrong = Object.fromEntries(
      ['place', 'until', 'expiresAt', 'current', 'attempted', 'number', 'method', 'cycle', 'lostAt', 'alert'].map(
        (key) => [key, {}],
      ),
    );
    for (const data of [{}, wrong]) {
      const sentence = sentenceOf(facts(type, { data }));
      expect(sentence).not.toBe('');
      expect(sentence).not.toMatch(/undefined|NaN|null|\[object/);
    }
  });
});

test('H3: every type of the contract is there, each once', () => {
  const contract = [
    ...['queued', 'acquired', 'refused', 'renewed', 'renewal_failed', 'released', 'expired', 'lost', 'revoked'].map(
      (name) => `lease.${name}`,
    ),
    ...['lease.delegated', 'lease.upgraded', 'lease.downgraded', 'deadlock.detected'],
    ...['leased', 'committed', 'gap', 'filled', 'moved'].map((name) => `sequence.${name}`),
    ...['recovery.succeeded', 'recovery.failed', 'cascade.entered', 'cascade.left', 'alert.raised', 'alert.cleared'],
    ...['store.clock_stepped', 'store.incarnation', 'events.lost'],
  ];
  expect(ALL_TYPES).toEqual(expect.arrayContaining(contract));
  // And two more: how a ticket ended, and what a guard says.
  expect(ALL_TYPES.filter((type) => !contract.includes(type))).toEqual(['lease.failed', 'guard.rejected']);
  expect(new Set(ALL_TYPES).size).toBe(ALL_TYPES.length);
});

test('H2: what is announced in the process only is never a row of the log, renewals apart', () => {
  for (const type of ['lease.refused', 'lease.renewal_failed', 'lease.lost']) expect(STORED_TYPES).not.toContain(type);
  expect(STORED_TYPES).toContain('lease.renewed'); // with history_renewals
});

describe('H2: a row of the log as an event', () => {
  const row: LogRow = {
    ...facts('lease.acquired', onOrders),
    type: 'lease.acquired',
    id: 'p',
    wallAt: NOON + 5,
    namespace: 'default',
  };

  test('has its sentence, its times as text, and no empty field', () => {
    expect(
      toEvent({ ...row, resources: undefined, reason: undefined, error: undefined, from: undefined }),
    ).toStrictEqual({
      id: 'p',
      type: 'lease.acquired',
      at: '2026-01-02T12:00:00.000Z',
      wallAt: '2026-01-02T12:00:00.005Z',
      namespace: 'default',
      resource: 'orders/0',
      owner: 'alice',
      epoch: 43,
      actor: 'alice',
      sentence: 'Acquired orders/0, epoch 43',
      data: {},
    });
  });

  test('keeps every fact it has', () => {
    const full = {
      ...row,
      resources: ['orders/0', 'orders/1'],
      leaseId: 'lease-0123456789',
      from: 'pending',
      to: 'active',
      actor: 'admin',
      reason: 'why',
      error: 'none',
      data: { ttlMs: 5 },
    } as const;
    const { at: _at, wallAt: _wallAt, ...rest } = full;
    expect(toEvent(full)).toMatchObject(rest);
  });

  test('was done by its actor, else its owner, else the store', () => {
    expect(toEvent({ ...row, actor: 'admin' }).actor).toBe('admin');
    expect(toEvent(row).actor).toBe('alice');
    expect(toEvent({ ...row, owner: undefined }).actor).toBe('store');
  });
});

test('H2: what is announced in the process has the same shape, with an id of its own', () => {
  const event = toLocalEvent(facts('lease.lost', { ...onOrders, reason: undefined, data: { lostAt: NOON } }), {
    id: 'local-1',
    namespace: 'default',
    wallAt: NOON + 5,
  });
  expect(event).toStrictEqual({
    id: 'local-1',
    type: 'lease.lost',
    at: '2026-01-02T12:00:00.000Z',
    wallAt: '2026-01-02T12:00:00.005Z',
    namespace: 'default',
    resource: 'orders/0',
    owner: 'alice',
    epoch: 43,
    actor: 'alice',
    sentence: 'Lost lease for orders/0 (expired at 2026-01-02T12:00:00.000Z)',
    data: { lostAt: NOON },
  });
});
