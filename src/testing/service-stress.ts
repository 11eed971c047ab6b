// One stress test for every background service (O1): many interleavings of start and stop over a clock that is told to
// move, with work that is slow, fails or both, drawn from a seed. Whatever the service does goes through `work` (or through
// the store, whose every call does), and there it is watched.
//
// Held to: start and stop can be repeated; a service that was started works; no two pieces of work overlap; when stop is
// done nothing runs, no timer is left and nothing begins again; after errors it waits 1 s, doubling to 1 min.
import assert from 'node:assert/strict';
import type { Service } from '../services/service.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { FakeClock } from './fake-clock.js';

export interface StressEnvironment {
  readonly clock: FakeClock;
  readonly logger: Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>;
  /** A memory store; each of its calls is a piece of work. */
  readonly store: Store;
  /** A piece of work: it may take time, and it may fail. */
  readonly work: () => Promise<void>;
  /** The same for work that is done at once. */
  readonly workNow: () => void;
}

export interface StressSubject {
  make(environment: StressEnvironment): Service;
  /** How long the service waits between ticks when all is well. */
  readonly intervalMs: number;
  /** Whether an error makes it wait otherwise: not, where its ticks have nothing to fail. */
  readonly retries: boolean;
}

const ROUNDS = 200;
/** The clock moves on by up to 25 ms while a long chain of promises goes through. */
const SAME_TICK_MS = 60;
const LONGEST_RETRY_MS = 60_000;
const RETRIES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000];

export async function stressService(subject: StressSubject, seed: number): Promise<void> {
  const complain = (error: unknown): never => {
    throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
  };
  await interleave(subject, seed).catch(complain);
  if (subject.retries) await failAndRecover(subject, seed).catch(complain);
}

/** Starts and stops in any order, the work slow and failing now and then. */
async function interleave(subject: StressSubject, seed: number): Promise<void> {
  const site = new Site(seed);
  const { clock } = site;
  const service = subject.make(site);
  let stopping: Promise<void>[] = [];
  const actions: (() => Promise<void> | void)[] = [
    () => service.start(),
    () => {
      service.start();
      service.start();
    },
    () => void stopping.push(service.stop()),
    () => void stopping.push(service.stop(), service.stop()),
    () => {
      stopping.push(service.stop());
      service.start();
    },
    () => pass(clock, subject.intervalMs * clock.random() * 2),
    () => pass(clock, 500 * clock.random()),
    () => {
      site.slowMs = clock.random() < 0.5 ? 0 : 200 * clock.random();
      site.failing = clock.random() < 0.6 ? 0 : clock.random();
    },
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    await actions[Math.floor(clock.random() * actions.length)]?.();
    if (round % 10 !== 9) continue;
    await untilDone(clock, [...stopping, service.stop(), service.stop()]);
    stopping = [];
    await isAtRest(site, subject);
    if (round % 20 === 19) await stopAtWork(site, subject, service);
  }
  await untilDone(clock, [service.stop()]);
}

async function isAtRest(site: Site, subject: StressSubject): Promise<void> {
  assert.equal(site.overlaps, 0, 'two pieces of work overlapped');
  assert.equal(site.running, 0, 'work is under way after stop');
  assert.equal(site.clock.pendingTimers, 0, 'stop left a timer behind');
  const before = site.times.length;
  await pass(site.clock, Math.max(subject.intervalMs, LONGEST_RETRY_MS) * 3);
  assert.equal(site.times.length, before, 'it worked after stop');
}

/** A service that was started works; stopped in the middle of it, it is done when the work is. */
async function stopAtWork(site: Site, subject: StressSubject, service: Service): Promise<void> {
  site.slowMs = 1_000;
  site.failing = 0;
  service.start();
  const before = site.times.length;
  const stepMs = Math.min(500, subject.intervalMs);
  for (let waitedMs = 0; site.times.length === before; waitedMs += stepMs) {
    assert.ok(waitedMs < subject.intervalMs * 3, 'it was started and does nothing');
    await pass(site.clock, stepMs);
  }
  const stopped = service.stop().then(() => assert.equal(site.running, 0, 'stop was done before the work was'));
  await untilDone(site.clock, [stopped]);
}

