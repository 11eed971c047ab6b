// Metadata as a server keeps it (W3): wrapped, together with the id of the token that took the lease. What the caller gave is
// inside, and the limits of metadata (S18) are about that: the server holds it to them before it wraps, and whoever checks
// what is to be kept leaves room for the wrapping.
import { LIMITS } from './limits.js';
import { checkJson } from './metadata.js';

export const TOKEN = 'holdfast:token';
export const METADATA = 'holdfast:metadata';

/** The two keys, an id of 16 digits and the signs between them, with something to spare; and one level. */
const WRAPPING = { bytes: 128, levels: 1 };
const NONE = { bytes: 0, levels: 0 };

export interface Wrapped {
  readonly [TOKEN]: string;
  readonly [METADATA]?: unknown;
}

export function isWrapped(metadata: unknown): metadata is Wrapped {
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, TOKEN)) return false;
  const keys = Object.keys(metadata);
  const isShaped = keys.length === 1 || (keys.length === 2 && Object.hasOwn(metadata, METADATA));
  return isShaped && typeof (metadata as Record<string, unknown>)[TOKEN] === 'string';
}

/** The JSON text of metadata that is to be kept, or INVALID_ARGUMENT. */
export function checkKeptMetadata(metadata: unknown): string | undefined {
  const { bytes, levels } = isWrapped(metadata) ? WRAPPING : NONE;
  return checkJson(metadata, 'metadata', LIMITS.metadataBytes + bytes, levels);
}
