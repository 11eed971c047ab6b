// A lease remembers the token that took it (W3) without a field of its own: the server wraps the caller's metadata together
// with the id of its token, and unwraps it in every answer it gives. What a caller wrote itself is inside the wrapping, so no
// caller can claim another's lease.
import type { Caller } from '../context.js';

const TOKEN = 'holdfast:token';
const METADATA = 'holdfast:metadata';

export function wrapMetadata({ tokenId }: Caller, metadata: unknown): unknown {
  if (tokenId === undefined) return metadata;
  return metadata === undefined ? { [TOKEN]: tokenId } : { [TOKEN]: tokenId, [METADATA]: metadata };
}

export function unwrapMetadata(metadata: unknown): unknown {
  return isWrapped(metadata) ? metadata[METADATA] : metadata;
}

/** The id of the token that took the lease; undefined for a lease that was taken past the server, or without tokens. */
export function takenBy(metadata: unknown): string | undefined {
  return isWrapped(metadata) ? metadata[TOKEN] : undefined;
}

/** The same record with the metadata its taker gave. */
export function unwrapped<L extends { readonly metadata?: unknown }>(lease: L): L {
  if (!isWrapped(lease.metadata)) return lease;
  const { metadata, ...rest } = lease;
  const given = unwrapMetadata(metadata);
  return (given === undefined ? rest : { ...rest, metadata: given }) as L;
}

function isWrapped(metadata: unknown): metadata is { [TOKEN]: string; [METADATA]?: unknown } {
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, TOKEN)) return false;
  const keys = Object.keys(metadata);
  const isShaped = keys.length === 1 || (keys.length === 2 && Object.hasOwn(metadata, METADATA));
  return isShaped && typeof (metadata as Record<string, unknown>)[TOKEN] === 'string';
}
