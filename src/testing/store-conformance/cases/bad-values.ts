// S18, S21: numbers, durations and metadata a request may not have, at the bound, above it and far above it, in every
// kind of request.
import assert from 'node:assert/strict';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectError, expectRejection, type CaseContext } from '../context.js';

const DAY_MS = 86_400_000;
const NO_DURATIONS = [NaN, Infinity, -Infinity, -1, 1.5, 2 ** 53, 1e300];

type NumberField = 'ttlMs' | 'maxHoldMs' | 'minHoldMs' | 'lockDelayMs' | 'priority' | 'maxRenewals' | 'bornAt';
/** For each number: what is just allowed, and what is not. */
const numbers: Readonly<Record<NumberField, { good: readonly number[]; bad: readonly number[] }>> = {
  ttlMs: { good: [100, 30 * DAY_MS], bad: [...NO_DURATIONS, 0, 99, 30 * DAY_MS + 1] },
  maxHoldMs: { good: [100, 365 * DAY_MS], bad: [...NO_DURATIONS, 0, 99, 365 * DAY_MS + 1] },
  minHoldMs: { good: [0, DAY_MS], bad: [...NO_DURATIONS, DAY_MS + 1] },
  lockDelayMs: { good: [0, 60_000], bad: [...NO_DURATIONS, 60_001] },
  priority: { good: [-100, 100], bad: [NaN, Infinity, -101, 101, 0.5, 1e300] },
  maxRenewals: { good: [-1, 0, Number.MAX_SAFE_INTEGER], bad: [NaN, Infinity, -2, 0.5, 2 ** 53] },
  bornAt: { good: [], bad: NO_DURATIONS },
};

function cyclic(): unknown {
  const value: Record<string, unknown> = { a: 1 };
  value['self'] = [value];
  return value;
}
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}
const badMetadata: Readonly<Record<string, () => unknown>> = {
  'more than 4 KiB of JSON': () => 'x'.repeat(4_095),
  'a megabyte': () => ({ text: 'x'.repeat(1_000_000) }),
  'a cycle': cyclic,
  'the key __proto__': () => JSON.parse('{"a": {"__proto__": {"admin": true}}}') as unknown,
  'a function': () => () => 1,
  'a bigint': () => 1n,
  'a Date': () => new Date(0),
  'a Map': () => new Map(),
  NaN: () => ({ a: NaN }),
  'a lone surrogate': () => ['\ud800'],
  'undefined inside': () => [undefined],
  '1,000 levels': () => nested(1_000),
};
const goodMetadata: readonly unknown[] = [
  null,
  0,
  '',
  false,
  [],
  {},
  'x'.repeat(4_094),
  { text: 'ünï 😀 "quoted" \\ \u2028', list: [1, -0.5, 1e21, null, true], deep: { er: [{}] } },
  { constructor: 1, toString: 'x', hasOwnProperty: [] },
  { big: Number.MAX_SAFE_INTEGER, small: Number.MIN_SAFE_INTEGER, tiny: 5e-324 },
];

async function expectFailed(
  call: Promise<{ readonly results: readonly { readonly outcome: string }[] }>,
  what: unknown,
): Promise<void> {
  const { results } = await call;
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['failed'],
    `with ${JSON.stringify(what)}`,
  );
  expectError((results[0] as unknown as { error: unknown }).error, 'INVALID_ARGUMENT');
}

/** Bad renewals, ends and changes of a live lease: each fails, none touches it. */
async function badFollowUps({ grant, record, newId, wall, store }: CaseContext): Promise<void> {
  const lease = await grant('a');
  const good = { id: lease.id, epoch: lease.epoch, requestId: newId() };
  const wrong: object[] = [
    ...[0, -1, 0.5, NaN, Infinity, 2 ** 53].map((epoch) => ({ epoch })),
    ...['', 'short', 'x'.repeat(65), 'has a space in it', null].map((id) => ({ id })),
    ...['', 'x'.repeat(65), null].map((requestId) => ({ requestId })),
  ];
  for (const bad of wrong) {
    await expectFailed(store.renew([{ ...good, callerWall: wall(), ...bad }]), bad);
    await expectFailed(store.end([{ ...good, why: 'released', ...bad }]), bad);
    await expectFailed(store.change([{ ...good, kind: 'downgrade', ...bad }]), bad);
    await expectFailed(store.change([{ ...good, kind: 'delegate', toOwner: 'heir', ...bad }]), bad);
  }
  for (const ttlMs of numbers.ttlMs.bad) {
    await expectFailed(store.renew([{ ...good, ttlMs, callerWall: wall() }]), ttlMs);
  }
  await expectFailed(store.renew([{ ...good, callerWall: NaN }]), 'callerWall');
  assert.deepEqual(await record(lease.id), lease);
}

