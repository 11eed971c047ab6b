// Random programs and concurrent clients on the memory store, and the proof that both would notice a store that is
// wrong: the same store with one fault put in is rejected, and the program that shows it is short.
import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/stores/store.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { systemClock } from '../../src/system-clock.js';
import { concurrentPart } from '../../src/testing/store-conformance/concurrent.js';
import { longLinePrograms } from '../../src/testing/store-conformance/long-line-programs.js';
import { findDisagreement, randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { faults, withFault } from './faults.js';
import { memoryHarness } from './memory-harness.js';

const clock = systemClock();

interface Reached {
  readonly results?: readonly { readonly outcome: string; readonly refusal?: { readonly reason: string } }[];
  readonly outcome?: string;
  readonly rows?: readonly { readonly type: string }[];
  readonly ended?: readonly unknown[];
}
const reasons = ['held', 'queue', 'limit', 'min_hold', 'lock_delay'];
const everyKind = [
  ...['granted', 'ended', 'deadlock', 'mismatch', 'tooOld', 'failed', 'refused held_by_self'].map(
    (how) => `acquire ${how}`,
  ),
  ...reasons.flatMap((reason) => [`acquire queued ${reason}`, `acquire refused ${reason}`]),
  ...['renewed', 'notHeld', 'maxRenewals', 'maxHold', 'failed'].map((how) => `renew ${how}`),
  ...['released', 'left', 'stale', 'expired', 'revoked', 'noted'].map((how) => `end ${how}`),
  ...['change changed', 'change notHeld', 'failTicket failed', 'failTicket gone', 'revoke ended'],
  ...['events rows', 'events lost', 'deadlock.detected'],
  ...[
    'queued',
    'acquired',
    'renewed',
    'released',
    'expired',
    'revoked',
    'failed',
    'delegated',
    'upgraded',
    'downgraded',
  ].map((type) => `lease.${type}`),
];

randomPrograms(memoryHarness(), { describe, test });
longLinePrograms(memoryHarness(), { describe, test });

concurrentPart(
  realTime((store) => store),
  { describe, test },
  { clock, durationMs: 2_000 },
);

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

test('the programs reach every kind of answer and of log row', async () => {
  const reached = new Set<string>();
  await findDisagreement(memoryHarness(), { programs: 300, steps: 40, seed: 1 }, ({ op }, answer) => {
    const { results = [], outcome, rows = [], ended = [] } = answer as Reached;
    for (const one of results) reached.add([op, one.outcome, one.refusal?.reason ?? ''].join(' ').trimEnd());
    for (const { type } of rows) reached.add(type);
    if (outcome !== undefined) reached.add(`${op} ${outcome}`);
    if (ended.length > 0) reached.add('revoke ended');
  });
  expect(everyKind.filter((kind) => !reached.has(kind))).toEqual([]);
});

/** Every nth answer of a kind is changed on its way out. */
function everyNth<T>(n: number, change: (value: T) => T): (value: T) => T {
  let count = 0;
  return (value) => {
    count += 1;
    return count % n === 0 ? change(value) : value;
  };
}

type Granted = { remainingMs: number };
type Queued = { place: number };

const slips: Record<string, (store: Store) => Partial<Store>> = {
  'what remains is off by one now and then': (store) => {
    const slip = everyNth<Granted>(5, (one) => ({ ...one, remainingMs: one.remainingMs + 1 }));
    return { acquire: onResults(store, 'granted', slip) };
  },
  'the place in the queue is wrong now and then': (store) => {
    const slip = everyNth<Queued>(3, (one) => ({ ...one, place: one.place + 1 }));
    return { acquire: onResults(store, 'queued', slip) };
  },
  'a row of the log is dropped now and then': (store) => {
    const slip = everyNth<readonly object[]>(4, (rows) => rows.slice(1));
    return {
      events: async (query) => {
        const page = await store.events(query);
        return page.outcome === 'lost' ? page : { ...page, rows: slip(page.rows) as typeof page.rows };
      },
    };
  },
  'a release is answered and not done now and then': (store) => {
    const isLost = everyNth<boolean>(3, () => true);
    return {
      end: async (requests) => {
        if (!isLost(false) || requests.some(({ epoch }) => epoch === undefined)) return store.end(requests);
        const results = requests.map(() => ({ outcome: 'released', again: false, blockedMs: 0 }) as const);
        const { now, incarnation, settingsVersion } = await store.time();
        return { now, incarnation, settingsVersion, results };
      },
    };
  },
  'the data seem to be of another life now and then': (store) => {
    const slip = everyNth<string>(7, () => 'another');
    return {
      time: async () => {
        const reply = await store.time();
        return { ...reply, incarnation: slip(reply.incarnation) };
      },
    };
  },
};

function onResults<T>(store: Store, outcome: string, change: (result: T) => T): Store['acquire'] {
  return async (requests) => {
    const answers = await store.acquire(requests);
    const results = answers.results.map((one) => (one.outcome === outcome ? (change(one as T) as typeof one) : one));
    return { ...answers, results };
  };
}

describe('random programs reject a store when', () => {
  const { 'nobody is woken': _hints, ...wrong } = faults;
  const named = Object.entries(wrong).map(([what, { fault }]) => [what, fault] as const);
  test.each([...Object.entries(slips), ...named])('%s', async (_what, fault) => {
    const harness = memoryHarness('broken', (store) => withFault(fault, store));
    const found = await findDisagreement(harness, { programs: 300, steps: 40, seed: 1 });
    expect(found).toMatch(
      /^broken and the model disagree \(program \d+ of SEED=1\)\n.*\nthe program:\n {2}1\. client 0: /,
    );
    expect(found?.match(/^ {2}\d+\. /gm)?.length).toBeLessThan(16);
  });
});

describe('the history of concurrent clients rejects a store when', () => {
  const lostRelease = 'a release is answered and not done now and then';
  test.each([
    ['two grants get the same epoch', 'S2: ', faults['two grants get the same epoch']!.fault],
    ['the last to come is served first', 'Q1: ', faults['the last to come is served first']!.fault],
    [lostRelease, 'ends: ', slips[lostRelease]!],
  ])('%s', async (_what, complaint, fault) => {
    const harness = realTime((store) => withFault(fault, store));
    const tests: (() => Promise<void>)[] = [];
    const runner = {
      describe: (_: string, fn: () => void) => fn(),
      test: (_: string, fn: () => Promise<void>) => void tests.push(fn),
    };
    concurrentPart(harness, runner, { clock, durationMs: 700, seed: 1 });
    await expect(tests[0]!()).rejects.toThrow(complaint);
  });
});
