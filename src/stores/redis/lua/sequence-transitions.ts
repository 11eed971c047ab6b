// Lua: the transitions of src/stores/protocol/sequence/transitions.ts, each with its log row in the same step (S6). Nothing
// here decides. Every change of state passes through `become`, which keeps the counters of the stream.

export const SEQUENCE_TRANSITIONS = String.raw`
local function split(item, count)
  return string.match(item, '^' .. string.rep('([^\t]*)\t', count - 1) .. '(.*)$')
end
local function hasNumbers(stream, count) return stream.next + count <= MOST end
local function reserve(stream, count)
  local first = stream.next
  stream.next = first + count
  return first
end

-- What is trimmed counts no more; a gap whose operation is stored elsewhere is none to worry about.
local function tally(stream, row, sign)
  local numbers = sign * row.count
  if isOpen(row) then stream.open = stream.open + numbers end
  if row.trimmedAt > 0 then return end
  if row.state == 'g' and row.movedTo == 0 then stream.gaps = stream.gaps + numbers end
  if row.state == 'm' then stream.moved = stream.moved + numbers end
  if row.isManual == 1 then stream.manual = stream.manual + numbers end
end
local function forgetPartialAndFinished(row)
  row.partialBytes, row.finishedBytes, row.finishedContent = 0, 0, 0
  row.kept.p, row.kept.f = nil, nil
end
-- What trimming passed over, because somebody still had to deal with it, goes when that is done.
local function trimLate(stream, row)
  local isPassed = row.first + row.count <= stream.trimmedBefore and row.trimmedAt == 0
  if not isPassed or row.isManual == 1 or row.movedTo > 0 or dueAt(row) then return end
  forgetPartialAndFinished(row)
  row.trimmedAt = now
end
local function become(stream, row, change)
  local gaps, moved, manual, open = stream.gaps, stream.moved, stream.manual, stream.open
  tally(stream, row, -1)
  change(row)
  trimLate(stream, row)
  tally(stream, row, 1)
  touch(row)
  if gaps ~= stream.gaps or moved ~= stream.moved or manual ~= stream.manual or open ~= stream.open then saveStream(stream) end
end
local function addCounted(stream, row)
  tally(stream, row, 1)
  saveStream(stream)
end

local function unclaim(row) row.claimEpoch, row.claimUntil, row.claimOwner = 0, 0, '' end
-- A terminal outcome: nothing is left to be done about the operation, and its work need not be kept.
local function forgetWork(row)
  unclaim(row)
  row.retryAt, row.lastError, row.isManual = 0, '', 0
  forgetPartialAndFinished(row)
end
-- How long after its expiry a number was dealt with, and how; nothing for what its own holder did in time.
local function overrun(row, method)
  if not method then return '' end
  return string.format('\toverrunMs#%.0f\tmethod$%s', math.max(0, now - row.expiresAt), method)
end
local STATES = {l = 'leased', r = 'recovering', c = 'committed', g = 'gap', f = 'filled', m = 'moved'}

-- At the span's own number, as committed or, where a gap was, as filled.
local function storeHere(stream, row, text, content, method)
  local wasGap = row.state == 'g'
  become(stream, row, function()
    row.state = wasGap and 'f' or 'c'
    row.settledAt = now
    setOperations(row, text, content)
    forgetWork(row)
  end)
  settled[row.stream] = true
  log(wasGap and 'J' or 'C', row, '\toutcome$' .. STATES[row.state] .. overrun(row, method))
end
-- V2: under a new number, the old one pointing to it. An open number becomes moved; a gap stays one.
local function storeElsewhere(stream, row, text, content, method)
  local target = newSpan(stream, reserve(stream, row.count), row.count, row.operationId, row.kind, row.owner)
  target.state, target.epoch, target.settledAt, target.movedFrom, target.type = 'c', row.epoch, now, row.first, method
  setOperations(target, text, content)
  addCounted(stream, target)
  become(stream, row, function()
    row.movedTo = target.first
    if isOpen(row) then row.state = 'm' end
    if row.settledAt == 0 then row.settledAt = now end
    forgetWork(row)
  end)
  settled[row.stream] = true
  log('M', row, string.format('\tmovedTo#%.0f\toutcome$moved', target.first) .. overrun(row, method))
  return target.first
end
-- N4: above the seal a gap takes its own operation back; else, and for an open number, the operation gets a new one.
local function fillOrMove(row, text, content, method)
  local stream = streamOf(row.stream)
  if not isOpen(row) and row.first > stream.seal then
    storeHere(stream, row, text, content, method)
    return row.first, 'filled'
  end
  if not hasNumbers(stream, row.count) then return nil end
  return storeElsewhere(stream, row, text, content, method), 'moved'
end
local function becomeGap(row, reason, method, change)
  local wasOpen = isOpen(row)
  become(streamOf(row.stream), row, function()
    row.state, row.retryAt = 'g', 0
    unclaim(row)
    if wasOpen then row.reason, row.settledAt = reason, now end
    if change then change() end
  end)
  if wasOpen then
    settled[row.stream] = true
    log('G', row, '\toutcome$gap' .. overrun(row, method))
  end
end

-- The span that holds the operations of this one's operation id, when they are stored. A trimmed one counts.
local function storedAt(row)
  if row.content ~= 0 then return row end
  if row.movedTo > 0 then return spanAt(row.stream, row.movedTo) end
end
local function isHeldBy(row, asked) return row and row.epoch == tonumber(asked) and isLive(row) end
local function notHeld(row)
  if not row then return {'notHeld', 'u', 0} end
  return {'notHeld', stateAt(row), exact(row.epoch)}
end
`;
