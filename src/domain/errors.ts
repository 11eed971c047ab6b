// LeaseError: the one class for failures (A11). Expected refusals are values and never pass through here.
// `retryable` says whether the same call may succeed later without the caller changing anything.

export type LeaseErrorCode =
  | 'INVALID_ARGUMENT'
  | 'ACQUIRE_TIMEOUT'
  | 'ACQUIRE_ABORTED'
  | 'LEASE_LOST'
  | 'STALE_EPOCH'
  | 'NOT_HELD'
  | 'MAX_RENEWALS'
  | 'MAX_HOLD'
  | 'DEADLOCK'
  | 'STORE_UNAVAILABLE'
  | 'STORE_INCOMPATIBLE'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'RATE_LIMITED'
  | 'SHUTTING_DOWN'
  | 'SEQUENCE_SETTLED';

const RETRYABLE: ReadonlySet<LeaseErrorCode> = new Set<LeaseErrorCode>([
  'ACQUIRE_TIMEOUT',
  'DEADLOCK',
  'STORE_UNAVAILABLE',
  'RATE_LIMITED',
]);

export interface LeaseErrorOptions {
  readonly details?: Record<string, unknown>;
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

export class LeaseError extends Error {
  readonly code: LeaseErrorCode;
  readonly retryable: boolean;
  readonly details: Record<string, unknown>;

  constructor(code: LeaseErrorCode, message: string, options: LeaseErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LeaseError';
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.details = options.details ?? {};
  }
}

/** Any value in a few words for a message, whatever it is: nothing a caller passes in can make this throw. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/** Asked again, it may fare better. */
export function mayPass(error: unknown): boolean {
  return error instanceof LeaseError && error.retryable;
}

export function invalid(message: string, details?: Record<string, unknown>): LeaseError {
  return new LeaseError('INVALID_ARGUMENT', message, details === undefined ? {} : { details });
}
