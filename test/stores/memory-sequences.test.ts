// Random programs about sequences on the memory store, and the proof that they reach every kind of answer and would notice
// a store that is wrong.
import { describe, expect, test } from 'vitest';
import type { SequenceStore } from '../../src/stores/sequence-store.js';
import type { Store } from '../../src/stores/store.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { systemClock } from '../../src/system-clock.js';
import { sequenceConcurrent } from '../../src/testing/store-conformance/sequence/concurrent.js';
import { findSequenceDisagreement, sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { memoryHarness } from './memory-harness.js';
import { withFault } from './faults.js';

sequencePrograms(memoryHarness(), { describe, test });

const clock = systemClock();

function realTime(through: (store: Store) => Store) {
  return {
    name: 'memory in real time',
    async open() {
      const store = through(new MemoryStore({ clock }));
      return {
        store,
        another: async () => store,
        passTime: () => Promise.reject(new Error('real time passes by itself')),
        wall: () => clock.wall(),
        randomText: () => clock.randomText(),
        close: () => store.close(),
      };
    },
  };
}

sequenceConcurrent(
  realTime((store) => store),
  { describe, test },
  { clock, durationMs: 2_000 },
);

interface Reached {
  readonly results?: readonly { readonly outcome: string; readonly how?: string; readonly state?: string }[];
  readonly outcome?: string;
  readonly items?: readonly { readonly state?: string }[];
}

const everyKind = [
  ...['leased', 'settled', 'recovering', 'mismatch'].map((how) => `lease ${how}`),
  ...['committed', 'mismatch', 'notHeld', 'failed'].map((how) => `commit ${how}`),
  ...['kept', 'notHeld'].flatMap((how) => [`progress ${how}`, `renewClaims ${how}`]),
  ...['released', 'notHeld'].map((how) => `release ${how}`),
  ...['committed', 'filled', 'moved', 'new', 'repeated'].map((how) => `append stored ${how}`),
  ...['append busy', 'append mismatch', 'fill mismatch', 'fill notGap'],
  ...['filled', 'moved', 'repeated'].map((how) => `fill stored ${how}`),
  ...['committed', 'moved', 'gap', 'filled', 'expired'].map((state) => `settle settled ${state}`),
  ...['settle notHeld', 'settle failed'],
  ...['opened', 'moved', 'stale', 'beyond', 'unknown', 'forgotten'].map((how) => `cursor ${how}`),
  ...['stored', 'queued', 'discarded', 'unknown'].map((how) => `manual ${how}`),
  ...['committed', 'gap', 'filled', 'moved'].map((state) => `read ${state}`),
];

test('the programs reach every kind of answer', async () => {
  const reached = new Set<string>();
  const found = await findSequenceDisagreement(
    memoryHarness(),
    { programs: 600, steps: 120, seed: 1 },
    ({ method }, answer) => {
      const { results = [], outcome, items = [] } = answer as Reached;
      for (const one of results) {
        reached.add(`${method} ${one.outcome}`);
        reached.add([method, one.outcome, one.how ?? one.state ?? ''].join(' '));
      }
      if (outcome !== undefined) reached.add(`${method} ${outcome}`);
      for (const { state } of items) reached.add(`${method} ${state ?? ''}`);
    },
  );
  expect(found).toBeUndefined();
  expect(everyKind.filter((kind) => !reached.has(kind))).toEqual([]);
});

type Wrong = (right: SequenceStore) => Partial<SequenceStore>;

/** A method whose answers are changed on their way out. */
function changed<M extends 'read' | 'barrier' | 'commit' | 'lease' | 'claim'>(
  method: M,
  change: (answer: Awaited<ReturnType<SequenceStore[M]>>) => object,
): Wrong {
  return (right) => ({
    [method]: async (asked: never) => change((await right[method](asked)) as Awaited<ReturnType<SequenceStore[M]>>),
  });
}

const faults: Record<string, Wrong> = {
  'the watermark runs one ahead': changed('read', (answer) => ({ ...answer, watermark: answer.watermark + 1 })),
  'a read does not seal': (right) => ({ read: (order) => right.read({ ...order, seal: false }) }),
  'a peek seals': (right) => ({ read: (order) => right.read({ ...order, seal: true }) }),
  'the barrier opens too early': changed('barrier', (answer) => ({ ...answer, reached: true })),
  'a settled number is left out of a page': changed('read', (answer) => ({ ...answer, items: answer.items.slice(1) })),
  'a commit is answered and not made': (right) => ({
    commit: async (requests) => {
      const looked = await right.progress(requests.map((one) => ({ ...one, progress: { what: 'look' } })));
      const results = looked.results.map(() => ({ outcome: 'committed', first: 1, repeated: false }) as const);
      return { ...looked, results };
    },
  }),
  'a claim is shared by two': (right) => ({ claim: (order) => right.claim({ ...order, ttlMs: 100 }) }),
  'a renewal revives': (right) => ({
    progress: async (requests) => {
      const answers = await right.progress(requests);
      const kept = { outcome: 'kept', remainingMs: 1, expiresAt: answers.now + 1, owner: 'x' } as const;
      return { ...answers, results: answers.results.map((one) => (one.outcome === 'notHeld' ? kept : one)) };
    },
  }),
};

function broken(wrong: Wrong) {
  return (store: Store): Store =>
    withFault((inner) => {
      const right = inner.sequences!;
      const replaced = wrong(right);
      const sequences = new Proxy(right, {
        get: (target, key) => {
          if (key in replaced) return replaced[key as keyof SequenceStore];
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
        },
      });
      return { sequences };
    }, store);
}

describe('random programs reject a store when', () => {
  test.each(Object.entries(faults))('%s', async (_what, wrong) => {
    const harness = memoryHarness('broken', broken(wrong));
    const found = await findSequenceDisagreement(harness, { programs: 300, steps: 60, seed: 1 });
    expect(found).toMatch(/^broken and the model disagree \(program \d+ of SEED=1\)\n.*\nthe program:\n {2}1\. /);
  });
});

describe('the history of concurrent clients rejects a store when', () => {
  test.each([
    ['a read does not seal', 'N4: '],
    ['a commit is answered and not made', 'N2: '],
    ['a settled number is left out of a page', 'N1: '],
  ])('%s', async (what, complaint) => {
    const tests: (() => Promise<void>)[] = [];
    const runner = {
      describe: (_: string, fn: () => void) => fn(),
      test: (_: string, fn: () => Promise<void>) => void tests.push(fn),
    };
    sequenceConcurrent(realTime(broken(faults[what]!)), runner, { clock, durationMs: 2_000, seed: 1 });
    await expect(tests[0]!()).rejects.toThrow(complaint);
  });
});
