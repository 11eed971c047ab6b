// Lua: reading and pruning the log, a stream. Events are numbered 1, 2, 3 …, without a hole, so that what the cap has cut off
// shows (H1). An entry holds events that were written together, and its id is the number of the last of them: what is asked
// for is in the first entry that is not below it. An entry goes as a whole; what of it was pruned before is `hidden`. A
// filtered read looks at a bounded stretch (S18) for rows in which a text occurs, a name as a whole; the caller filters exactly. The later
// event is never the older (S13), so a read that goes backward is over where it comes upon one from before what is asked for.

import { LOG_GROUPS } from './log-groups.js';
import { REST } from './step.js';
import { LOOKED, READ_ENDS } from './together.js';

/** As many entries are read at once, of up to 64 events each, or two runs of that. */
const ENTRIES = 16;

const LOG_ROWS = String.raw`${LOG_GROUPS}
local function readFrom(key, count)
  return redis.call('XRANGE', LOG, string.format('%.0f', key), '+', 'COUNT', count)
end
local oldest = readFrom(0, 1)[1]
local goneThrough = oldest and math.max(hidden, firstOf(oldest) - 1) or seq
local prunedThrough = math.max(tonumber(pruned), goneThrough)
`;

/** A name is not found in a longer one, nor in an owner or a reason: rows of neighbours would be sent in the place of its own. The names of a row
 *  are its fourth line. */
const IS_FOUND = String.raw`
local name, within = '\31' .. needle .. '\31', ARGV[7] == 'prefix' and '\31' .. needle .. '/'
local function isFound(text)
  if not string.find(text, needle, 1, true) then return false end
  if ARGV[7] == '' then return true end
  local names = '\31' .. string.match(text, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)') .. '\31'
  return string.find(names, name, 1, true) or within and string.find(names, within, 1, true)
end
`;

/** Answers: lost, or the rows, the number it came to, and whether there is more behind it. */
export const EVENTS = String.raw`${REST}${LOG_ROWS}
local isBackward, askedLife, askedKey = ARGV[1] == 'b', ARGV[2], tonumber(ARGV[3])
local wanted, needle, since = tonumber(ARGV[4]), ARGV[5], isBackward and tonumber(ARGV[6])
local page = math.min(wanted, ${ENTRIES})
${IS_FOUND}
reply[4] = prunedThrough
if askedLife ~= '' and (askedLife ~= incarnation or not askedKey or askedKey > seq
  or (not isBackward and askedKey < prunedThrough)) then
  reply[5] = 'lost'
  return reply
end
local at = askedKey or (isBackward and seq + 1 or prunedThrough)
local rows, looked, isOver, isPast = {}, 0, false, false
local function take(entry, key)
  at = key
  looked = looked + 1
  local text = textOf(entry, key)
  isPast = since and tonumber(string.match(text, '^%a (%d+)')) < since
  if isPast then return end
  if isFound(text) then rows[#rows + 1] = {key, text} end
end
local function forward()
  local found = readFrom(at + 1, page)
  for _, entry in ipairs(found) do
    for key = math.max(firstOf(entry), at + 1), lastOf(entry) do
      if #rows == wanted then return end
      take(entry, key)
    end
  end
  isOver = #found < page
end
local function backward()
  local from = readFrom(math.max(0, at - 1), 1)[1]
  local found = redis.call('XREVRANGE', LOG, from and from[1] or '+', '-', 'COUNT', page + 1)
  for _, entry in ipairs(found) do
    for key = math.min(lastOf(entry), at - 1), math.max(firstOf(entry), goneThrough + 1), -1 do
      if #rows == wanted then return end
      take(entry, key)
      if isPast then return end
    end
  end
  isOver = #found <= page
end
while not isOver and not isPast and #rows < wanted and looked < 5000 do
  if isBackward then backward() else forward() end
end
local hasMore = at < seq
if isPast then at = goneThrough + 1 end
if isBackward then hasMore = at > goneThrough + 1 end
if looked == 0 and isBackward and not askedKey then at = 0 end
reply[5] = 'rows'
reply[6] = at
reply[7] = hasMore and 1 or 0
reply[8] = rows
`;

