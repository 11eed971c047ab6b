// What a store answers about numbers, in the words of people: every no as a LeaseError with its code and facts (A11), and
// settled numbers in their public shape.
import { LeaseError } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import type { Gap, SettledNumber } from '../domain/sequence.js';
import type { CursorReply, NotHeldNumber } from '../stores/sequence-store.js';
import type { Settled, StreamGap } from './face.js';

export function toSettled<Op>(item: SettledNumber): Settled<Op> {
  const { number, state, operationId, kind } = item;
  const settled: Settled<Op> = { number, state, operationId, kind };
  if (item.operation !== undefined) settled.operation = item.operation as Op;
  if (item.movedTo !== undefined) settled.movedTo = item.movedTo;
  if (item.recovery !== undefined)
    settled.recovery = { ...item.recovery, recoveredAt: isoTime(item.recovery.recoveredAt) };
  return settled;
}

export function toStreamGap({ createdAt, originalExpiry, movedTo, ...gap }: Gap): StreamGap {
  const times = { createdAt: isoTime(createdAt), originalExpiry: isoTime(originalExpiry) };
  return { ...gap, ...times, ...(movedTo === undefined ? {} : { movedTo }) };
}

interface Named {
  readonly stream: string;
  readonly operationId: string;
}

export function lostNumber({ stream, operationId }: Named, found: NotHeldNumber): LeaseError {
  const why: Readonly<Record<NotHeldNumber['state'], string>> = {
    unknown: 'the store does not know it',
    leased: 'it was leased again under another epoch',
    expired: 'its lease has expired',
    recovering: 'its lease has expired and it is being recovered',
    committed: 'it is committed already',
    filled: 'its gap is filled already',
    moved: 'it was recovered under another number',
    gap: 'its number became a gap: gaps.fill() may still store the result',
  };
  return new LeaseError(
    'LEASE_LOST',
    `operation ${operationId} no longer holds its number of ${stream}: ${why[found.state]}`,
    {
      details: {
        stream,
        operationId,
        state: found.state,
        ...(found.epoch === undefined ? {} : { epoch: found.epoch }),
      },
    },
  );
}

export function settledAlready({ stream, operationId }: Named, items: readonly SettledNumber[]): LeaseError {
  const [first] = items;
  const where = first === undefined ? '' : ` as number ${first.number} (${first.state})`;
  return new LeaseError('SEQUENCE_SETTLED', `operation ${operationId} is settled already in ${stream}${where}`, {
    details: { stream, operationId, items: items.map((item) => toSettled(item)) },
  });
}

export function storedOtherwise({ stream, operationId }: Named): LeaseError {
  return new LeaseError(
    'SEQUENCE_SETTLED',
    `operation ${operationId} is stored in ${stream} with other content: an operation id is for one operation`,
    { details: { stream, operationId } },
  );
}

export function otherLease({ stream, operationId }: Named): LeaseError {
  return new LeaseError(
    'INVALID_ARGUMENT',
    `operation ${operationId} of ${stream} was leased with another kind or count: an operation id is for one operation`,
    { details: { stream, operationId } },
  );
}

/** What `done` of a reader comes to when it did not move the cursor. */
export function cursorRefused(
  stream: string,
  reader: string,
  number: number,
  epoch: number,
  reply: CursorReply,
): LeaseError {
  const details = { stream, reader, number };
  if (reply.outcome === 'stale') {
    return new LeaseError(
      'STALE_EPOCH',
      `reader ${reader} of ${stream} was opened elsewhere since: stop this one, or give it a name of its own`,
      { details: { ...details, current: reply.epoch, attempted: epoch } },
    );
  }
  if (reply.outcome === 'beyond') {
    return new LeaseError('INVALID_ARGUMENT', `${stream} is settled up to ${reply.watermark}, not up to ${number}`, {
      details: { ...details, watermark: reply.watermark },
    });
  }
  return new LeaseError('NOT_HELD', `reader ${reader} of ${stream} has been forgotten: open it again`, { details });
}

export function trimmedAway(stream: string, from: number, trimmedBefore: number): LeaseError {
  return new LeaseError(
    'INVALID_ARGUMENT',
    `operations of ${stream} below ${trimmedBefore} were trimmed: read from ${trimmedBefore} on, got ${from}`,
    { details: { stream, from, trimmedBefore } },
  );
}
