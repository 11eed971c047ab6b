// What a random program is made of: steps that say what to do in terms of what exists by then ("renew the third lease
// that is live, with a wrong epoch"). They hold no ids, epochs or positions, so a step still means something after
// others were taken away, and fast-check can shrink a program. The first value of each choice is the plainest.
import fc from 'fast-check';

export const CLIENTS = 3;

/** A number that picks from a list of unknown length: the newest is 0. */
const pick = fc.nat({ max: 99 });
const rarely = fc.nat({ max: 9 }).map((n) => n === 9);
const name = weighted([3, 'a'], [3, 'a/b'], [3, 'd'], [1, 'a/b/c'], [1, 'ab']);
const owner = fc.constantFrom('ann', 'bob', 'cat');
const epoch = weighted([9, 'right'], [1, 'other'], [1, 'old'], [1, 'future']);

const part = fc.record({
  name,
  scope: weighted([3, 'node'], [1, 'subtree']),
  mode: weighted([1, 'exclusive'], [1, 'shared']),
  limit: weighted([2, undefined], [1, 1], [1, 2], [1, 3]),
});

const acquireItem = fc.record({
  form: weighted(
    [20, 'fresh'],
    [10, 'repeat'],
    [1, 'altered'],
    [8, 'upgrade'],
    [8, 'crossing'],
    [5, 'beside'],
    [1, 'unseen'],
  ),
  pick,
  parts: oneOrMore(part, 3),
  owner,
  join: weighted([1, false], [3, true]),
  ttlMs: weighted([10, 5_000], [20, 30_000], [3, 1_000], [3, 100], [3, 200_000], [1, 99]),
  priority: weighted([9, 0], [2, 1], [1, -1], [1, 100], [1, -100]),
  holding: weighted([4, 'nothing'], [4, 'all'], [1, 'one'], [1, 'ended']),
  reclaim: rarely,
  maxRenewals: weighted([6, -1], [1, 0], [1, 1]),
  maxHoldMs: weighted([6, undefined], [2, 6_000], [1, 100]),
  minHoldMs: weighted([9, 0], [2, 3_000], [1, 70_000]),
  lockDelayMs: weighted([9, 0], [2, 3_000], [1, 60_000]),
  ageMs: weighted([60, 0], [2, 59_999], [2, 60_000], [2, 60_001], [1, -60_000], [1, -60_001]),
  extra: weighted([4, undefined], [1, 'operation'], [1, 'metadata'], [1, 'remote']),
  handOver: weighted([1, false], [2, true]),
  mark: fc.constantFrom('m', 'Z', '_', '-', '0', 'z'),
  stale: rarely,
});

const among = weighted([5, 'live'], [1, 'waiting'], [2, 'seen'], [1, 'unseen']);
const renewItem = fc.record({
  pick,
  among,
  epoch,
  ttlMs: weighted([4, undefined], [2, 9_000], [2, 40_000], [1, 100], [1, 0]),
  again: rarely,
});
const endItem = fc.record({
  pick,
  among: weighted([4, 'live'], [2, 'waiting'], [2, 'seen'], [1, 'unseen']),
  epoch: weighted([6, 'right'], [3, 'none'], [1, 'other'], [1, 'old'], [1, 'future']),
  why: fc.constantFrom('released', 'cancelled', 'timeout'),
  again: rarely,
});
const changeItem = fc.record({
  kind: fc.constantFrom('downgrade', 'delegate', 'resume'),
  pick,
  among,
  epoch,
  toOwner: owner,
  again: rarely,
});

function batch<T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return oneOrMore(item, 4);
}

/** Values with their weights; the first is the plainest. */
function weighted<const T>(...choices: readonly (readonly [number, T])[]): fc.Arbitrary<T> {
  return fc.constantFrom(...choices.flatMap(([weight, value]) => Array.from({ length: weight }, () => value)));
}

/** One, three times out of four. */
function oneOrMore<T>(item: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(item, { minLength: 1, maxLength, size: 'max' }) },
  );
}

/** None, one, or a few that must all hold. */
function together<const T>(...filters: readonly T[]): fc.Arbitrary<T[]> {
  return fc.uniqueArray(fc.constantFrom(...filters), { maxLength: 3, size: 'max' });
}