const PRUNE_LOG = String.raw`
local olderThanMs, limit, lastKept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if ARGV[3] ~= '' and (ARGV[3] ~= incarnation or not lastKept or lastKept > seq) then lastKept = 0 end
local events, hasMore, lastGone = 0, false, goneThrough
local function mayGo(entry, key)
  return tonumber(string.match(textOf(entry, key), '^%a (%d+)')) < now - olderThanMs and not (lastKept and key > lastKept)
end
local function countGone()
  repeat
    local found = readFrom(lastGone + 1, ${ENTRIES})
    for _, entry in ipairs(found) do
      for key = math.max(firstOf(entry), lastGone + 1), lastOf(entry) do
        if not mayGo(entry, key) then return end
        hasMore = events == limit
        if hasMore then return end
        events, lastGone = events + 1, key
      end
    end
  until #found < ${ENTRIES}
end
countGone()
if events > 0 then
  redis.call('XTRIM', LOG, 'MINID', string.format('%.0f-0', lastGone + 1))
  pruned = string.format('%.0f', math.max(tonumber(pruned), lastGone))
  hidden = lastGone
  writeRest()
end
`;

/** Rows that ended long enough ago and keep nobody out; of what ended together some may go and others stay. Where a step saw so many that
 *  still keep others out that it came to nothing behind them, they are put down for when they do not: the next step begins behind them. */
const PRUNE_ROWS = String.raw`
local ended = endsBetween(OVER, string.format('(%.0f', OVER + now - math.max(olderThanMs, 120000)))
local over, isGone, goneIds, goneEntries, left = {}, {}, {}, {}, {}
repeat
  for _, row in ipairs(load(ended.next(), {})) do
    if row.blockedUntil <= now and row.keepOutUntil <= now then over[#over + 1] = row end
  end
until ended.isOver or #over > limit or ended.looked >= ${LOOKED}
local isInTheWay = not ended.isOver and #over <= limit
table.sort(over, function(a, b) return a.arrival < b.arrival end)
for i = 1, math.min(limit, #over) do
  local row = over[i]
  isGone[row.id], goneIds[i] = true, row.id
  if row.was.kind ~= '' then
    redis.call('ZREM', INDEX, unpack(membersOf(row, row.was.kind)))
    trees = trees - treesIn(row)
  end
end
for _, entry in ipairs(ended.entries) do
  local stay, isWhole = {}, not isInTheWay
  for id in string.gmatch(entry, '%S+') do
    if known[id] and not isGone[id] then stay[#stay + 1] = known[id] else isWhole = false end
  end
  if not isWhole then
    goneEntries[#goneEntries + 1] = entry
    for _, row in ipairs(stay) do
      left[#left + 1] = OVER + (isInTheWay and math.max(row.blockedUntil, row.keepOutUntil) or row.endedAt)
      left[#left + 1] = row.id
    end
  end
end
callInParts('HDEL', ROWS, goneIds)
callInParts('ZREM', ENDS, goneEntries)
callInParts('ZADD', ENDS, left)
`;

/** Where nobody sweeps, moments at which there is nobody left to look at go here, and who was released goes among those that are over. What
 *  has lapsed is put where a sweep begins. */
const PRUNE_MOMENTS = String.raw`
local passed, again = endsBetween('(1', now), {}
repeat
  for _, row in ipairs(activeOf(passed.next(), again)) do
    again[#again + 1] = isLive(row) and row.expiresAt or 1
    again[#again + 1] = row.id
  end
until passed.isOver or passed.looked >= ${LOOKED}
callInParts('ZREM', ENDS, passed.entries)
callInParts('ZADD', ENDS, again)
`;

export const PRUNE = String.raw`${REST}${LOG_ROWS}${READ_ENDS}${PRUNE_LOG}${PRUNE_MOMENTS}${PRUNE_ROWS}
reply[4] = events
reply[5] = #goneIds
reply[6] = (hasMore or #over > limit or isInTheWay or not passed.isOver) and 1 or 0
`;
