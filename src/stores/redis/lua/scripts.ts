// The scripts of the store, one a method, put together from the chunks beside this file. Each is sent by its SHA-1.
import { createHash } from 'node:crypto';
import type { Script } from '../link.js';
import { ACQUIRE } from './acquire.js';
import { ACQUIRE_LIST } from './acquire-list.js';
import { ACQUIRE_ITEM, PLAIN_ACQUIRE } from './acquire-plain.js';
import { DECIDE } from './decide.js';
import { FAIL_TICKET } from './deadlock.js';
import { END_LIST } from './end-list.js';
import { REVOKE, SWEEP } from './govern.js';
import { CHANGE, END, HOLD_ITEM, PLAIN_END, PLAIN_RENEW, RENEW, WAKE_FIRST } from './hold.js';
import { EVENTS, PRUNE } from './log.js';
import { ACQUIRE_ONE, END_ONE } from './one-item.js';
import { GET, GRAPH, LIST, SHOW } from './reads.js';
import { ROWS } from './rows.js';
import { ROW_TEXT } from './row-text.js';
import { FINISH, LOOK, STEP } from './step.js';
import { PUT_DOWN, READ_TOGETHER, writeTogether } from './together.js';
import { TRANSITIONS, WAKE } from './transitions.js';
import { GET_SETTINGS, HEALTH, OPEN, SET_SETTINGS, TIME, WATCH } from './upkeep.js';

const PROTOCOL = ROW_TEXT + ROWS + DECIDE + TRANSITIONS + WAKE;

/** At maxmemory these go on: what ends or shortens something, what is done with what is held, and what somebody needs who has to connect
 *  or to set something for that. None of them takes much. */
export const ENDS_THINGS = 'allow-oom';

export function script(name: string, flags: string, body: string): Script {
  const source = `#!lua${flags === '' ? '' : ` flags=${flags}`}\n-- holdfast: ${name}\n${body}`;
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}

interface ListParts {
  readonly act: string;
  readonly call: string;
  readonly plain?: PlainItems;
  /** Deals with the whole list, or puts the texts of its items together. */
  readonly whole?: string;
  /** Deals with the whole call and returns, or does nothing. */
  readonly quick?: string;
}
/** Items that most are like, and that write together. */
interface PlainItems {
  /** Finds their ids. */
  readonly first: string;
  /** Leaves by `break` when the item is not for it; else sets `answer`. */
  readonly act: string;
  readonly names?: 'ZADD' | 'ZREM';
  /** The wake-ups, where every item was plain. */
  readonly wake?: string;
}

/** A list of items, and one turn more for the wake-ups. The protocol is put together by the first turn that needs it: the
 *  functions of it cost as much as the whole of a plain item. */
function list(name: string, flags: string, { act, call, plain, whole = '', quick = '' }: ListParts): Script {
  const begin = plain ? `${READ_TOGETHER}${PUT_DOWN}${plain.first}` : '';
  const body = String.raw`${quick}${STEP}
local items, readTexts = ARGV, nil
${whole}
if items[1] or freed[1] then
local protocol, acted = nil, 0
${begin}
for i = 1, #items + 1 do
  local item, answer = items[i], nil
  repeat
    if not item then break end
${plain?.act ?? 'break'}
  until true
${plain ? writeTogether(plain.names) : ''}
${plain?.wake ? `if not item then ${plain.wake} end` : ''}
  if (item and not answer) or (not item and tickets > 0 and #freed > 0) then
    if not protocol then
${PROTOCOL}${act}
      protocol = {act = ${call}, wake = wake, forget = forget}
    end
    if item then answer = protocol.act(item) else protocol.wake() end
    acted = acted + 1
  end
  if item then reply[3 + i] = answer end
end
end
${FINISH}`;
  return script(name, flags, body);
}

function step(name: string, flags: string, act: string): Script {
  return script(name, flags, `${STEP}${PROTOCOL}${act}\nwake()${FINISH}`);
}

function look(name: string, act: string): Script {
  return script(name, 'no-writes', `${LOOK}${act}\nreturn reply\n`);
}
const WITH_ROWS = ROW_TEXT + ROWS;

const ACQUIRING: ListParts = {
  plain: { first: ACQUIRE_ITEM, act: PLAIN_ACQUIRE, names: 'ZADD' },
  act: ACQUIRE,
  call: 'acquire',
};
const ENDING: ListParts = {
  plain: { first: HOLD_ITEM, act: PLAIN_END, names: 'ZREM', wake: WAKE_FIRST },
  act: END,
  call: 'endOne',
};

export const SCRIPTS = {
  acquire: list('acquire', '', ACQUIRING),
  acquirePlain: list('acquirePlain', '', { ...ACQUIRING, whole: ACQUIRE_LIST }),
  acquireOne: list('acquireOne', '', { ...ACQUIRING, quick: ACQUIRE_ONE.quick, whole: ACQUIRE_ONE.asText }),
  renew: list('renew', ENDS_THINGS, { plain: { first: HOLD_ITEM, act: PLAIN_RENEW }, act: RENEW, call: 'renew' }),
  end: list('end', ENDS_THINGS, ENDING),
  endOwn: list('endOwn', ENDS_THINGS, { ...ENDING, whole: END_LIST }),
  endOne: {
    ...list('endOne', ENDS_THINGS, { ...ENDING, quick: END_ONE.quick, whole: END_ONE.asText }),
    tellsFirst: true,
  },
  change: list('change', ENDS_THINGS, { act: CHANGE, call: 'change' }),
  revoke: step('revoke', ENDS_THINGS, REVOKE),
  failTicket: step('failTicket', ENDS_THINGS, FAIL_TICKET),
  sweep: step('sweep', ENDS_THINGS, SWEEP),
  prune: step('prune', ENDS_THINGS, PRUNE),
  events: look('events', EVENTS),
  get: look('get', GET),
  list: look('list', WITH_ROWS + LIST),
  show: look('show', WITH_ROWS + SHOW),
  graph: look('graph', WITH_ROWS + GRAPH),
  time: look('time', TIME),
  health: script('health', 'no-writes', HEALTH),
  settings: look('settings', GET_SETTINGS),
  open: script('open', ENDS_THINGS, `${STEP}${OPEN}${FINISH}`),
  setSettings: script('setSettings', ENDS_THINGS, `${STEP}${SET_SETTINGS}${FINISH}`),
  watch: script('watch', ENDS_THINGS, `${STEP}${WATCH}${FINISH}`),
} as const satisfies Readonly<Record<string, Script>>;
