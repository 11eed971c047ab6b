// A stream over the memory store on a clock that is told to move, for the tests of recovery: opened before each test, shut
// down after it.
import { afterEach, beforeEach } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { SequenceLease, Stream } from '../../src/sequence/face.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';

export const TTL_MS = 10_000;

export interface StreamStage {
  clock: FakeClock;
  store: FaultyStore;
  leases: Holdfast;
  stream: Stream<unknown>;
  /** Moves the clock on while the work is under way, by default in steps too short to look like load. */
  meanwhile<T>(work: Promise<T>, ms?: number, stepMs?: number): Promise<T>;
  lease(operationId: string, kind?: string): Promise<SequenceLease<unknown>>;
  /** Recovers what is due. */
  run(): Promise<unknown>;
  /** Number, state, and operation or where it was moved to. */
  states(): Promise<unknown[]>;
}

export function streamStage(): StreamStage {
  const stage = {
    async meanwhile<T>(work: Promise<T>, ms = 3_000, stepMs = 5): Promise<T> {
      const done = work.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      const over = new AbortController();
      done.then(() => over.abort()).catch(() => undefined);
      for (let passed = 0; passed < ms && !over.signal.aborted; passed += stepMs) await stage.clock.advance(stepMs);
      const outcome = await done;
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
    lease: (operationId, kind = 'order') => stage.stream.lease({ operationId, kind, ttl: TTL_MS }),
    run: () => stage.meanwhile(stage.stream.recovery.run()),
    states: async () =>
      (await stage.stream.peek(1, 100)).map(({ number, state, operation, movedTo }) => [
        number,
        state,
        operation ?? movedTo,
      ]),
  } as StreamStage;
  beforeEach(async () => {
    stage.clock = new FakeClock();
    stage.store = new FaultyStore(new MemoryStore({ clock: stage.clock }), stage.clock);
    stage.leases = await connect(stage.store, { clock: stage.clock, services: 'off', owner: 'me' });
    stage.stream = stage.leases.sequence('orders');
  });
  afterEach(async () => {
    stage.store.heal();
    await stage.meanwhile(stage.leases.shutdown(), 5_000); // a call that is never answered is waited for, for a while
  });
  return stage;
}

/** A promise that nobody will settle. */
export function never(): Promise<never> {
  return new Promise<never>(() => {
    // Nobody will.
  });
}
