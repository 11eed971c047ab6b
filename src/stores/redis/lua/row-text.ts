// Lua: a row as text and back; row-text.ts one folder up reads and writes the same text. Three lines: numbers, what is rare
// and changes, what was asked. The first letter is the status, capital A for an active lease with nothing rare about it:
// one exclusive node, no terms. Fields are divided by tabs, parts by \31, which no checked text can hold.
//
//   A epoch expiresAt acquiredAt renewedAt renewals skewMs ttlMs arrival endedAt lastRequest
//   grantEpoch arrivedAt joinedEpoch blockedUntil keepOutUntil blockEpoch becameEpoch TAB reason TAB cycle
//   id TAB owner TAB parts TAB content TAB terms TAB operationId TAB metadata
//
// A lease of the letter A that was released has that written before its row, which stays as it was: r, when it ended, a space, the
// row. So a release takes nothing apart. Who reads it has the row as it would have been written.

/** What a release writes before a row. */
export const releasedAt = (now: string): string => `'r' .. ${now} .. ' '`;

export const ROW_TEXT = String.raw`
local function whole(text)
  if string.byte(text, 2) == 32 then return text end
  return (string.gsub(text, '^r(%d+) A (%d+ %d+ %d+ %d+ %d+ %-?%d+ %d+ %d+) 0 %S*\n', 'r %2 %1 \n', 1))
end
local function decode(written)
  local text = whole(written)
  local status, epochText, expiresAt, acquiredAt, renewedAt, renewals, skewMs, ttlMs, arrivalText, endedAt, lastRequest,
    rare, id, owner, partsText, content, terms, tail = string.match(text,
    '^(%a) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%d+) (%d+) (%d+) (%S*)\n([^\n]*)\n([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
  local row = {
    text = text, status = string.lower(status), epoch = tonumber(epochText), expiresAt = tonumber(expiresAt),
    acquiredAt = tonumber(acquiredAt), renewedAt = tonumber(renewedAt), renewals = tonumber(renewals),
    skewMs = tonumber(skewMs), ttlMs = tonumber(ttlMs), arrival = tonumber(arrivalText), endedAt = tonumber(endedAt),
    lastRequest = lastRequest, id = id, owner = owner, partsText = partsText, content = content, terms = terms, tail = tail,
    joinedEpoch = 0, blockedUntil = 0, keepOutUntil = 0, blockEpoch = 0, becameEpoch = 0, reason = '', cycle = '',
    priority = 0, maxRenewals = -1, minHoldMs = 0, lockDelayMs = 0, upgrades = '', holding = '',
  }
  row.grantEpoch, row.arrivedAt = row.epoch, row.acquiredAt
  if rare ~= '' then
    local grantEpoch, arrivedAt, joinedEpoch, blockedUntil, keepOutUntil, blockEpoch, becameEpoch, reason, cycle =
      string.match(rare, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)\t([^\t]*)\t(.*)$')
    row.grantEpoch, row.arrivedAt, row.joinedEpoch = tonumber(grantEpoch), tonumber(arrivedAt), tonumber(joinedEpoch)
    row.blockedUntil, row.keepOutUntil = tonumber(blockedUntil), tonumber(keepOutUntil)
    row.blockEpoch, row.becameEpoch, row.reason, row.cycle = tonumber(blockEpoch), tonumber(becameEpoch), reason, cycle
  end
  if terms ~= '' then
    local priority, maxRenewals, maxHoldMs, minHoldMs, lockDelayMs, _, upgrades, holding =
      string.match(terms, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S*)$')
    row.priority, row.maxRenewals = tonumber(priority), tonumber(maxRenewals)
    row.minHoldMs, row.lockDelayMs = tonumber(minHoldMs), tonumber(lockDelayMs)
    if maxHoldMs ~= '-' then row.maxHoldMs = tonumber(maxHoldMs) end
    if upgrades ~= '-' then row.upgrades = upgrades end
    row.holding = holding
  end
  row.rank = row.arrivedAt - row.priority * 30000
  return row
end

-- Most rows a script comes upon are only in the way: what that takes is read at once, the rest when it is asked for.
local Unread = {}
Unread.__index = function(row, key)
  setmetatable(row, nil)
  for name, value in pairs(decode(row.text)) do
    if row[name] == nil then row[name] = value end
  end
  return row[key]
end
local function glance(written)
  local text = whole(written)
  local status, epochText, expiresAt, id, owner, partsText = string.match(text,
    '^(%a) (%d+) (%d+) [^\n]*\n[^\n]*\n([^\t]*)\t([^\t]*)\t([^\t]*)')
  return setmetatable({text = text, status = string.lower(status), epoch = tonumber(epochText),
    expiresAt = tonumber(expiresAt), id = id, owner = owner, partsText = partsText}, Unread)
end

local function isPlain(row)
  return string.sub(row.partsText, 1, 3) == 'xn:' and not string.find(row.partsText, '\31', 1, true)
end

local function encode(row)
  local rare = ''
  if row.status == 'p' or row.grantEpoch ~= row.epoch or row.arrivedAt ~= row.acquiredAt or row.blockedUntil > 0
    or row.keepOutUntil > 0 or row.becameEpoch > 0 or row.reason ~= '' or row.cycle ~= '' then
    rare = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f\t%s\t%s', row.grantEpoch, row.arrivedAt, row.joinedEpoch,
      row.blockedUntil, row.keepOutUntil, row.blockEpoch, row.becameEpoch, row.reason, row.cycle)
  end
  local letter = row.status
  if letter == 'a' and rare == '' and row.terms == '' and isPlain(row) then letter = 'A' end
  return string.format('%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s\n', letter, row.epoch, row.expiresAt,
    row.acquiredAt, row.renewedAt, row.renewals, row.skewMs, row.ttlMs, row.arrival, row.endedAt, row.lastRequest)
    .. rare .. '\n' .. table.concat({row.id, row.owner, row.partsText, row.content, row.terms, row.tail}, '\t')
end

local function parsePart(text)
  local colon = string.find(text, ':', 1, true)
  return {name = string.sub(text, colon + 1), isShared = string.byte(text) == 115, isTree = string.byte(text, 2) == 116,
    limit = colon > 3 and tonumber(string.sub(text, 3, colon - 1)) or nil}
end
local function parseParts(text)
  if not string.find(text, '\31', 1, true) then return text == '' and {} or {parsePart(text)} end
  local parts = {}
  for one in string.gmatch(text, '[^\31]+') do parts[#parts + 1] = parsePart(one) end
  return parts
end
local function partsOf(row)
  local parts = rawget(row, 'parts')
  if not parts then
    parts = parseParts(row.partsText)
    rawset(row, 'parts', parts)
  end
  return parts
end
local function asExclusive(partsText)
  return (string.gsub('\31' .. partsText, '\31[xs]([nt])%d*:', '\31x%1:')):sub(2)
end
local function asShared(partsText)
  return (string.gsub('\31' .. partsText, '\31x([nt]):', '\31s%1:')):sub(2)
end

local function isLive(row) return row.status == 'a' and now < row.expiresAt end
local function isWaiting(row) return row.status == 'p' and now < row.expiresAt end
`;
