// Snapshot and events overtake each other; the book must not care.
import { expect, test } from 'vitest';
import type { LeaseEvent, LeaseRecord } from '../api/types.js';
import { MOST_RECORDS, RecordBook } from './record-book.js';

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function record(id: string, changes: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    ...{ id, parts: [{ name: `r/${id}`, scope: 'node', mode: 'exclusive' }], owner: 'ann', epoch: 5, status: 'active' },
    ...{
      ttlMs: 10_000,
      acquiredAt: at(0),
      renewedAt: at(0),
      expiresAt: at(10),
      renewals: 0,
      maxRenewals: -1,
      skewMs: 0,
    },
    ...changes,
  };
}
function event(type: string, leaseId: string, changes: Partial<LeaseEvent> = {}): LeaseEvent {
  const to = { 'lease.queued': 'pending', 'lease.released': 'released', 'lease.expired': 'expired' }[type] ?? 'active';
  return {
    ...{ id: '1', type, at: at(0), namespace: 'default', leaseId, owner: 'ann', resource: `r/${leaseId}`, epoch: 5 },
    ...{ actor: 'ann', sentence: '', to, data: { ttlMs: 10_000, expiresAt: 10_000 }, ...changes },
  };
}

test('a snapshot is the present: what it does not name is gone when it is whole', () => {
  const book = new RecordBook();
  book.learn(record('old'));
  const reading = book.beginSnapshot();
  reading.add([record('a')]);
  reading.add([record('b')]);
  expect(book.records.size).toBe(3);
  reading.finish();
  expect([...book.records.keys()].sort()).toEqual(['a', 'b']);
});

test('what begins while a snapshot is read stays, what ends meanwhile does not come back with a late page', () => {
  const book = new RecordBook();
  const reading = book.beginSnapshot();
  book.apply(event('lease.acquired', 'new'));
  book.apply(event('lease.released', 'ended'));
  reading.add([record('ended'), record('a')]);
  reading.finish();
  expect([...book.records.keys()].sort()).toEqual(['a', 'new']);
});

test('a reading that was given up takes nothing away', () => {
  const book = new RecordBook();
  const first = book.beginSnapshot();
  book.beginSnapshot().add([record('a')]);
  first.finish();
  expect(book.records.has('a')).toBe(true);
});

test('a late event does not undo a renewal, and a late page does not undo an epoch', () => {
  const book = new RecordBook();
  book.learn(record('a', { renewedAt: at(8), expiresAt: at(18), renewals: 2, metadata: { pid: 1 } }));
  book.apply(event('lease.acquired', 'a'));
  expect(book.records.get('a')).toMatchObject({ expiresAt: at(18), renewals: 2, metadata: { pid: 1 } });
  book.apply(event('lease.delegated', 'a', { epoch: 6, owner: 'bob', data: {} }));
  book.learn(record('a', { renewedAt: at(9) }));
  expect(book.records.get('a')).toMatchObject({ epoch: 6, owner: 'bob' });
  book.apply(event('lease.renewed', 'a', { epoch: 5, at: at(30), data: { expiresAt: 40_000 } }));
  expect(book.records.get('a')).toMatchObject({ expiresAt: at(18) });
});

test('a ticket becomes the lease of the same id', () => {
  const book = new RecordBook();
  book.apply(event('lease.queued', 't', { owner: 'bob', epoch: undefined, data: { place: 1 } }));
  expect(book.records.get('t')).toMatchObject({ status: 'pending', epoch: 0, owner: 'bob' });
  book.apply(
    event('lease.acquired', 't', { owner: 'bob', epoch: 7, at: at(3), data: { ttlMs: 5_000, expiresAt: 8_000 } }),
  );
  expect(book.records.get('t')).toMatchObject({ status: 'active', epoch: 7, expiresAt: at(8), ttlMs: 5_000 });
  book.learn(record('t', { status: 'pending', epoch: 0 }));
  expect(book.records.get('t')).toMatchObject({ status: 'active' });
});

test('an upgrade ends its ticket and makes every part exclusive; a downgrade tells its parts', () => {
  const book = new RecordBook();
  const shared = [{ name: 'r/a', scope: 'node', mode: 'shared', limit: 3 } as const];
  book.learn(record('a', { parts: [...shared] }));
  book.learn(record('t', { status: 'pending', epoch: 0 }));
  book.apply(event('lease.upgraded', 'a', { epoch: 9, data: { ticketId: 't' } }));
  expect([...book.records.keys()]).toEqual(['a']);
  expect(book.records.get('a')?.parts).toEqual([{ name: 'r/a', scope: 'node', mode: 'exclusive' }]);
  book.apply(event('lease.downgraded', 'a', { epoch: 9, data: { parts: shared } }));
  expect(book.records.get('a')?.parts).toEqual(shared);
});

test('a deadlock ends the ticket that gave up', () => {
  const book = new RecordBook();
  book.learn(record('t', { status: 'pending', epoch: 0 }));
  book.apply(event('deadlock.detected', 't', { to: 'failed' }));
  expect(book.records.size).toBe(0);
});

test('it is bounded: what is known is kept up to date, nothing new is taken in', () => {
  const book = new RecordBook();
  for (let n = 0; n < MOST_RECORDS + 10; n += 1) book.learn(record(`l${n}`));
  expect(book.records.size).toBe(MOST_RECORDS);
  expect(book.isFull).toBe(true);
  book.learn(record('l0', { renewedAt: at(5), expiresAt: at(15) }));
  expect(book.records.get('l0')).toMatchObject({ expiresAt: at(15) });
});
