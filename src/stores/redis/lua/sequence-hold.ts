// Lua: what the holder of numbers asks for and where results without a lease go, as src/stores/protocol/sequence/hold.ts and
// place.ts. An item is its fields with tabs between them, the JSON text last; `content` is the hash of that text.
import { LIMITS } from '../../../domain/limits.js';

export const LEASE_NUMBERS = String.raw`
local function leased(row, again)
  return {'leased', exact(row.first), row.count, exact(row.epoch), row.leasedAt, row.expiresAt, again, row.owner}
end
local function answerKnown(row, kind, count, ttlMs, owner)
  if row.kind ~= kind or row.count ~= count then return {'mismatch'} end
  if not isOpen(row) then return {'settled', row.text, row.bytes > INLINE and operationsOf(row) or ''} end
  if isLive(row) then return leased(row, 1) end
  if isClaimed(row) then return {'recovering', row.claimUntil - now} end
  if epoch >= MOST then return {'epoch'} end
  epoch = epoch + 1
  become(streamOf(row.stream), row, function()
    row.state, row.epoch, row.owner, row.leasedAt, row.expiresAt, row.retryAt = 'l', epoch, owner, now, now + ttlMs, 0
    unclaim(row)
  end)
  log('L', row, string.format('\texpiresAt#%.0f\tagain!1', row.expiresAt))
  return leased(row, 1)
end
local function act(item)
  local name, operationId, kind, ttlText, countText, owner = split(item, 6)
  local ttlMs, count = tonumber(ttlText), tonumber(countText)
  local row = byOperation(name, operationId)
  if row then return answerKnown(row, kind, count, ttlMs, owner) end
  local stream = streamOf(name) or newStream(name)
  -- S18: what is open is what every recovery pays for.
  if stream.open + count > ${LIMITS.openNumbersPerStream} then return {'full', stream.open} end
  if epoch >= MOST then return {'epoch'} end
  if not hasNumbers(stream, count) then return {'spent'} end
  epoch = epoch + 1
  row = newSpan(stream, reserve(stream, count), count, operationId, kind, owner)
  row.epoch, row.expiresAt = epoch, now + ttlMs
  addCounted(stream, row)
  log('L', row, string.format('\texpiresAt#%.0f', row.expiresAt))
  return leased(row, 0)
end
`;

export const PROGRESS = String.raw`
local function act(item)
  local name, operationId, asked, what, ttlText, countText, content, text = split(item, 8)
  local row = byOperation(name, operationId)
  if not isHeldBy(row, asked) then return notHeld(row) end
  if what == 'finished' and row.count ~= tonumber(countText) then return {'count', row.count} end
  if what == 'renew' then row.expiresAt = math.max(row.expiresAt, now + ttlText) end
  if what == 'partial' then row.partialBytes, row.kept.p = #text, text end
  if what == 'finished' then row.finishedBytes, row.finishedContent, row.kept.f = #text, tonumber(content), text end
  if what ~= 'look' then touch(row) end
  return {'kept', row.expiresAt, row.owner}
end
`;

export const COMMIT = String.raw`
local function act(item)
  local name, operationId, asked, countText, content, text = split(item, 6)
  local row = byOperation(name, operationId)
  if not row then return notHeld(row) end
  local stored = storedAt(row)
  if stored then
    if stored.content ~= tonumber(content) then return {'mismatch'} end
    return {'committed', exact(stored.first), 1}
  end
  if not isHeldBy(row, asked) then return notHeld(row) end
  if row.count ~= tonumber(countText) then return {'count', row.count} end
  storeHere(streamOf(name), row, text, tonumber(content))
  return {'committed', exact(row.first), 0}
end
`;

export const RELEASE = String.raw`
local function act(item)
  local name, operationId, asked, reason = split(item, 4)
  local row = byOperation(name, operationId)
  if row and row.state == 'g' and row.epoch == tonumber(asked) and row.reason == reason then return {'released', 1} end
  if not isHeldBy(row, asked) then return notHeld(row) end
  becomeGap(row, reason)
  return {'released', 0}
end
`;

const PLACED = String.raw`
local function placed(row, text, content, method)
  local first, how = fillOrMove(row, text, content, method)
  if not first then return {'spent'} end
  return {'stored', exact(first), how}
end
`;

export const APPEND = String.raw`${PLACED}
-- A result whose lease the store never saw, or forgot: it is leased and committed at once.
local function appendNew(name, operationId, kind, owner, method, count, content, text)
  local stream = streamOf(name) or newStream(name)
  if epoch >= MOST then return {'epoch'} end
  if not hasNumbers(stream, count) then return {'spent'} end
  epoch = epoch + 1
  local row = newSpan(stream, reserve(stream, count), count, operationId, kind, owner)
  row.epoch = epoch
  addCounted(stream, row)
  log('L', row, string.format('\texpiresAt#%.0f', row.expiresAt))
  storeHere(stream, row, text, content, method)
  return {'stored', exact(row.first), 'new'}
end
local function act(item)
  local name, operationId, kind, owner, asked, method, countText, contentText, text = split(item, 9)
  local count, content = tonumber(countText), tonumber(contentText)
  local row = byOperation(name, operationId)
  if not row then return appendNew(name, operationId, kind, owner, method, count, content, text) end
  if row.kind ~= kind or row.count ~= count then return {'mismatch'} end
  local stored = storedAt(row)
  if stored then
    if stored.content ~= content then return {'mismatch'} end
    return {'stored', exact(stored.first), 'repeated'}
  end
  if isClaimed(row) then return {'busy', row.claimUntil - now} end
  if isLive(row) then
    if row.epoch ~= tonumber(asked) then return {'busy', row.expiresAt - now} end
    storeHere(streamOf(name), row, text, content)
    return {'stored', exact(row.first), 'committed'}
  end
  return placed(row, text, content, method)
end
`;

export const FILL = String.raw`${PLACED}
local function act(item)
  local name, number, operationId, countText, contentText, text = split(item, 6)
  local content = tonumber(contentText)
  local row = spanAt(name, tonumber(number))
  if not row then return {'notGap', 'u'} end
  if row.operationId ~= operationId then return {'mismatch'} end
  local stored = storedAt(row)
  if stored then
    if stored.content ~= content then return {'mismatch'} end
    return {'stored', exact(stored.first), 'repeated'}
  end
  if row.state ~= 'g' then return {'notGap', stateAt(row)} end
  if row.count ~= tonumber(countText) then return {'count', row.count} end
  return placed(row, text, content, 'manual')
end
`;
