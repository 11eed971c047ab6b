// Each checker accepts a history the memory store really made, and rejects it with one line changed.
import { describe, expect, test } from 'vitest';
import type { LogRow } from '../../domain/events.js';
import { goodHistory, long } from '../../../test/support/scripted-history.js';
import { normaliseParts } from '../../domain/part.js';
import { checkHistory } from './check-history.js';
import { checkEnds } from './history-ends.js';
import { checkEpochs } from './history-epochs.js';
import { checkExclusion } from './history-exclusion.js';
import { checkOrder } from './history-order.js';
import { checkQueue } from './history-queue.js';
import type { CallRecord, History } from './history-records.js';
import { checkTable } from './history-table.js';

const good = await goodHistory();

test('the history the memory store made is accepted', () => {
  expect(good.log.length).toBeGreaterThan(25);
  expect(good.table.items.map(({ id }) => id)).toEqual(
    ['left', 'right', 'to-right', 'fourth', 'held', 'waits', 'pool-1', 'past'].map(long),
  );
  expect(checkHistory(good)).toEqual([]);
});

type Row = Omit<Partial<LogRow>, 'data'> & { data?: Record<string, unknown> };

/** The one row of this type and id: changed, taken out (`drop`), or said twice. */
function row(type: string, id: string, change: Row | 'drop' | 'twice'): History {
  const log = good.log.flatMap((one): LogRow[] => {
    if (one.type !== `lease.${type}` || one.leaseId !== long(id)) return [one];
    if (change === 'drop') return [];
    if (change === 'twice') return [one, one];
    return [{ ...one, ...change, data: { ...one.data, ...change.data } }];
  });
  expect(log).not.toEqual(good.log);
  return { ...good, log };
}

function place(op: CallRecord['op'], outcome: string, id: string): number {
  return good.records.findIndex((one) => {
    const text = JSON.stringify(one);
    return one.op === op && text.includes(outcome) && text.includes(long(id));
  });
}

/** The first record of this kind with a result of this outcome, its JSON text edited. */
function record(op: CallRecord['op'], outcome: string, id: string, edit: (text: string) => string): History {
  const i = place(op, outcome, id);
  const edited = JSON.parse(edit(JSON.stringify(good.records[i]))) as CallRecord;
  expect(edited).not.toEqual(good.records[i]);
  return { ...good, records: good.records.with(i, edited) };
}

/** The row stands elsewhere in the log: before the other one. */
function earlier([type, id]: [string, string], [otherType, otherId]: [string, string]): History {
  const [one, other] = [at(type, id), at(otherType, otherId)];
  const rest = good.log.filter((kept) => kept !== one);
  return { ...good, log: rest.toSpliced(rest.indexOf(other), 0, one) };
}

const refusal = (before: string | RegExp, after: string): History =>
  record('acquire', 'refused', 'refused', (text) => text.replace(before, after));

function twice(op: CallRecord['op'], outcome: string, id: string): History {
  return { ...good, records: [...good.records, good.records[place(op, outcome, id)]!] };
}

function item(id: string, change: Partial<History['table']['items'][number]> | 'drop' | 'twice'): History {
  const items = good.table.items.flatMap((one) => {
    if (one.id !== long(id)) return [one];
    return change === 'drop' ? [] : change === 'twice' ? [one, one] : [{ ...one, ...change }];
  });
  return { ...good, table: { ...good.table, items } };
}

const at = (type: string, id: string): LogRow =>
  good.log.find((one) => one.type === `lease.${type}` && one.leaseId === long(id))!;
const shared = (limit: number) => ({ parts: [{ name: 'pool', scope: 'node', mode: 'shared', limit }] });

