// The one rule of the queue. On random small worlds the verdict is compared with the rule written out a second time,
// name by name and row by row, sharing nothing with the code but the types.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anyPart,
  exclusive,
  leaseRow,
  partsFrom,
  plainPart,
  shared,
  ticketRow,
} from '../../test/support/domain-values.js';
import { decide, mayWaitFor, refusalFor, rivalUpgrade, type Claim } from './decide.js';
import type { LeaseRow } from './lease.js';
import type { Part } from './part.js';
import { LAST } from './queue-order.js';

const NOW = 100;

const claimFor = (changes: Partial<Claim> = {}): Claim => ({
  id: 'request-0123456789',
  owner: 'me',
  parts: [exclusive('a')],
  place: LAST,
  heldRows: [],
  ...changes,
});

// The rule, once more.

const within = (upper: Part, name: string): boolean =>
  upper.name === name || (upper.scope === 'subtree' && name.startsWith(`${upper.name}/`));
const clash = (a: Part, b: Part): boolean =>
  !(a.mode === 'shared' && b.mode === 'shared') && (within(a, b.name) || within(b, a.name));

function isPassedOver(ticket: LeaseRow, claim: Claim): boolean {
  return claim.heldRows
    .filter((held) => held.status === 'active' && held.expiresAt > NOW && held.id !== ticket.upgrades)
    .some((held) =>
      ticket.parts.some((wanted) =>
        held.parts.some(
          (had) => clash(wanted, had) || (wanted.name === had.name && [wanted.limit, had.limit].some((n) => n)),
        ),
      ),
    );
}

function stands(row: LeaseRow, claim: Claim): Part[][] {
  const standing: Part[][] = [];
  const gone = row.expiresAt <= NOW;
  const ahead = [row.rank - claim.place.rank, row.arrival - claim.place.arrival].find((gap) => gap !== 0) ?? 0;
  if (row.status === 'active' && (!gone || row.expiresAt + row.lockDelayMs > NOW)) standing.push([...row.parts]);
  if (row.status === 'pending' && !gone && ahead < 0 && !isPassedOver(row, claim)) standing.push([...row.parts]);
  if (!['active', 'pending'].includes(row.status) && row.blockedUntil > NOW) standing.push([...row.parts]);
  if (row.keepOutUntil > NOW && row.owner === claim.owner) {
    standing.push(row.parts.map(({ name, scope }) => exclusive(name, scope)));
  }
  return standing;
}

function isGranted(claim: Claim, world: readonly LeaseRow[]): boolean {
  const counted = world.filter((row) => row.id !== claim.id && row.id !== claim.replaces);
  const standing = counted.flatMap((row) => stands(row, claim));
  return claim.parts.every((mine) => {
    const others = standing.flat();
    if (others.some((other) => clash(mine, other))) return false;
    const together = [mine, ...others].filter((part) => part.name === mine.name && part.mode === 'shared');
    return together.every((part) => together.length <= (part.limit ?? Infinity));
  });
}

function worldOf(part: fc.Arbitrary<Part>): fc.Arbitrary<{ world: LeaseRow[]; claim: Claim }> {
  const near = fc.integer({ min: NOW - 2, max: NOW + 2 });
  const row = fc.record({
    status: fc.constantFrom('pending', 'pending', 'active', 'active', 'released', 'expired', 'revoked', 'failed'),
    owner: fc.constantFrom('me', 'you'),
    parts: partsFrom(part),
    expiresAt: near,
    lockDelayMs: fc.constantFrom(0, 2),
    blockedUntil: fc.oneof(fc.constant(0), near),
    keepOutUntil: fc.oneof(fc.constant(0), fc.constant(0), near),
    rank: fc.nat(3),
    upgrades: fc.option(fc.nat(5), { nil: undefined }),
  });
  const asked = fc.record({
    parts: partsFrom(part),
    rank: fc.option(fc.nat(3)),
    held: fc.subarray([0, 1, 2, 3, 4, 5], { maxLength: 2 }),
    replaces: fc.option(fc.nat(5), { nil: undefined }),
    own: fc.option(fc.nat(5), { nil: undefined }),
  });
  return fc.tuple(fc.array(row, { maxLength: 6 }), asked).map(([rows, { parts, rank, held, replaces, own }]) => {
    const name = (index: number | undefined): string | undefined => (index === undefined ? undefined : `row-${index}`);
    const world = rows.map((one, i) =>
      leaseRow({ ...one, id: `row-${i}`, epoch: i + 1, arrival: i, upgrades: name(one.upgrades) }),
    );
    const claim = claimFor({
      id: name(own) ?? 'new',
      parts,
      place: rank === null ? LAST : { rank, arrival: own ?? 3.5 },
      heldRows: held.flatMap((i) => world[i] ?? []),
      replaces: name(replaces),
    });
    return { world, claim };
  });
}

