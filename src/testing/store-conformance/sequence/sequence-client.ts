// One client's streams, for the cases of the sequence part: requests are filled in, and helpers that say what they expect
// fail the case when the store answers otherwise.
import assert from 'node:assert/strict';
import type {
  AppendRequest,
  ClaimOrder,
  LeaseNumbers,
  Progress,
  Settlement,
} from '../../../domain/sequence-requests.js';
import type { Claimed, RecoveryNote, SettledNumber, StreamFigures } from '../../../domain/sequence.js';
import type * as port from '../../../stores/sequence-store.js';
import type { Answers, Failed } from '../../../stores/store.js';
import { expectOutcome, type Client } from '../context.js';

export type Leased = Extract<port.LeaseNumbersResult, { outcome: 'leased' }> & LeaseNumbers;

export const STREAM = 'orders';
const TTL_MS = 120_000;
const CLAIM_MS = 300_000;

export interface SequenceClient {
  readonly store: port.SequenceStore;
  readonly lease: (over?: Partial<LeaseNumbers>) => Promise<port.LeaseNumbersResult>;
  /** Must be leased. */
  readonly leased: (over?: Partial<LeaseNumbers>) => Promise<Leased>;
  /** Leased and committed in one go: the number it got. */
  readonly stored: (operation?: unknown, over?: Partial<LeaseNumbers>) => Promise<number>;
  readonly commit: (held: Leased, ...operations: unknown[]) => Promise<port.CommitResult>;
  readonly release: (held: Leased, reason?: string) => Promise<port.ReleaseResult>;
  readonly progress: (held: Leased, progress: Progress) => Promise<port.ProgressResult>;
  readonly append: (over: Partial<AppendRequest> & { operationId: string }) => Promise<port.AppendResult>;
  readonly fill: (number: number, operationId: string, ...operations: unknown[]) => Promise<port.FillResult>;
  readonly claim: (over?: Partial<ClaimOrder>) => Promise<port.ClaimedReply>;
  /** Must claim exactly one. */
  readonly claimed: (over?: Partial<ClaimOrder>) => Promise<Claimed>;
  readonly settle: (claimed: Claimed, settlement: Settlement) => Promise<port.SettleResult>;
  readonly read: (from?: number, limit?: number) => Promise<readonly SettledNumber[]>;
  readonly peek: (from?: number, limit?: number) => Promise<readonly SettledNumber[]>;
  readonly barrier: (number: number) => Promise<boolean>;
  readonly figures: () => Promise<StreamFigures>;
}

export function sequencesOf({ store, owner }: Client): SequenceClient {
  const { sequences } = store;
  assert.ok(sequences, 'the harness says that the store keeps sequences, and it does not');
  let operations = 0;
  const request = (over: Partial<LeaseNumbers>): LeaseNumbers => {
    operations += 1;
    const fresh = { operationId: `${owner}-op-${operations}`, owner, ttlMs: TTL_MS, count: 1 };
    return { stream: STREAM, kind: 'order', ...fresh, ...over };
  };
  const lease: SequenceClient['lease'] = async (over = {}) => only(await sequences.lease([request(over)]));
  const leased: SequenceClient['leased'] = async (over = {}) => {
    const asked = request(over);
    return { ...asked, ...expectOutcome(only(await sequences.lease([asked])), 'leased') };
  };
  const commit: SequenceClient['commit'] = async ({ stream, operationId, epoch }, ...made) =>
    only(await sequences.commit([{ stream, operationId, epoch, operations: made }]));
  const claim: SequenceClient['claim'] = (over = {}) =>
    sequences.claim({ limit: 100, owner, ttlMs: CLAIM_MS, gapsToo: false, ...over });
  const read = async (from: number, limit: number, seal: boolean): Promise<readonly SettledNumber[]> =>
    (await sequences.read({ stream: STREAM, from, limit, seal, watch: false })).items;
  return {
    store: sequences,
    lease,
    leased,
    stored: async (operation = { n: operations }, over = {}) => {
      const held = await leased(over);
      return expectOutcome(await commit(held, operation), 'committed').first;
    },
    commit,
    release: async ({ stream, operationId, epoch }, reason = 'given up') =>
      only(await sequences.release([{ stream, operationId, epoch, reason }])),
    progress: async ({ stream, operationId, epoch }, progress) =>
      only(await sequences.progress([{ stream, operationId, epoch, progress }])),
    append: async (over) =>
      only(await sequences.append([{ stream: STREAM, kind: 'order', operations: [1], owner, type: 'spool', ...over }])),
    fill: async (number, operationId, ...made) =>
      only(await sequences.fill([{ stream: STREAM, number, operationId, operations: made, owner }])),
    claim,
    claimed: async (over) => {
      const { claimed } = await claim(over);
      assert.equal(claimed.length, 1, 'one number is due');
      return claimed[0] as Claimed;
    },
    settle: async ({ stream, operationId, claimEpoch }, settlement) =>
      only(await sequences.settle([{ stream, operationId, claimEpoch, settlement }])),
    read: (from = 1, limit = 100) => read(from, limit, true),
    peek: (from = 1, limit = 100) => read(from, limit, false),
    barrier: async (number) => (await sequences.barrier({ stream: STREAM, number, watch: false })).reached,
    figures: async () => {
      const { streams } = await sequences.streams({ stream: STREAM, limit: 1 });
      assert.ok(streams[0], 'the stream is known');
      return streams[0];
    },
  };
}

export function only<R>({ results }: Answers<R>): R {
  assert.equal(results.length, 1, 'one request has one result');
  const result = results[0] as R | Failed;
  if ((result as Failed).outcome === 'failed') throw (result as Failed).error;
  return result as R;
}

/** The one at this place, which must be there. */
export function nth<T>(list: readonly T[], place: number): T {
  assert.ok(place < list.length, `there are only ${list.length}`);
  return list[place] as T;
}

/** The note an operation that was moved carries. */
export function noteOf(items: readonly SettledNumber[], place: number): RecoveryNote {
  const { recovery } = nth(items, place);
  assert.ok(recovery, 'a moved operation says where it came from');
  return recovery;
}

/** `1 committed "a"`, `2 gap`, `3 moved to 5`: what a page shows, in short. */
export function shortly(items: readonly SettledNumber[]): string[] {
  return items.map(({ number, state, operation, movedTo }) =>
    [
      `${number} ${state}`,
      ...(operation === undefined ? [] : [JSON.stringify(operation)]),
      ...(movedTo === undefined ? [] : [`to ${movedTo}`]),
    ].join(' '),
  );
}
