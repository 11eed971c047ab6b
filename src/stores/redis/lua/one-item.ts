// Lua: a call with one plain item, which is what a single caller sends. It does what the lists do (acquire-list.ts, end-list.ts), and
// ends before anything is set up for more: every text that is taken apart, every number that becomes one and every command counts here.
// Numbers stay the texts they are kept as, the clock is put together from its digits, and a counter goes on by its last digit.
//
//   acquire   nothing stands on the name, and the id is new and nobody waits for it, or it is that of the first in line, who claims
//   release   a lease as it was granted; the first in line, if there is one, is woken
//
// It is for a namespace in which nobody stands on a subtree, and whose server is the one it was (S2: asked here too, once it is
// known that there is something to write). In any other case, and where the item is not as it nearly always is, nothing is done: its text
// goes the way of any other.
import { TICKET } from './acquire-plain.js';
import { LONE_TICKET } from './hold.js';
import { releasedAt } from './row-text.js';
import { FORMAT, TELL_CHANGE, tellOwner, WHICH_SERVER } from './step.js';
import { LEFT_TO_SWEEP_MS, WAITED } from './together.js';

/** The digits `%.0f` would give (S17). */
const next = (counter: string): string => String.raw`
    last = string.byte(${counter}, -1)
    if last < 57 then ${counter} = string.sub(${counter}, 1, -2) .. string.char(last + 1)
    else ${counter} = string.format('%.0f', ${counter} + 1) end
`;

/** Moments are compared as texts, which are of the same length until the year 2286. */
const isBefore = (past: string, now: string): string => `#${past} == #${now} and ${past} < ${now}`;

/** `keep`, and the rest of the step for one event. `steady` is the end of the counters from `tickets` on. */
const quickly = (id: string, act: string): string => String.raw`
do
  local time, read = redis.call('TIME'), redis.call('HMGET', KEYS[2], '', ${id})
  local metaText, text = read[1], read[2]
  local nowText = time[1] .. string.sub('00000' .. time[2], -6, -4)
  local epochText, past, arrivalText, seqText, steady, tickets, others, checked, watched, rest, last
  if metaText then
    epochText, past, arrivalText, seqText, steady, tickets, others, checked, watched, rest = string.match(metaText,
      '^${FORMAT} (%d+) (%d+) (%d+) (%d+) ((%d+)( 0 (%d+) (%d+) (.*)))$')
  end
  local here = rest and string.sub(tostring(redis.call), 11)
  local now = rest and tonumber(nowText)
  if rest and (past == nowText or ${isBefore('past', 'nowText')})
    and string.find(rest, here, 1, true) == 1 and string.byte(rest, #here + 1) == 32 then
    local keep = string.byte(rest, #here + 2) == 49
${act}
  end
end
`;

/** Takes `wanted` back where the server is another than the namespace knows, for the step to begin a new life. */
const sameServer = (wanted: string): string => String.raw`
    if ${wanted} and (now - checked >= 10 or now < tonumber(checked)) then
${WHICH_SERVER}
      if found == string.match(rest, '^%S+ %d %d %d+ %d+ (%S+) ') then
        others = ' 0 ' .. nowText .. ' ' .. watched .. ' ' .. rest
        steady = tickets .. others
      else
        ${wanted} = false
      end
    end
`;

/** The first in line of a name: the member of the index. */
const FIRST = String.raw`tickets ~= '0' and redis.call('ZRANGEBYLEX', KEYS[3], '[w' .. name .. '\0', '(w' .. name .. '\1', 'LIMIT', '0', '1')[1]`;

/** Writes the event down. It comes first of all: of what is written, the log is what others are likeliest to have spoilt. */
const log = (event: string): string => String.raw`
      if keep then
        ${next('seqText')}
        redis.call('XADD', KEYS[7], seqText, 'e', ${event})
        if #seqText > 6 and seqText % 128 == 0 and seqText - 1000000 > 0 then
          redis.call('XTRIM', KEYS[7], 'MINID', '~', string.format('%.0f', seqText - 999999))
        end
      end
`;

/** Writes the counters with the row. */
const write = (row: string): string => String.raw`
      redis.call('HSET', KEYS[2], '', '${FORMAT} ' .. epochText .. ' ' .. nowText .. ' ' .. arrivalText .. ' ' .. seqText .. ' ' .. steady,
        id, ${row})
`;

