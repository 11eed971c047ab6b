// The linearizability check: it accepts what the memory store answered, also where answers are unknown or calls overlap,
// and rejects it with any one kind of answer changed, naming the answer that fits nowhere.
import { describe, expect, test } from 'vitest';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { asExclusive, normaliseParts } from '../../src/domain/part.js';
import { checkLinearizable, linearComplaints } from '../../src/testing/store-conformance/history-linear.js';
import { readRecords, type CallRecord } from '../../src/testing/store-conformance/history-records.js';
import { long, Script } from '../support/scripted-history.js';

const LIMITED = { name: 'pool', mode: 'shared', limit: 2 } as const;

/** Every kind of answer, one call after the other. */
async function goodRecords(): Promise<readonly string[]> {
  const all = new Script();
  const { client } = all;
  const end = (id: string, epoch: number | undefined, requestId: string): Promise<void> =>
    client.end([{ id: long(id), epoch, requestId, why: epoch === undefined ? 'cancelled' : 'released' }]);
  const renew = (id: string, epoch: number, requestId: string): Promise<void> =>
    client.renew([{ id: long(id), epoch, requestId, callerWall: 0 }]);
  await all.acquire('first', 'ann', 'orders');
  const first = all.epoch('first');
  await client.acquire([client.granted[0] as AcquireRequest]); // again
  await all.acquire('waits', 'bob', 'orders');
  await all.acquire('refused', 'cat', 'orders', { join: false });
  await renew('first', first, 'renewal-1');
  await all.release('first');
  await end('first', first, 'again');
  await renew('first', first, 'renewal-2');
  await all.acquire('behind', 'cat', 'orders', { join: false }); // the ticket is ahead
  await all.claim('waits');
  const waits = all.epoch('waits');
  await client.change([{ kind: 'delegate', id: long('waits'), epoch: waits, requestId: 'gift', toOwner: 'eve' }]);
  const heir = all.epoch('waits');
  await end('waits', waits, 'late');
  await client.change([{ kind: 'downgrade', id: long('waits'), epoch: waits, requestId: 'stale' }]);
  await end('waits', heir, 'by-the-heir');
  await all.acquire('short', 'ann', 'orders', { ttlMs: 1_000 });
  const short = all.epoch('short');
  await all.pass(1_000);
  await end('short', short, 'over');
  await all.acquire('last', 'bob', 'orders');
  const last = all.epoch('last');
  const target = { leaseId: long('last') };
  const order = { reason: 'why not', actor: 'root', upToEpoch: client.epoch, keepOutMs: 0 };
  await client.revoke({ target, ...order });
  await client.revoke({ target, ...order }); // nothing is left of it
  await end('last', last, 'too-late');
  await client.acquire([client.granted[0] as AcquireRequest]); // has ended
  await end('unborn', undefined, 'early');
  await all.acquire('pool-1', 'ann', LIMITED);
  await all.acquire('pool-2', 'bob', LIMITED);
  await all.acquire('pool-3', 'cat', LIMITED, { join: false });
  await all.acquire('pool-4', 'dan', LIMITED);
  await end('pool-4', undefined, 'leaves');
  await all.release('pool-2');
  const [id, epoch] = [long('pool-1'), all.epoch('pool-1')];
  await all.acquire('up', 'ann', asExclusive(normaliseParts(LIMITED)), { upgrades: { id, epoch }, join: false });
  await client.change([{ kind: 'downgrade', id, epoch: all.epoch('pool-1'), requestId: 'down' }]);
  return all.lines;
}

const good = await goodRecords();
/** The clock stands still during a call of the script: they are told apart by their order. */
const recordsOf = (lines: readonly string[]): CallRecord[] =>
  readRecords(lines).map((one, i): CallRecord => ({ ...one, sent: 2 * i, received: 2 * i + 1 }));
const records = recordsOf(good);

/** The same, and nobody heard the answers of these. */
const withoutAnswer = (all: readonly CallRecord[], isUnheard: (one: CallRecord, i: number) => boolean): CallRecord[] =>
  all.map((one, i) => (isUnheard(one, i) ? { ...one, received: undefined, answer: undefined, now: undefined } : one));

function kindOf({ op, answer }: CallRecord): string {
  const [result] = (answer as { results?: { outcome: string; again?: boolean }[] } | undefined)?.results ?? [];
  if (op === 'revoke' && answer) return `revoke: ${answer.ended.length}`;
  return `${op}: ${result?.outcome ?? 'nothing'}${result?.again === true ? ' again' : ''}`;
}

