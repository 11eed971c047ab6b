// Lua: recovery as the store sees it, as src/stores/protocol/sequence/recover.ts: claims with epochs of their own, the one
// step that settles what was claimed, and the manual queue. Whoever lost its claim changes nothing.

/** S18: as many rows as their work fits into one page, at least one; each with its partial work and its finished result. */
const WORK_PAGE = String.raw`
local function within(rows, limit)
  local page, bytes = {}, 0
  for i = 1, math.min(limit, #rows) do
    bytes = bytes + rows[i].partialBytes + rows[i].finishedBytes
    if i > 1 and bytes > PAGE_BYTES then break end
    page[i] = rows[i]
  end
  return page
end
local function answerWork(page)
  local items = {}
  for i, row in ipairs(page) do
    items[i] = {row.stream, row.text, row.partialBytes > 0 and workOf(row, 'p') or '',
      row.finishedBytes > 0 and workOf(row, 'f') or ''}
  end
  return items
end
`;

/** A claim of nothing is the ordinary case, and writes nothing: whoever may only look is told that there is something. */
export const CLAIM = String.raw`${WORK_PAGE}
local name, limit, owner, ttlMs, gapsToo = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1'
local wanted = canWrite and limit + 1 or 1
local spots, backlog = dueIn(DUE, OPEN, '', name, wanted)
if gapsToo and #spots < wanted then
  for _, spot in ipairs((dueIn(AGAIN, PLACES, 'r', name, wanted - #spots))) do spots[#spots + 1] = spot end
end
if not canWrite and #spots > 0 then
  reply[4] = 'write'
  return reply
end
local rows = {}
for i, spot in ipairs(spots) do rows[i] = spanOf(spot) end
local taken = within(rows, limit)
reply[4], reply[5], reply[6] = {}, backlog, #rows > #taken and 1 or 0
`;
export const TAKE_CLAIMS = String.raw`
if epoch + #taken > MOST then
  reply[4] = 'epoch'
else
  for _, row in ipairs(taken) do
    epoch = epoch + 1
    become(streamOf(row.stream), row, function()
      if isOpen(row) then row.state, row.retryAt = 'r', 0 end
      row.claimEpoch, row.claimUntil, row.claimOwner = epoch, now + ttlMs, owner
    end)
  end
  flush()
  reply[4] = answerWork(taken)
end
`;

const CLAIMANT = String.raw`
local function isClaimedAt(row, asked) return row and row.claimEpoch == tonumber(asked) and isClaimed(row) end
local function claimLost(row)
  if not row then return {'notHeld', 'u', 0} end
  return {'notHeld', stateAt(row), exact(row.claimEpoch)}
end
`;

export const RENEW_CLAIM = String.raw`${CLAIMANT}
local function act(item)
  local name, operationId, asked, ttlMs = split(item, 4)
  local row = byOperation(name, operationId)
  if not isClaimedAt(row, asked) then return claimLost(row) end
  row.claimUntil = math.max(row.claimUntil, now + ttlMs)
  touch(row)
  return {'kept', row.claimUntil - now}
end
`;

const FAILED_DATA = String.raw`
local function failedData(row, method)
  return string.format('\toutcome$%s\tattempts#%.0f', method == 'manual' and 'manual' or 'retry', row.attempts)
    .. overrun(row, method)
end
`;

