// Lua: a list in which every request is plain, sent so that nothing has to be taken apart (plain-lists.ts): columns of ids, names
// and ends of rows, then runs of neighbours that share everything else. Where all ids are new and nobody stands on or waits for any of the
// names, all are granted here, an item being one text that is put together, and the log gets one field a run (log-groups.ts). In any
// other case nothing is done: the items are put together as texts and go one by one (acquire-plain.ts).
//
//   count oldestBornAt newestBornAt lowestName highestName | ids … | names … | ends … | head count owner, of each run
import { beginDigits, DIGITS, nextDigits } from './digits.js';
import { LOG_RUNS } from './log-groups.js';
import { SOON_MS } from './together.js';

/** Leases or tickets between the lowest and the highest name are looked at together while they are not many more than the names. */
const SPARE = 32;

/** No two of a list have an id or a name in common: who sends it sees to that. */
const LOOK_AT_NAMES = String.raw`
  local letter = isFree and 'n'
  while letter do
    local from, to = '[' .. letter .. ARGV[4] .. '\0', '(' .. letter .. ARGV[5] .. '\1'
    local standing = redis.call('ZLEXCOUNT', INDEX, from, to)
    if standing > 2 * count + ${SPARE} then
      for i = names + 1, names + count do
        local spot = letter .. ARGV[i]
        if redis.call('ZLEXCOUNT', INDEX, '[' .. spot .. '\0', '(' .. spot .. '\1') > 0 then isFree = false break end
      end
    elseif standing > 0 then
      local isTaken = {}
      for _, member in ipairs(redis.call('ZRANGEBYLEX', INDEX, from, to)) do
        isTaken[string.sub(member, 2, string.find(member, '\0', 1, true) - 1)] = true
      end
      for i = names + 1, names + count do if isTaken[ARGV[i]] then isFree = false break end end
    end
    letter = isFree and letter == 'n' and tickets > 0 and 'w'
  end
`;

const GRANT_ALL = String.raw`
    ${DIGITS}${beginDigits('epoch')}${beginDigits('arrival')}
    local rows, members, ends, events, at, since = {}, {}, {}, {}, 0, 0
    reply[4], reply[5] = count, string.format('%.0f', epoch + 1)
    for run = tails + count + 1, #ARGV, 3 do
      local ttlMs, callerWall = string.match(ARGV[run], '^%S+ (%S+) (%S+)')
      local many, expiresAt = tonumber(ARGV[run + 1]), string.format('%.0f', now + ttlMs)
      local figures = ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. string.format(' 0 %.0f ', callerWall - wall) .. ttlMs .. ' '
      local owner, ids = '\t' .. ARGV[run + 2] .. '\txn:', table.concat(ARGV, ' ', 6 + at, 5 + at + many)
      if keep then
        events[#events + 1] = 'A' .. ARGV[run + 1]
        events[#events + 1] = nowText .. ' ' .. wallText .. string.format(' %.0f ', epoch + 1) .. ttlMs .. ' ' .. expiresAt .. '\n'
          .. ARGV[run + 2] .. '\n' .. ids .. '\n' .. table.concat(ARGV, '\t', names + at + 1, names + at + many)
      end
      local isSoon = tonumber(ttlMs) <= ${SOON_MS}
      if isSoon then
        ends[#ends + 1] = expiresAt
        ends[#ends + 1] = ids
      end
      for i = at + 1, at + many do
        ${nextDigits('epoch')}${nextDigits('arrival')}
        local id, name = ARGV[5 + i], ARGV[names + i]
        rows[2 * i - 1], rows[2 * i] = id, 'A ' .. epochHigh .. epochEnd .. figures .. arrivalHigh .. arrivalEnd .. ' 0 \n\n'
          .. id .. owner .. name .. '\t' .. ARGV[tails + i]
        members[2 * i - 1], members[2 * i] = '0', 'n' .. name .. '\0' .. id
        if not isSoon then
          ends[#ends + 1] = expiresAt
          ends[#ends + 1] = id
        end
      end
      at, since = at + many, since + many
${LOG_RUNS}
    end
    redis.call('HSET', ROWS, unpack(rows))
    redis.call('ZADD', INDEX, unpack(members))
    redis.call('ZADD', ENDS, unpack(ends))
    firstEpoch, firstArrival = epoch, arrival
    epochText, arrivalText = epochHigh .. epochEnd, arrivalHigh .. arrivalEnd
    items = {}
`;

const AS_TEXTS = String.raw`
    items = {}
    for run = tails + count + 1, #ARGV, 3 do
      for i = #items + 1, #items + ARGV[run + 1] do
        items[i] = ARGV[run] .. '\n' .. ARGV[5 + i] .. '\t' .. ARGV[run + 2] .. '\txn:' .. ARGV[names + i] .. '\t' .. ARGV[tails + i]
      end
    end
`;

export const ACQUIRE_LIST = String.raw`
do
  local count = tonumber(ARGV[1])
  local names, tails = 5 + count, 5 + 2 * count
  local isFree = epoch <= 9007199254740991 - count and now - ARGV[2] <= 60000 and ARGV[3] - now <= 60000
  readTexts = redis.call('HMGET', ROWS, unpack(ARGV, 6, names))
  for i = 1, count do if readTexts[i] then isFree = false break end end
  if trees > 0 then
    for i = names + 1, names + count do if string.find(ARGV[i], '/', 1, true) then isFree = false break end end
  end
${LOOK_AT_NAMES}
  if isFree then
${GRANT_ALL}
  else
${AS_TEXTS}
  end
end
`;
