// The migrations, in order, each under a name that never changes and with a checksum of its text. `oldestCode`: the oldest
// version of this program that may still run beside a database that has it (docs/decisions/0010).
import { createHash } from 'node:crypto';
import { ACQUIRE_ANSWERS } from './acquire-answers.js';
import { ACQUIRE_ITEM } from './acquire-item.js';
import { ACQUIRE_LIST } from './acquire-list.js';
import { ACQUIRE_PARTS } from './acquire-parts.js';
import { CHANGING } from './changing.js';
import { DECIDING } from './deciding.js';
import { ENDING } from './ending.js';
import { GOVERNING } from './governing.js';
import { KEEPING } from './keeping.js';
import { LINE } from './line.js';
import { LOCKING } from './locking.js';
import { LOOKING } from './looking.js';
import { OPENING } from './opening.js';
import { RELEASING } from './releasing.js';
import { RENEWING } from './renewing.js';
import { SEQUENCE_COMMIT } from './sequence-commit.js';
import { SEQUENCE_HOLD } from './sequence-hold.js';
import { SEQUENCE_KEEP } from './sequence-keep.js';
import { SEQUENCE_LEASE } from './sequence-lease.js';
import { SEQUENCE_PARTS } from './sequence-parts.js';
import { SEQUENCE_READ } from './sequence-read.js';
import { SEQUENCE_RECOVER } from './sequence-recover.js';
import { SEQUENCE_TABLES } from './sequence-tables.js';
import { SINGLE } from './single.js';
import { TABLES } from './tables.js';
import { TRANSITIONS } from './transitions.js';
import { WAKING } from './waking.js';

export interface Migration {
  readonly name: string;
  readonly text: string;
  readonly oldestCode: number;
}

/** The version of this program as migrations count it: raised when one is added. */
export const CODE_VERSION = 2;

const FUNCTIONS = [
  LOCKING,
  OPENING,
  DECIDING,
  TRANSITIONS,
  WAKING,
  ACQUIRE_PARTS,
  ACQUIRE_ANSWERS,
  LINE,
  ACQUIRE_ITEM,
  ACQUIRE_LIST,
  RENEWING,
  ENDING,
  RELEASING,
  CHANGING,
  SINGLE,
  GOVERNING,
  LOOKING,
  KEEPING,
];

const SEQUENCES = [
  SEQUENCE_TABLES,
  SEQUENCE_PARTS,
  SEQUENCE_LEASE,
  SEQUENCE_COMMIT,
  SEQUENCE_HOLD,
  SEQUENCE_RECOVER,
  SEQUENCE_READ,
  SEQUENCE_KEEP,
];

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-tables', text: TABLES, oldestCode: 1 },
  {
    name: '0002-functions',
    text: FUNCTIONS.join('\n'),
    oldestCode: 1,
  },
  { name: '0003-sequences', text: SEQUENCES.join('\n'), oldestCode: 1 },
];

export function checksumOf({ text }: Migration): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
