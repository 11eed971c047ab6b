// Lua: acquire, as src/stores/protocol/acquire.ts and reclaim.ts. An item is "bornAt ttlMs callerWall flags" and, on the
// next line, what its row will end with (row-text.ts). Flags: x for a plain request, j joins, r reclaims, uN upgrades at epoch N.
// What nearly every request comes to is in acquire-plain.ts.

export const ACQUIRE = String.raw`
local function heldRows(holding, upgraded)
  local rows, hasUpgraded = {}, false
  for id in string.gmatch(holding, '[^,]+') do
    local row = find(id)
    if row then
      rows[#rows + 1] = row
      if upgraded and row.id == upgraded.id then hasUpgraded = true end
    end
  end
  if upgraded and not hasUpgraded then rows[#rows + 1] = upgraded end
  return rows
end

local function newRow(request)
  arrival = arrival + 1
  local row = decode(string.format('p 0 %.0f %.0f %.0f 0 %.0f %s %.0f 0 \n\n', now, now, now, request.callerWall - wall,
    request.ttlMs, arrival) .. request.tail)
  row.joinedEpoch, row.lastRequest = epoch, request.handOver
  return row
end

-- S8: the present state of a known id; nil for a live ticket, which goes on to claim. Who was handed a lease and asks again has not
-- heard of it yet, or too late: that question is the claim it would have been, and renews it (Q1).
local function answerKnown(row, content, callerWall)
  if row.content == '0' then return {'ended', row.status, row.reason} end
  if row.content ~= content then return {'mismatch'} end
  if isWaiting(row) then return nil end
  if isLive(row) then
    if livesAsTicket(row) then renewRow(row, now + row.ttlMs, row.ttlMs, callerWall, '') end
    return {'again', row.text}
  end
  if row.status == 'p' then failTicket(row, 'died') end
  if row.status == 'a' then writeExpiry(row) end
  if row.becameEpoch > 0 then
    local lease = find(row.upgrades)
    if lease and isLive(lease) and lease.epoch == row.becameEpoch then return {'again', lease.text} end
    return {'ended', row.status, row.reason}
  end
  if row.cycle ~= '' then return {'deadlock', row.cycle} end
  return {'ended', row.status, row.reason}
end

-- The lease an upgrade is for; nil and why not.
local function findUpgraded(request)
  local lease = find(request.upgrades)
  if not lease or lease.status ~= 'a' or lease.epoch ~= request.upgradesEpoch then return nil end
  if not isLive(lease) then
    writeExpiry(lease)
    return nil
  end
  if asExclusive(lease.partsText) ~= request.partsText then return nil, 'parts' end
  if asExclusive(lease.partsText) == lease.partsText then return nil, 'exclusive' end
  return lease
end

-- A live lease before a block; of several, the one with the lowest epoch.
local function findReclaimed(request, rows)
  local live, blocked
  for _, row in ipairs(rows) do
    if row.id ~= request.id and row.owner == request.owner and row.status ~= 'p' and row.keepOutUntil <= now
      and row.partsText == request.partsText then
      if isLive(row) then
        if not live or row.epoch < live.epoch then live = row end
      elseif hasBlocks(row, request.owner) and (not blocked or row.epoch < blocked.epoch) then
        blocked = row
      end
    end
  end
  return live or blocked
end
local function replaceReclaimed(row)
  if isLive(row) then return release(row, 'reclaimed') end
  if row.status == 'a' then writeExpiry(row) end
  row.blockedUntil = 0
  save(row)
  log('K', row, row.status .. row.status, row.owner, 'reclaimed', 'lifted!1')
end

-- Q4: a second upgrade of one resource can never be granted beside the first. Answers the cycle the two would make.
local function rivalUpgrade(claim, verdict, rows)
  local own
  for _, row in ipairs(claim.held) do if row.id == claim.replaces then own = row end end
  if not own then return nil end
  local ordered = {}
  for i, row in ipairs(rows) do ordered[i] = row end
  table.sort(ordered, isAhead)
  for _, rival in ipairs(ordered) do
    if rival.id ~= claim.id and rival.upgrades ~= '' and isWaiting(rival) then
      local theirs
      if rival.upgrades == own.id then theirs = own end
      for _, lease in ipairs(theirs and {} or verdict.leases) do if lease.id == rival.upgrades then theirs = lease end end
      if theirs and mayWaitFor(partsOf(rival), partsOf(own)) then
        return table.concat({claim.id, claim.owner, claim.parts[1].name, theirs.owner}, '\30') .. '\31'
          .. table.concat({rival.id, rival.owner, partsOf(rival)[1].name, own.owner}, '\30')
      end
    end
  end
end

-- S18. Dead tickets at the front make room before anybody is turned away.
local function isQueueFull()
  if tickets < 10000 then return false end
  local dead = redis.call('ZRANGEBYSCORE', DYING, '-inf', now, 'LIMIT', 0, 1000)
  for _, row in ipairs(load(dead, {})) do failTicket(row, 'died') end
  return tickets >= 10000
end

local function wait(request, claim, verdict, rows, ticket)
  local cycle = rivalUpgrade(claim, verdict, rows)
  if verdict.isOwn or (cycle and (request.joins or ticket)) then
    local refused = refusal('refused', verdict)
    if ticket then failTicket(ticket, 'deadlock', cycle) end
    if verdict.isOwn or not cycle then return refused end
    return {'deadlock', cycle}
  end
  if not ticket and not request.joins then return refusal('refused', verdict) end
  local answer = refusal('queued', verdict)
  if not ticket and isQueueFull() then return {'full', tickets} end
  writeExpiries(claim.parts, rows)
  local row = ticket or newRow(request)
  row.renewedAt = now
  row.expiresAt = now + 10000
  if not ticket then tickets = tickets + 1 end
  save(row)
  if not ticket then
    log('Q', row, '-p', '', row.reason, string.format('place#%.0f\tpriority#%.0f\tbecause$%s', answer[2], row.priority,
      answer[3]) .. partsData(row))
  end
  return answer
end

local function grant(request, row, hasWaited)
  row.status = 'a'
  row.epoch, row.grantEpoch = epoch, epoch
  row.acquiredAt, row.renewedAt = now, now
  row.expiresAt = now + math.min(row.ttlMs, row.maxHoldMs or math.huge)
  row.skewMs = request.callerWall - wall
  row.lastRequest = ''
  if hasWaited then tickets = tickets - 1 end
  save(row)
  log('A', row, hasWaited and 'pa' or '-a', '', row.reason, string.format('ttlMs#%.0f\texpiresAt#%.0f\twaitedMs#%.0f',
    row.ttlMs, row.expiresAt, now - row.arrivedAt) .. partsData(row))
  return string.format('%.0f', epoch)
end
-- Q5: the same lease becomes exclusive with a new epoch; the ticket's id is spent.
local function grantUpgrade(request, lease, ticket)
  local fromEpoch = lease.epoch
  lease.partsText = asExclusive(lease.partsText)
  lease.parts = nil
  lease.epoch = epoch
  lease.lastRequest = ''
  save(lease)
  local row = ticket or newRow(request)
  row.status = 'r'
  row.reason = 'upgraded'
  row.endedAt = now
  row.becameEpoch = lease.epoch
  if ticket then leaveQueue(row) else save(row) end
  log('U', lease, 'aa', '', lease.reason, string.format('fromEpoch#%.0f\tticketId$%s\twaitedMs#%.0f', fromEpoch, row.id,
    now - row.arrivedAt) .. partsData(lease))
  return {'granted', lease.text}
end

local function acquire(item)
  local request = {}
  local flags, terms, _
  request.bornAt, request.ttlMs, request.callerWall, flags, request.tail, request.id, request.owner, request.partsText,
    request.content, terms = string.match(item, ITEM)
  request.joins = string.find(flags, 'j', 1, true)
  request.handOver = string.match(flags, 'h?$')
  request.upgradesEpoch = tonumber(string.match(flags, 'u(%d+)'))
  request.upgrades, request.holding = '', ''
  if terms ~= '' then request.upgrades, request.holding = string.match(terms, ' (%S+) (%S*)$') end
  local parts = parseParts(request.partsText)
  local ticket = find(request.id)
  if ticket then
    local answer = answerKnown(ticket, request.content, request.callerWall)
    if answer then return answer end
  elseif math.abs(now - request.bornAt) > 60000 then
    return {'tooOld'}
  end
  local upgraded, whyNot
  if request.upgradesEpoch then
    upgraded, whyNot = findUpgraded(request)
    if whyNot then return {'upgrade', whyNot} end
    if not upgraded then
      if ticket then failTicket(ticket, 'lease_lost') end
      return {'ended', 'f', 'lease_lost'}
    end
  end
  local rows = overlapping(parts)
  local reclaimed = string.find(flags, 'r', 1, true) and findReclaimed(request, rows) or nil
  local replaced = upgraded or reclaimed
  local claim = {id = request.id, owner = request.owner, parts = parts, place = ticket or LAST,
    held = heldRows(request.holding, upgraded), replaces = replaced and replaced.id}
  if reclaimed then claim.place = AHEAD_OF_ALL end
  local verdict = decide(claim, rows)
  if not verdict.isFree then return wait(request, claim, verdict, rows, ticket) end
  if epoch >= 9007199254740991 then return {'epoch'} end
  writeExpiries(parts, rows)
  if reclaimed then replaceReclaimed(reclaimed) end
  epoch = epoch + 1
  if upgraded then return grantUpgrade(request, upgraded, ticket) end
  return grant(request, ticket or newRow(request), ticket ~= nil)
end
`;