/** The first record of this kind that names the id, its answer edited. */
function changed(kind: string, id: string, edit: (answer: string) => string): CallRecord[] {
  const at = records.findIndex((one) => kindOf(one) === kind && JSON.stringify(one.asked).includes(long(id)));
  expect(at, `there is no ${kind} of ${id}`).toBeGreaterThanOrEqual(0);
  const record = records[at] as CallRecord;
  const answer = JSON.stringify(record.answer);
  const edited = edit(answer);
  expect(edited).not.toBe(answer);
  return records.with(at, { ...record, answer: JSON.parse(edited) as unknown } as CallRecord);
}

const set =
  (key: string, value: number | string | boolean) =>
  (text: string): string =>
    text.replace(new RegExp(`"${key}":("[^"]*"|[\\d.]+|true|false)`), () => `"${key}":${JSON.stringify(value)}`);
const result = (fields: object) => (): string => JSON.stringify({ results: [fields] });

const TABLE: readonly [kind: string, id: string, what: string, edit: (answer: string) => string][] = [
  ['acquire: granted', 'waits', 'an epoch that was drawn before', set('epoch', 7)],
  ['acquire: granted', 'first', 'a longer life than its ttl', set('expiresAt', 9e15)],
  ['acquire: granted', 'up', 'a second lease', set('again', true)],
  ['acquire: granted again', 'first', 'a grant said to be new', set('again', false)],
  ['acquire: queued', 'waits', 'a place further back', set('place', 2)],
  ['acquire: refused', 'refused', 'two holders', set('holderCount', 2)],
  ['acquire: refused', 'behind', 'a holder, not a queue', set('reason', 'held')],
  ['acquire: refused', 'pool-3', 'a conflict, not a limit', set('reason', 'held')],
  ['acquire: ended', 'first', 'an expiry', set('status', 'expired')],
  [
    'renew: renewed',
    'first',
    'an end that is not now + ttl',
    (text) => set('expiresAt', 5)(set('remainingMs', 0)(text)),
  ],
  ['renew: renewed', 'first', 'a renewal too many', set('renewals', 2)],
  [
    'renew: notHeld',
    'first',
    'a renewal after the release',
    result({ outcome: 'renewed', remainingMs: 60_000, expiresAt: 9e15, renewals: 2 }),
  ],
  ['end: released', 'first', 'a release said to be the second', set('again', true)],
  ['end: released again', 'first', 'a release said to be the first', set('again', false)],
  ['end: stale', 'waits', 'a release with an old epoch', result({ outcome: 'released', again: false, blockedMs: 0 })],
  ['end: expired', 'short', 'a release after the end', result({ outcome: 'released', again: false, blockedMs: 0 })],
  ['end: revoked', 'last', 'an expiry', result({ outcome: 'expired' })],
  ['end: noted', 'unborn', 'a release of nothing', result({ outcome: 'released', again: false, blockedMs: 0 })],
  ['end: left', 'pool-4', 'a ticket nobody had', result({ outcome: 'noted' })],
  ['change: changed', 'waits', 'an epoch that was drawn before', set('epoch', 7)],
  ['change: changed', 'pool-1', 'a downgrade said to be the second', set('again', true)],
  ['change: notHeld', 'waits', 'an unknown id', result({ outcome: 'notHeld', status: 'unknown' })],
  [
    'revoke: 1',
    'last',
    'an epoch that was drawn before',
    (text) => text.replace(/"epoch":\d+,"more"/, '"epoch":7,"more"'),
  ],
  [
    'revoke: 0',
    'last',
    'a second end of one lease',
    () => JSON.stringify({ ended: [{ id: long('last') }], epoch: 9e15, more: false }),
  ],
];

test('S1, S2, S4, S5, Q1: what the memory store answered is linearizable', () => {
  expect(checkLinearizable(records)).toMatchObject({ verdict: 'linearizable', groups: 3, open: 0 });
});

test('every kind of answer in it is changed below', () => {
  expect([...new Set(TABLE.map(([kind]) => kind))].sort()).toEqual([...new Set(records.map(kindOf))].sort());
});

