// Lua: reading a stream, as src/stores/protocol/sequence/read.ts. Nothing past the watermark is shown (N3), and what is shown
// is sealed in the step that shows it (N4). What may only look, and finds that something had to be written down first, says so.
import { LIMITS, OPERATION_ID_KEEP_MS, WATCH_MS } from '../../../domain/limits.js';

/** Readers of one page of streams: a page ends early rather than carry more. */
const READERS_TOGETHER = 10_000;

/** Written at most once in half the time it is good for. A stream that nobody has written to is not made by looking. */
const WATCH = String.raw`
local function mustWatch(stream, isWanted)
  return isWanted and stream.next > 1 and stream.watchedUntil < now + ${WATCH_MS / 2}
end
local function answerHead(stream, watermark, lowest)
  reply[4], reply[5], reply[6] = exact(watermark), exact(stream.seal), exact(stream.next)
  reply[7], reply[8] = exact(stream.trimmedBefore), lowest
end
`;

/** A page is cut by what its operations weigh, which stands in the rows: nothing large is fetched to be left out. */
export const READ = String.raw`${WATCH}
local name, from, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local seals, watches = ARGV[4] == '1', ARGV[5] == '1'
local stream = streamOf(name) or newStream(name)
local watermark, lowest = watermarkOf(stream)
from = math.max(from, stream.trimmedBefore)
local to = math.min(watermark, from + limit - 1)
if not canWrite and (mustWatch(stream, watches) or (seals and to >= from and to > stream.seal)) then
  reply[4] = 'write'
  return reply
end
local texts, shown, large, bytes, last, isFull = {}, 0, {}, 0, 0, false
local function show(spot, text)
  local weight, isBeside = #text, string.byte(text) < 97
  if isBeside then weight = tonumber(string.match(text, '^%a %d+ %d+ (%d+)')) end
  bytes = bytes + weight
  if shown > 0 and bytes > PAGE_BYTES then return false end
  shown = shown + 1
  texts[shown] = text
  if isBeside then large[#large + 1] = redis.call('HGET', WORK, spot .. 'o') end
  return true
end
local function lastShown()
  local first, count = string.match(texts[shown], '^%a (%d+) (%d+)')
  return math.min(to, first + count - 1)
end
if from <= to then
  local begin = spanAt(name, from)
  if begin then
    show(begin.spot, begin.text)
    last = lastShown()
  end
  local at, prefix = math.max(from, last) + 1, name .. '\0'
  while at <= to and not isFull do
    local spots = {}
    for number = at, math.min(to, at + 249) do spots[number - at + 1] = prefix .. padded(number) end
    local found = redis.call('HMGET', SPANS, unpack(spots))
    for i = 1, #spots do
      local text = found[i] -- a number inside a span has no row of its own
      if text and not show(spots[i], text) then
        isFull = true
        break
      end
    end
    if shown > 0 then last = lastShown() end
    at = math.max(at + 250, last + 1)
  end
end
if canWrite then
  if seals and last > stream.seal then
    stream.seal = last
    saveStream(stream)
  end
  if mustWatch(stream, watches) then
    stream.watchedUntil = now + ${WATCH_MS}
    saveStream(stream)
  end
end
answerHead(stream, watermark, lowest)
reply[9], reply[10] = texts, large
`;

export const BARRIER = String.raw`${WATCH}
local name, number, watches = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local stream = streamOf(name) or newStream(name)
local watermark, lowest = watermarkOf(stream)
local isReached = watermark >= number - 1
if number - stream.next > ${LIMITS.numbersAhead} then
  reply[4], reply[5] = 'ahead', exact(stream.next - 1)
  return reply
end
local mustSeal = isReached and stream.seal < number - 1
local watchIt = not isReached and mustWatch(stream, watches)
if not canWrite and (mustSeal or watchIt) then
  reply[4] = 'write'
  return reply
end
if mustSeal then stream.seal = number - 1 end
if watchIt then stream.watchedUntil = now + ${WATCH_MS} end
if mustSeal or watchIt then saveStream(stream) end
answerHead(stream, watermark, lowest)
reply[9] = isReached and 1 or 0
`;

const READER = String.raw`
local function readerText(done, epochOfReader, movedAt)
  return string.format('%.0f %.0f %.0f', done, epochOfReader, movedAt)
end
local function parseReader(text)
  local done, drawn, movedAt = string.match(text, '^(%d+) (%d+) (%d+)')
  return tonumber(done), tonumber(drawn), tonumber(movedAt)
end
local function readersOf(name)
  local members = redis.call('ZRANGEBYLEX', PLACES, '[c' .. name .. '\0', '(c' .. name .. '\1')
  for i, member in ipairs(members) do members[i] = string.sub(member, 2) end
  return members, #members > 0 and redis.call('HMGET', READERS, unpack(members)) or {}
end
`;

