// Lua: reading and pruning the log, a stream whose ids are 1-0, 2-0, 3-0 …: without a hole, so that what the cap has cut off
// shows (H1). A filtered read looks at a bounded stretch (S18) for rows in which a text occurs; the caller filters exactly.

import { REST } from './step.js';

const OLDEST = String.raw`
local prunedThrough = tonumber(pruned)
local function keyIn(entry) return tonumber(string.match(entry[1], '^%d+')) end
local function oldestEntry() return redis.call('XRANGE', LOG, '-', '+', 'COUNT', 1)[1] end
local first = oldestEntry()
if first and keyIn(first) - 1 > prunedThrough then prunedThrough = keyIn(first) - 1 end
`;

/** Answers: lost, or the entries, the key it came to, and whether there is more behind it. */
export const EVENTS = String.raw`${REST}${OLDEST}
local isBackward, askedLife, askedKey = ARGV[1] == 'b', ARGV[2], tonumber(ARGV[3])
local wanted, page, needle = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
reply[4] = prunedThrough
if askedLife ~= '' and (askedLife ~= incarnation or not askedKey or askedKey > seq
  or (not isBackward and askedKey < prunedThrough)) then
  reply[5] = 'lost'
  return reply
end
local at = askedKey or (isBackward and seq + 1 or prunedThrough)
local entries, looked, hasMore = {}, 0, true
local function read(count)
  if isBackward then
    return redis.call('XREVRANGE', LOG, string.format('%.0f', math.max(0, at - 1)), '-', 'COUNT', count)
  end
  return redis.call('XRANGE', LOG, string.format('%.0f', at + 1), '+', 'COUNT', count)
end
while hasMore and #entries < wanted and looked < 5000 do
  local found = read(page)
  for _, entry in ipairs(found) do
    if #entries == wanted then break end
    at = keyIn(entry)
    looked = looked + 1
    if needle == '' or string.find(entry[2][2], needle, 1, true) then entries[#entries + 1] = {at, entry[2][2]} end
  end
  hasMore = #found == page
end
if #entries == wanted or hasMore then hasMore = #read(1) > 0 end
if looked == 0 and isBackward and not askedKey then at = 0 end
reply[5] = 'rows'
reply[6] = at
reply[7] = hasMore and 1 or 0
reply[8] = entries
`;

export const PRUNE = String.raw`${REST}${OLDEST}
local olderThanMs, limit, lastKept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if ARGV[3] ~= '' and (ARGV[3] ~= incarnation or not lastKept or lastKept > seq) then lastKept = 0 end
local events, hasMore, lastGone = 0, false, 0
for _, entry in ipairs(redis.call('XRANGE', LOG, '-', '+', 'COUNT', limit + 1)) do
  local key = keyIn(entry)
  if tonumber(string.match(entry[2][2], '^%a (%d+)')) >= now - olderThanMs or (lastKept and key > lastKept) then break end
  if events == limit then hasMore = true else events, lastGone = events + 1, key end
end
if events > 0 then
  redis.call('XTRIM', LOG, 'MINID', string.format('%.0f-0', lastGone + 1))
  if lastGone > tonumber(pruned) then
    pruned = string.format('%.0f', lastGone)
    writeRest()
  end
end

local endedBefore = now - math.max(olderThanMs, 120000)
local over, from, isCut = {}, 0, false
repeat
  local page = redis.call('ZRANGEBYSCORE', ENDS, OVER, string.format('(%.0f', OVER + endedBefore), 'LIMIT', from, 1000)
  for _, row in ipairs(load(page, {})) do
    if row.blockedUntil <= now and row.keepOutUntil <= now then over[#over + 1] = row end
  end
  from = from + #page
  isCut = #page == 1000
until not isCut or #over > limit or from >= 10000
table.sort(over, function(a, b) return a.arrival < b.arrival end)
local ids = {}
for i = 1, math.min(limit, #over) do
  local row = over[i]
  ids[i] = row.id
  if row.was.kind ~= '' then
    redis.call('ZREM', INDEX, unpack(membersOf(row, row.was.kind)))
    trees = trees - treesIn(row)
  end
end
if #ids > 0 then
  redis.call('HDEL', ROWS, unpack(ids))
  redis.call('ZREM', ENDS, unpack(ids))
end
reply[4] = events
reply[5] = #ids
reply[6] = (hasMore or #over > limit) and 1 or 0
`;
