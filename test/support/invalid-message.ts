// For tests of bad input: what was said when it was refused. Anything but an INVALID_ARGUMENT is the test's failure.
import { LeaseError } from '../../src/domain/errors.js';

export function invalidMessage(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof LeaseError && error.code === 'INVALID_ARGUMENT') return error.message;
    throw error;
  }
  throw new Error('accepted, though it should have been refused');
}
