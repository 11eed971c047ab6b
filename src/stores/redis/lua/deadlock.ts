// Lua: failTicket (Q4), as src/stores/protocol/govern.ts and src/domain/wait-graph.ts: one step that first looks whether the
// whole cycle still stands. Only what the cycle can reach is looked at: a queue of thousands beside it costs nothing.

/** Q4. A ticket is stuck when it waits for something a stuck one has, so a cycle in which each waits outright for what the
 *  next one has stands by itself. Only where a full limit is in the cycle must others be looked at: it is enough that one
 *  place goes, so every place has to be with a ticket that is stuck itself. */
export const FAIL_TICKET = String.raw`
local victim = ARGV[1]
local cycle, isInCycle = {}, false
for i = 2, #ARGV do
  cycle[i - 1] = ARGV[i]
  if ARGV[i] == victim then isInCycle = true end
end

local function sharedName(lease, row)
  for _, part in ipairs(partsOf(lease)) do
    if anyOverlap({part}, partsOf(row)) then return part.name end
  end
  return partsOf(lease)[1].name
end
local holdingOf = {}
local function holding(row)
  if not holdingOf[row.id] then
    local ids = {}
    for id in string.gmatch(row.holding, '[^,]+') do ids[#ids + 1] = id end
    if row.upgrades ~= '' then ids[#ids + 1] = row.upgrades end
    holdingOf[row.id] = ids
  end
  return holdingOf[row.id]
end

local waits = {}
local function waitsOf(row)
  if waits[row.id] then return waits[row.id] end
  local held = {}
  for _, id in ipairs(holding(row)) do held[#held + 1] = find(id) end
  local claim = {id = row.id, owner = row.owner, parts = partsOf(row), place = row, held = held}
  if row.upgrades ~= '' then claim.replaces = row.upgrades end
  local verdict = decide(claim, overlapping(partsOf(row)))
  local one = {row = row, leases = {}, tickets = {}, anyLeases = {}, anyTickets = {}}
  if not verdict.isFree then
    for _, lease in ipairs(verdict.leases) do
      local list = verdict.fills[lease] and one.anyLeases or one.leases
      list[#list + 1] = lease
    end
    for _, ticket in ipairs(verdict.tickets) do
      local list = verdict.fills[ticket] and one.anyTickets or one.tickets
      list[#list + 1] = ticket.id
    end
    if verdict.isBlockInLimit then one.anyLeases, one.anyTickets = {}, {} end -- a block ends by itself
  end
  waits[row.id] = one
  return one
end

local function has(list, id)
  for _, one in ipairs(list) do if one == id then return true end end
  return false
end
local function leaseHeldBy(leases, row)
  for _, lease in ipairs(leases) do if has(holding(row), lease.id) then return lease end end
end

local function isCycleStuck()
  local isHard = true
  for i, id in ipairs(cycle) do
    local one, after = waitsOf(find(id)), find(cycle[i % #cycle + 1])
    if after.id == id then return false end
    if not (leaseHeldBy(one.leases, after) or has(one.tickets, after.id)) then
      isHard = false
      if not (leaseHeldBy(one.anyLeases, after) or has(one.anyTickets, after.id)) then return false end
    end
  end
  if isHard then return true end
  local holders = {}
  local ids = redis.call('ZRANGEBYSCORE', QUEUE, '-inf', '(inf', 'LIMIT', 0, 1000)
  for _, id in ipairs(cycle) do ids[#ids + 1] = id end
  local isHere = {}
  for _, row in ipairs(load(ids, {})) do
    if isWaiting(row) and not isHere[row.id] then
      isHere[row.id] = true
      for _, id in ipairs(holding(row)) do
        holders[id] = holders[id] or {}
        table.insert(holders[id], row.id)
      end
    end
  end
  -- Everything the cycle can reach, then what nobody stuck keeps is let go, again and again.
  local reached, isStuck, at = {}, {}, 1
  local function reach(id)
    if isHere[id] and not isStuck[id] then
      isStuck[id] = true
      reached[#reached + 1] = find(id)
    end
  end
  for _, id in ipairs(cycle) do reach(id) end
  while reached[at] do
    local one = waitsOf(reached[at])
    for _, leases in ipairs({one.leases, one.anyLeases}) do
      for _, lease in ipairs(leases) do for _, id in ipairs(holders[lease.id] or {}) do reach(id) end end
    end
    for _, ahead in ipairs({one.tickets, one.anyTickets}) do for _, id in ipairs(ahead) do reach(id) end end
    at = at + 1
  end
  local function isHeld(lease, row)
    for _, id in ipairs(holders[lease.id] or {}) do if id ~= row.id and isStuck[id] then return true end end
    return false
  end
  local function staysStuck(row)
    local one = waitsOf(row)
    for _, lease in ipairs(one.leases) do if isHeld(lease, row) then return true end end
    for _, id in ipairs(one.tickets) do if id ~= row.id and isStuck[id] then return true end end
    if #one.anyLeases + #one.anyTickets == 0 then return false end
    for _, lease in ipairs(one.anyLeases) do
      if not has(holding(row), lease.id) and not isHeld(lease, row) then return false end
    end
    for _, id in ipairs(one.anyTickets) do if id == row.id or not isStuck[id] then return false end end
    return true
  end
  repeat
    local hasChanged = false
    for _, row in ipairs(reached) do
      if isStuck[row.id] and not staysStuck(row) then
        isStuck[row.id] = nil
        hasChanged = true
      end
    end
  until not hasChanged
  for _, id in ipairs(cycle) do if not isStuck[id] then return false end end
  return true
end

local function doesCycleStand()
  if #cycle < 2 or not isInCycle then return false end
  for _, id in ipairs(cycle) do
    local row = find(id)
    if not row or not isWaiting(row) then return false end
  end
  return isCycleStuck()
end

reply[4] = 'gone'
if doesCycleStand() then
  local steps = {}
  for i, id in ipairs(cycle) do
    local one, after = waitsOf(find(id)), find(cycle[i % #cycle + 1])
    local lease = leaseHeldBy(one.leases, after) or leaseHeldBy(one.anyLeases, after)
    steps[i] = table.concat({id, one.row.owner, lease and sharedName(lease, one.row) or partsOf(one.row)[1].name,
      lease and lease.owner or after.owner}, '\30')
  end
  failTicket(find(victim), 'deadlock', table.concat(steps, '\31'))
  wakeUp(find(victim))
  reply[4] = 'failed'
end
`;
