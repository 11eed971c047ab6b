// Lua: the transitions of src/stores/protocol/transitions.ts, each with its log row (S6), and whom they wake (Q3).
//
// A log row is text: letter at wallAt epoch from-and-to, then lines: lease, owner, names, actor, reason, data. Data is
// key and value with a mark between them: # number, $ text, ! true or false, % parts, * a cycle.

export const TRANSITIONS = String.raw`
local function namesOf(row)
  local names = {}
  for i, part in ipairs(partsOf(row)) do names[i] = part.name end
  return table.concat(names, '\31')
end
local function log(letter, row, change, actor, reason, data)
  if not keep then return end
  seq = seq + 1
  redis.call('XADD', LOG, seq, 'e', string.format('%s %.0f %.0f %.0f %s\n', letter, now, wall, row.epoch, change)
    .. table.concat({row.id, row.owner, namesOf(row), actor, reason, data}, '\n'))
end
local function partsData(row)
  if isPlain(row) then return '' end
  return '\tparts%' .. row.partsText
end
local function free(row)
  for _, part in ipairs(partsOf(row)) do freed[#freed + 1] = part end
end

-- S3: written once, as of expiresAt, before the effect of whatever came upon it.
local function writeExpiry(row)
  row.status = 'e'
  row.endedAt = row.expiresAt
  row.blockedUntil = blockedUntilAfter(row, 'e')
  row.blockEpoch = row.epoch
  save(row)
  log('E', row, 'ae', 'store', row.reason, string.format('expiresAt#%.0f\toverrunMs#%.0f\theldMs#%.0f',
    row.expiresAt, now - row.expiresAt, row.expiresAt - row.acquiredAt))
  free(row)
end
local function writeExpiries(parts, rows)
  local lapsed = {}
  for _, row in ipairs(rows) do
    if row.status == 'a' and now >= row.expiresAt and anyOverlap(partsOf(row), parts) then lapsed[#lapsed + 1] = row end
  end
  table.sort(lapsed, function(a, b)
    return a.expiresAt < b.expiresAt or (a.expiresAt == b.expiresAt and a.epoch < b.epoch)
  end)
  for i = 1, math.min(1000, #lapsed) do writeExpiry(lapsed[i]) end
end

-- Handed over by whoever let go (Q1) and not renewed since: it has less than its ttl, because it lives as its ticket would have.
local function livesAsTicket(row)
  return row.renewals == 0 and row.epoch == row.grantEpoch and not row.maxHoldMs and row.expiresAt < row.acquiredAt + row.ttlMs
end
local function renewRow(row, wanted, ttlMs, callerWall, requestId)
  row.expiresAt, row.ttlMs, row.renewedAt = wanted, ttlMs, now
  row.renewals = row.renewals + 1
  row.skewMs = callerWall - wall
  row.lastRequest = requestId
  save(row)
  if not logsRenewals then return end
  log('N', row, 'aa', '', row.reason, string.format('expiresAt#%.0f\trenewals#%.0f\tmaxRenewals#%.0f', wanted, row.renewals,
    row.maxRenewals))
end

local function release(row, reason)
  row.status = 'r'
  row.reason = reason
  row.endedAt = now
  row.blockedUntil = reason == '' and blockedUntilAfter(row, 'r') or 0
  row.blockEpoch = epoch
  save(row)
  local data = string.format('heldMs#%.0f', now - row.acquiredAt)
  if row.blockedUntil > now then data = data .. string.format('\tblockedUntil#%.0f', row.blockedUntil) end
  log('R', row, 'ar', '', reason, data)
  free(row)
end

local function leaveQueue(row)
  tickets = tickets - 1
  save(row)
  free(row)
end
-- A ticket that never became a lease. A dead one ends as of the moment it died.
local function failTicket(row, reason, cycle)
  local hasDied = not isWaiting(row)
  row.status = 'f'
  row.reason = hasDied and 'died' or reason
  row.endedAt = hasDied and row.expiresAt or now
  row.cycle = (not hasDied and cycle) or ''
  leaveQueue(row)
  local data = string.format('waitedMs#%.0f', row.endedAt - row.arrivedAt)
  if row.cycle ~= '' then data = data .. '\tcycle*' .. row.cycle end
  log(row.cycle ~= '' and 'X' or 'F', row, 'pf', hasDied and 'store' or '', row.reason, data)
end
`;

/** Q3, as src/domain/wake-order.ts: for each freed name the first waiters that no longer conflict there. */
export const WAKE = String.raw`
local function wakeUp(row)
  woken[row.owner] = woken[row.owner] and woken[row.owner] .. ' ' .. row.id or row.id
end
local function wake()
  if tickets > 0 and #freed > 0 then
    local waiting, live = {}, {}
    for _, row in ipairs(overlapping(freed)) do
      if isWaiting(row) then waiting[#waiting + 1] = row
      elseif isLive(row) then live[#live + 1] = row end
    end
    table.sort(waiting, isAhead)
    local isWoken = {}
    for _, part in ipairs(freed) do
      local here, standing, count, misses = {part}, {}, 0, 0
      for _, row in ipairs(live) do
        if anyOverlap(partsOf(row), here) then standing[#standing + 1] = {parts = partsOf(row), id = row.id} end
      end
      for _, ticket in ipairs(waiting) do
        if anyOverlap(partsOf(ticket), here) then
          local fitsHere = count == 0
          if not fitsHere then
            local others = {}
            for _, one in ipairs(standing) do if one.id ~= ticket.upgrades then others[#others + 1] = one end end
            fitsHere = fits(partsOf(ticket), others)
          end
          standing[#standing + 1] = {parts = partsOf(ticket), id = ticket.id}
          if fitsHere then
            if not isWoken[ticket.id] then
              isWoken[ticket.id] = true
              wakeUp(ticket)
            end
            count = count + 1
            if count >= 64 then break end
          else
            misses = misses + 1
            if not part.isTree or misses >= 64 then break end
          end
        end
      end
    end
  end
end
`;
