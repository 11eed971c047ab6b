// Sequences, part three: writers that are slow, die and give up, readers and recoverers, all at once and in real time, and
// the history of it checked. `sequenceConcurrent` runs them in this process; a store that several processes share runs
// `sequenceWorkload` in each, gathers the lines, and hands them to `checkSequenceHistory` with what `readWholeStream` finds.
import assert from 'node:assert/strict';
import type { Clock } from '../../../domain/clock.js';
import { LeaseError } from '../../../domain/errors.js';
import type { Claimed, SettledNumber } from '../../../domain/sequence.js';
import type { SequenceStore } from '../../../stores/sequence-store.js';
import type { Store } from '../../../stores/store.js';
import { FakeClock } from '../../fake-clock.js';
import type { Runner, StoreHarness } from '../harness.js';
import { chooseSeed } from '../seed.js';
import { checkSequenceHistory, seenOf, type SequenceRecord } from './history.js';
import { only } from './sequence-client.js';

export interface SequenceWorkloadOptions {
  /** The real clock. */
  readonly clock: Clock;
  readonly seed: number;
  /** Another for each client. */
  readonly name: string;
  readonly durationMs: number;
  /** How many of each, over one connection. */
  readonly clients?: SequenceClients | undefined;
  /** Is handed every record as one line of JSON, once it is answered. */
  readonly record: (line: string) => void;
  /** Where the store can take part in the caller's transaction: runs `act` in one and rolls it back. */
  readonly rollBack?: RollBack | undefined;
}
type RollBack = (act: (transaction: unknown) => Promise<unknown>) => Promise<void>;

export interface SequenceClients {
  readonly writers: number;
  readonly readers: number;
  readonly recoverers: number;
}

const STREAM = 'concurrent';
const A_FEW: SequenceClients = { writers: 3, readers: 1, recoverers: 1 };
const TTL_MS = 150;
const PAGE = 50;
const DRAIN_TRIES = 400;

type Dice = () => number;

/** Three writers, a reader and a recoverer over one connection (or as many as are asked for), until the time is over. */
export async function sequenceWorkload(store: Store, options: SequenceWorkloadOptions): Promise<void> {
  const { sequences } = store;
  assert.ok(sequences, 'the store keeps no sequences');
  const { clock, durationMs, name, clients = A_FEW, rollBack } = options;
  const { random } = new FakeClock({ seed: options.seed });
  const record = (one: SequenceRecord): void => options.record(JSON.stringify(one));
  const end = clock.monotonic() + durationMs;
  const until = async (act: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; clock.monotonic() < end; turn += 1) {
      await act(turn).catch(ignoreTransient);
      await pause(clock, random() < 0.6 ? 0 : random() * 4);
    }
  };
  const each = (count: number, start: (i: number) => Promise<void>): Promise<void>[] =>
    Array.from({ length: count }, (_, i) => start(i));
  await Promise.all([
    ...each(clients.writers, (i) =>
      until((turn) => writeOnce({ sequences, clock, random, record, rollBack }, `${name}-${i}-${turn}`)),
    ),
    ...each(clients.readers, (i) => until(follow(sequences, clock, `${name}-reader-${i}`, record))),
    ...each(clients.recoverers, () => until(() => recoverOnce(sequences, random, name, record))),
  ]);
}

/** A call that failed in a way that may pass is no complaint. */
function ignoreTransient(error: unknown): void {
  if (!(error instanceof LeaseError && error.retryable)) throw error;
}

interface Writer {
  readonly sequences: SequenceStore;
  readonly clock: Clock;
  readonly random: Dice;
  readonly record: (one: SequenceRecord) => void;
  readonly rollBack?: RollBack | undefined;
}

async function writeOnce({ sequences, clock, random, record, rollBack }: Writer, operationId: string): Promise<void> {
  const request = { stream: STREAM, operationId, kind: 'k', ttlMs: TTL_MS, count: 1, owner: 'writer' };
  const leased = only(await sequences.lease([request]));
  if (leased.outcome !== 'leased') return;
  const { epoch } = leased;
  const operation = { operationId };
  const held = { stream: STREAM, operationId, epoch };
  const fate = random();
  if (fate < 0.05) return; // dies with nothing
  if (fate < 0.2) await sequences.progress([{ ...held, progress: { what: 'finished', operations: [operation] } }]);
  if (fate < 0.1) return; // dies with a finished result
  if (fate < 0.15) await pause(clock, TTL_MS * (0.8 + random() * 0.6)); // overruns, or nearly
  if (fate > 0.97) {
    await sequences.release([{ ...held, reason: 'given up' }]);
    return;
  }
  if (fate > 0.94 && rollBack) {
    // Nothing of it is to be seen: the number stays leased, expires, and is recovered.
    await rollBack(async (transaction) => sequences.commitIn?.(transaction, { ...held, operations: [operation] }));
    return;
  }
  const stored = (first: number): void =>
    record({ what: 'stored', operationId, text: JSON.stringify(operation), first });
  const result = only(await sequences.commit([{ ...held, operations: [operation] }]));
  if (result.outcome === 'committed') stored(result.first);
  if (result.outcome !== 'notHeld' || random() < 0.5) return;
  const append = { stream: STREAM, operationId, kind: 'k', owner: 'writer', operations: [operation], epoch };
  const late = only(await sequences.append([{ ...append, type: 'spool' }]));
  if (late.outcome === 'stored') stored(late.first);
}

