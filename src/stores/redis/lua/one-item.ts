// Lua: a call with one plain item, which is what a single caller sends. It does what the lists do (acquire-list.ts, end-list.ts), and
// ends before anything is set up for more: every text that is taken apart, every number that becomes one and every command counts here.
// Numbers stay the texts they are kept as, the clock is put together from its digits, and a counter goes on by its last digit.
//
// It is for a namespace in which nobody waits, stands on a subtree or watches, and whose server was looked at in the last ten
// milliseconds. In any other case, and where the item is not as it nearly always is, nothing is done: its text goes the way of any other.
import { releasedAt } from './row-text.js';
import { FORMAT } from './step.js';
import { LEFT_TO_SWEEP_MS } from './together.js';

/** The digits `%.0f` would give (S17). */
const next = (counter: string): string => String.raw`
    last = string.byte(${counter}, -1)
    if last < 57 then ${counter} = string.sub(${counter}, 1, -2) .. string.char(last + 1)
    else ${counter} = string.format('%.0f', ${counter} + 1) end
`;

/** Moments are compared as texts, which are of the same length until the year 2286. */
const isBefore = (past: string, now: string): string => `#${past} == #${now} and ${past} < ${now}`;

/** `keep`, and the rest of the step for one event. */
const quickly = (id: string, act: string): string => String.raw`
do
  local time, read = redis.call('TIME'), redis.call('HMGET', KEYS[2], '', ${id})
  local metaText, text = read[1], read[2]
  local nowText = time[1] .. string.sub('00000' .. time[2], -6, -4)
  local epochText, past, arrivalText, seqText, steady, checked, watched, rest, last
  if metaText then
    epochText, past, arrivalText, seqText, steady, checked, watched, rest = string.match(metaText,
      '^${FORMAT} (%d+) (%d+) (%d+) (%d+) (0 0 (%d+) (%d+) (.*))$')
  end
  local here = rest and string.sub(tostring(redis.call), 11)
  local now = rest and tonumber(nowText)
  if rest and (past == nowText or ${isBefore('past', 'nowText')}) and now - checked < 10 and now - checked >= 0
    and (watched == '0' or ${isBefore('watched', 'nowText')})
    and string.find(rest, here, 1, true) == 1 and string.byte(rest, #here + 1) == 32 then
    local keep = string.byte(rest, #here + 2) == 49
${act}
  end
end
`;

/** Writes the event down, and the counters with a field of the row. */
const finish = (field: string, value: string, event: string, reply: string): string => String.raw`
      if keep then
        ${next('seqText')}
        redis.call('XADD', KEYS[7], seqText, 'e', ${event})
        if #seqText > 6 and seqText % 128 == 0 and seqText - 1000000 > 0 then
          redis.call('XTRIM', KEYS[7], 'MINID', '~', string.format('%.0f', seqText - 999999))
        end
      end
      redis.call('HSET', KEYS[2], '', '${FORMAT} ' .. epochText .. ' ' .. nowText .. ' ' .. arrivalText .. ' ' .. seqText .. ' ' .. steady,
        ${field}, ${value})
      return {now, now, rest, ${reply}}
`;

/** bornAt ttlMs callerWall flags id owner name end; the answer is how many, and the epoch. */
export const ACQUIRE_ONE = {
  quick: quickly(
    'ARGV[5]',
    String.raw`
    local ttlMs, id, owner, name, age = ARGV[2], ARGV[5], ARGV[6], ARGV[7], now - ARGV[1]
    if not text and age <= 60000 and age >= -60000 and epochText ~= '9007199254740991'
      and redis.call('ZLEXCOUNT', KEYS[3], '[n' .. name .. '\0', '(n' .. name .. '\1') == 0 then
      ${next('epochText')}${next('arrivalText')}
      local expiresAt = string.format('%.0f', now + ttlMs)
      local skewMs = ARGV[3] == nowText and '0' or string.format('%.0f', ARGV[3] - now)
      redis.call('ZADD', KEYS[3], '0', 'n' .. name .. '\0' .. id)
      redis.call('ZADD', KEYS[4], expiresAt, id)
${finish(
  'id',
  String.raw`'A ' .. epochText .. ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. ' 0 ' .. skewMs
        .. ' ' .. ttlMs .. ' ' .. arrivalText .. ' 0 \n\n' .. id .. '\t' .. owner .. '\txn:' .. name .. '\t' .. ARGV[8]`,
  String.raw`'A ' .. nowText .. ' ' .. nowText .. ' ' .. epochText .. ' -a\n' .. id .. '\n' .. owner .. '\n' .. name
          .. '\n\n\nttlMs#' .. ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#0'`,
  '1, epochText',
)}
    end
`,
  ),
  asText: String.raw`
items = {ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. '\n' .. ARGV[5] .. '\t' .. ARGV[6] .. '\txn:' .. ARGV[7] .. '\t' .. ARGV[8]}
`,
};

/** id epoch acquiredAt expiresAt owner name requestId; the answer is how many. */
export const END_ONE = {
  quick: quickly(
    'ARGV[1]',
    String.raw`
    local id, name = ARGV[1], ARGV[6]
    if text and ${isBefore('nowText', 'ARGV[4]')} and string.find(text, 'A ' .. ARGV[2] .. ' ', 1, true) == 1 then
      redis.call('ZREM', KEYS[3], 'n' .. name .. '\0' .. id)
      if ARGV[4] - now > ${LEFT_TO_SWEEP_MS} then redis.call('ZADD', KEYS[4], string.format('%.0f', 4503599627370496 + now), id) end
      local heldMs = ARGV[3] == nowText and '0' or string.format('%.0f', now - ARGV[3])
${finish(
  'id',
  `${releasedAt('nowText')} .. text`,
  String.raw`'R ' .. nowText .. ' ' .. nowText .. ' ' .. ARGV[2] .. ' ar\n' .. id .. '\n' .. ARGV[5] .. '\n' .. name
          .. '\n\n\nheldMs#' .. heldMs`,
  '1',
)}
    end
`,
  ),
  asText: String.raw`
items = {ARGV[1] .. ' ' .. ARGV[2] .. ' cancelled ' .. ARGV[7]}
`,
};
