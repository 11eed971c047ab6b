// Lua: reads. They hand out rows as they stand, from one snapshot; what follows from them (who waits for whom, what a record
// says at this moment) is worked out in the process that asked, so that a long look keeps nobody else waiting (S18).
import { BYTE_ORDER } from './byte-order.js';

export const GET = String.raw`
local items = {}
for i = 1, #ARGV do items[i] = ARGV[i] ~= '' and redis.call('HGET', ROWS, ARGV[i]) or '' end
reply[4] = items
`;

/** In order of first name, then id: leases page by page out of the index, merged with the tickets, which are few. */
export const LIST = String.raw`${BYTE_ORDER}
local limit, cursorName, cursorId = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local owner, status, olderThan, resource, prefix = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8]

local function isPast(name, id)
  return cursorId == '' or isBefore(cursorName, name) or (name == cursorName and isBefore(cursorId, id))
end
local function isListed(row)
  if not (isLive(row) or isWaiting(row)) then return false end
  if status ~= '' and row.status ~= status then return false end
  if owner ~= '' and row.owner ~= owner then return false end
  if now - row.acquiredAt < olderThan then return false end
  local isNamed, isBelow = resource == '', prefix == ''
  for _, part in ipairs(partsOf(row)) do
    if part.name == resource then isNamed = true end
    if part.name == prefix or isAbove(prefix, part.name) then isBelow = true end
  end
  return isNamed and isBelow
end
local function order(a, b)
  local x, y = partsOf(a)[1].name, partsOf(b)[1].name
  return isBefore(x, y) or (x == y and isBefore(a.id, b.id))
end
local function isFirst(member) return string.byte(member, #member) ~= 43 end

local waiting = {}
if tickets > 0 and status ~= 'a' then
  local ids = {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', INDEX, '[w', '(x')) do
    if isFirst(member) then
      local id = idIn(member)
      if isPast(string.sub(member, 2, string.find(member, '\0', 1, true) - 1), id) then ids[#ids + 1] = id end
    end
  end
  for _, row in ipairs(load(ids, {})) do if isListed(row) then waiting[#waiting + 1] = row end end
  table.sort(waiting, order)
end

local page, nextWaiting, looked, start = {}, 1, 0, '[n' .. cursorName
local stoppedAt = nil
if cursorId ~= '' then start = '(n' .. cursorName .. '\0' .. cursorId end
local function takeWaitingBefore(row)
  while waiting[nextWaiting] and #page <= limit and (not row or order(waiting[nextWaiting], row)) do
    page[#page + 1] = waiting[nextWaiting]
    nextWaiting = nextWaiting + 1
  end
end
if status ~= 'p' then
  repeat
    local members = redis.call('ZRANGEBYLEX', INDEX, start, '(t', 'LIMIT', 0, 1000)
    local ids = {}
    for _, member in ipairs(members) do if isFirst(member) then ids[#ids + 1] = idIn(member) end end
    for _, row in ipairs(load(ids, {})) do
      if #page > limit then break end
      if isListed(row) then
        takeWaitingBefore(row)
        if #page <= limit then page[#page + 1] = row end
      end
    end
    looked = looked + #members
    start = '(' .. (members[#members] or '')
    known = {} -- a page at a time
    if #page <= limit and looked >= 10000 and #members == 1000 then stoppedAt = members[#members] end
  until #members < 1000 or #page > limit or stoppedAt
end
if stoppedAt then
  local cut = string.find(stoppedAt, '\0', 1, true)
  cursorName, cursorId = string.sub(stoppedAt, 2, cut - 1), idIn(stoppedAt)
  while waiting[nextWaiting] and not isPast(partsOf(waiting[nextWaiting])[1].name, waiting[nextWaiting].id) and #page <= limit do
    page[#page + 1] = waiting[nextWaiting]
    nextWaiting = nextWaiting + 1
  end
else
  takeWaitingBefore(nil)
end
local items = {}
for i = 1, math.min(limit, #page) do items[i] = page[i].text end
reply[4] = items
reply[5], reply[6] = '', ''
if #page > limit then
  reply[5], reply[6] = page[limit].id, partsOf(page[limit])[1].name
elseif stoppedAt then
  reply[5], reply[6] = cursorId, cursorName
end
`;

/** Everything that stands on or waits for a name. */
export const SHOW = String.raw`
local items = {}
for i, row in ipairs(overlapping({{name = ARGV[1], isTree = false, isShared = false}})) do items[i] = row.text end
reply[4] = items
`;

/** The oldest thousand tickets (S18), what overlaps them, and what their requesters hold. */
export const GRAPH = String.raw`
local ids = redis.call('ZRANGEBYSCORE', QUEUE, '-inf', '(inf', 'LIMIT', 0, 1000)
local texts, isSent, isLooked = {}, {}, {}
local function send(row)
  if row and not isSent[row.id] then
    isSent[row.id] = true
    texts[#texts + 1] = row.text
  end
end
local oldest = load(ids, {})
for _, row in ipairs(oldest) do send(row) end
for _, row in ipairs(oldest) do
  if isWaiting(row) then
    for id in string.gmatch(row.holding, '[^,]+') do send(find(id)) end
    send(find(row.upgrades))
    if not isLooked[row.partsText] then
      isLooked[row.partsText] = true
      for _, other in ipairs(overlapping(partsOf(row))) do send(other) end
    end
  end
end
reply[4] = ids
reply[5] = texts
`;
