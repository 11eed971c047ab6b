// The gaps of a stream (N4): which there are, and filling one by its own operation.
import { checkNumber } from '../domain/check-sequence.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { OperationsOf, StreamGap, StreamGaps } from './face.js';
import { storedOtherwise, toStreamGap } from './outcomes.js';
import type { SequenceLink } from './sequence-link.js';

export class Gaps<Op> implements StreamGaps<Op> {
  readonly #link: SequenceLink;
  readonly #stream: string;

  constructor(link: SequenceLink, stream: string) {
    this.#link = link;
    this.#stream = stream;
  }

  async list({ after = 0, limit = LIMITS.rowsPerStep }: { after?: number; limit?: number } = {}): Promise<StreamGap[]> {
    const query = { stream: this.#stream, after, limit };
    const { gaps } = await this.#link.call('gaps', (store) => store.gaps(query));
    return gaps.map(toStreamGap);
  }

  async isGap(number: number): Promise<boolean> {
    checkNumber(number);
    const query = {
      stream: this.#stream,
      after: Math.max(0, number - LIMITS.numbersPerLease),
      limit: LIMITS.rowsPerStep,
    };
    const { gaps } = await this.#link.call('gaps', (store) => store.gaps(query));
    return gaps.some((gap) => gap.number <= number && number < gap.number + gap.count);
  }

  async fill(number: number, operationId: string, operation: OperationsOf<Op>): Promise<{ number: number }> {
    const stream = this.#stream;
    await this.#link.mayWrite(stream);
    const known = (await this.list({ after: Math.max(0, number - LIMITS.numbersPerLease) })).find(
      (gap) => gap.number <= number && number < gap.number + gap.count,
    );
    const list = Array.isArray(operation) && operation.length > 1 ? (operation as readonly unknown[]) : undefined;
    const ask = async (operations: readonly unknown[]) => {
      const request = { stream, number, operationId, operations, owner: this.#link.owner };
      return (await this.#link.call('fill', (store) => store.fill([request]))).results[0];
    };
    let result = await ask(list && known && known.count > 1 ? list : [operation]);
    // S5: once filled it is no gap any more that says how many numbers it had; what was stored does.
    if (list && !known && result?.outcome === 'mismatch') result = await ask(list);
    if (result?.outcome === 'failed') throw result.error;
    if (result?.outcome === 'stored') return { number: result.first };
    if (result?.outcome === 'notGap') throw noGap(stream, number, operationId, result.state);
    if (known && known.operationId !== operationId) throw ofAnother(known);
    throw storedOtherwise({ stream, operationId });
  }
}

function noGap(stream: string, number: number, operationId: string, state: string): LeaseError {
  const what = state === 'unknown' ? 'has never been leased' : `is ${state}`;
  const code = state === 'unknown' ? 'INVALID_ARGUMENT' : 'SEQUENCE_SETTLED';
  return new LeaseError(code, `number ${number} of ${stream} is no gap: it ${what}`, {
    details: { stream, number, operationId, state },
  });
}

function ofAnother(gap: StreamGap): LeaseError {
  const { number, operationId } = gap;
  return new LeaseError(
    'INVALID_ARGUMENT',
    `gap ${number} belongs to operation ${operationId}, and is filled by no other`,
    {
      details: { number, operationId },
    },
  );
}
