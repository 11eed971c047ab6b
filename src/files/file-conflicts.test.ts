// Refusals in the words of paths: which of a holder's parts is in the way, and lines that are safe to print.
import { expect, test } from 'vitest';
import { LeaseError } from '../domain/errors.js';
import type { LeaseRecord } from '../domain/lease.js';
import type { Part, PartInput } from '../domain/part.js';
import type { Refusal } from '../manager/face.js';
import { describeConflicts, toFileError, toFileRefusal } from './file-conflicts.js';

const UNTIL = '2026-01-31T12:00:00.000Z';

const part = (name: string, more: Partial<Part> = {}): Part => ({ name, scope: 'subtree', mode: 'exclusive', ...more });

const holder = (owner: string, ...parts: Part[]): LeaseRecord => ({
  id: `id-of-${owner}`,
  parts,
  owner,
  epoch: 7,
  status: 'active',
  ttlMs: 30_000,
  acquiredAt: UNTIL,
  renewedAt: UNTIL,
  expiresAt: UNTIL,
  renewals: 0,
  maxRenewals: -1,
  skewMs: 0,
});

const refusal = (...holders: LeaseRecord[]): Refusal => ({
  reason: 'held',
  holders,
  holderCount: holders.length,
  queueLength: 0,
  retryAfterMs: 5_000,
});

const lines = (no: Refusal, ...asked: PartInput[]): string[] =>
  describeConflicts(toFileRefusal(no, { base: 'file:/srv/app', parts: asked }, {}));

const path = (below: string): PartInput => ({ name: `file:/srv/app/${below}`, scope: 'subtree' });

test('A12: only what is in the way is named, and a folder above it as the reason', () => {
  const alice = holder('alice', part('file:/srv/app/src'), part('file:/srv/app/docs'));
  expect(lines(refusal(alice), path('src/a.ts'), path('src/b.ts'), path('c.ts'))).toEqual([
    `src/a.ts is held by alice until ${UNTIL} (all of src)`,
    `src/b.ts is held by alice until ${UNTIL} (all of src)`,
  ]);
  const above = holder('bob', part('file:/srv'));
  expect(lines(refusal(above), path('c.ts'))).toEqual([`c.ts is held by bob until ${UNTIL} (all of file:/srv)`]);
});

test('A12: a section, a shared holder and a resource that is no file are named as what they are', () => {
  const section = holder('alice', part('file:/srv/app/a.ts/#imports', { scope: 'node' }));
  expect(lines(refusal(section), path('a.ts'))).toEqual([`a.ts (section imports) is held by alice until ${UNTIL}`]);
  const shared = holder('bob', part('file:/srv/app/a.ts', { mode: 'shared' }), part('orders/0'));
  expect(lines(refusal(shared), path('a.ts'), { name: 'orders/0' })).toEqual([
    `a.ts is held (shared) by bob until ${UNTIL}`,
    `orders/0 is held by bob until ${UNTIL}`,
  ]);
});

test('A12: holders beyond those shown, a queue and a block each have their line', () => {
  const alice = holder('alice', part('file:/srv/app/a.ts'));
  expect(lines({ ...refusal(alice), holderCount: 3, queueLength: 2 }, path('a.ts'))).toEqual([
    `a.ts is held by alice until ${UNTIL}`,
    '2 more leases are in the way',
    'a.ts: 2 ahead in the queue',
  ]);
  expect(lines({ ...refusal(), reason: 'queue', queueLength: 1 }, path('a.ts'), path('b.ts'))).toEqual([
    'a.ts, b.ts: 1 ahead in the queue',
  ]);
  expect(lines({ ...refusal(), reason: 'lock_delay' }, path('a.ts'))).toEqual([
    'a.ts: not free for 5s at least (lock_delay)',
  ]);
});

test('A12: a line is one line, whatever the file is called', () => {
  const alice = holder('alice', part('file:/srv/app/a%0A%1B[2J'));
  const no = toFileRefusal(refusal(alice), { base: 'file:/srv/app', parts: [path('a%0A%1B[2J')] }, {});
  expect(no.conflicts[0]?.path).toBe('a\n\u001b[2J');
  expect(describeConflicts(no)).toEqual([`a\\u{a}\\u{1b}[2J is held by alice until ${UNTIL}`]);
});

test('A12: an error that carries a refusal says which paths, any other stays as it is', () => {
  const asked = { base: 'file:/srv/app', parts: [path('a.ts')] };
  const error = new LeaseError('ACQUIRE_TIMEOUT', 'not in time', {
    details: { refusal: refusal(holder('alice', part('file:/srv/app/a.ts'))) },
  });
  const told = toFileError(error, asked, {}) as LeaseError;
  expect(told).toMatchObject({ code: 'ACQUIRE_TIMEOUT', retryable: true, cause: error });
  expect(told.message).toBe(`not in time\n  a.ts is held by alice until ${UNTIL}`);
  expect(told.details['refusal']).toMatchObject({ conflicts: [{ path: 'a.ts', owner: 'alice', until: UNTIL }] });
  for (const other of [new Error('else'), new LeaseError('SHUTTING_DOWN', 'closed'), 'text']) {
    expect(toFileError(other, asked, {})).toBe(other);
  }
});
