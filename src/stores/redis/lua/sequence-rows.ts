// Lua: streams, spans and readers as text and back (sequence-text.ts one folder up reads the same text), and finding them.
//
// A span lies under its stream's name, \0 and its first number in 16 digits, so that byte order is the order of numbers. The
// spans of a stream follow each other without a hole: the next one begins where one ends, and only those of several numbers
// need an index (w in `places`) for the numbers inside. `open` holds what is open and nothing else: the watermark is its first
// member of a stream, with a million settled numbers as with none (N3).
//
//   span    state first count bytes partialBytes finishedBytes epoch leasedAt expiresAt content settledAt movedTo movedFrom
//           attempts retryAt trimmedAt isManual claimEpoch claimUntil finishedContent
//           TAB operationId TAB kind TAB owner TAB reason TAB lastError TAB claimOwner TAB type TAB operations
//   stream  next seal trimmedBefore watchedUntil gaps moved manual open
//   reader  done epoch movedAt
//
// 0 and empty text stand for nothing. Operations of more than INLINE bytes, partial work and finished results lie in `work`;
// the letter of the state is a capital when the operations do.
import { LIMITS } from '../../../domain/limits.js';

/** Operations up to this size lie in their row: one look for a number and what is there. */
export const INLINE_BYTES = 1_024;

/** More that are due at once are taken in the order they became so, this many at a time. */
const DUE_TOGETHER = 5_000;

export const STREAM_KEYS = String.raw`
local STREAMS, SPANS, WORK, IDS, READERS = KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local OPEN, DUE, AGAIN, PLACES = KEYS[14], KEYS[15], KEYS[16], KEYS[17]
`;

export const SEQUENCE_ROWS = String.raw`
local MOST, INLINE, PAGE_BYTES = 9007199254740991, ${INLINE_BYTES}, ${LIMITS.operationsBytes}
local spans, streams = {}, {}

-- S17: numbers and epochs leave as text; a client library may round an integer so close to 2^53.
local function exact(number) return string.format('%.0f', number) end
local function padded(number) return string.format('%016.0f', number) end
local function spotOf(name, number) return name .. '\0' .. padded(number) end
local function nameIn(spot) return string.sub(spot, 1, -18) end
local function numberIn(spot) return tonumber(string.sub(spot, -16)) end

local function isOpen(row) return row.state == 'l' or row.state == 'r' end
local function isLive(row) return row.state == 'l' and now < row.expiresAt end
local function isClaimed(row) return row.claimEpoch > 0 and now < row.claimUntil end
local function stateAt(row)
  if row.state == 'l' and now >= row.expiresAt then return 'x' end
  return row.state
end
-- When a recoverer may claim it; nil when never.
local function dueAt(row)
  if isOpen(row) then return math.max(row.state == 'l' and row.expiresAt or 0, row.retryAt, row.claimUntil) end
  if row.state == 'g' and row.retryAt > 0 then return math.max(row.retryAt, row.claimUntil) end
end

-- Where a row stands in the indexes and what it has beside itself: what the next write of it is compared with.
local function standing(row)
  local due, open = dueAt(row), isOpen(row)
  return {open = open, due = open and due or nil, again = not open and due or nil,
    gap = row.state == 'g' and row.trimmedAt == 0, manual = row.isManual == 1, trimmed = row.trimmedAt > 0,
    bytes = row.bytes, partialBytes = row.partialBytes, finishedBytes = row.finishedBytes}
end

local SPAN = '^(%a)' .. string.rep(' (%d+)', 19) .. string.rep('\t([^\t]*)', 7) .. '\t(.*)$'
local function remember(name, spot, text)
  local state, first, count, bytes, partialBytes, finishedBytes, epochText, leasedAt, expiresAt, content, settledAt, movedTo,
    movedFrom, attempts, retryAt, trimmedAt, isManual, claimEpoch, claimUntil, finishedContent, operationId, kind, owner,
    reason, lastError, claimOwner, type, inline = string.match(text, SPAN)
  local row = {
    stream = name, spot = spot, state = string.lower(state), first = tonumber(first), count = tonumber(count), bytes = tonumber(bytes),
    partialBytes = tonumber(partialBytes), finishedBytes = tonumber(finishedBytes), epoch = tonumber(epochText),
    leasedAt = tonumber(leasedAt), expiresAt = tonumber(expiresAt), content = tonumber(content),
    settledAt = tonumber(settledAt), movedTo = tonumber(movedTo), movedFrom = tonumber(movedFrom),
    attempts = tonumber(attempts), retryAt = tonumber(retryAt), trimmedAt = tonumber(trimmedAt),
    isManual = tonumber(isManual), claimEpoch = tonumber(claimEpoch), claimUntil = tonumber(claimUntil),
    finishedContent = tonumber(finishedContent), operationId = operationId, kind = kind, owner = owner, reason = reason,
    lastError = lastError, claimOwner = claimOwner, type = type, inline = inline, text = text, kept = {},
  }
  row.was = standing(row)
  spans[spot] = row
  return row
end

local function spanOf(spot)
  if spans[spot] then return spans[spot] end
  local text = redis.call('HGET', SPANS, spot)
  if text then return remember(nameIn(spot), spot, text) end
end
-- The span that has this number, which may be inside it.
local function spanAt(name, number)
  local spot = spotOf(name, number)
  local row = spanOf(spot)
  if row then return row end
  local wide = redis.call('ZREVRANGEBYLEX', PLACES, '[w' .. spot, '[w' .. name .. '\0', 'LIMIT', 0, 1)[1]
  row = wide and spanOf(string.sub(wide, 2))
  if row and number < row.first + row.count then return row end
end
-- The span an operation was leased with: never one that a move made.
local function byOperation(name, operationId)
  local first = redis.call('HGET', IDS, name .. '\0' .. operationId)
  if first then return spanOf(spotOf(name, tonumber(first))) end
end
-- Of its own letter: o operations, p partial work, f a finished result.
local function workOf(row, letter)
  return redis.call('HGET', WORK, row.spot .. letter) or ''
end
local function operationsOf(row)
  if row.bytes > INLINE then return workOf(row, 'o') end
  return row.inline
end

local function streamOf(name)
  if streams[name] then return streams[name] end
  local text = redis.call('HGET', STREAMS, name)
  if not text then return nil end
  local nextText, seal, trimmedBefore, watchedUntil, gaps, moved, manual, open =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)')
  local stream = {name = name, next = tonumber(nextText), seal = tonumber(seal), trimmedBefore = tonumber(trimmedBefore),
    watchedUntil = tonumber(watchedUntil), gaps = tonumber(gaps), moved = tonumber(moved), manual = tonumber(manual),
    open = tonumber(open)}
  streams[name] = stream
  return stream
end
local function newStream(name)
  return {name = name, next = 1, seal = 0, trimmedBefore = 1, watchedUntil = 0, gaps = 0, moved = 0, manual = 0, open = 0,
    isNew = true}
end
local function streamText(stream)
  return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f', stream.next, stream.seal, stream.trimmedBefore,
    stream.watchedUntil, stream.gaps, stream.moved, stream.manual, stream.open)
end

local function lowestOpen(name)
  local spot = redis.call('ZRANGEBYLEX', OPEN, '[' .. name .. '\0', '(' .. name .. '\1', 'LIMIT', 0, 1)[1]
  if spot then return spanOf(spot) end
end
-- N3, and the row that keeps the watermark where it is.
local function watermarkOf(stream)
  local lowest = lowestOpen(stream.name)
  return (lowest and lowest.first or stream.next) - 1, lowest and lowest.text or ''
end
`;