describe.each<[string, (history: History) => string[], [string, () => History][]]>([
  [
    'S1: exclusion',
    checkExclusion,
    [
      ['a release that was not', () => row('released', 'first', 'drop')],
      [
        'an expiry that comes later',
        () => row('expired', 'second', { data: { expiresAt: at('acquired', 'third').at + 1 } }),
      ],
      ['a grant that comes too early', () => row('acquired', 'third', { at: at('acquired', 'second').at + 1 })],
      ['one more than the limit', () => row('acquired', 'pool-2', { data: shared(1) })],
      ['an upgrade beside another holder', () => row('released', 'pool-3', 'drop')],
      ['a lease below a subtree', () => row('released', 'below', 'drop')],
      ['a lease on the same name', () => row('acquired', 'past', { resource: 'p' })],
      ['a set that was granted in part', () => row('acquired', 'below', { resource: 'tree' })],
      ['a third holder beside two', () => row('released', 'pool-2', 'drop')],
    ],
  ],
  [
    'S2: epochs',
    checkEpochs,
    [
      ['an epoch drawn twice', () => row('acquired', 'second', { epoch: at('acquired', 'first').epoch })],
      ['an epoch that goes back', () => row('delegated', 'pool-1', { epoch: 7 })],
      ['a revocation that draws none of its own', () => row('revoked', 'tree', { data: { revocationEpoch: 7 } })],
      ['a row with another epoch', () => row('released', 'third', { epoch: at('acquired', 'first').epoch })],
      [
        'an answer with another epoch',
        () => record('acquire', 'granted', 'third', (text) => text.replace(/"epoch":\d+/, '"epoch":7')),
      ],
      [
        'an answer with another owner',
        () => record('acquire', 'granted', 'first', (text) => text.replaceAll('ann', 'bob')),
      ],
      [
        'a revocation the log does not have',
        () => record('revoke', 'ended', 'tree', (text) => text.replace(/"epoch":\d+,"more"/, '"epoch":7,"more"')),
      ],
      [
        'a grant that overtook an earlier answer',
        () =>
          record('acquire', 'granted', 'first', (text) =>
            text.replace(/"sent":\d+,"received":\d+/, '"sent":9999998,"received":9999999'),
          ),
      ],
    ],
  ],
  [
    'Q1: queue order',
    checkQueue,
    [
      ['a ticket with a higher priority', () => row('queued', 'third', { data: { priority: 1 } })],
      ['a ticket that lived longer', () => row('failed', 'dead', { data: { waitedMs: 20_000 } })],
      ['a ticket of another priority than asked for', () => row('queued', 'waits', { data: { priority: -1 } })],
      ['a ticket that came later', () => row('queued', 'second', { at: at('queued', 'third').at + 1 })],
      [
        'a request that held nothing',
        () => record('acquire', 'granted', 'past', (text) => text.replace(/"holding":\[[^\]]*\]/, '"holding":[]')),
      ],
      ['a ticket for another name', () => row('queued', 'waits', { data: { parts: normaliseParts('q') } })],
      ['room that a ticket ahead would fill', () => row('acquired', 'pool-3', { leaseId: long('below') })],
    ],
  ],
  [
    'each grant ends once',
    checkEnds,
    [
      ['a release said twice', () => row('released', 'first', 'twice')],
      ['a grant said twice', () => row('acquired', 'fourth', 'twice')],
      ['a ticket queued twice', () => row('queued', 'dead', 'twice')],
      [
        'an expiry before its time',
        () => row('expired', 'second', { data: { expiresAt: at('expired', 'second').at + 1 } }),
      ],
      ['an end without a beginning', () => row('acquired', 'below', 'drop')],
      ['a change after the end', () => row('delegated', 'pool-1', { leaseId: long('pool-2') })],
      ['an upgrade that spends a ticket again', () => row('upgraded', 'pool-1', 'twice')],
      ['a lease that is nowhere', () => item('fourth', 'drop')],
      ['an expiry that was not written down', () => row('expired', 'second', 'drop')],
      ['a death that was not written down', () => row('failed', 'dead', 'drop')],
      ['an end that is not in the log', () => row('released', 'first', 'drop')],
      ['a release answered and not logged', () => row('released', 'third', { leaseId: long('nobody') })],
      ['a revocation answered and not logged', () => row('revoked', 'tree', { type: 'lease.released' })],
      ['a grant answered twice as new', () => twice('acquire', 'granted', 'first')],
      ['a release answered twice as new', () => twice('end', 'released', 'first')],
    ],
  ],
  [
    'the log replays to the table',
    checkTable,
    [
      ['a lease that is missing', () => item('pool-1', 'drop')],
      ['a ticket that is missing', () => item('waits', 'drop')],
      ['a lease that is there twice', () => item('held', 'twice')],
      ['another owner', () => item('pool-1', { owner: 'ann' })],
      ['another epoch', () => item('fourth', { epoch: 7 })],
      ['other parts', () => item('pool-1', { parts: normaliseParts('pool') })],
      ['another status', () => item('waits', { status: 'active' })],
      ['a lease nobody was granted', () => item('past', { id: long('nobody') })],
      ['a row less', () => row('delegated', 'pool-1', 'drop')],
    ],
  ],
  [
    'the order that clients saw',
    checkOrder,
    [
      ['a grant before what was answered first', () => earlier(['acquired', 'fourth'], ['released', 'third'])],
      ['a release before what was answered first', () => earlier(['released', 'pool-3'], ['acquired', 'pool-3'])],
      ['a change before what was answered first', () => earlier(['delegated', 'pool-1'], ['released', 'pool-3'])],
      ['an upgrade before what was answered first', () => earlier(['upgraded', 'pool-1'], ['queued', 'pool-3'])],
      ['a refusal by a lease that was not there', () => row('acquired', 'fourth', { resource: 'elsewhere' })],
      ['a refusal of what is free', () => refusal('"name":"orders"', '"name":"free"')],
      ['a refusal before anybody held it', () => refusal(/"sent":\d+,"received":\d+/, '"sent":1,"received":1')],
    ],
  ],
])('%s', (_rule, check, changes) => {
  test.each(changes)('is broken by %s', (_what, change) => {
    expect(check(good)).toEqual([]);
    expect(check(change())).not.toEqual([]);
  });
});
