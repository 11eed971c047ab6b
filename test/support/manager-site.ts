// Where the manager is tested: a memory store behind a faulty one, a clock that is told to move, and every event that was
// announced. Several managers may share the store; each has its own faulty way to it.
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { LeaseEvent } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import type { Holdfast } from '../../src/holdfast.js';
import { MemoryStore } from '../../src/stores/memory/memory-store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';
import { settled } from './service-site.js';

/** One process: its manager, its way to the store, and what it announced. */
export interface Member {
  readonly leases: Holdfast;
  readonly store: FaultyStore;
  readonly events: LeaseEvent[];
  types(): string[];
}

export interface ManagerSite extends Member {
  readonly clock: FakeClock;
  /** The store itself, without faults: what is really there. */
  readonly truth: MemoryStore;
  join(options?: ConnectOptions): Promise<Member>;
  /** Time passes; everything that follows from it has happened. */
  pass(ms: number): Promise<void>;
  /** Live leases and tickets on any name. */
  live(status?: 'active' | 'pending'): Promise<readonly Lease[]>;
}

export async function managerSite(options: ConnectOptions = {}, seed = 1): Promise<ManagerSite> {
  const clock = new FakeClock({ seed });
  clock.soon = (fn) => void setImmediate(fn); // as the real one: wake-ups leave after the answers of the same turn
  const truth = new MemoryStore({ clock });
  const join = (more: ConnectOptions = {}): Promise<Member> => member(truth, clock, more);
  const first = await join({ owner: 'alice', ...options });
  return {
    ...first,
    clock,
    truth,
    join,
    pass: (ms) => pass(clock, ms),
    live: async (status) => (await truth.list({ limit: 1_000, status })).items,
  };
}

async function member(truth: MemoryStore, clock: FakeClock, options: ConnectOptions): Promise<Member> {
  const store = new FaultyStore(truth, clock);
  const leases = await connect(store, { clock, services: 'off', ...options });
  const events: LeaseEvent[] = [];
  leases.on('*', (event) => void events.push(event));
  store.forgetCalls();
  return { leases, store, events, types: () => events.map((event) => event.type) };
}

/** In steps of a few milliseconds, so that no chain of promises is overtaken by time. */
export async function pass(clock: FakeClock, ms: number): Promise<void> {
  const end = clock.monotonic() + ms;
  await settled();
  while (clock.monotonic() < end) {
    const step = Math.min(ms > 5_000 ? 20 : 5, end - clock.monotonic());
    await clock.advance(step);
    await settled();
  }
}

/** What became of a promise so far, without waiting for it. */
export interface Watched<T> {
  readonly state: 'open' | 'done' | 'failed';
  readonly value?: T;
  readonly error?: unknown;
}

export function watched<T>(promise: Promise<T>): { now(): Watched<T> } {
  let state: Watched<T> = { state: 'open' };
  promise.then(
    (value) => (state = { state: 'done', value }),
    (error: unknown) => (state = { state: 'failed', error }),
  );
  return { now: () => state };
}

/** Every acquire that was sent, one for each copy. */
export function asked(site: Pick<ManagerSite, 'store'>): AcquireRequest[] {
  return site.store.calls.filter(({ call }) => call === 'acquire').flatMap((one) => one.asked as AcquireRequest[]);
}