/** What is due by now, in the order of streams and numbers: up to so many, and how many there are (counted to 1,001). */
export const SEQUENCE_DUE = String.raw`
local function inOrder(spots, wanted)
  local names, numbers, ordered = {}, {}, {}
  for _, spot in ipairs(spots) do
    local name = nameIn(spot)
    if not numbers[name] then
      numbers[name] = {}
      names[#names + 1] = name
    end
    table.insert(numbers[name], numberIn(spot))
  end
  table.sort(names, isBefore)
  for _, name in ipairs(names) do
    table.sort(numbers[name])
    for _, number in ipairs(numbers[name]) do
      if #ordered == wanted then return ordered end
      ordered[#ordered + 1] = spotOf(name, number)
    end
  end
  return ordered
end
-- Of one stream when thousands of others are due, too: through its own numbers, which are bounded.
local function walk(times, index, letter, name)
  local spots, from, to = {}, '[' .. letter .. name .. '\0', '(' .. letter .. name .. '\1'
  repeat
    local page = redis.call('ZRANGEBYLEX', index, from, to, 'LIMIT', 0, 500)
    if #page > 0 then
      from = '(' .. page[#page]
      for i, member in ipairs(page) do page[i] = string.sub(member, #letter + 1) end
      for i, at in ipairs(redis.call('ZMSCORE', times, unpack(page))) do
        if at and tonumber(at) <= now then spots[#spots + 1] = page[i] end
      end
    end
  until #page < 500 or #spots > ${LIMITS.rowsPerStep}
  return spots
end
local function dueIn(times, index, letter, name, wanted)
  local all = redis.call('ZCOUNT', times, '-inf', now)
  if all == 0 then return {}, 0 end
  local spots = {}
  if name ~= '' and all > ${DUE_TOGETHER} then
    spots = walk(times, index, letter, name)
  else
    for _, spot in ipairs(redis.call('ZRANGEBYSCORE', times, '-inf', now, 'LIMIT', 0, ${DUE_TOGETHER})) do
      if name == '' or nameIn(spot) == name then spots[#spots + 1] = spot end
    end
  end
  local count = name == '' and all or #spots
  return inOrder(spots, wanted), math.min(count, ${LIMITS.rowsPerStep + 1})
end
`;