const limit = fc.constantFrom(1_000, 1, 2, 5);
const revoke = fc.record({
  target: fc.constantFrom('resource', 'under', 'lease', 'owner'),
  pick,
  name,
  owner,
  upTo: weighted([4, 'now'], [2, 'earlier'], [1, 'nothing']),
  keepOutMs: weighted([2, 0], [1, 3_000], [1, 70_000]),
});
const events = fc.record({
  from: weighted([4, 'start'], [4, 'next'], [4, 'row'], [1, 'foreign'], [1, 'nonsense']),
  pick,
  backward: fc.boolean(),
  limit: weighted([6, 1_000], [2, 1], [3, 3], [3, 7], [1, 0]),
  filters: together('resource', 'prefix', 'lease', 'owner', 'type', 'since', 'until'),
  name,
  under: name,
  owner,
});
const list = fc.record({
  filters: together('prefix', 'resource', 'owner', 'active', 'pending', 'older'),
  name,
  under: name,
  owner,
  limit: fc.constantFrom(1_000, 1, 2, 3),
});
const settings = fc.constantFrom<Readonly<Record<string, unknown>>[]>(
  { history_renewals: true },
  { history_renewals: true },
  { history_renewals: true },
  { history_renewals: false },
  { keep_history: true },
  { keep_history: false },
  { history_renewals: true, max_renewals: 5 },
  { keep_history: 'no' },
  { no_such_setting: 1 },
  { min_ttl_seconds: 901 },
  {},
);
const prune = fc.record({
  olderThanMs: weighted([2, 200_000], [2, 120_000], [2, 60_000], [1, 3_000], [1, 0]),
  limit,
  upTo: weighted([4, 'no'], [1, 'row'], [1, 'next'], [1, 'foreign']),
  pick,
});
const pass = fc.record({
  how: weighted(
    [2, '0'],
    [4, 'little'],
    [6, 'to an end'],
    [6, '3s'],
    [2, 'ticket'],
    [1, 'id'],
    [1, 'keep'],
    [1, 'wall'],
  ),
  pick,
  off: fc.constantFrom(0, -1, 1),
});

function steps<K extends string, T>(op: K, weight: number, what: fc.Arbitrary<T>) {
  const arbitrary = fc.record({ op: fc.constant(op), client: fc.nat({ max: CLIENTS - 1 }), what });
  return { weight, arbitrary };
}

const nothing = { weight: 1, arbitrary: fc.constant({ op: 'nothing' as const }) };

const step = fc.oneof(
  { withCrossShrink: true },
  nothing,
  steps('acquire', 340, batch(acquireItem)),
  steps('renew', 80, batch(renewItem)),
  steps('end', 90, batch(endItem)),
  steps('change', 60, batch(changeItem)),
  steps('revoke', 30, revoke),
  steps('failTicket', 40, fc.record({ source: fc.constantFrom('found', 'found', 'made up'), pick, other: pick })),
  steps('sweep', 30, fc.record({ limit })),
  steps('events', 50, events),
  steps('prune', 20, prune),
  steps('setSettings', 20, settings),
  steps('settings', 5, fc.constant(null)),
  steps('get', 20, fc.record({ picks: fc.array(pick, { maxLength: 4 }) })),
  steps('list', 30, list),
  steps(
    'show',
    20,
    fc.record({ name: fc.constantFrom('a', 'a/b', 'a/b/c', 'a/x', '/bad'), limit: fc.constantFrom(20, 20, 20, 1, 0) }),
  ),
  steps('waitGraph', 20, fc.constant(null)),
  steps('time', 10, fc.constant(null)),
  steps('pass', 110, pass),
);

/** A program of so many steps. A tuple, so that each step can be shrunk away to `nothing` on its own. */
export function program(length: number): fc.Arbitrary<Step[]> {
  return fc.tuple(...Array.from({ length }, () => step));
}

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Step = ValueOf<typeof step>;
export type AcquireItem = ValueOf<typeof acquireItem>;
export type PassItem = ValueOf<typeof pass>;
export type StepOf<K extends Step['op']> = Extract<Step, { op: K }>;
