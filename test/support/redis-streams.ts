// A stream at the port of a Redis store, for its tests: one number leased and committed, and what is there.
import { LeaseError } from '../../src/domain/errors.js';
import type { LeaseNumbers } from '../../src/domain/sequence-requests.js';
import type { CommitResult, LeaseNumbersResult, SequenceStore } from '../../src/stores/sequence-store.js';
import type { Answers, Store } from '../../src/stores/store.js';

export type Leased = Extract<LeaseNumbersResult, { outcome: 'leased' }> & { readonly operationId: string };

export const STREAM = 'orders';

/** What the store answered to the only item. */
export function only<R>({ results: [result] }: Answers<R>): R {
  if (result === undefined) throw new Error('no result');
  const { error } = result as { error?: unknown };
  if (error instanceof LeaseError) throw error;
  return result as R;
}

export function streamsOf(store: Store): SequenceStore {
  if (store.sequences === undefined) throw new Error('the store keeps no sequences');
  return store.sequences;
}

export function leaseOf(operationId: string, over: Partial<LeaseNumbers> = {}): LeaseNumbers {
  return { stream: STREAM, operationId, kind: 'k', ttlMs: 60_000, count: 1, owner: 'o', ...over };
}

export async function lease(store: Store, operationId: string, over: Partial<LeaseNumbers> = {}): Promise<Leased> {
  const result = only(await streamsOf(store).lease([leaseOf(operationId, over)]));
  if (result.outcome !== 'leased') throw new Error(`${operationId} was ${result.outcome}`);
  return { ...result, operationId };
}

export async function commit(store: Store, held: Leased, ...operations: unknown[]): Promise<CommitResult> {
  const { operationId, epoch } = held;
  return only(await streamsOf(store).commit([{ stream: STREAM, operationId, epoch, operations }]));
}

/** Number, state and operation of everything from a number on, without sealing it. */
export async function peek(store: Store, from = 1): Promise<[number, string, unknown][]> {
  const order = { stream: STREAM, from, limit: 1_000, seal: false, watch: false };
  return (await streamsOf(store).read(order)).items.map(({ number, state, operation }) => [number, state, operation]);
}
