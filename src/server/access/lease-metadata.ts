// A lease remembers the token that took it (W3) without a field of its own: the server wraps the caller's metadata together
// with the id of its token, and unwraps it in every answer it gives. What a caller wrote itself is inside the wrapping, so no
// caller can claim another's lease.
import { checkMetadata } from '../../domain/check-request.js';
import { isWrapped, METADATA, TOKEN } from '../../domain/wrapped-metadata.js';
import type { Caller } from '../context.js';

/** Metadata as it is kept. Checked here: the store, which leaves room for the wrapping, cannot tell who wrapped it. */
export function wrapMetadata({ tokenId }: Caller, metadata: unknown): unknown {
  checkMetadata(metadata);
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
