// What went wrong with one item of a list (S21): the functions of the schema answer a word, the sentence is the one every store
// gives.
import { invalid, LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { Failed } from '../store.js';

const INVALID: Readonly<Record<string, string>> = {
  epochs: 'the epoch counter has left the range of safe integers',
  upgrade_parts: 'an upgrade asks for the parts of its own lease',
  upgrade_exclusive: 'the lease is exclusive already',
};

export function failedItem(word: string, count: number | undefined): Failed {
  return { outcome: 'failed', error: errorOf(word, count) };
}

function errorOf(word: string, count: number | undefined): LeaseError {
  if (word !== 'tickets') return invalid(INVALID[word] ?? word);
  return new LeaseError(
    'RATE_LIMITED',
    `${LIMITS.ticketsPerNamespace} requests are waiting in this namespace, which is the limit: try again later`,
    { details: { waiting: count } },
  );
}
