// Lua: the short ways of acquire. Nearly every request is plain: one exclusive node, wanted for itself alone, on the usual terms.
// What may happen to it is decided here, and what it writes is put down with that of its neighbours (together.ts): nothing stands
// on its name and it is new; the same, and it is the first in line; or one plain lease or a line is before it, and it joins, asks
// again or is refused. Hardly ever does that read the line, and never every row in full. Anything else is left to the protocol,
// which is not even put together unless an item needs it, with nothing done.
import { PLAIN_LEASE, SOON_MS } from './together.js';

/** So many tickets may be looked at one by one, instead of a whole line. */
const LOOKED_AT = 16;

/** A plain ticket: when it dies, its arrival and when that was, and the epoch it joined at. */
export const TICKET = String.raw`'^p 0 (%d+) %d+ %d+ 0 %-?%d+ %d+ (%d+) 0 h?\n0 (%d+) (%d+) 0 0 0 0\t\t\n'`;

/** What an item looks like. */
export const ACQUIRE_ITEM = String.raw`${PLAIN_LEASE}
local PLAIN = '^(%S+) (%S+) (%S+) x(j?h?)\n(([^\t]+)\t([^\t]+)\txn:([^\t]+)\t.*)$'
local ITEM = '^(%S+) (%S+) (%S+) (%S+)\n(([^\t]+)\t([^\t]+)\t([^\t]+)\t(%d+)\t([^\t]*)\t(.*))$'
local WAITING = '^p %d+ %d+ %d+ %d+ %d+ %-?%d+ %d+ (%d+) [^\n]*\n%d+ (%d+) [^\n]*\n[^\t]*\t[^\t]*\txn:([^\t\31]*)\t[^\t]*\t([^\t]*)'
local TICKET = ${TICKET}
local function ticketAt(name, arrivedAt, arrived) return 'w' .. name .. string.format('\0%014.0f%016.0f', arrivedAt, arrived) end
local lastTtl, expiresAt, lastCaller, skew
for i = 1, #items do ids[i] = string.match(items[i], '\n([^\t]+)') end

-- The step of a line that this call took before: its name, ticket, and what lineOf said. Whatever the protocol does ends it.
local earlier

-- When the first of these tickets dies, nothing where one has or where it takes a longer look.
local function firstDeath(name, members)
  local first = math.huge
  for from = 1, #members, 500 do
    local ids = {}
    for i = from, math.min(from + 499, #members) do ids[#ids + 1] = string.sub(members[i], #name + 33) end
    for _, text in ipairs(redis.call('HMGET', ROWS, unpack(ids))) do
      local diesAt = tonumber(string.match(text or '', '^p %d+ (%d+)'))
      if not diesAt or diesAt <= now then return end
      first = math.min(first, diesAt)
    end
  end
  return first
end

-- The same for all who wait ahead, where it is one of the next to die of the namespace: they are looked at in that order, so a
-- dead one of this line would be met before it.
local function nextDeath(name, arrivedAt, arrived)
  local dying = redis.call('ZRANGE', DYING, 0, ${LOOKED_AT - 1}, 'WITHSCORES')
  for i = 1, #dying, 2 do
    local number, at, named, terms = string.match(redis.call('HGET', ROWS, dying[i]) or '', WAITING)
    if not named or (arrived and terms ~= '') then return end
    if named == name then
      local diesAt, since, before = tonumber(dying[i + 1]), tonumber(at), tonumber(arrivedAt)
      if diesAt <= now then return end
      if not arrived or since < before or (since == before and tonumber(number) < tonumber(arrived)) then return diesAt end
    end
  end
end

-- Who holds the name (a member of the index), how many wait ahead of the ticket that arrived then, or of a new one, and when the
-- first of all these ends; nothing where one of them has died, or more of it is unusual. Of a list that asks again for many places of
-- one line, each looks only at those between the one before it and itself.
local function lineOf(name, holder, arrivedAt, arrived)
  local text, endsAt = nil, math.huge
  if holder then
    text = redis.call('HGET', ROWS, string.sub(holder, #name + 3))
    endsAt = text and isPlainLease(text) and tonumber(string.match(text, '^%a %d+ (%d+)'))
    if not endsAt or endsAt <= now then return end
  end
  if tickets == 0 then return text, 0, endsAt end
  local from, to = '[w' .. name .. '\0', '(' .. (arrived and ticketAt(name, arrivedAt, arrived) or 'w' .. name .. '\1')
  local ahead, passed = redis.call('ZLEXCOUNT', INDEX, from, to), 0
  if earlier and earlier.name == name and earlier.acted == acted and earlier.ahead < ahead then
    from, passed, endsAt = '(' .. earlier.member, earlier.ahead + 1, math.min(endsAt, earlier.endsAt, now + 10000)
  end
  if ahead == passed then return text, ahead, endsAt end
  local diesAt = ahead - passed > ${LOOKED_AT} and nextDeath(name, arrivedAt, arrived)
    or firstDeath(name, redis.call('ZRANGEBYLEX', INDEX, from, to))
  if diesAt then return text, ahead, math.min(endsAt, diesAt) end
end
`;

