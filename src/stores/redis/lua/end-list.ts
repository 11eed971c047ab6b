// Lua: a list of releases of leases that the sender was granted itself, with what it believes of each (own-leases.ts). A row that
// begins with the letter of a plain lease and the asked epoch needs not be taken apart: it is live for at least as long as it was when it
// was granted. Where that is so of all of them and none has lapsed, all are released here, each by a word before its row (row-text.ts).
// What is believed is only a hint: where one row is not like that, nothing is done here, and the items go one by one (hold.ts), which looks
// at what is there (S5, S8).
//
//   count firstEnd lastEnd requestIds | ids … | members of the index … | beginnings of rows … | of each run: count owner ids names held
//
// The last three are what the log says of a run (log-groups.ts).
import { LOG_RUNS } from './log-groups.js';
import { releasedAt } from './row-text.js';
import { LEFT_TO_SWEEP_MS, SOON_MS } from './together.js';

const RELEASE_ALL = String.raw`
    local ends, events, at, since, leftMs = {}, {}, 0, 0, ARGV[3] - now
    local endedAt = leftMs > ${LEFT_TO_SWEEP_MS} and string.format('%.0f', 4503599627370496 + now)
    if leftMs > ${SOON_MS} then
      for i = 1, count do ends[2 * i - 1], ends[2 * i] = endedAt, ARGV[4 + i] end
    end
    for run = begins + count + 1, #ARGV, 5 do
      local many = tonumber(ARGV[run])
      if endedAt and leftMs <= ${SOON_MS} then
        ends[#ends + 1] = endedAt
        ends[#ends + 1] = ARGV[run + 2]
      end
      if keep then
        events[#events + 1] = 'R' .. ARGV[run]
        events[#events + 1] = nowText .. ' ' .. wallText .. '\n' .. ARGV[run + 1] .. '\n' .. ARGV[run + 2] .. '\n' .. ARGV[run + 3] .. '\n'
          .. ARGV[run + 4]
      end
      at, since = at + many, since + many
${LOG_RUNS}
    end
    redis.call('HSET', ROWS, unpack(rows))
    redis.call('ZREM', INDEX, unpack(ARGV, members + 1, begins))
    if ends[1] then redis.call('ZADD', ENDS, unpack(ends)) end
    if tickets > 0 then
      for i = 1, count do
        local member = ARGV[members + i]
        freed[i] = {name = string.sub(member, 2, string.find(member, '\0', 1, true) - 1), isTree = false, isShared = false}
      end
    end
    reply[4] = count
    items = {}
`;

const AS_TEXTS = String.raw`
    items = {}
    for requestId in string.gmatch(ARGV[4], '%S+') do
      local i = #items + 1
      items[i] = ARGV[4 + i] .. string.sub(ARGV[begins + i], 2) .. 'cancelled ' .. requestId
    end
`;

/** A row begins with its letter and its epoch, and a space behind each. */
export const END_LIST = String.raw`
do
  local count = tonumber(ARGV[1])
  local members, begins = 4 + count, 4 + 2 * count
  local isAsBelieved, rows, before, find = ARGV[2] - now > 0, {}, ${releasedAt('nowText')}, string.find
  readTexts = redis.call('HMGET', ROWS, unpack(ARGV, 5, members))
  for i = 1, isAsBelieved and count or 0 do
    local text = readTexts[i]
    if not text or find(text, ARGV[begins + i], 1, true) ~= 1 then isAsBelieved = false break end
    rows[2 * i - 1], rows[2 * i] = ARGV[4 + i], before .. text
  end
  if isAsBelieved then
${RELEASE_ALL}
  else
${AS_TEXTS}
  end
end
`;
