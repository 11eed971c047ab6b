// The simulation can fail: each of these worlds is broken in one way on purpose, and a seed is found that shows it.
import { describe, expect, test } from 'vitest';
import type { AcquireRequest, EndRequest, ListFilter, RenewRequest } from '../../src/domain/requests.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import type { Listed, Store } from '../../src/stores/store.js';
import { runSeed, type Finding } from './run-seed.js';
import type { Sabotage } from './simulation.js';

const SEEDS = 80;

/** What is broken may show in several ways; one of them is named. */
async function findingLike(message: RegExp, sabotage: Sabotage): Promise<Finding | undefined> {
  let last: Finding | undefined;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { finding } = await runSeed(seed, () => sabotage);
    last = finding ?? last;
    if (finding && message.test(finding.message)) return finding;
  }
  return last;
}

interface Told {
  readonly remainingMs?: number;
  readonly lease?: { readonly epoch: number };
}
/** The same answer with every item changed. */
function eachItem(answer: unknown, change: (told: Told) => Told): unknown {
  const { results } = answer as { results?: readonly Told[] };
  return results === undefined ? answer : { ...(answer as object), results: results.map(change) };
}

function later(told: Told, ms: number): Told {
  return told.remainingMs === undefined ? told : { ...told, remainingMs: told.remainingMs + ms };
}

/** What a server answers to a batch, with every item of every call changed. */
function inBatch([path]: readonly unknown[], answer: unknown, change: (told: Told) => Told): unknown {
  const { text } = answer as { readonly text?: string };
  if (path !== '/v1/batch' || text === undefined || text === '') return answer;
  const { answers = [] } = JSON.parse(text) as { readonly answers?: readonly { readonly answer?: unknown }[] };
  const changed = answers.map((one) => (one.answer ? { answer: eachItem(one.answer, change) } : one));
  return { ...(answer as object), text: JSON.stringify({ answers: changed }) };
}

/** Says that what it was asked to end has ended, and forgets about it one time in three. */
class ForgetfulStore extends MemoryStore {
  #count = 0;
  override async end(requests: readonly EndRequest[]): ReturnType<Store['end']> {
    this.#count += 1;
    if (this.#count % 3 !== 0) return super.end(requests);
    const results = requests.map(() => ({ outcome: 'released', again: false, blockedMs: 0 }) as const);
    return { ...(await this.time()), results };
  }
}

/** Two halves that do not know of each other: what one has granted the other grants again. */
class SplitStore extends MemoryStore {
  readonly #other: Store = this.within('the-other-half');
  readonly #there = new Set<string>();

  override async acquire(requests: readonly AcquireRequest[]): ReturnType<Store['acquire']> {
    if (requests.some(({ owner }) => owner !== 'owner-1')) return super.acquire(requests);
    for (const { id } of requests) this.#there.add(id);
    return this.#other.acquire(requests);
  }
  override async renew(requests: readonly RenewRequest[]): ReturnType<Store['renew']> {
    return this.#isThere(requests) ? this.#other.renew(requests) : super.renew(requests);
  }
  override async end(requests: readonly EndRequest[]): ReturnType<Store['end']> {
    return this.#isThere(requests) ? this.#other.end(requests) : super.end(requests);
  }
  override async list(filter: ListFilter): Promise<Listed> {
    const [here, there] = [await super.list(filter), await this.#other.list(filter)];
    return { ...here, items: [...here.items, ...there.items] };
  }
  #isThere(requests: readonly { readonly id: string }[]): boolean {
    return requests.every(({ id }) => this.#there.has(id));
  }
}

/** One owner goes to the front of every queue. */
class PartialStore extends MemoryStore {
  override async acquire(requests: readonly AcquireRequest[]): ReturnType<Store['acquire']> {
    return super.acquire(
      requests.map((request) => (request.owner === 'owner-1' ? { ...request, priority: 9 } : request)),
    );
  }
}

describe('the simulation finds', () => {
  test.each<[string, RegExp, Sabotage]>([
    [
      'S7: a deadline that counts from the answer and not from the request',
      /^S7: .*(no longer|after the deadline)/,
      {
        tamper: (_call, _asked, answer, tookMs) => eachItem(answer, (told) => later(told, tookMs)),
      },
    ],
    ['S7: clocks that drift further than the margin covers', /^S7: .*no longer/, { profile: { ppm: 300_000 } }],
    [
      'S7: a suspended machine whose wall clock does not tell',
      /^S7: .*no longer/,
      { profile: { suspensions: 3, hidesSleep: true } },
    ],
    ['S7: timers that are too late to abort the signal', /^S7: .*has not aborted/, { profile: { timersLateMs: 400 } }],
    [
      'S2: an epoch that is not the one the store has',
      /^(S7|S2): .*epoch/,
      {
        tamper: (_call, _asked, answer) =>
          eachItem(answer, (told) =>
            told.lease ? { ...told, lease: { ...told.lease, epoch: told.lease.epoch - 1 } } : told,
          ),
      },
    ],
    ['S9: an end that was never delivered but answered', /^S9: /, { store: (clock) => new ForgetfulStore({ clock }) }],
    ['S1: a store that has split in two', /^S1: /, { store: (clock) => new SplitStore({ clock }) }],
    ['Q1: a store that lets one owner pass', /^Q1: /, { store: (clock) => new PartialStore({ clock }) }],
    [
      'S9: the same end, where a server stands between',
      /^S9: /,
      { isServed: true, store: (clock) => new ForgetfulStore({ clock }) },
    ],
    [
      'S7, W2: a deadline that counts from the answer of a server',
      /^S7: .*(no longer|after the deadline)/,
      {
        isServed: true,
        profile: { turnsShare: 0 }, // long leases: a little too much belief hardly shows in them
        tamper: (call, asked, answer, tookMs) =>
          call === 'http' ? inBatch(asked, answer, (told) => later(told, tookMs)) : answer,
      },
    ],
  ])('%s', async (_title, message, sabotage) => {
    const finding = await findingLike(message, sabotage);
    expect(finding?.message).toMatch(message);
    expect(finding?.story).not.toBe('');
  });
});

test('a seed is a story that can be told again word for word', async () => {
  const first = await runSeed(7, undefined, true);
  const again = await runSeed(7, undefined, true);
  expect(first.events).toBeGreaterThan(50);
  expect(again.story()).toBe(first.story());
});