/** Behind one plain lease, or behind a line that nobody holds the name of just now. */
const LINE_UP = String.raw`
    if standing[2] then break end
    local text, ahead, endsAt
    if follows then
      text, ahead, endsAt = earlier.text, earlier.ahead + 1, math.min(earlier.endsAt, now + 10000)
    else
      text, ahead, endsAt = lineOf(name, holder, arrivedAt, arrived)
      if not ahead then break end
    end
    local reason = holder and 'held' or 'queue'
    answer = {'queued', ahead + 1, reason, holder and 1 or 0, ahead, math.max(1, endsAt - now), text}
    if ticket then
      local before, after = string.match(ticket, '^p 0 %d+ (%d+) %d+( .*)$')
      redis.call('HSET', ROWS, id, string.format('p 0 %.0f ', now + 10000) .. before .. ' ' .. nowText .. after)
      redis.call('ZADD', DYING, now + 10000, id)
      isNamed[id] = true
      earlier = {name = name, acted = acted, member = ticketAt(name, arrivedAt, arrived) .. id, ahead = ahead, endsAt = endsAt}
    elseif joins == '' then
      answer[1] = 'refused'
      break
    elseif tickets >= 10000 then
      answer = nil
      break
    else
      arrival, tickets, put = arrival + 1, tickets + 1, put + 1
      isNamed[id], isNamed[name] = true, true
      rows[2 * put - 1], rows[2 * put] = id, string.format('p 0 %.0f %.0f %.0f 0 %.0f %s %.0f 0 %s\n0 %.0f %.0f 0 0 0 0\t\t\n', now + 10000,
        now, now, callerWall - wall, ttlMs, arrival, string.sub(joins, 2), now, epoch) .. tail
      names[2 * put - 1], names[2 * put] = '0', ticketAt(name, now, arrival) .. id
      redis.call('ZADD', QUEUE, arrival, id)
      redis.call('ZADD', DYING, now + 10000, id)
      if keep then
        seq = seq + 1
        events[2 * put - 1], events[2 * put] = 'e', 'Q ' .. nowText .. ' ' .. wallText .. ' 0 -p\n' .. id .. '\n' .. owner .. '\n' .. name
          .. '\n\n\n' .. string.format('place#%.0f\tpriority#0\tbecause$', ahead + 1) .. reason
      end
      earlier = {name = name, acted = acted, isNew = true, standing = standing, text = text, ahead = ahead, endsAt = endsAt}
    end
    if protocol then protocol.forget(id, name) end
    break
`;

/** A lapsed lease and a block stand in the index too, so where nothing does there is nothing to write down first. */
export const PLAIN_ACQUIRE = String.raw`
  local bornAt, ttlMs, callerWall, joins, tail, id, owner, name = string.match(item, PLAIN)
  if not bornAt or epoch >= 9007199254740991 then break end
  if trees > 0 and string.find(name, '/', 1, true) then break end
  local follows = earlier and earlier.isNew and earlier.name == name and earlier.acted == acted
  if isNamed[id] or (isNamed[name] and not follows) then break end
  local ticket, spot = textAt(i), name .. '\0'
  if ticket and follows then break end
  local diesAt, arrived, arrivedAt, joinedEpoch
  if ticket then
    diesAt, arrived, arrivedAt, joinedEpoch = string.match(ticket, TICKET)
    if not diesAt or tonumber(diesAt) <= now or string.sub(ticket, -#tail - 1) ~= '\n' .. tail then break end
  elseif now - bornAt > 60000 or now - bornAt < -60000 then
    break
  end
  local standing = follows and earlier.standing or redis.call('ZRANGEBYLEX', INDEX, '[n' .. spot, '(n' .. name .. '\1')
  local holder = standing[1]
  local first = not holder and tickets > 0 and redis.call('ZRANGEBYLEX', INDEX, '[w' .. spot, '(w' .. name .. '\1', 'LIMIT', 0, 1)[1]
  if holder or (first and not (ticket and first == ticketAt(name, arrivedAt, arrived) .. id)) then
${LINE_UP}
  end
  if ticket and (not first or arrivedAt == nowText) then break end
  local letter, change, rare, waited = 'A', '-a', '', '0'
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