function follow(
  sequences: SequenceStore,
  clock: Clock,
  reader: string,
  record: (one: SequenceRecord) => void,
): () => Promise<void> {
  let from = 1;
  return async () => {
    const askedAt = clock.monotonic();
    const page = await sequences.read({ stream: STREAM, from, limit: PAGE, seal: true, watch: true });
    record({ what: 'watermark', askedAt, answeredAt: clock.monotonic(), watermark: page.watermark });
    if (page.items.length === 0) return;
    record({ what: 'seen', reader, items: page.items.map(seenOf) });
    from += page.items.length;
  };
}

async function recoverOnce(
  sequences: SequenceStore,
  random: Dice,
  owner: string,
  record: (one: SequenceRecord) => void,
): Promise<void> {
  const { claimed } = await sequences.claim({ limit: 5, owner, ttlMs: TTL_MS, gapsToo: random() < 0.3 });
  for (const one of claimed) if (random() < 0.9) await settleOne(sequences, random, one, record);
}

async function settleOne(
  sequences: SequenceStore,
  random: Dice,
  claimed: Claimed,
  record: (one: SequenceRecord) => void,
): Promise<void> {
  const { operationId, claimEpoch, finished } = claimed;
  const dice = random();
  const operation = { operationId };
  const settlement =
    finished && dice < 0.5
      ? ({ to: 'commit' } as const)
      : dice < 0.7
        ? ({ to: 'move', operations: [operation], type: 'partial_work' } as const)
        : dice < 0.8
          ? ({ to: 'retry', error: 'again', afterMs: 5 } as const)
          : ({ to: 'gap', reason: 'nothing there', againAfterMs: 20 } as const);
  const result = only(await sequences.settle([{ stream: STREAM, operationId, claimEpoch, settlement }]));
  if (result.outcome === 'settled' && result.first !== undefined)
    record({ what: 'stored', operationId, text: JSON.stringify(operation), first: result.first });
}

/** Settles what is still open, then reads everything without sealing it. */
export async function readWholeStream(store: Store, clock: Clock): Promise<SettledNumber[]> {
  const { sequences } = store;
  assert.ok(sequences, 'the store keeps no sequences');
  for (let turn = 0; ; turn += 1) {
    assert.ok(turn < DRAIN_TRIES, 'numbers stay open');
    const { claimed } = await sequences.claim({ limit: 100, owner: 'last', ttlMs: 5_000, gapsToo: false });
    for (const { operationId, claimEpoch } of claimed) {
      const settlement = { to: 'gap', reason: 'over' } as const;
      await sequences.settle([{ stream: STREAM, operationId, claimEpoch, settlement }]);
    }
    const { streams } = await sequences.streams({ stream: STREAM, limit: 1 });
    if (streams[0]?.open === 0) break;
    await pause(clock, 20);
  }
  const items: SettledNumber[] = [];
  for (;;) {
    const page = await sequences.read({
      stream: STREAM,
      from: items.length + 1,
      limit: 1_000,
      seal: false,
      watch: false,
    });
    items.push(...page.items);
    if (page.items.length === 0) return items;
  }
}

export interface SequenceConcurrentOptions {
  readonly clock: Clock;
  readonly clients?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly seed?: number | undefined;
}

/** `harness.open()` must give a store that goes by the real clock. */
export function sequenceConcurrent(harness: StoreHarness, runner: Runner, options: SequenceConcurrentOptions): void {
  const { clock, clients = 4, durationMs = 10_000, seed = chooseSeed() } = options;
  runner.describe(`${harness.name}: concurrent sequences`, () => {
    const title = `N1, N2, N3, N4, V1, V2: the history of ${clients} clients in ${durationMs} ms holds (SEED=${seed})`;
    runner.test(title, async () => {
      const opened = await harness.open();
      try {
        const lines: string[] = [];
        const others = Array.from({ length: clients - 1 }, () => opened.another());
        const stores = [opened.store, ...(await Promise.all(others))];
        const work = stores.map((store, i) =>
          sequenceWorkload(store, {
            clock,
            seed: seed + i,
            name: `client-${i}`,
            durationMs,
            record: (line) => void lines.push(line),
          }),
        );
        await Promise.all(work);
        expectSequenceHistory(lines, await readWholeStream(opened.store, clock));
      } finally {
        await opened.close();
      }
    });
  });
}

/** Fails with what is wrong with the history, or when there was hardly any. */
export function expectSequenceHistory(lines: readonly string[], stream: readonly SettledNumber[]): void {
  const records = lines.map((line) => JSON.parse(line) as SequenceRecord);
  const complaints = checkSequenceHistory({ records, stream });
  assert.deepEqual(complaints, [], complaints.join('\n'));
  const states = new Set(stream.map(({ state }) => state));
  assert.ok(stream.length > 20 && states.has('committed') && states.has('gap'), `only ${stream.length} numbers`);
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) clock.soon(resolve);
    else clock.after(ms, resolve, true);
  });
}
