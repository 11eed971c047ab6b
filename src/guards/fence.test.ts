// The rule of every gate as a table, and the gates in this process against the same rule said otherwise.
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answers, expected, program } from '../../test/guards/gate-programs.js';
import { normaliseParts } from '../domain/part.js';
import { checkWrite, checkWrites, staleWrite, writesOf, type FenceWrite } from './fence.js';
import { memoryGate } from './memory-gate.js';
import { sqlGate } from './sql-gate.js';

const cases: [before: FenceWrite[], write: FenceWrite, closedBy: string][] = [
  [[], { resource: 'a', epoch: 1 }, '-'],
  [[{ resource: 'a', epoch: 42 }], { resource: 'a', epoch: 41 }, '42'],
  [[{ resource: 'a', epoch: 42 }], { resource: 'a', epoch: 42 }, '-'],
  [[{ resource: 'a', epoch: 42 }], { resource: 'a', epoch: 43 }, '-'],
  [[{ resource: 'a', epoch: 42 }], { resource: 'a/b', epoch: 41 }, '-'],
  [[{ resource: 'a', epoch: 42, scope: 'subtree' }], { resource: 'a/b', epoch: 41 }, '42'],
  [[{ resource: 'a', epoch: 42, scope: 'subtree' }], { resource: 'a/b/c', epoch: 41 }, '42'],
  [[{ resource: 'a', epoch: 42, scope: 'subtree' }], { resource: 'ab', epoch: 41 }, '-'],
  [[{ resource: 'a/b', epoch: 42 }], { resource: 'a', epoch: 41, scope: 'subtree' }, '42'],
  [[{ resource: 'a/b', epoch: 42 }], { resource: 'a', epoch: 41 }, '-'],
  [[{ resource: 'a', epoch: 42, mode: 'shared' }], { resource: 'a', epoch: 41 }, '42'],
  [[{ resource: 'a', epoch: 42, mode: 'shared' }], { resource: 'a', epoch: 41, mode: 'shared' }, '-'],
  [[{ resource: 'a', epoch: 42 }], { resource: 'a', epoch: 41, mode: 'shared' }, '42'],
];

describe('G4: an epoch is admitted that is not below what was seen', () => {
  test.each(cases)('after %j, %j is closed by %s', async (before, write, closedBy) => {
    const steps = [...before, write].map((one) => [checkWrite(one)]);
    const gate = memoryGate();
    const told = await answers(steps, (writes) => gate.admit(writes));
    expect(told.at(-1)).toBe(closedBy);
    expect(expected(steps)).toEqual(told);
  });

  test('a memory gate and a table in SQLite follow the same rule, step by step', async () => {
    const db = new Database(':memory:');
    await fc.assert(
      fc.asyncProperty(program, async (steps) => {
        const gate = memoryGate();
        expect(await answers(steps, (writes) => gate.admit(writes))).toEqual(expected(steps));
        db.exec('BEGIN');
        const told = await answers(steps, (writes) => sqlGate(db, 'gate').admit(writes));
        db.exec('ROLLBACK');
        expect(told).toEqual(expected(steps));
      }),
      { numRuns: 300 },
    );
    db.close();
  });
});

test('H3, A11: the refusal carries both epochs and says the sentence', () => {
  const error = staleWrite(checkWrite({ resource: 'orders/0', epoch: 41 }), 42);
  expect(error.message).toBe('Stale write rejected: epoch 41 < current epoch 42');
  expect(error).toMatchObject({ code: 'STALE_EPOCH', retryable: false });
  expect(error.details).toEqual({ resource: 'orders/0', current: 42, attempted: 41 });
});

test('G4: a lease with a limit is refused, because epochs cannot count', () => {
  const parts = normaliseParts({ name: 'pool', mode: 'shared', limit: 3 });
  expect(() => writesOf({ parts, epoch: 1 })).toThrow(/limit, which no gate can enforce: use guardPostgres/);
  expect(writesOf({ parts: normaliseParts({ name: 'pool', mode: 'shared' }), epoch: 1 })).toHaveLength(1);
});

test.each<[unknown, RegExp]>([
  [undefined, /a write is \{ resource, epoch \}, got undefined/],
  [null, /got null/],
  [{ resource: 'a' }, /epoch is the one of the lease.* got undefined/],
  [{ resource: 'a', epoch: '42' }, /epoch is the one of the lease.* got "42"/],
  [{ resource: 'a', epoch: 2 ** 53 }, /epoch is the one of the lease/],
  [{ resource: 'a', epoch: 0 }, /epoch is the one of the lease/],
  [{ resource: 'a//b', epoch: 1 }, /empty segment/],
  [{ resource: 'a', epoch: 1, mode: 'both' }, /mode is 'exclusive' or 'shared'/],
  [{ resource: 'a', epoch: 1, scope: 'tree' }, /scope is 'node' or 'subtree'/],
  [[], /from 1 to 64 writes/],
])('bad writes are refused: %j', (write, message) => {
  expect(() => checkWrites(write as FenceWrite)).toThrow(message);
});

test('what is no lease is refused', () => {
  for (const lease of [undefined, null, 42, {}]) expect(() => writesOf(lease as never)).toThrow(/takes the lease/);
});
