// Lua: the short ways of acquire. Nearly every request is plain: one exclusive node, wanted for itself alone, on the usual terms.
// Three things that may happen to it are decided here, and what they write is put down with that of its neighbours
// (together.ts): nothing stands on its name and it is new; the same, and it is the first in line; one plain lease stands there and
// it joins the line. None of them reads the line, however long it is. Anything else is left to the protocol, which is not even
// put together unless an item needs it, with nothing done.
import { PLAIN_LEASE, SOON_MS } from './together.js';

/** What an item looks like. */
export const ACQUIRE_ITEM = String.raw`${PLAIN_LEASE}
local PLAIN = '^(%S+) (%S+) (%S+) x(j?)\n(([^\t]+)\t([^\t]+)\txn:([^\t]+)\t.*)$'
local ITEM = '^(%S+) (%S+) (%S+) (%S+)\n(([^\t]+)\t([^\t]+)\t([^\t]+)\t(%d+)\t([^\t]*)\t(.*))$'
local TICKET = '^p 0 (%d+) %d+ %d+ 0 %-?%d+ %d+ (%d+) 0 \n0 (%d+) (%d+) 0 0 0 0\t\t\n'
local lastTtl, expiresAt, lastCaller, skew
for i = 1, #ARGV do ids[i] = string.match(ARGV[i], '\n([^\t]+)') end

-- Who is in the way, how many wait, and when the first of all these ends; nothing where that takes a longer look. Tickets that
-- have died count no more, and the next to die is known for the namespace: it has to be one of this line.
local function lineOf(name, holder)
  local text = redis.call('HGET', ROWS, string.sub(holder, #name + 3))
  local endsAt = text and isPlainLease(text) and tonumber(string.match(text, '^%a %d+ (%d+)'))
  if not endsAt or endsAt <= now or tickets >= 10000 then return end
  if tickets == 0 then return text, 0, endsAt end
  local waiting = redis.call('ZLEXCOUNT', INDEX, '[w' .. name .. '\0', '(w' .. name .. '\1')
  local nextDead = redis.call('ZRANGE', DYING, 0, 0, 'WITHSCORES')
  local diesAt = tonumber(nextDead[2])
  if diesAt <= now then return end
  if waiting > 0 then
    local named = string.match(redis.call('HGET', ROWS, nextDead[1]) or '', '\n[^\t\n]*\t[^\t]*\txn:([^\t\31]*)\t')
    if named ~= name then return end
    endsAt = math.min(endsAt, diesAt)
  end
  return text, waiting, endsAt
end
`;

/** In line behind one plain lease, and behind everybody who waits. */
const JOIN = String.raw`
    if ticket or joins == '' or standing[2] then break end
    local holder, waiting, endsAt = lineOf(name, standing[1])
    if not holder then break end
    arrival, tickets, put = arrival + 1, tickets + 1, put + 1
    isNamed[id], isNamed[name] = true, true
    rows[2 * put - 1], rows[2 * put] = id, string.format('p 0 %.0f %.0f %.0f 0 %.0f %s %.0f 0 \n0 %.0f %.0f 0 0 0 0\t\t\n', now + 10000,
      now, now, callerWall - wall, ttlMs, arrival, now, epoch) .. tail
    names[2 * put - 1], names[2 * put] = '0', 'w' .. spot .. string.format('%014.0f%016.0f', now, arrival) .. id
    redis.call('ZADD', QUEUE, arrival, id)
    redis.call('ZADD', DYING, now + 10000, id)
    if keep then
      seq = seq + 1
      events[2 * put - 1], events[2 * put] = 'e', 'Q ' .. nowText .. ' ' .. wallText .. ' 0 -p\n' .. id .. '\n' .. owner .. '\n' .. name
        .. '\n\n\n' .. string.format('place#%.0f\tpriority#0\tbecause$held', waiting + 1)
    end
    if protocol then protocol.forget(id, name) end
    answer = {'queued', waiting + 1, 'held', 1, waiting, math.max(1, endsAt - now), holder}
`;

/** A lapsed lease and a block stand in the index too, so where nothing does there is nothing to write down first. */
export const PLAIN_ACQUIRE = String.raw`
  local bornAt, ttlMs, callerWall, joins, tail, id, owner, name = string.match(item, PLAIN)
  if not bornAt or epoch >= 9007199254740991 then break end
  if trees > 0 and string.find(name, '/', 1, true) then break end
  if isNamed[id] or isNamed[name] then break end
  local ticket, spot = textAt(i), name .. '\0'
  if not ticket and (now - bornAt > 60000 or now - bornAt < -60000) then break end
  local standing = redis.call('ZRANGEBYLEX', INDEX, '[n' .. spot, '(n' .. name .. '\1')
  if standing[1] then
${JOIN}
    break
  end
  local first = tickets > 0 and redis.call('ZRANGEBYLEX', INDEX, '[w' .. spot, '(w' .. name .. '\1', 'LIMIT', 0, 1)[1]
  local letter, change, rare, waited, diesAt, arrived, arrivedAt, joinedEpoch = 'A', '-a', '', '0'
  if ticket then
    diesAt, arrived, arrivedAt, joinedEpoch = string.match(ticket, TICKET)
    if not diesAt or tonumber(diesAt) <= now or arrivedAt == nowText then break end
    if string.sub(ticket, -#tail - 1) ~= '\n' .. tail then break end
    if not first or string.sub(first, #name + 33) ~= id then break end
  elseif first then
    break
  end
  if ttlMs ~= lastTtl then lastTtl, expiresAt = ttlMs, string.format('%.0f', now + ttlMs) end
  if callerWall ~= lastCaller then lastCaller, skew = callerWall, string.format(' 0 %.0f ', callerWall - wall) end
  epoch, put = epoch + 1, put + 1
  local drawn, last = string.format('%.0f', epoch), 2 * put
  if ticket then
    letter, change, waited = 'a', 'pa', string.format('%.0f', now - arrivedAt)
    rare = drawn .. ' ' .. arrivedAt .. ' ' .. joinedEpoch .. ' 0 0 0 0\t\t'
    tickets = tickets - 1
    redis.call('ZREM', INDEX, first)
    redis.call('ZREM', QUEUE, id)
    redis.call('ZREM', DYING, id)
  else
    arrival = arrival + 1
    arrived = string.format('%.0f', arrival)
  end
  isNamed[id], isNamed[name] = true, true
  rows[last - 1], rows[last] = id, letter .. ' ' .. drawn .. ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. skew .. ttlMs
    .. ' ' .. arrived .. ' 0 \n' .. rare .. '\n' .. tail
  names[last - 1], names[last] = '0', 'n' .. spot .. id
  due(expiresAt, id, tonumber(ttlMs) <= ${SOON_MS})
  if keep then
    seq = seq + 1
    events[last - 1], events[last] = 'e', 'A ' .. nowText .. ' ' .. wallText .. ' ' .. drawn .. ' ' .. change .. '\n' .. id .. '\n'
      .. owner .. '\n' .. name .. '\n\n\nttlMs#' .. ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#' .. waited
  end
  if protocol then protocol.forget(id, name) end
  answer = drawn
`;