/** What is worked out from it must not fail for the whole list: renewals of everybody travel together. */
async function wildCallerWalls({ ask, grant, newId, wall, store }: CaseContext): Promise<void> {
  const outcomes = async (call: Promise<{ results: readonly { outcome: string }[] }>): Promise<string[]> =>
    (await call).results.map(({ outcome }) => outcome);
  const held = async (): Promise<{ id: string; epoch: number; requestId: string }> => {
    const { id, epoch } = await grant({ name: `held/${newId()}` });
    return { id, epoch, requestId: newId() };
  };
  for (const [i, callerWall] of [1e300, -1e300, 1e19, -1e19, 8.64e15 + 1].entries()) {
    const asked = [await ask(`a/${i}`), { ...(await ask(`b/${i}`)), callerWall }, await ask(`c/${i}`)];
    assert.deepEqual(await outcomes(store.acquire(asked)), ['granted', 'failed', 'granted']);
    const renewals = [
      { ...(await held()), callerWall },
      { ...(await held()), callerWall: wall() },
    ];
    assert.deepEqual(await outcomes(store.renew(renewals)), ['failed', 'renewed']);
    const resumed = { kind: 'resume', toOwner: 'heir' } as const;
    const changes = [
      { ...(await held()), ...resumed, callerWall },
      { ...(await held()), ...resumed, callerWall: wall() },
    ];
    assert.deepEqual(await outcomes(store.change(changes)), ['failed', 'changed']);
    await expectFailed(store.acquire([{ ...(await ask('d')), callerWall }]), callerWall);
    await expectFailed(store.renew([{ ...(await held()), callerWall }]), callerWall);
    await expectFailed(store.change([{ ...(await held()), ...resumed, callerWall }]), callerWall);
  }
  for (const callerWall of [8.64e15, -8.64e15, 0.5]) {
    await grant({ name: `far/${callerWall}`, callerWall });
    assert.deepEqual(await outcomes(store.renew([{ ...(await held()), callerWall }])), ['renewed']);
  }
}

/** They are compared as they are, whatever a store keeps its moments in. */
async function unevenMoments({ grant, events, passTime, store }: CaseContext): Promise<void> {
  await grant('a');
  const [{ at } = { at: 0 }] = await events();
  const found = async (query: { since?: number; until?: number }): Promise<number> => (await events(query)).length;
  assert.deepEqual([await found({ since: at - 0.5 }), await found({ since: at + 0.5 })], [1, 0]);
  assert.deepEqual([await found({ until: at - 0.5 }), await found({ until: at + 0.5 })], [0, 1]);
  assert.deepEqual([await found({ since: -1e30, until: 1e30 }), await found({ since: 1e30 })], [1, 0]);
  await passTime(20);
  const listed = async (olderThanMs: number): Promise<number> =>
    (await store.list({ olderThanMs, limit: 10 })).items.length;
  assert.deepEqual([await listed(0.5), await listed(-1e30), await listed(1e9 + 0.5), await listed(1e30)], [1, 1, 0, 0]);
  const pruned = await store.prune({ olderThanMs: 1e9 + 0.5, limit: 10 });
  assert.deepEqual([pruned.events, pruned.ids], [0, 0]);
  for (const none of [NaN, Infinity]) {
    await expectRejection(store.events({ since: none, limit: 1 }), 'INVALID_ARGUMENT');
    await expectRejection(store.events({ until: none, limit: 1 }), 'INVALID_ARGUMENT');
    await expectRejection(store.list({ olderThanMs: none, limit: 1 }), 'INVALID_ARGUMENT');
  }
}

