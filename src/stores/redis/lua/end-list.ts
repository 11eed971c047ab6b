// Lua: a list of releases of leases that the sender was granted itself, with what it believes of each row (own-leases.ts). A row that
// is as it was believed to be needs not be taken apart: the lease is plain and of the asked epoch, and nothing has happened to
// it. Where that is so of all of them and none has lapsed, all are released here. What is believed is only a hint: where one row is not like
// that, nothing is done here, and the items go one by one (hold.ts), which looks at what is there (S5, S8).
//
//   count firstEnd lastEnd requestIds | ids … | names … | epoch expiresAt acquiredAt … | other figures … | count owner, of each run
import { LOG_RUNS } from './log-groups.js';
import { SOON_MS } from './together.js';

const RELEASE_ALL = String.raw`
    local ends, events, endedAt, at, since = {}, {}, string.format('%.0f', 4503599627370496 + now), 0, 0
    for run = figures + count + 1, #ARGV, 2 do
      local many = tonumber(ARGV[run])
      local ids = table.concat(ARGV, ' ', 5 + at, 4 + at + many)
      if isSoon then
        ends[#ends + 1] = endedAt
        ends[#ends + 1] = ids
      end
      if keep then
        events[#events + 1] = 'R' .. ARGV[run]
        events[#events + 1] = nowText .. ' ' .. wallText .. '\n' .. ARGV[run + 1] .. '\n' .. ids .. '\n'
          .. table.concat(ARGV, '\t', names + at + 1, names + at + many) .. '\n'
          .. table.concat(ARGV, '\t', held + at + 1, held + at + many)
      end
      at, since = at + many, since + many
${LOG_RUNS}
    end
    if not isSoon then
      for i = 1, count do ends[2 * i - 1], ends[2 * i] = endedAt, ARGV[4 + i] end
    end
    redis.call('HSET', ROWS, unpack(rows))
    redis.call('ZREM', INDEX, unpack(members))
    redis.call('ZADD', ENDS, unpack(ends))
    if tickets > 0 then
      for i = 1, count do freed[i] = {name = ARGV[names + i], isTree = false, isShared = false} end
    end
    reply[4] = count
    items = {}
`;

const AS_TEXTS = String.raw`
    items = {}
    for requestId in string.gmatch(ARGV[4], '%S+') do
      local i = #items + 1
      items[i] = ARGV[4 + i] .. ' ' .. string.match(ARGV[held + i], '^%d+') .. ' cancelled ' .. requestId
    end
`;

export const END_LIST = String.raw`
do
  local count = tonumber(ARGV[1])
  local names, held, figures = 4 + count, 4 + 2 * count, 4 + 3 * count
  local isSoon = ARGV[3] - now <= ${SOON_MS}
  local isAsBelieved = ARGV[2] - now > 0 and (isSoon or ARGV[2] - now > ${SOON_MS})
  local rows, members, after = {}, {}, nowText .. ' '
  readTexts = redis.call('HMGET', ROWS, unpack(ARGV, 5, names))
  for i = 1, isAsBelieved and count or 0 do
    local text, id = readTexts[i], ARGV[4 + i]
    local head = 'A ' .. ARGV[held + i] .. ARGV[figures + i] .. '0 \n\n'
    if not text or string.find(text, head, 1, true) ~= 1 then isAsBelieved = false break end
    rows[2 * i - 1], rows[2 * i] = id, 'r ' .. ARGV[held + i] .. ARGV[figures + i] .. after .. string.sub(text, #head - 1)
    members[i] = 'n' .. ARGV[names + i] .. '\0' .. id
  end
  if isAsBelieved then
${RELEASE_ALL}
  else
${AS_TEXTS}
  end
end
`;
