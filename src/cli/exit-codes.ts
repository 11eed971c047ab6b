// What the command's exit code says (C1). The numbers are those of sysexits.h, so that scripts know most of them already.
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';

export const EXIT = {
  ok: 0,
  usage: 64,
  noInput: 66,
  unreachable: 69,
  internal: 70,
  output: 74,
  refused: 75,
  lost: 76,
  notAllowed: 77,
} as const;

const BY_CODE: Readonly<Record<LeaseErrorCode, number>> = {
  INVALID_ARGUMENT: EXIT.usage,
  ACQUIRE_TIMEOUT: EXIT.refused,
  ACQUIRE_ABORTED: EXIT.refused,
  LEASE_LOST: EXIT.lost,
  STALE_EPOCH: EXIT.lost,
  NOT_HELD: EXIT.lost,
  MAX_RENEWALS: EXIT.lost,
  MAX_HOLD: EXIT.lost,
  DEADLOCK: EXIT.refused,
  STORE_UNAVAILABLE: EXIT.unreachable,
  STORE_INCOMPATIBLE: EXIT.unreachable,
  UNAUTHORIZED: EXIT.notAllowed,
  FORBIDDEN: EXIT.notAllowed,
  RATE_LIMITED: EXIT.refused,
  SHUTTING_DOWN: EXIT.unreachable,
  SEQUENCE_SETTLED: EXIT.refused,
};

/** An end of the command that is not success: the code, and one line that says what to do next. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

export function usage(message: string): CommandError {
  return new CommandError(EXIT.usage, message);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof LeaseError) return BY_CODE[error.code];
  return EXIT.internal;
}
