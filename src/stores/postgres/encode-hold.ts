// Lists of renewals, ends and changes as the functions of the schema take them: one array a field.
import type { ChangeRequest, EndRequest, RenewRequest } from '../../domain/requests.js';
import { aboveAll, aboveOne, oneForAll } from './encode-acquire.js';

export function encodeRenews(items: readonly RenewRequest[]): readonly unknown[] {
  return [
    items.map(({ id }) => id),
    items.map(({ epoch }) => epoch),
    items.map(({ requestId }) => requestId),
    items.map(({ ttlMs }) => ttlMs),
    items.map(({ callerWall }) => callerWall),
  ];
}

/** `names`: of each, where all of them are known. */
export function encodeEnds(items: readonly EndRequest[], names: readonly string[] | undefined): readonly unknown[] {
  const above = names && aboveAll(names);
  return [
    items.map(({ id }) => id),
    items.map(({ epoch }) => epoch),
    items.map(({ requestId }) => requestId),
    oneForAll(items.map(({ why }) => why)),
    above && names,
    above,
  ];
}

/** A list of one release whose name is known: see end_one_v1. */
export function encodeSingleEnd(
  items: readonly EndRequest[],
  names: readonly string[] | undefined,
): readonly unknown[] | undefined {
  const [only, name] = [items[0], names?.[0]];
  if (items.length !== 1 || only?.epoch === undefined || name === undefined) return undefined;
  return [only.id, only.epoch, only.requestId, only.why, name, ...aboveOne(name)];
}

export function encodeChanges(items: readonly ChangeRequest[]): readonly unknown[] {
  return [
    items.map(({ id }) => id),
    items.map(({ epoch }) => epoch),
    items.map(({ requestId }) => requestId),
    items.map(({ kind }) => kind),
    items.map((one) => (one.kind === 'downgrade' ? null : one.toOwner)),
    items.map((one) => (one.kind === 'resume' ? one.callerWall : null)),
  ];
}
