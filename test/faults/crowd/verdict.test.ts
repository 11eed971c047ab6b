// What the crowd's runs are judged by can fail: one line changed in what happened is a complaint.
import { describe, expect, test } from 'vitest';
import type { LogRow } from '../../../src/domain/events.js';
import { checkLog } from './check-log.js';
import { differences, excess } from './crowd.js';
import { judge, type Attempt, type IncrementRecord } from './verdict.js';

const attempt = (op: string, outcome: Attempt['outcome'], epoch = 1): Attempt => ({ op, n: 0, epoch, outcome });
const record = (op: string, value: number, epoch = 1): IncrementRecord => ({ op, n: 0, epoch, value });
const values = (value: number): ReadonlyMap<number, number> => new Map([[0, value]]);

describe('S11: the guarded counter', () => {
  const attempts = [attempt('a', 'done'), attempt('b', 'unknown', 2), attempt('c', 'open', 2), attempt('d', 'refused')];
  const records = [record('a', 1), record('b', 2, 2)];

  test('what is unknown is decided by its record', () => {
    expect(judge(attempts, { records, values: values(2) })).toEqual({
      ...{ confirmed: 1, refused: 1, unknownLanded: 1, unknownNot: 1, lost: 0 },
      complaints: [],
    });
  });

  test.each([
    ['a value below the records', { records, values: values(1) }, 1, 'counter 0 is 1 after 2 increments'],
    ['a value above them', { records, values: values(3) }, 0, 'counter 0 is 3 after 2 increments'],
    ['a confirmed one without a record', { records: [record('b', 1, 2)], values: values(1) }, 1, 'a on counter 0'],
    [
      'a refused one with a record',
      { records: [...records, record('d', 3, 3)], values: values(3) },
      0,
      'd on counter 0',
    ],
    ['a record nobody tried', { records: [...records, record('x', 3, 3)], values: values(3) }, 0, 'nobody tried x'],
    [
      'two that wrote the same value',
      { records: [record('a', 1), record('b', 1, 2)], values: values(1) },
      1,
      'counter 0',
    ],
    [
      'an epoch that went back',
      { records: [record('a', 1, 3), record('b', 2, 2)], values: values(2) },
      0,
      'counter 0: b',
    ],
    ['one record twice', { records: [...records, record('b', 3, 2)], values: values(3) }, 0, 'an increment has two'],
  ])('%s is a complaint', (_, counted, lost, words) => {
    const verdict = judge(attempts, counted);
    expect(verdict.lost).toBe(lost);
    expect(verdict.complaints.join('\n')).toContain(words);
  });
});

describe('S1: the log, by its order', () => {
  const row = (type: string, leaseId: string, at: number, epoch: number, data: object = {}): LogRow =>
    ({ type, leaseId, at, epoch, owner: leaseId, resource: 'stock/1', actor: leaseId, data }) as unknown as LogRow;
  const log = [
    row('lease.acquired', 'one', 5_000, 1, { expiresAt: 7_000 }),
    row('lease.released', 'one', 5_100, 1),
    row('lease.acquired', 'two', 4_000, 2, { expiresAt: 6_000 }), // the clock was set back
    row('lease.released', 'two', 4_100, 2),
  ];
  const check = (rows: readonly LogRow[], isMonotonic: boolean): string[] =>
    checkLog({ log: rows, records: [], table: { now: 9_000, items: [] } }, isMonotonic);

  test('a clock that is set back makes no second holder', () => {
    expect(check(log, false)).toEqual([]);
    expect(check(log, true)).toContainEqual(expect.stringMatching(/^S1: /));
  });

  test('a grant before the end of the other is one, whatever the clocks say', () => {
    const [first, end, second, last] = log as [LogRow, LogRow, LogRow, LogRow];
    expect(
      check([first, { ...second, at: 9_000 }, { ...end, at: 9_100 }, { ...last, at: 9_200 }], false),
    ).toContainEqual(expect.stringMatching(/^S1: /));
  });
});

test('S9: counts are compared by name, but for what is fleeting', () => {
  const before = { connections: 2, tickets: 0, 'worker 1: handle Timeout': 3 };
  expect(differences(before, { ...before, 'worker 1: handle Timeout': 9 })).toEqual([]);
  expect(differences(before, { connections: 1, tickets: 1 })).toEqual([
    '1 of connections, 2 before',
    '1 of tickets, 0 before',
  ]);
  expect(excess(before, { connections: 1, tickets: 1, 'file x': 1 })).toEqual([
    '1 of tickets, 0 before',
    '1 of file x, 0 before',
  ]);
});