describe('Q1: granted if and only if no lease, no block and no ticket ahead conflicts', () => {
  test.each([
    ['parts without limits', plainPart],
    ['parts with limits', anyPart],
  ])('Q1: as the rule says, on random worlds of %s', (_what, part) => {
    fc.assert(
      fc.property(worldOf(part), ({ world, claim }) => {
        expect(decide(claim, world, NOW).free).toBe(isGranted(claim, world));
      }),
      { numRuns: 4_000 },
    );
  });

  test('Q1: each thing named as in the way is: without all of them the request is free', () => {
    fc.assert(
      fc.property(worldOf(anyPart), ({ world, claim }) => {
        const verdict = decide(claim, world, NOW);
        const blocked = new Set(verdict.blocks.map((block) => block.until));
        const named = new Set([...verdict.leases, ...verdict.tickets]);
        const rest = world.filter(
          (row) =>
            !named.has(row) &&
            !(
              blocked.has(row.blockedUntil) ||
              blocked.has(row.keepOutUntil) ||
              blocked.has(row.expiresAt + row.lockDelayMs)
            ),
        );
        expect(decide(claim, rest, NOW).free).toBe(true);
        if (verdict.free) expect([verdict.leases, verdict.blocks, verdict.tickets].flat()).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('Q1: rows that have nothing to do with it, and their order, change nothing', () => {
    const far = [
      leaseRow({ id: 'far', parts: [exclusive('z', 'subtree')] }),
      ticketRow({ id: 'further', parts: [exclusive('y')] }),
    ];
    fc.assert(
      fc.property(worldOf(anyPart), ({ world, claim }) => {
        expect(decide(claim, [...far, ...world.toReversed()], NOW).free).toBe(decide(claim, world, NOW).free);
      }),
    );
  });

  test('Q1: a ticket ahead counts as if granted, one behind does not', () => {
    const ticket = ticketRow({ parts: [exclusive('a')], rank: 5, arrival: 1 });
    expect(decide(claimFor(), [ticket], NOW).tickets).toEqual([ticket]);
    expect(decide(claimFor({ place: { rank: 5, arrival: 2 } }), [ticket], NOW).free).toBe(false);
    expect(decide(claimFor({ place: { rank: 5, arrival: 0 } }), [ticket], NOW).free).toBe(true);
    expect(decide(claimFor({ place: { rank: 4, arrival: 9 } }), [ticket], NOW).free).toBe(true);
  });

  test('Q1: tickets in the way are named in the order of the queue, whatever order they come in', () => {
    const tickets = [
      { rank: 4, arrival: 9 },
      { rank: 5, arrival: 1 },
      { rank: 5, arrival: 2 },
    ].map((place, i) => ticketRow({ id: `ticket-${i}`, parts: [exclusive('a')], ...place }));
    const [first, second, third] = tickets as [LeaseRow, LeaseRow, LeaseRow];
    for (const rows of [tickets, tickets.toReversed(), [second, third, first]]) {
      expect(decide(claimFor(), rows, NOW).tickets).toEqual(tickets);
    }
  });

  test('Q1: a ticket ahead that waits for what the request holds is passed over, while that is live', () => {
    const held = leaseRow({ parts: [exclusive('b')], expiresAt: NOW + 1 });
    const ticket = ticketRow({ parts: [exclusive('a'), exclusive('b')] });
    expect(decide(claimFor({ heldRows: [held] }), [ticket], NOW).free).toBe(true);
    expect(decide(claimFor(), [ticket], NOW).free).toBe(false);
    expect(decide(claimFor({ heldRows: [{ ...held, expiresAt: NOW }] }), [ticket], NOW).free).toBe(false);
    expect(decide(claimFor({ heldRows: [held] }), [{ ...ticket, upgrades: held.id }], NOW).free).toBe(false);
  });

  test('a ticket may wait for a lease it conflicts with, or meets on a limited name', () => {
    const meet = (a: Part, b: Part): boolean => mayWaitFor({ parts: [a] }, { parts: [b] });
    expect(meet(exclusive('a'), shared('a'))).toBe(true);
    expect(meet(shared('a'), shared('a'))).toBe(false);
    expect(meet(shared('a', 3), shared('a'))).toBe(true);
    expect(meet(shared('a'), shared('a', 3))).toBe(true);
    expect(meet(shared('a', 3), shared('a/b'))).toBe(false);
  });

  test('Q1, Q5: the lease it upgrades or reclaims does not count', () => {
    const lease = leaseRow({ parts: [exclusive('a')] });
    expect(decide(claimFor(), [lease], NOW).free).toBe(false);
    expect(decide(claimFor({ replaces: lease.id }), [lease], NOW).free).toBe(true);
  });
});

describe('the facts of a refusal', () => {
  const refusal = (rows: LeaseRow[], changes: Partial<Claim> = {}) =>
    refusalFor(decide(claimFor(changes), rows, NOW), NOW);
  const held = leaseRow({ parts: [exclusive('a')], expiresAt: NOW + 30 });
  const reader = leaseRow({ parts: [shared('a', 1)], expiresAt: NOW + 40 });
  const minHold = leaseRow({ id: 'released', status: 'released', parts: [exclusive('a')], blockedUntil: NOW + 50 });
  const lockDelay = leaseRow({ id: 'expired', status: 'expired', parts: [exclusive('a')], blockedUntil: NOW + 60 });
  const ticket = ticketRow({ parts: [exclusive('a')], expiresAt: NOW + 20 });

  test.each<[string, LeaseRow[], Partial<Claim>]>([
    ['held', [held, minHold, ticket], {}],
    ['limit', [reader, ticket], { parts: [shared('a')] }],
    ['held', [reader], {}],
    ['min_hold', [minHold, ticket], {}],
    ['lock_delay', [lockDelay, ticket], {}],
    ['min_hold', [lockDelay, minHold], {}],
    ['min_hold', [minHold, lockDelay, ticket], {}],
    ['queue', [ticket], {}],
    ['held_by_self', [held, minHold], { heldRows: [held] }],
  ])('%s', (reason, rows, changes) => {
    expect(refusal(rows, changes).reason).toBe(reason);
  });

  test('Q3: retryAfterMs is the time to the earliest end of anything in the way, at least 1', () => {
    expect(refusal([held]).retryAfterMs).toBe(30);
    expect(refusal([held, minHold, lockDelay]).retryAfterMs).toBe(30);
    expect(refusal([minHold, lockDelay]).retryAfterMs).toBe(50);
    expect(refusal([held, ticket]).retryAfterMs).toBe(20);
    expect(refusal([{ ...held, expiresAt: NOW + 0.5 }]).retryAfterMs).toBe(1);
  });

  test('up to 20 holders, oldest epoch first, with the count of all', () => {
    const readers = Array.from({ length: 25 }, (_, i) =>
      leaseRow({ id: `reader-${i}`, parts: [shared('a')], epoch: 100 - i }),
    );
    const { holders, holderCount, queueLength } = refusal([...readers, ticket, { ...ticket, id: 'another' }]);
    expect(holders.map((lease) => lease.epoch)).toEqual(Array.from({ length: 20 }, (_, i) => 76 + i));
    expect(holderCount).toBe(25);
    expect(queueLength).toBe(2);
  });
});

describe('Q4: a second upgrade of one resource', () => {
  const mine = leaseRow({ id: 'mine', owner: 'me', parts: [shared('a')] });
  const theirs = leaseRow({ id: 'theirs', owner: 'you', parts: [shared('a')] });
  const rival = ticketRow({ id: 'rival', owner: 'you', parts: [exclusive('a')], upgrades: 'theirs' });
  const claim = claimFor({ heldRows: [mine], replaces: 'mine' });
  const find = (rows: LeaseRow[], one = claim) => rivalUpgrade(one, decide(one, rows, NOW), rows, NOW);

  test('Q4: is told the cycle it would make', () => {
    expect(find([mine, theirs, rival])).toEqual([
      { ticketId: claim.id, owner: 'me', resource: 'a', heldBy: 'you' },
      { ticketId: 'rival', owner: 'you', resource: 'a', heldBy: 'me' },
    ]);
  });

  test('Q4: a first one is not, nor one beside a dead rival, nor a request that upgrades nothing', () => {
    expect(find([mine, theirs])).toBeUndefined();
    expect(find([mine, theirs, { ...rival, expiresAt: NOW }])).toBeUndefined();
    expect(find([mine, theirs, { ...rival, upgrades: undefined }])).toBeUndefined();
    expect(find([mine, theirs, rival], claimFor())).toBeUndefined();
    expect(find([mine, theirs, { ...rival, parts: [exclusive('b')] }])).toBeUndefined();
  });
});
