// The scripts about streams, one a method, put together from the chunks beside this file. A method that nearly always finds
// nothing to write down (read, barrier, claim) has a second one that may only look and says when it is not enough.
import { BYTE_ORDER } from './byte-order.js';
import type { Script } from '../link.js';
import { ENDS_THINGS, script } from './scripts.js';
import { APPEND, COMMIT, FILL, LEASE_NUMBERS, PROGRESS, RELEASE } from './sequence-hold.js';
import { BARRIER, CURSOR, GAPS, READ, STREAMS, TRIM } from './sequence-read.js';
import { CLAIM, MANUAL, MANUAL_ITEMS, RENEW_CLAIM, SETTLE, TAKE_CLAIMS } from './sequence-recover.js';
import { SEQUENCE_DUE, SEQUENCE_ROWS } from './sequence-rows.js';
import { SEQUENCE_TRANSITIONS } from './sequence-transitions.js';
import { SEQUENCE_FINISH, SEQUENCE_LOOK, SEQUENCE_STEP, SEQUENCE_WRITE } from './sequence-write.js';

const WRITING = SEQUENCE_STEP + SEQUENCE_ROWS + SEQUENCE_WRITE;

function step(name: string, act: string): Script {
  return script(`sequence.${name}`, ENDS_THINGS, `${WRITING}${SEQUENCE_TRANSITIONS}${act}${SEQUENCE_FINISH}`);
}

/** A list of items: each is decided and written before the next is looked at. */
function list(name: string, flags: string, act: string): Script {
  const each = String.raw`
for i = 1, #ARGV do
  reply[3 + i] = act(ARGV[i])
  flush()
end
`;
  return script(`sequence.${name}`, flags, `${WRITING}${SEQUENCE_TRANSITIONS}${act}${each}${SEQUENCE_FINISH}`);
}

/** Changes nothing but streams themselves and readers, so the transitions of numbers are left out. */
function note(name: string, act: string): Script {
  return script(`sequence.${name}`, ENDS_THINGS, `${WRITING}${act}${SEQUENCE_FINISH}`);
}

function look(name: string, act: string): Script {
  const noWrites = 'local saveStream\n'; // what reading shares with the step that may write
  return script(
    `sequence.${name}`,
    'no-writes',
    `${SEQUENCE_LOOK}${SEQUENCE_ROWS}${BYTE_ORDER}${noWrites}${act}\nreturn reply\n`,
  );
}

/** At maxmemory new numbers and results without a lease are refused; whatever ends or reads something goes on. */
export const SEQUENCE_SCRIPTS = {
  lease: list('lease', '', LEASE_NUMBERS),
  progress: list('progress', ENDS_THINGS, PROGRESS),
  commit: list('commit', ENDS_THINGS, COMMIT),
  release: list('release', ENDS_THINGS, RELEASE),
  append: list('append', '', APPEND),
  fill: list('fill', '', FILL),
  renewClaims: list('renewClaims', ENDS_THINGS, RENEW_CLAIM),
  settle: list('settle', ENDS_THINGS, SETTLE),
  claim: step('claim', BYTE_ORDER + SEQUENCE_DUE + CLAIM + TAKE_CLAIMS),
  manual: step('manual', MANUAL),
  trim: step('trim', TRIM),
  read: note('read', READ),
  barrier: note('barrier', BARRIER),
  cursor: note('cursor', CURSOR),
  lookClaim: look('lookClaim', SEQUENCE_DUE + CLAIM),
  lookRead: look('lookRead', READ),
  lookBarrier: look('lookBarrier', BARRIER),
  gaps: look('gaps', GAPS),
  manualItems: look('manualItems', MANUAL_ITEMS),
  streams: look('streams', STREAMS),
} as const satisfies Readonly<Record<string, Script>>;
