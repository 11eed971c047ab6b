// Lua: revoke and sweep, as src/stores/protocol/govern.ts: what is done to leases and tickets from outside. Each is bounded
// (S18) and says when there is more to do.
import { BYTE_ORDER } from './byte-order.js';
import { LOOKED, READ_ENDS } from './together.js';

export const REVOKE = String.raw`${BYTE_ORDER}
local kind, target, upTo, keepOutMs, reason, actor = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local from, drawn, room = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local isByName = kind == 'resource' or kind == 'under'

local function isRevocable(row)
  if row.content == '0' or (kind == 'owner' and row.owner ~= target) then return false end
  if row.status == 'p' then return row.joinedEpoch <= upTo end
  if row.epoch > upTo then return false end
  if row.status == 'a' then return true end
  return isByName and row.blockEpoch <= upTo and hasBlocks(row, row.owner)
end

local found, isFound, looked = {}, {}, 0
local function take(rows)
  for _, row in ipairs(rows) do
    if #found > room then return true end
    if not isFound[row.id] and stands(row) and isRevocable(row) then
      isFound[row.id] = true
      found[#found + 1] = row
    end
  end
  return #found > room
end
local function takeNamed(letter, name)
  local from, to = '[' .. letter .. name .. '\0', '(' .. letter .. name .. '\1'
  repeat
    local members = redis.call('ZRANGEBYLEX', INDEX, from, to, 'LIMIT', 0, 1000)
    local ids = {}
    for i, member in ipairs(members) do ids[i] = idIn(member) end
    if take(load(ids, {})) then return end
    from = '(' .. (members[#members] or '')
  until #members < 1000
end

local function draw()
  if drawn > 0 then return true end
  if epoch >= 9007199254740991 then return false end
  epoch = epoch + 1
  drawn = epoch
  return true
end
local function revokeRow(row)
  local from = row.status
  row.status, row.reason, row.endedAt = 'k', reason, now
  row.keepOutUntil = keepOutMs > 0 and now + keepOutMs or 0
  row.blockEpoch = drawn
  if from == 'p' then
    leaveQueue(row)
  else
    row.blockedUntil = blockedUntilAfter(row, 'k')
    save(row)
    free(row)
  end
  local data = string.format('revocationEpoch#%.0f', drawn)
  if keepOutMs > 0 then data = data .. string.format('\tkeepOutUntil#%.0f', row.keepOutUntil) end
  log('K', row, from .. 'k', actor, reason, data)
end
local function liftBlocks(row)
  row.blockedUntil, row.keepOutUntil = 0, 0
  save(row)
  log('K', row, row.status .. row.status, actor, reason, string.format('lifted!1\trevocationEpoch#%.0f', drawn))
  free(row)
end

if kind == 'leaseId' then
  take({find(target)})
elseif kind == 'owner' then
  -- Everything that stands, from where the last step of this order stopped.
  repeat
    local members = redis.call('ZRANGEBYLEX', INDEX, from, '(x', 'LIMIT', 0, 1000)
    local ids = {}
    for i, member in ipairs(members) do ids[i] = idIn(member) end
    take(load(ids, {}))
    looked = looked + #members
    from = '(' .. (members[#members] or '')
    if #members < 1000 then from = '' end
  until from == '' or looked >= 5000 or #found > room
else
  takeNamed('n', target)
  if tickets > 0 then takeNamed('w', target) end
  if kind == 'under' then
    below('n', target, take)
    if tickets > 0 then below('w', target, take) end
  end
end
table.sort(found, function(a, b) return isBefore(a.id, b.id) end)
local ended, isSpent = {}, false
for i = 1, math.min(room, #found) do
  local row = found[i]
  if isLive(row) or isWaiting(row) then
    isSpent = not draw()
    if isSpent then break end
    revokeRow(row)
    ended[#ended + 1] = row.text
  else
    if row.status == 'a' then writeExpiry(row) end
    if row.status == 'p' then
      failTicket(row, 'died')
    elseif isByName and hasBlocks(row, row.owner) then
      isSpent = not draw()
      if isSpent then break end
      liftBlocks(row)
    end
  end
end
reply[4] = isSpent and 'spent' or string.format('%.0f', drawn)
reply[5] = #found > room and 1 or 0
reply[6] = ended
reply[7] = kind == 'owner' and #found <= room and from or ''
`;

/** What was put down to be looked at by now (together.ts). Most of it has ended meanwhile, and some was renewed. What is looked
 *  at is taken out, and put down again for the moment it ends where it is not dealt with here. */
export const SWEEP = String.raw`${READ_ENDS}
local limit = tonumber(ARGV[1])
-- What lapsed in one millisecond comes in any order; some more than asked for, so that a short sweep too goes by arrival.
local most = math.max(limit + 1, 64)
local due, again = load(redis.call('ZRANGEBYSCORE', DYING, '-inf', now, 'LIMIT', 0, most), {}), {}
local function lookAgain(row)
  again[#again + 1] = row.expiresAt
  again[#again + 1] = row.id
end
-- A renewed lease stands at the end it had before, so those read after it may have ended before it.
local passed, lapsed, latest = endsBetween('-inf', now), 0, 0
repeat
  for _, row in ipairs(activeOf(passed.next(), again)) do
    if isLive(row) then
      lookAgain(row)
    else
      lapsed, latest = lapsed + 1, math.max(latest, row.expiresAt)
      due[#due + 1] = row
    end
  end
until passed.isOver or (lapsed >= most and passed.lastAt >= latest) or passed.looked >= ${LOOKED}
callInParts('ZREM', ENDS, passed.entries)
table.sort(due, function(a, b)
  return a.expiresAt < b.expiresAt or (a.expiresAt == b.expiresAt and a.arrival < b.arrival)
end)
local leases, overrun = 0, 0
for i, row in ipairs(due) do
  if i > limit then
    if row.status == 'a' then lookAgain(row) end
  elseif row.status == 'p' then
    failTicket(row, 'died')
  else
    leases = leases + 1
    overrun = math.max(overrun, now - row.expiresAt)
    writeExpiry(row)
  end
end
callInParts('ZADD', ENDS, again)
local nextAt = math.huge
for _, key in ipairs({ENDS, DYING}) do
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if first[1] ~= '' then nextAt = math.min(nextAt, tonumber(first[2])) end
end
reply[4] = leases
reply[5] = math.min(limit, #due) - leases
reply[6] = overrun
reply[7] = nextAt <= now and 1 or 0
reply[8] = nextAt < OVER and nextAt or 0
`;