describe('one answer changed', () => {
  test.each(TABLE)('%s of %s into %s fits nowhere', (kind, id, _what, edit) => {
    const found = checkLinearizable(changed(kind, id, edit));
    expect(found).toMatchObject({
      verdict: 'not linearizable',
      sentence: expect.stringContaining('no order of the first') as string,
    });
  });

  test('the shortest prefix ends with the answer that fits nowhere', () => {
    const found = checkLinearizable(
      changed('end: stale', 'waits', result({ outcome: 'released', again: false, blockedMs: 0 })),
    );
    expect(found.verdict === 'not linearizable' && found.sentence).toMatch(
      /^no order of the first \d+ answers explains the last of them:\n {2}everybody: end waits_* with epoch \d+ → released/,
    );
  });
});

describe('calls that overlap, and calls without an answer', () => {
  const grant = records.findIndex(
    (one) => kindOf(one) === 'acquire: granted' && one.op === 'acquire' && one.asked[0]?.id === long('first'),
  );
  const releaseAt = records.findIndex((one) => kindOf(one) === 'end: released');

  test('what overlapped may have happened in any order', () => {
    const wide = records.map((one, i) => (i === grant || i === releaseAt ? { ...one, sent: -1, received: 1e9 } : one));
    expect(checkLinearizable(wide).verdict).toBe('linearizable');
  });

  test('a grant nobody heard of explains a refusal; without it nothing does', () => {
    const unheard = withoutAnswer(records, (_one, i) => i === grant);
    expect(checkLinearizable(unheard)).toMatchObject({ verdict: 'linearizable', open: 1 });
    expect(checkLinearizable(records.toSpliced(grant, 1)).verdict).toBe('not linearizable');
  });

  test('a release nobody heard of may have happened, or not', () => {
    const unheard = withoutAnswer(records, (_one, i) => i === releaseAt);
    expect(checkLinearizable(unheard).verdict).toBe('linearizable');
    expect(checkLinearizable(records.toSpliced(releaseAt, 1)).verdict).toBe('not linearizable');
  });

  test('a delegation nobody heard of is looked for before later grants as well: its epoch says when it was', async () => {
    const all = new Script();
    const { client } = all;
    const [id, shared] = [long('first'), { name: 'pool', mode: 'shared' } as const];
    await all.acquire('first', 'ann', shared);
    const epoch = all.epoch('first');
    await client.change([{ kind: 'delegate', id, epoch, requestId: 'gift', toOwner: 'eve' }]);
    await all.acquire('second', 'bob', shared);
    await client.renew([{ id, epoch, requestId: 'late', callerWall: 0 }]);
    const unheard = withoutAnswer(recordsOf(all.lines), ({ op }) => op === 'change');
    expect(unheard.map(kindOf)).toEqual(['acquire: granted', 'change: nothing', 'acquire: granted', 'renew: notHeld']);
    expect(checkLinearizable(unheard)).toMatchObject({ verdict: 'linearizable', open: 1 });
  });

  test('a grant nobody heard of needs only one of those that fill a limit to be over', async () => {
    const all = new Script();
    await all.acquire('first', 'ann', LIMITED, { ttlMs: 1_000 });
    await all.acquire('second', 'bob', LIMITED);
    await all.acquire('waits', 'cat', LIMITED);
    await all.release('second');
    await all.pass(1_000); // the first has run out; the ticket in line counts as one of the two
    await all.acquire('unheard', 'dan', LIMITED);
    await all.acquire('refused', 'eve', LIMITED, { join: false });
    const unheard = withoutAnswer(
      recordsOf(all.lines),
      (one) => one.op === 'acquire' && one.asked[0]?.id === long('unheard'),
    );
    expect(unheard.map(kindOf).slice(-2)).toEqual(['acquire: nothing', 'acquire: refused']);
    expect(checkLinearizable(unheard)).toMatchObject({ verdict: 'linearizable', open: 1 });
  });

  test('a search that is cut off says so, and that is a complaint', () => {
    expect(checkLinearizable(records, 3)).toMatchObject({ verdict: 'gave up', states: 3 });
    expect(linearComplaints(records, 3)[0]).toMatch(/^linearizability: gave up after 3 states on \d+ operations/);
    expect(linearComplaints(records)).toEqual([]);
  });

  test('what the specification has no rule for is refused, not passed over', () => {
    const strange = records.map((one, i) =>
      i === grant ? { ...one, asked: [{ ...(one.asked as AcquireRequest[])[0], minHoldMs: 5 }] } : one,
    );
    expect(() => checkLinearizable(strange as CallRecord[])).toThrow(
      /^the specification has no rule for everybody, acquire: first/,
    );
  });
});