/** The pauses after errors, the way back to the interval, and that the count of errors begins anew. */
async function failAndRecover(subject: StressSubject, seed: number): Promise<void> {
  const site = new Site(seed);
  const { clock } = site;
  const service = subject.make(site);
  site.failing = 1;
  service.start();
  const failed = await moments(site, RETRIES_MS.length + 1, Math.max(subject.intervalMs, LONGEST_RETRY_MS));
  assert.deepEqual(gaps(failed).map(Math.round), RETRIES_MS, 'pauses after errors');
  site.failing = 0;
  const [well = NaN, next = NaN] = await moments(site, 2, Math.max(subject.intervalMs, LONGEST_RETRY_MS));
  const share = (next - well) / subject.intervalMs;
  assert.ok(share > 0.9 && share < 1.1, `after a success it waited ${next - well} ms`);
  site.failing = 1;
  const again = await moments(site, 3, Math.max(subject.intervalMs, LONGEST_RETRY_MS));
  assert.deepEqual(gaps(again).map(Math.round), RETRIES_MS.slice(0, 2), 'pauses after errors, the second time');
  await untilDone(clock, [service.stop()]);
}

/** When each of the next `count` ticks began: work that follows other work closely is of the same tick. */
async function moments(site: Site, count: number, patienceMs: number): Promise<number[]> {
  site.times.length = 0;
  const seen = (): number[] =>
    site.times.filter((time, i) => !(time - (site.times[i - 1] ?? -Infinity) < SAME_TICK_MS));
  for (let waitedMs = 0; seen().length < count; waitedMs += 100) {
    assert.ok(waitedMs < patienceMs * (count + 1), `only ${seen().length} of ${count} ticks came`);
    await pass(site.clock, 100);
  }
  return seen().slice(0, count);
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] ?? NaN));
}

/** In small steps, and with time for long chains of promises. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let step = 0; step < 4; step += 1) {
    await clock.advance(ms / 4);
    for (let turn = 0; turn < 4; turn += 1) await clock.advance(0);
  }
}

async function untilDone(clock: FakeClock, promises: readonly Promise<void>[]): Promise<void> {
  const state = { isDone: false };
  const all = Promise.allSettled(promises).then((ends) => {
    state.isDone = true;
    return ends;
  });
  for (let step = 0; !state.isDone && step < 10_000; step += 1) await clock.advance(50);
  assert.ok(state.isDone, 'stop does not come to an end');
  for (const end of await all) if (end.status === 'rejected') throw end.reason;
}

class Site implements StressEnvironment {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly times: number[] = [];
  running = 0;
  overlaps = 0;
  slowMs = 0;
  /** The chance of an error. */
  failing = 0;
  readonly logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

  constructor(seed: number) {
    this.clock = new FakeClock({ seed });
    this.store = this.#watched(new MemoryStore({ clock: this.clock }));
  }

  readonly work = async (): Promise<void> => {
    this.#begin();
    try {
      if (this.slowMs > 0) {
        await new Promise<void>((resolve) => {
          this.clock.after(this.slowMs, resolve);
        });
      }
      this.#mayFail();
    } finally {
      this.running -= 1;
    }
  };

  readonly workNow = (): void => {
    this.#begin();
    this.running -= 1;
    this.#mayFail();
  };

  #begin(): void {
    if (this.running > 0) this.overlaps += 1; // told later: a service keeps what its work throws to itself
    this.running += 1;
    this.times.push(this.clock.monotonic());
  }

  #mayFail(): void {
    if (this.failing > 0 && this.clock.random() < this.failing) throw new Error('injected');
  }

  #watched(store: Store): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        if (key === 'within') return (namespace: string) => this.#watched(target.within(namespace));
        return async (...given: unknown[]) => {
          await this.work();
          return call(...given);
        };
      },
    });
  }
}

function nothing(): void {
  // What a service says in its errors is not what is looked at here.
}
