// Where a finished result goes when the store cannot be reached, and what its writer is told about it (V7).
import { LeaseError } from '../domain/errors.js';

interface Result {
  stream: string;
  operationId: string;
  kind: string;
  epoch: number;
  operations: readonly unknown[];
}

/** Where a result that the store does not take goes (V7); none where no spool was named. */
export interface ResultKeeper {
  keep(result: Result): Promise<void>;
  drop(stream: string, operationId: string): Promise<void>;
}

export interface Kept {
  readonly isKept: boolean;
  /** What the writer is told when the store did not take it: without a spool just why. */
  told(cause: unknown): unknown;
}

/** On this machine's disk when it resolves, if that can be. Never rejects. */
export async function keepResult(keeper: ResultKeeper | undefined, result: Result): Promise<Kept> {
  if (!keeper) return { isKept: false, told: (cause) => cause };
  const named = { stream: result.stream, operationId: result.operationId };
  try {
    await keeper.keep(result);
    return { isKept: true, told: (cause) => spooled(named, cause) };
  } catch (error) {
    return { isKept: false, told: (cause) => notSpooled(named, cause, error) };
  }
}

function spooled({ stream, operationId }: { stream: string; operationId: string }, cause: unknown): LeaseError {
  return new LeaseError(
    'STORE_UNAVAILABLE',
    `${whyNot(cause)}: the result of ${operationId} is in the spool, and is stored in ${stream} when it can be`,
    { details: { stream, operationId, spooled: true }, cause, retryable: false },
  );
}

/** Nobody has the result now but the caller. */
function notSpooled(named: { stream: string; operationId: string }, cause: unknown, spoolError: unknown): LeaseError {
  const why = spoolError instanceof Error ? spoolError.message : String(spoolError);
  return new LeaseError('STORE_UNAVAILABLE', `${whyNot(cause)}, and the result could not be spooled: ${why}`, {
    details: { ...named, spooled: false },
    cause,
    retryable: false,
  });
}

function whyNot(cause: unknown): string {
  const isClosed = cause instanceof LeaseError && cause.code === 'SHUTTING_DOWN';
  return isClosed ? 'shutdown() was called' : 'the store cannot be reached';
}