/** What is looked for may be nothing there is; what no store can take as text is the caller's mistake, not the store's failure. */
async function badSearches({ grant, record, store }: CaseContext): Promise<void> {
  const lease = await grant('a');
  for (const text of ['\u0000', 'a\u0000b', '\ud800', 'x'.repeat(2_000)]) {
    await expectRejection(store.get([lease.id, text]), 'INVALID_ARGUMENT');
    for (const field of ['prefix', 'resource', 'owner', 'cursor'])
      await expectRejection(store.list({ limit: 1, [field]: text }), 'INVALID_ARGUMENT');
    for (const field of ['prefix', 'resource', 'owner', 'leaseId'])
      await expectRejection(store.events({ limit: 1, [field]: text }), 'INVALID_ARGUMENT');
  }
  await expectRejection(store.list({ limit: 1, owner: '' }), 'INVALID_ARGUMENT');
  assert.deepEqual((await store.get(['nobody', ''])).items, [undefined, undefined]);
  assert.deepEqual(await record(lease.id), lease);
}

export const badValues: readonly ConformanceCase[] = [
  ...Object.entries(numbers).flatMap(([field, { good, bad }]): ConformanceCase[] => [
    ...bad.map((value) => ({
      tags: ['S18', 'S21'],
      title: `${field}: ${value} fails as one item`,
      run: ({ failItem }: CaseContext) => failItem({ [field]: value }),
    })),
    ...good.map((value) => ({
      tags: ['S18'],
      title: `${field}: ${value} is taken`,
      run: async ({ grant, lastNow }: CaseContext) => {
        const lease = await grant({ name: 'a', [field]: value });
        if (field === 'ttlMs') assert.deepEqual([lease.ttlMs, lease.expiresAt], [value, lastNow() + value]);
        if (field === 'maxRenewals') assert.equal(lease.maxRenewals, value);
      },
    })),
  ]),
  ...Object.entries(badMetadata).map(([how, make]): ConformanceCase => ({
    tags: ['S18', 'S21'],
    title: `metadata: ${how} fails as one item`,
    run: ({ failItem }) => failItem({ metadata: make() }),
  })),
  {
    tags: ['S18', 'A10'],
    title: 'metadata that is plain JSON of up to 4 KiB comes back as it was',
    run: async ({ grant, record }) => {
      for (const [i, metadata] of goodMetadata.entries()) {
        const lease = await grant({ name: `meta/${i}`, metadata });
        assert.deepEqual(lease.metadata, metadata);
        assert.deepEqual((await record(lease.id)).metadata, metadata);
      }
    },
  },
  {
    tags: ['S18', 'S21'],
    title: 'a request names at most 1,024 held leases, each by a valid id',
    run: async ({ grant, failItem, newId }) => {
      const ids = Array.from({ length: 1_025 }, () => newId());
      await failItem({ holding: ids });
      await failItem({ holding: ['short'] });
      await grant({ name: 'a', holding: ids.slice(0, 1_024) });
    },
  },
  {
    tags: ['S18', 'S21'],
    title: 'callerWall must be a number',
    run: async ({ failItem }) => {
      for (const callerWall of [NaN, Infinity, undefined]) await failItem({ callerWall } as Partial<AcquireRequest>);
    },
  },
  {
    tags: ['S18', 'S21'],
    title: 'a callerWall that no date has fails as one item in acquire, renew and change, and those beside it are done',
    run: wildCallerWalls,
  },
  {
    tags: ['S18', 'A11'],
    title:
      'moments and ages that are no whole numbers, or far away, are compared as they are; what is no number is refused',
    run: unevenMoments,
  },
  {
    tags: ['S18', 'S21', 'S5'],
    title: 'bad epochs, ids, request ids and durations in renew, end and change fail and touch nothing',
    run: badFollowUps,
  },
  {
    tags: ['S18', 'S21', 'A11'],
    title: 'an id, an owner or a name to look for that holds a NUL is refused, and the store is not blamed',
    run: badSearches,
  },
];