export const SETTLE = String.raw`${CLAIMANT}${FAILED_DATA}
-- A finished result of an open number stays at that number; anything else is filled in or moved.
local function recovered(row, text, content, method)
  local first = row.first
  if isOpen(row) and method == 'recommitted' then
    storeHere(streamOf(row.stream), row, text, content, method)
  else
    first = fillOrMove(row, text, content, method)
    if not first then return {'spent'} end
  end
  log('V', row, string.format('\toutcome$%s\tstoredAt#%.0f', STATES[row.state], first) .. overrun(row, method))
  return {'settled', stateAt(row), exact(first)}
end
local function leaveGap(row, reason, againAfterMs)
  local wasOpen, wasManual = isOpen(row), row.isManual == 1
  becomeGap(row, reason, 'gap', function()
    if againAfterMs and not wasManual then row.retryAt = now + againAfterMs end
    if wasManual then row.attempts, row.lastError = row.attempts + 1, reason end
  end)
  if wasOpen then log('V', row, '\toutcome$gap' .. overrun(row, 'gap'))
  elseif wasManual then log('Z', row, failedData(row, 'manual'), '', reason) end
end
-- V4: back to wait for the next try.
local function putOff(row, failure, afterMs)
  become(streamOf(row.stream), row, function()
    if isOpen(row) then row.state = 'l' end
    unclaim(row)
    row.retryAt, row.attempts, row.lastError = now + afterMs, row.attempts + 1, failure
  end)
  log('Z', row, failedData(row, 'failed') .. string.format('\tretryAt#%.0f', row.retryAt), '', failure)
end
-- V4: the number is settled as a gap, and a person has to look at what was to be there.
local function handOver(row, reason, failure)
  becomeGap(row, reason, 'manual', function()
    row.isManual, row.attempts, row.lastError = 1, row.attempts + 1, failure
  end)
  log('Z', row, failedData(row, 'manual'), '', failure)
end
local function act(item)
  local name, operationId, asked, to, afterMs, reason, failure, method, countText, content, text = split(item, 11)
  local row = byOperation(name, operationId)
  if not isClaimedAt(row, asked) then return claimLost(row) end
  if to == 'commit' then
    if row.finishedBytes == 0 then return {'nothing'} end
    return recovered(row, workOf(row, 'f'), row.finishedContent, 'recommitted')
  end
  if to == 'move' then
    if row.count ~= tonumber(countText) then return {'count', row.count} end
    return recovered(row, text, tonumber(content), method)
  end
  if to == 'gap' then leaveGap(row, reason, tonumber(afterMs)) end
  if to == 'retry' then putOff(row, failure, tonumber(afterMs)) end
  if to == 'manual' then handOver(row, reason, failure) end
  return {'settled', stateAt(row), 0}
end
`;

export const MANUAL_ITEMS = String.raw`${WORK_PAGE}
local name, afterName, afterNumber, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local from, to = '[m', '(n'
if name ~= '' then from, to = '[m' .. name .. '\0', '(m' .. name .. '\1' end
if afterName ~= '' and (name == '' or not isBefore(afterName, name)) then
  from = '(m' .. spotOf(afterName, tonumber(afterNumber))
end
local rows = {}
for i, member in ipairs(redis.call('ZRANGEBYLEX', PLACES, from, to, 'LIMIT', 0, limit + 1)) do
  rows[i] = spanOf(string.sub(member, 2))
end
local page = within(rows, limit)
reply[4], reply[5] = answerWork(page), #rows > #page and 1 or 0
`;

export const MANUAL = String.raw`
local name, operationId, order, actor = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local row = byOperation(name, operationId)
if not row or row.isManual == 0 then
  reply[4] = 'unknown'
elseif order == 'discard' then
  become(streamOf(name), row, function()
    row.isManual, row.retryAt = 0, 0
    unclaim(row)
    forgetPartialAndFinished(row)
  end)
  log('Z', row, '\toutcome$discarded\tmethod$manual', actor, 'discarded')
  reply[4] = 'discarded'
elseif row.finishedBytes > 0 then
  local first, how = fillOrMove(row, workOf(row, 'f'), row.finishedContent, 'manual')
  if first then
    log('V', row, string.format('\toutcome$%s\tstoredAt#%.0f\tmethod$manual', STATES[row.state], first), actor)
    reply[4], reply[5], reply[6] = 'stored', exact(first), how
  else
    reply[4] = 'spent'
  end
else
  become(streamOf(name), row, function()
    if row.retryAt == 0 then row.retryAt = now end
  end)
  reply[4] = 'queued'
end
`;
