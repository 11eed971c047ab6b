// Each kind of line a recorded history can hold, changed in one place so that a rule is broken: the checkers name the rule.
// The histories are lines of text, as they are kept; the table below has a line for every kind there is.
import { describe, expect, test } from 'vitest';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { historyLines, readHistoryLines, type HistoryLine } from '../../src/testing/store-conformance/history-file.js';
import { goodHistory, long } from '../support/scripted-history.js';

const lines = historyLines(await goodHistory(), { store: 'memory', seed: 1, commit: 'abc1234' });

function kindOf(line: HistoryLine): string | undefined {
  if (line.line === 'row') return line.row.type;
  if (line.line === 'item') return `table: ${line.item.status}`;
  if (line.line !== 'record') return undefined;
  const { op, answer } = line.record;
  const [result] = (answer as { results?: { outcome: string }[] }).results ?? [];
  return result ? `${op}: ${result.outcome}` : op;
}

/** The text of the history with the one line of this kind and id edited, or taken out. */
function changed(kind: string, id: string, edit: ((text: string) => string) | 'drop'): string {
  const at = lines.findIndex((text) => {
    const line = JSON.parse(text) as HistoryLine;
    return kindOf(line) === kind && (id === '' || text.includes(long(id)));
  });
  expect(at, `there is no ${kind} of ${id}`).toBeGreaterThan(0);
  const line = lines[at] ?? '';
  const edited = edit === 'drop' ? [] : [edit(line)];
  expect(edited).not.toEqual([line]);
  const text = [...lines.slice(0, at), ...edited, ...lines.slice(at + 1)].join('\n');
  return edit === 'drop' ? recounted(text) : text;
}

/** As if the line had never been recorded: the last line counts what is there. */
function recounted(text: string): string {
  const all = text.split('\n');
  const count = (what: string): number => all.filter((line) => line.startsWith(`{"line":"${what}"`)).length;
  const last = JSON.parse(all.at(-1) ?? '') as object;
  const counts = { rows: count('row'), records: count('record'), items: count('item') };
  return [...all.slice(0, -1), JSON.stringify({ ...last, ...counts })].join('\n');
}

const set =
  (key: string, value: number | string) =>
  (text: string): string =>
    text.replace(new RegExp(`"${key}":("[^"]*"|[\\d.]+)`), () => `"${key}":${JSON.stringify(value)}`);

const TABLE: readonly [
  kind: string,
  id: string,
  what: string,
  rule: RegExp,
  edit: ((text: string) => string) | 'drop',
][] = [
  ['lease.acquired', 'second', 'an epoch drawn before', /^S2: /, set('epoch', 7)],
  ['lease.acquired', 'third', 'another resource', /^S10: /, set('resource', 'elsewhere')],
  ['lease.queued', 'second', 'no such row', /^ends: the ticket second/, 'drop'],
  ['lease.queued', 'third', 'a priority nobody asked for', /^Q1: /, set('priority', 1)],
  ['lease.renewed', 'third', 'an end that was later before', /^S4: .* and was until/, set('expiresAt', 5)],
  ['lease.released', 'first', 'no such row', /^S1: .* conflicts with first/, 'drop'],
  ['lease.expired', 'second', 'an end still to come', /^ends: .* before its time/, set('expiresAt', 9e15)],
  ['lease.expired', 'second', 'no such row', /^ends: second_* ran out at \d+, but no sweep wrote it down/, 'drop'],
  ['lease.failed', 'dead', 'a longer life', /^Q1: /, set('waitedMs', 20_000)],
  ['lease.revoked', 'tree', 'an epoch drawn before', /^S2: .* drew epoch 7/, set('revocationEpoch', 7)],
  ['lease.delegated', 'pool-1', 'another owner', /^S2: .* belongs to eve/, set('owner', 'ann')],
  ['lease.upgraded', 'pool-1', 'no such row', /^S2: .* which the log never gave it/, 'drop'],
  ['lease.downgraded', 'pool-1', 'no such row', /^ends: the downgrade of pool-1/, 'drop'],
  ['deadlock.detected', 'to-left', 'no such row', /^ends: the deadlock of to-left/, 'drop'],
  ['acquire: granted', 'first', 'another epoch', /^S2: .* which the log never gave it/, set('epoch', 7)],
  [
    'acquire: queued',
    'second',
    'another id',
    /^ends: the ticket nobody/,
    (text) => text.replaceAll(long('second'), long('nobody')),
  ],
  ['acquire: refused', 'refused', 'a name nobody held', /^S1: .* nothing was in the way/, set('name', 'free')],
  ['renew: renewed', 'third', 'less than there is', /^S4: .* ms left/, set('remainingMs', 1)],
  [
    'end: released',
    'first',
    'another id',
    /^ends: the release of nobody/,
    (text) => text.replaceAll(long('first'), long('nobody')),
  ],
  [
    'change: changed',
    'pool-1',
    'another epoch',
    /^S2: .* which the log never gave it/,
    (text) => text.replace(/("lease":.*?"epoch":)\d+/, (_all, before: string) => `${before}7`),
  ],
  [
    'revoke',
    'tree',
    'another epoch',
    /^S2: .* not in the log/,
    (text) => text.replace(/"epoch":\d+,"more"/, '"epoch":7,"more"'),
  ],
  [
    'failTicket',
    'to-left',
    'another id',
    /^ends: the deadlock of nobody/,
    (text) => text.replaceAll(long('to-left'), long('nobody')),
  ],
  ['sweep', '', 'more than there was', /^ends: .* a sweep at \d+ ended 3 leases/, set('leases', 3)],
  ['table: active', 'fourth', 'another epoch', /^table: .* the log makes it/, set('epoch', 7)],
  ['table: pending', 'waits', 'no such line', /^table: waits_* is missing/, 'drop'],
];

test('the history as it was recorded is accepted', () => {
  const { about, history } = readHistoryLines(lines.join('\n'));
  expect(about).toEqual({ store: 'memory', seed: 1, commit: 'abc1234' });
  expect(checkHistory(history)).toEqual([]);
});

test('every kind of line it holds is changed below', () => {
  const kinds = new Set(lines.flatMap((text) => kindOf(JSON.parse(text) as HistoryLine) ?? []));
  expect([...new Set(TABLE.map(([kind]) => kind))].sort()).toEqual([...kinds].sort());
});

describe('one line changed', () => {
  test.each(TABLE)('%s of %s with %s is a complaint', (kind, id, _what, rule, edit) => {
    const complaints = checkHistory(readHistoryLines(changed(kind, id, edit)).history);
    expect(
      complaints.filter((one) => rule.test(one)),
      complaints.join('\n'),
    ).not.toEqual([]);
  });
});
