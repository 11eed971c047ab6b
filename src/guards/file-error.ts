// The edge where errors of the file system and of the gate's own SQLite file become LeaseErrors (A11).
import { LeaseError } from '../domain/errors.js';

const FULL: ReadonlySet<unknown> = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT']);

/** LeaseErrors pass through. `what` failed, in words: the sentence begins with it. */
export function explainFile(error: unknown, what: string, path: string): LeaseError {
  if (error instanceof LeaseError) return error;
  const driverCode: unknown = (error as { code?: unknown } | null | undefined)?.code;
  const isFull = FULL.has(driverCode);
  const said = error instanceof Error ? error.message : String(error);
  const advice = isFull ? 'free some space on its disk, and write again' : 'check its disk, and who may write there';
  return new LeaseError('STORE_UNAVAILABLE', `${what} failed: ${said}; ${advice}`, {
    cause: error,
    retryable: isFull,
    details: { path, driverCode },
  });
}
