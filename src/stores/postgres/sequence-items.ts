// Lists about numbers as the functions of the schema take them: each item checked here, so that a bad one fails alone (S21), its
// operations as the text that is kept and the hash of it, and one column for each field.
import {
  checkAppend,
  checkClaimRenewal,
  checkCommit,
  checkFill,
  checkLeaseNumbers,
  checkProgress,
  checkRelease,
  checkSettle,
} from '../../domain/check-sequence.js';
import { hash53 } from '../../domain/content.js';
import type * as requests from '../../domain/sequence-requests.js';

/** A request with the JSON text of what is to be kept, where there is any. */
export interface Checked<Q> {
  readonly request: Q;
  readonly text: string | undefined;
  readonly content: number | null;
}

const keeping =
  <Q>(check: (request: Q) => unknown) =>
  (request: Q): Checked<Q> => {
    const text = check(request) as string | undefined;
    return { request, text, content: text === undefined ? null : hash53(text) };
  };

export const checkedLease = keeping<requests.LeaseNumbers>(checkLeaseNumbers);
export const checkedProgress = keeping<requests.ProgressRequest>(checkProgress);
export const checkedCommit = keeping<requests.CommitRequest>(checkCommit);
export const checkedRelease = keeping<requests.ReleaseNumbers>(checkRelease);
export const checkedAppend = keeping<requests.AppendRequest>(checkAppend);
export const checkedFill = keeping<requests.FillRequest>(checkFill);
export const checkedRenewal = keeping<requests.ClaimRenewal>(checkClaimRenewal);
export const checkedSettle = keeping<requests.SettleRequest>(checkSettle);

interface Named {
  readonly stream: string;
  readonly operationId: string;
}
type Items<Q> = readonly Checked<Q>[];

const names = (items: Items<Named>): unknown[][] => [
  items.map(({ request }) => request.stream),
  items.map(({ request }) => request.operationId),
];
const texts = (items: Items<unknown>): unknown[][] => [
  items.map(({ text }) => text),
  items.map(({ content }) => content),
];

/** No operation is named twice: then the items of a list do not depend on each other. */
function isPlain(items: Items<Named>): boolean {
  if (items.length < 2) return items.length === 1;
  return new Set(items.map(({ request }) => `${request.stream}\n${request.operationId}`)).size === items.length;
}

export function encodeLeases(items: Items<requests.LeaseNumbers>): unknown[] {
  return [
    ...names(items),
    items.map(({ request }) => request.kind),
    items.map(({ request }) => request.ttlMs),
    items.map(({ request }) => request.count),
    items.map(({ request }) => request.owner),
    isPlain(items),
  ];
}

export function encodeCommits(items: Items<requests.CommitRequest>): unknown[] {
  return [
    ...names(items),
    items.map(({ request }) => request.epoch),
    ...texts(items),
    items.map(({ request }) => request.operations.length),
    isPlain(items),
  ];
}

const WHATS = { look: 0, renew: 1, partial: 2, finished: 3 } as const;

export function encodeProgress(items: Items<requests.ProgressRequest>): unknown[] {
  return [
    ...names(items),
    items.map(({ request }) => request.epoch),
    items.map(({ request }) => WHATS[request.progress.what]),
    items.map(({ request: { progress } }) => (progress.what === 'renew' ? progress.ttlMs : null)),
    ...texts(items),
    items.map(({ request: { progress } }) => (progress.what === 'finished' ? progress.operations.length : null)),
  ];
}

export function encodeReleases(items: Items<requests.ReleaseNumbers>): unknown[] {
  return [...names(items), items.map(({ request }) => request.epoch), items.map(({ request }) => request.reason)];
}

export function encodeAppends(items: Items<requests.AppendRequest>): unknown[] {
  return [
    ...names(items),
    items.map(({ request }) => request.kind),
    items.map(({ request }) => request.owner),
    items.map(({ request }) => request.epoch),
    items.map(({ request }) => request.type),
    ...texts(items),
    items.map(({ request }) => request.operations.length),
  ];
}

export function encodeFills(items: Items<requests.FillRequest>): unknown[] {
  return [
    items.map(({ request }) => request.stream),
    items.map(({ request }) => request.number),
    items.map(({ request }) => request.operationId),
    ...texts(items),
    items.map(({ request }) => request.operations.length),
  ];
}

export function encodeRenewals(items: Items<requests.ClaimRenewal>): unknown[] {
  return [...names(items), items.map(({ request }) => request.claimEpoch), items.map(({ request }) => request.ttlMs)];
}

export function encodeSettlements(items: Items<requests.SettleRequest>): unknown[] {
  const of = (pick: (one: requests.Settlement) => unknown): unknown[] =>
    items.map(({ request }) => pick(request.settlement));
  return [
    ...names(items),
    items.map(({ request }) => request.claimEpoch),
    of(({ to }) => to),
    ...texts(items),
    of((one) => (one.to === 'move' ? one.operations.length : null)),
    of((one) => (one.to === 'move' ? one.type : null)),
    of((one) => (one.to === 'gap' || one.to === 'manual' ? one.reason : null)),
    of((one) => (one.to === 'retry' || one.to === 'manual' ? one.error : null)),
    of((one) => (one.to === 'retry' ? one.afterMs : one.to === 'gap' ? one.againAfterMs : null)),
  ];
}

/** What a failed item is told it had too many or too few of. */
export function operationsOf(request: object): readonly unknown[] {
  const { operations, progress, settlement } = request as {
    operations?: readonly unknown[];
    progress?: { operations?: readonly unknown[] };
    settlement?: { operations?: readonly unknown[] };
  };
  return operations ?? progress?.operations ?? settlement?.operations ?? [];
}
