// The edge where the driver's errors become LeaseErrors (A11), each with a sentence that says what to do next.
import { LeaseError } from '../../domain/errors.js';

interface DriverError extends Error {
  readonly code: string;
}

export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED' || code.startsWith('SQLITE_PROTOCOL');
}

export function isDamage(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CORRUPT');
}

export function codeOf(error: unknown): string {
  return error instanceof Error && typeof (error as DriverError).code === 'string' ? (error as DriverError).code : '';
}

/** The codes of a copy that failed for what is copied. All others are about where the copy goes. */
const OF_THE_SOURCE = /^SQLITE_(BUSY|LOCKED|PROTOCOL|NOTADB|CORRUPT|IOERR_(SHORT_)?READ)/;

/** The same for a copy, which is about two files. */
export function translateCopyError(error: unknown, source: string, target: string): LeaseError {
  if (OF_THE_SOURCE.test(codeOf(error))) return translateError(error, source);
  return translateError(error, target, `writing ${target}`);
}

/** LeaseErrors pass through; everything else becomes one. `what` failed where the code says nothing that is known here. */
export function translateError(error: unknown, path: string, what = `the store at ${path}`): LeaseError {
  if (error instanceof LeaseError) return error;
  const code = codeOf(error);
  const base = code.split('_').slice(0, 2).join('_');
  const details = { path, driverCode: code };
  const cause = error;
  switch (base) {
    case 'SQLITE_NOTADB':
      return new LeaseError('STORE_INCOMPATIBLE', `${path} is not a database: name another file, or move it away`, {
        details,
        cause,
      });
    case 'SQLITE_CORRUPT':
      return new LeaseError('STORE_INCOMPATIBLE', `${path} is damaged: restore it from a backup`, { details, cause });
    case 'SQLITE_FULL':
      return unavailable(`the disk that holds ${path} is full: free some space; nothing was half written`, true);
    case 'SQLITE_READONLY':
      return unavailable(`${path} or its directory is read-only: make both writable for this user`, false);
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      return unavailable(
        `${path} cannot be opened: check that the directory exists and this user may write there`,
        false,
      );
    case 'SQLITE_IOERR':
      return unavailable(`reading or writing ${path} failed (${code}): check the disk`, true);
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
    case 'SQLITE_PROTOCOL':
      return unavailable(`${path} is locked by another process: look for one that is stopped inside a write`, true);
    default:
      return unavailable(`${what} failed: ${error instanceof Error ? error.message : String(error)}`, true);
  }

  function unavailable(message: string, retryable: boolean): LeaseError {
    return new LeaseError('STORE_UNAVAILABLE', message, { details, cause, retryable });
  }
}