/** As at the end of any step. */
const TELL_WATCHERS = String.raw`
      if watched ~= '0' and not (${isBefore('watched', 'nowText')}) then ${TELL_CHANGE} end
`;

/** What a grant says in the log. */
const acquired = (id: string, owner: string, change: string, figures: string): string =>
  String.raw`'A ' .. nowText .. ' ' .. nowText .. ' ' .. epochText .. ' ' .. ${change} .. '\n' .. ${id} .. '\n' .. ${owner} .. '\n' .. name
          .. '\n\n\nttlMs#' .. ${figures}`;

/** A row that waited, granted: what is rare about it. */
const waitedRow = (arrivedAt: string, joinedEpoch: string): string =>
  String.raw`epochText .. ' ' .. ${arrivedAt} .. ' ' .. ${joinedEpoch} .. ' 0 0 0 0\t\t'`;

/** Out of the line. */
const leave = (id: string): string => String.raw`
        redis.call('ZREM', KEYS[3], first)
        redis.call('ZREM', KEYS[5], ${id})
        redis.call('ZREM', KEYS[6], ${id})
        steady = string.format('%.0f', tickets - 1) .. others
`;

/** bornAt ttlMs callerWall flags id owner name end; the answer is how many, and the epoch. */
export const ACQUIRE_ONE = {
  quick: quickly(
    'ARGV[5]',
    String.raw`
    local ttlMs, id, owner, name, age = ARGV[2], ARGV[5], ARGV[6], ARGV[7], now - ARGV[1]
    local asked, isNext, diesAt, arrived, arrivedAt, joinedEpoch = id .. '\t' .. owner .. '\txn:' .. name .. '\t' .. ARGV[8], false
    local first
    if epochText ~= '9007199254740991' and redis.call('ZLEXCOUNT', KEYS[3], '[n' .. name .. '\0', '(n' .. name .. '\1') == 0 then
      first = ${FIRST}
      if not text then
        isNext = not first and age <= 60000 and age >= -60000
      elseif first then
        diesAt, arrived, arrivedAt, joinedEpoch = string.match(text, ${TICKET})
        isNext = diesAt and arrivedAt ~= nowText and ${isBefore('nowText', 'diesAt')} and string.sub(text, -#asked - 1) == '\n' .. asked
          and first == string.format('w%s\0%014.0f%016.0f%s', name, arrivedAt, arrived, id)
      end
    end
${sameServer('isNext')}
    if isNext then
      local letter, rare, change, waited = 'A', '', '-a', '0'
      ${next('epochText')}
      if arrived then
        letter, change, waited = 'a', 'pa', string.format('%.0f', now - arrivedAt)
        rare = ${waitedRow('arrivedAt', 'joinedEpoch')}
      else
        ${next('arrivalText')}
        arrived = arrivalText
      end
      local expiresAt = string.format('%.0f', now + ttlMs)
${log(acquired('id', 'owner', 'change', String.raw`ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#' .. waited`))}
      if rare ~= '' then
${leave('id')}
      end
      local skewMs = ARGV[3] == nowText and '0' or string.format('%.0f', ARGV[3] - now)
      redis.call('ZADD', KEYS[3], '0', 'n' .. name .. '\0' .. id)
      redis.call('ZADD', KEYS[4], expiresAt, id)
${write(String.raw`letter .. ' ' .. epochText .. ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. ' 0 ' .. skewMs
        .. ' ' .. ttlMs .. ' ' .. arrived .. ' 0 \n' .. rare .. '\n' .. asked`)}
${TELL_WATCHERS}
      return {now, now, rest, 1, epochText}
    end
`,
  ),
  asText: String.raw`
items = {ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. '\n' .. ARGV[5] .. '\t' .. ARGV[6] .. '\txn:' .. ARGV[7] .. '\t' .. ARGV[8]}
`,
};

/** What becomes of the row: a word before it, or, of one that waited, the row as the protocol writes it. */
const RELEASED_ROW = String.raw`
    local released, isWhole
    if not text or not (${isBefore('nowText', 'ARGV[4]')}) then released = nil
    elseif string.find(text, 'A ' .. ARGV[2] .. ' ', 1, true) == 1 then released = ${releasedAt('nowText')} .. text
    elseif string.find(text, 'a ' .. ARGV[2] .. ' ', 1, true) == 1 and string.find(text, ${WAITED}) then
      local figures, tail = string.match(text, '^a (%d+ %d+ %d+ %d+ %d+ %-?%d+ %d+ %d+) 0 %S*(\n.*)$')
      released, isWhole = figures and 'r ' .. figures .. ' ' .. nowText .. ' ' .. tail, true
    end
`;

/** A plain ticket that may be claimed for: what of it goes into the row of the lease. */
const TO_HAND = String.raw`'^p 0 (%d+) %d+ %d+ 0 (%-?%d+) (%d+) (%d+) 0 h\n0 (%d+) (%d+) 0 0 0 0\t\t(\n([^\t]*)\t([^\t]*)\txn:.*)$'`;

/** id epoch acquiredAt expiresAt owner name requestId; the answer is how many, and who was claimed for. */
export const END_ONE = {
  quick: quickly(
    'ARGV[1]',
    String.raw`
    local id, name = ARGV[1], ARGV[6]
${RELEASED_ROW}
    local first, diesAt, nextId, nextOwner, skewMs, ttlMs, arrived, arrivedAt, joinedEpoch, asked = released and ${FIRST}
    if first then
      local waiting = redis.call('HMGET', KEYS[2], string.sub(first, #name + 33))[1] or ''
      diesAt, skewMs, ttlMs, arrived, arrivedAt, joinedEpoch, asked, nextId, nextOwner = string.match(waiting, ${TO_HAND})
      if not nextId or arrivedAt == nowText or epochText == '9007199254740991'
        or redis.call('ZLEXCOUNT', KEYS[3], '[n' .. name .. '\0', '(n' .. name .. '\1') > 1 then
        asked = nil
        diesAt, nextId, nextOwner = string.match(waiting, ${LONE_TICKET})
      end
      if not nextId or not (${isBefore('nowText', 'diesAt')}) then released = nil end
    end
${sameServer('released')}
    if released then
      local heldMs = ARGV[3] == nowText and '0' or string.format('%.0f', now - ARGV[3])
${log(String.raw`'R ' .. nowText .. ' ' .. nowText .. ' ' .. ARGV[2] .. ' ar\n' .. id .. '\n' .. ARGV[5] .. '\n' .. name
          .. '\n\n\nheldMs#' .. heldMs`)}
      redis.call('ZREM', KEYS[3], 'n' .. name .. '\0' .. id)
      if isWhole or ARGV[4] - now > ${LEFT_TO_SWEEP_MS} then
        redis.call('ZADD', KEYS[4], string.format('%.0f', 4503599627370496 + now), id)
      end
      local told, handed = nextId, nil
      if asked then
        ${next('epochText')}
        local expiresAt = now + ttlMs < tonumber(diesAt) and string.format('%.0f', now + ttlMs) or diesAt
${log(acquired('nextId', 'nextOwner', "'pa'", String.raw`ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#' .. string.format('%.0f', now - arrivedAt)`))}
${leave('nextId')}
        redis.call('ZADD', KEYS[3], '0', 'n' .. name .. '\0' .. nextId)
        redis.call('ZADD', KEYS[4], expiresAt, nextId)
        told = '= ' .. nextId .. ' ' .. epochText .. ' ' .. nowText .. ' ' .. expiresAt .. ' ' .. skewMs
        handed = 'a ' .. epochText .. ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. ' 0 ' .. skewMs .. ' ' .. ttlMs .. ' ' .. arrived
          .. ' 0 \n' .. ${waitedRow('arrivedAt', 'joinedEpoch')} .. asked
      end
      if handed then
${write('released, nextId, handed')}
      else
${write('released')}
      end
      if told then
${tellOwner('nextOwner', 'told')}
      end
${TELL_WATCHERS}
      return {now, now, rest, 1, handed and nextId, handed and epochText}
    end
`,
  ),
  asText: String.raw`
items = {ARGV[1] .. ' ' .. ARGV[2] .. ' cancelled ' .. ARGV[7]}
`,
};
