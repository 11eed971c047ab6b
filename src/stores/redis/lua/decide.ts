// Lua: S1, Q1 and Q6 as in src/domain/conflict.ts, decide.ts, blocks.ts and queue-order.ts, which say what is meant.

export const DECIDE = String.raw`
local function overlaps(a, b)
  if a.name == b.name then return true end
  if a.isTree and isAbove(a.name, b.name) then return true end
  return b.isTree and isAbove(b.name, a.name)
end
local function conflicts(a, b)
  return not (a.isShared and b.isShared) and overlaps(a, b)
end
local function anyOverlap(some, others)
  for _, a in ipairs(some) do for _, b in ipairs(others) do if overlaps(a, b) then return true end end end
  return false
end
local function anyConflict(some, others)
  for i = 1, #some do
    local a = some[i]
    for j = 1, #others do
      local b = others[j]
      if not (a.isShared and b.isShared) and overlaps(a, b) then return true end
    end
  end
  return false
end

-- What fills up a limit: the shared holders of a name that has no room for one more.
local function addFullHolders(part, standing, full)
  local smallest, holders = part.limit or math.huge, {}
  for i = 1, #standing do
    local parts = standing[i].parts
    for j = 1, #parts do
      local its = parts[j]
      if its.isShared and its.name == part.name then
        holders[#holders + 1] = standing[i]
        if its.limit and its.limit < smallest then smallest = its.limit end
        break
      end
    end
  end
  if #holders + 1 > smallest then for _, holder in ipairs(holders) do full[holder] = true end end
end

local function inTheWay(parts, standing)
  local direct, byLimit, isDirect, full = {}, {}, {}, {}
  for i = 1, #standing do
    local other = standing[i]
    if anyConflict(parts, other.parts) then
      direct[#direct + 1] = other
      isDirect[other] = true
    end
  end
  local anyShared = false
  for _, part in ipairs(parts) do
    if part.isShared then
      anyShared = true
      addFullHolders(part, standing, full)
    end
  end
  if anyShared then
    for _, other in ipairs(standing) do
      if full[other] and not isDirect[other] then byLimit[#byLimit + 1] = other end
    end
  end
  return direct, byLimit
end
local function fits(parts, standing)
  local direct, byLimit = inTheWay(parts, standing)
  return #direct == 0 and #byLimit == 0
end

local function isAhead(a, b)
  return a.rank < b.rank or (a.rank == b.rank and a.arrival < b.arrival)
end
local LAST = {rank = math.huge, arrival = math.huge}
local AHEAD_OF_ALL = {rank = -math.huge, arrival = -math.huge}

local function blockedUntilAfter(row, how)
  if how == 'r' then return row.minHoldMs > 0 and row.acquiredAt + row.minHoldMs or 0 end
  if row.lockDelayMs == 0 then return 0 end
  return (how == 'e' and row.expiresAt or now) + row.lockDelayMs
end
local function exclusiveParts(row)
  return parseParts(asExclusive(row.partsText))
end
-- Adds the blocks of this row that stand against a request of this owner; answers how many.
local function addBlocks(row, owner, standing)
  local count = 0
  local hasLapsed = row.status == 'a' and now >= row.expiresAt
  local blocked = hasLapsed and blockedUntilAfter(row, 'e') or row.blockedUntil
  if row.status ~= 'p' and blocked > now and (hasLapsed or row.status ~= 'a') then
    local reason = row.status == 'r' and 'min_hold' or 'lock_delay'
    standing[#standing + 1] = {parts = partsOf(row), block = row, ends = blocked, reason = reason}
    count = 1
  end
  if row.keepOutUntil > now and row.owner == owner then
    standing[#standing + 1] = {parts = exclusiveParts(row), block = row, ends = row.keepOutUntil, reason = 'lock_delay'}
    count = count + 1
  end
  return count
end
local function hasBlocks(row, owner) return addBlocks(row, owner, {}) > 0 end

local function mayWaitFor(ticketParts, leaseParts)
  for _, a in ipairs(ticketParts) do
    for _, b in ipairs(leaseParts) do
      if conflicts(a, b) or (a.name == b.name and (a.limit or b.limit)) then return true end
    end
  end
  return false
end
-- A live ticket ahead counts, unless it waits for a lease the request is holding: that one must go first anyway.
local function countsAhead(ticket, claim)
  if not isWaiting(ticket) or not isAhead(ticket, claim.place) then return false end
  for _, held in ipairs(claim.held) do
    if isLive(held) and ticket.upgrades ~= held.id and mayWaitFor(partsOf(ticket), partsOf(held)) then return false end
  end
  return true
end

local function decide(claim, rows)
  local standing = {}
  for i = 1, #rows do
    local row = rows[i]
    if row.id ~= claim.id and row.id ~= claim.replaces then
      if isLive(row) then
        standing[#standing + 1] = {parts = partsOf(row), lease = row, ends = row.expiresAt}
      elseif row.status ~= 'p' then
        addBlocks(row, claim.owner, standing)
      elseif countsAhead(row, claim) then
        standing[#standing + 1] = {parts = partsOf(row), ticket = row, ends = row.expiresAt}
      end
    end
  end
  if #standing == 0 then return {isFree = true} end
  local direct, byLimit = inTheWay(claim.parts, standing)
  if #direct + #byLimit == 0 then return {isFree = true} end
  local verdict = {leases = {}, blocks = {}, tickets = {}, fills = {}, isLimited = true, earliest = math.huge}
  local function take(one)
    if one.lease then verdict.leases[#verdict.leases + 1] = one.lease
    elseif one.ticket then verdict.tickets[#verdict.tickets + 1] = one.ticket
    else verdict.blocks[#verdict.blocks + 1] = one end
    if one.ends < verdict.earliest then verdict.earliest = one.ends end
  end
  for _, one in ipairs(direct) do
    take(one)
    if one.lease then verdict.isLimited = false end
  end
  for _, one in ipairs(byLimit) do
    take(one)
    if one.block then verdict.isBlockInLimit = true end
    verdict.fills[one.lease or one.ticket or one] = true
  end
  table.sort(verdict.leases, function(a, b) return a.epoch < b.epoch end)
  table.sort(verdict.tickets, isAhead)
  local own = {}
  for _, row in ipairs(claim.held) do
    if row.id ~= claim.replaces and isLive(row) then own[#own + 1] = {parts = partsOf(row)} end
  end
  verdict.isOwn = #own > 0 and not fits(claim.parts, own)
  return verdict
end

local function reasonFor(verdict)
  if verdict.isOwn then return 'held_by_self' end
  if #verdict.leases > 0 then return verdict.isLimited and 'limit' or 'held' end
  if #verdict.blocks == 0 then return 'queue' end
  for _, block in ipairs(verdict.blocks) do if block.reason == 'min_hold' then return 'min_hold' end end
  return 'lock_delay'
end
-- outcome, place, reason, holders in all, tickets ahead, retryAfterMs, then up to 20 holders
local function refusal(outcome, verdict)
  local answer = {outcome, #verdict.tickets + 1, reasonFor(verdict), #verdict.leases, #verdict.tickets,
    math.max(1, verdict.earliest - now)}
  for i = 1, math.min(20, #verdict.leases) do answer[6 + i] = verdict.leases[i].text end
  return answer
end
`;
