// Conformance, part three: clients that work on the same few names at once, in real time, and the history of it checked
// for S1, S2, Q1, "each grant ends once" and "the log replays to the table". `concurrentPart` runs all clients in this
// process; a store that several processes share runs `concurrentWorkload` in each, gathers the lines they recorded, and
// hands them to `checkHistory` with what `readHistory` finds.
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../../stores/store.js';
import { FakeClock } from '../fake-clock.js';
import { checkHistory } from './check-history.js';
import type { Runner, StoreHarness } from './harness.js';
import { readHistory, readRecords } from './history-records.js';
import { chooseSeed } from './seed.js';
import { actOnce } from './workload-actions.js';
import { WorkloadClient } from './workload-client.js';

export interface WorkloadOptions {
  /** The real clock. Clients of one history share it: on one machine all processes do. */
  readonly clock: Clock;
  /** Decides what the client wants; what it gets depends on the others. */
  readonly seed: number;
  /** Owner and part of every id: 1 to 20 characters out of `A-Za-z0-9_-`, another for each client. */
  readonly name: string;
  readonly durationMs: number;
  /** Is handed every call as one line of JSON, once it is answered. */
  readonly record: (line: string) => void;
}

export interface WorkloadCounts {
  readonly calls: number;
  readonly grants: number;
  /** Calls that failed in a way that may pass; a few are no complaint. */
  readonly failures: number;
}

const LANES = 2;
const NAME = /^[A-Za-z0-9_-]{1,20}$/;

/** One client, with two calls under way at a time, until the time is over. */
export async function concurrentWorkload(store: Store, options: WorkloadOptions): Promise<WorkloadCounts> {
  const { clock, seed, name, durationMs, record } = options;
  if (!NAME.test(name)) throw new Error(`a client's name is 1 to 20 characters out of A-Z a-z 0-9 _ -, got ${name}`);
  const dice = new FakeClock({ seed });
  const client = new WorkloadClient(store, { clock, name, record, dice });
  await client.lookAtTime();
  const end = clock.monotonic() + durationMs;
  const lane = async (): Promise<void> => {
    while (clock.monotonic() < end) {
      await actOnce(client, dice.random);
      await pause(clock, dice.random);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const { calls, grants, failures } = client;
  return { calls, grants, failures };
}

/** Mostly none, so that calls crowd; never without letting others run. */
function pause(clock: Clock, random: () => number): Promise<void> {
  return new Promise((resolve) => {
    if (random() < 0.7) clock.soon(resolve);
    else clock.after(random() * 3, resolve, true);
  });
}

export interface ConcurrentOptions {
  readonly clock: Clock;
  readonly clients?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly seed?: number | undefined;
}

const CLIENTS = 8;
const DURATION_MS = 20_000;
const MOST_COMPLAINTS = 20;

/** `harness.open()` must give a store that goes by the real clock: ttls here are a few hundred milliseconds of it. */
export function concurrentPart(harness: StoreHarness, runner: Runner, options: ConcurrentOptions): void {
  const { clock, clients = CLIENTS, durationMs = DURATION_MS, seed = chooseSeed() } = options;
  runner.describe(`${harness.name}: concurrent clients`, () => {
    runner.test(`S1, S2, Q1: the history of ${clients} clients in ${durationMs} ms holds (SEED=${seed})`, async () => {
      const opened = await harness.open();
      try {
        const lines: string[] = [];
        const record = (line: string): void => void lines.push(line);
        const others = Array.from({ length: clients - 1 }, () => opened.another());
        const stores = [opened.store, ...(await Promise.all(others))];
        const counts = await Promise.all(
          stores.map((store, i) =>
            concurrentWorkload(store, { clock, seed: seed + i, name: `client-${i}`, durationMs, record }),
          ),
        );
        expectWork(counts);
        const complaints = checkHistory({ ...(await readHistory(opened.store)), records: readRecords(lines) });
        if (complaints.length > 0) throw new Error(complaintText(complaints));
      } finally {
        await opened.close();
      }
    });
  });
}

/** A history in which nothing happened shows nothing: every client was granted something, and most calls were answered. */
export function expectWork(counts: readonly WorkloadCounts[]): void {
  for (const [i, { calls, grants, failures }] of counts.entries()) {
    if (grants > 0 && failures * 2 < calls) continue;
    throw new Error(`client ${i} made ${calls} calls, ${failures} failed, ${grants} were granted: this shows nothing`);
  }
}

export function complaintText(complaints: readonly string[]): string {
  const shown = complaints.slice(0, MOST_COMPLAINTS);
  return `the history speaks against the store, ${complaints.length} times:\n${shown.join('\n')}`;
}