/** A name used by two processes: the later opener wins, and the earlier one's done is stale. */
export const CURSOR = String.raw`${READER}
local name, reader, order, number, asked = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local place = name .. '\0' .. reader
local text = redis.call('HGET', READERS, place)
local done, drawn, movedAt
if text then done, drawn, movedAt = parseReader(text) end
local stream = streamOf(name)
local function openReader()
  if not text and redis.call('ZLEXCOUNT', PLACES, '[c' .. name .. '\0', '(c' .. name .. '\1') >= ${LIMITS.readersPerStream} then
    return 'full', 0, 0
  end
  if epoch >= MOST then return 'epoch', 0, 0 end
  if not stream then
    stream = newStream(name)
    saveStream(stream)
  end
  epoch = epoch + 1
  if not text then redis.call('ZADD', PLACES, 0, 'c' .. place) end
  done = done or stream.trimmedBefore - 1
  redis.call('HSET', READERS, place, readerText(done, epoch, movedAt or now))
  return 'opened', exact(epoch), exact(done)
end
local function moveReader()
  if drawn ~= asked then return 'stale', exact(drawn), 0 end
  if number <= done then return 'moved', exact(done), 0 end
  local watermark = watermarkOf(stream)
  if number > watermark then return 'beyond', exact(watermark), 0 end
  redis.call('HSET', READERS, place, readerText(number, drawn, now))
  if stream.seal < number then
    stream.seal = number
    saveStream(stream)
  end
  return 'moved', exact(number), 0
end
if order == 'open' then
  reply[4], reply[5], reply[6] = openReader()
elseif not text then
  reply[4] = 'unknown'
elseif order == 'forget' then
  redis.call('HDEL', READERS, place)
  redis.call('ZREM', PLACES, 'c' .. place)
  reply[4] = 'forgotten'
else
  reply[4], reply[5], reply[6] = moveReader()
end
`;

/** N6: what waits for a person, or for another try, keeps its work. An id lives as long as the operation it was moved to. */
export const TRIM = String.raw`${READER}
local name, before, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local stream = streamOf(name)
local removed, forgotten, more = 0, 0, false

local function trimSpan(row)
  become(stream, row, function()
    row.bytes, row.inline = 0, ''
    forgetPartialAndFinished(row)
    row.trimmedAt = now
  end)
end
local function removeOperations(row)
  if row.isManual == 1 or dueAt(row) then return false end
  local hadOperation = row.bytes > 0
  local target = row.movedTo > 0 and spanAt(name, row.movedTo)
  if not (target and target.trimmedAt == 0) then trimSpan(row) end
  local origin = row.movedFrom > 0 and spanAt(name, row.movedFrom)
  if origin and origin.trimmedAt == 0 then trimSpan(origin) end
  return hadOperation
end
local function forget()
  local to = '(t' .. spotOf(name, math.max(0, now - ${OPERATION_ID_KEEP_MS} + 1))
  local old = redis.call('ZRANGEBYLEX', PLACES, '[t' .. name .. '\0', to, 'LIMIT', 0, limit + 1)
  for i = 1, math.min(limit, #old) do
    local spot = spotOf(name, numberIn(old[i]))
    local row = spanOf(spot)
    if row then
      if row.movedFrom == 0 then redis.call('HDEL', IDS, name .. '\0' .. row.operationId) end
      if row.count > 1 then redis.call('ZREM', PLACES, 'w' .. spot) end
      redis.call('HDEL', SPANS, spot)
      spans[spot] = nil
    end
    redis.call('ZREM', PLACES, old[i])
    forgotten = forgotten + 1
  end
  return #old > limit
end

if stream then
  before = math.min(before, stream.seal + 1)
  local _, texts = readersOf(name)
  for _, text in ipairs(texts) do before = math.min(before, (parseReader(text)) + 1) end
  local gone, bytes, at = {}, 0, stream.trimmedBefore
  while at < before do
    local row = spanAt(name, at)
    if not row or row.first + row.count > before then break end
    more = #gone == limit or bytes > PAGE_BYTES
    if more then break end
    bytes = bytes + row.bytes
    gone[#gone + 1] = row
    at = row.first + row.count
  end
  for _, row in ipairs(gone) do
    if removeOperations(row) then removed = removed + row.count end
    stream.trimmedBefore = row.first + row.count
  end
  if #gone > 0 then saveStream(stream) end
  flush()
  more = forget() or more
end
reply[4], reply[5] = removed, exact(stream and stream.trimmedBefore or 1)
reply[6], reply[7] = forgotten, more and 1 or 0
`;

export const GAPS = String.raw`
local name, after, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local stream = streamOf(name)
local found = redis.call('ZRANGEBYLEX', PLACES, '(g' .. spotOf(name, after), '(g' .. name .. '\1', 'LIMIT', 0, limit + 1)
local texts = {}
for i = 1, math.min(limit, #found) do texts[i] = spanOf(string.sub(found[i], 2)).text end
reply[4], reply[5], reply[6] = exact(stream and stream.seal or 0), texts, #found > limit and 1 or 0
`;

export const STREAMS = String.raw`${READER}
local only, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local found = {only}
if only == '' then
  found = redis.call('ZRANGEBYLEX', PLACES, after == '' and '[s' or '(s' .. after, '(t', 'LIMIT', 0, limit + 1)
  for i, member in ipairs(found) do found[i] = string.sub(member, 2) end
end
local items, readers = {}, 0
for i = 1, math.min(limit, #found) do
  if readers > ${READERS_TOGETHER} then break end
  local stream = streamOf(found[i])
  if stream then
    local watermark, lowest = watermarkOf(stream)
    local names, texts = readersOf(stream.name)
    for at, member in ipairs(names) do names[at] = string.sub(member, #stream.name + 2) end
    readers = readers + #names
    items[#items + 1] = {stream.name, streamText(stream), exact(watermark), lowest, names, texts}
  end
end
reply[4], reply[5] = items, #found > #items and #items > 0 and 1 or 0
`;
