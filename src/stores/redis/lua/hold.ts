// Lua: renew, end and change, as src/stores/protocol/hold.ts. Epochs are compared as text, to the last digit (S17).
// An item is its fields with spaces between them; '-' stands for what was not given.
import { PLAIN_LEASE, SOON_MS } from './together.js';

/** The id of an item is its first word. */
export const HOLD_ITEM = String.raw`${PLAIN_LEASE}
for i = 1, #items do ids[i] = string.match(items[i], '^%S+') end
local function plainAt(i)
  local text = textAt(i)
  return text and isPlainLease(text) and text
end
`;

/** A plain lease, live and with this epoch: one read and the writes. Any other is left alone. When it will be
 *  looked at stays as it is, which is too early now: a sweep that comes upon it looks again when it ends. */
export const PLAIN_RENEW = String.raw`
  if logsRenewals then break end
  local id, asked, wantedTtl, callerWall, requestId = string.match(item, '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  local text = not isNamed[id] and plainAt(i)
  if not text then break end
  local letter, held, expiresAt, acquiredAt, renewals, ttlMs, arrivalText, lastRequest, tail =
    string.match(text, '^(%a) (%d+) (%d+) (%d+) %d+ (%d+) %-?%d+ (%d+) (%d+) 0 (%S*)(\n.*)$')
  if held ~= asked or tonumber(expiresAt) <= now or lastRequest == requestId then break end
  if wantedTtl ~= '-' then ttlMs = wantedTtl end
  local wanted = now + ttlMs
  if tonumber(expiresAt) > wanted then wanted = tonumber(expiresAt) end
  put = put + 1
  isNamed[id] = true
  rows[2 * put - 1], rows[2 * put] = id, letter .. ' ' .. held .. string.format(' %.0f ', wanted) .. acquiredAt .. ' ' .. nowText
    .. string.format(' %.0f %.0f ', renewals + 1, callerWall - wall) .. ttlMs .. ' ' .. arrivalText .. ' 0 ' .. requestId .. tail
  if protocol then protocol.forget(id, string.match(tail, '\txn:([^\t]*)')) end
  answer = {'renewed', wanted, renewals + 1}
`;

export const PLAIN_END = String.raw`
  local id, asked = string.match(item, '^(%S+) (%S+)')
  local text = not isNamed[id] and plainAt(i)
  if not text then break end
  local held, expiresAt, acquiredAt, middle, tail, owner, name = string.match(text,
    '^%a (%d+) (%d+) (%d+) (%d+ %d+ %-?%d+ %d+ %d+) 0 %S*(\n[^\n]*\n[^\t]*\t([^\t]*)\txn:([^\t]*)\t.*)$')
  if held ~= asked or tonumber(expiresAt) <= now then break end
  put = put + 1
  isNamed[id] = true
  rows[2 * put - 1], rows[2 * put] = id, 'r ' .. held .. ' ' .. expiresAt .. ' ' .. acquiredAt .. ' ' .. middle .. ' ' .. nowText
    .. ' ' .. tail
  names[put] = 'n' .. name .. '\0' .. id
  due(4503599627370496 + now, id, expiresAt - now <= ${SOON_MS})
  if keep then
    seq = seq + 1
    events[2 * put - 1], events[2 * put] = 'e', 'R ' .. nowText .. ' ' .. wallText .. ' ' .. held .. ' ar\n'
      .. id .. '\n' .. owner .. '\n' .. name .. string.format('\n\n\nheldMs#%.0f', now - acquiredAt)
  end
  if protocol then protocol.forget(id, name) end
  if tickets > 0 then freed[#freed + 1] = {name = name, isTree = false, isShared = false} end
  answer = 'released'
`;

/** A ticket that wants one name alone: when it dies, its id and its owner. */
export const LONE_TICKET = String.raw`'^p %d+ (%d+) [^\n]*\n[^\n]*\n([^\t]*)\t([^\t]*)\txn:[^\t\31]*\t'`;

/** Q3, where only plain leases went: the first in line of each name, if it wants that name alone, and nobody behind it. */
export const WAKE_FIRST = String.raw`
local FIRST = ${LONE_TICKET}
local function wakeFirst()
  local found = {}
  for _, part in ipairs(freed) do
    local name = part.name
    if trees > 0 and string.find(name, '/', 1, true) then return end
    local first = redis.call('ZRANGEBYLEX', INDEX, '[w' .. name .. '\0', '(w' .. name .. '\1', 'LIMIT', 0, 1)[1]
    if first then
      local diesAt, id, owner = string.match(redis.call('HGET', ROWS, string.sub(first, #name + 33)) or '', FIRST)
      if not id or tonumber(diesAt) <= now then return end
      found[owner] = found[owner] and found[owner] .. ' ' .. id or id
    end
  end
  woken, freed = found, {}
end
if tickets > 0 and not protocol then wakeFirst() end
`;

/** What a late or foreign message finds; writes the expiry down when it is the holder's own that came upon it (S3). */
const NOT_HELD = String.raw`
local function notHeld(row, asked)
  if not row or row.content == '0' then return {'notHeld', 'unknown', '0'} end
  local current = string.format('%.0f', row.epoch)
  if row.status == 'a' and current == asked then writeExpiry(row) end
  local status = row.status
  if status == 'a' and now >= row.expiresAt then status = 'e' end
  if status == 'p' and now >= row.expiresAt then status = 'f' end
  if current == asked then current = '0' end
  return {'notHeld', status, current}
end
local function isHeldAt(row, asked)
  return row and isLive(row) and string.format('%.0f', row.epoch) == asked
end
`;

export const RENEW = String.raw`${NOT_HELD}
local function renew(item)
  local id, asked, wantedTtl, callerWall, requestId = string.match(item, '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  local row = find(id)
  if not isHeldAt(row, asked) then return notHeld(row, asked) end
  if row.lastRequest == requestId then return {'renewed', row.expiresAt, row.renewals} end
  if row.maxRenewals >= 0 and row.renewals >= row.maxRenewals then return {'maxRenewals', row.expiresAt} end
  local ttlMs = wantedTtl == '-' and row.ttlMs or tonumber(wantedTtl)
  local wanted = math.max(row.expiresAt, now + ttlMs)
  if row.maxHoldMs then
    local last = row.acquiredAt + row.maxHoldMs
    if row.expiresAt >= last and now + ttlMs > last then return {'maxHold', row.expiresAt} end
    wanted = math.min(wanted, last)
  end
  renewRow(row, wanted, ttlMs, callerWall, requestId)
  return {'renewed', row.expiresAt, row.renewals}
end
`;

export const END = String.raw`
-- S8: an id that was ended before the store had seen it. An acquire still on its way finds it and is refused.
local function note(id)
  arrival = arrival + 1
  local row = decode(string.format('f 0 %.0f %.0f %.0f 0 0 0 %.0f %.0f \n\n%s\t\t\t0\t\t\t', now, now, now, arrival, now, id))
  row.reason = 'cancelled'
  save(row)
  return {'noted'}
end
local function endOne(item)
  local id, asked, why, requestId = string.match(item, '^(%S+) (%S+) (%S+) (%S+)$')
  local row = find(id)
  if not row then return note(id) end
  if row.content == '0' then return {'noted'} end
  if row.becameEpoch > 0 then return {'stale', string.format('%.0f', row.becameEpoch)} end
  if row.status == 'p' then
    failTicket(row, why == 'timeout' and 'timeout' or 'cancelled')
    return {'left'}
  end
  if row.status == 'f' then return {'left'} end
  local current = string.format('%.0f', row.epoch)
  if row.epoch > 0 and current ~= (asked == '-' and string.format('%.0f', row.grantEpoch) or asked) then
    return {'stale', current}
  end
  if row.status == 'a' and not isLive(row) then writeExpiry(row) end
  if row.status == 'e' then return {'expired'} end
  if row.status == 'k' then return {'revoked'} end
  local isAgain = row.status == 'r'
  if not isAgain then
    row.lastRequest = requestId
    release(row, asked == '-' and 'cancelled' or '')
  end
  return {'released', isAgain and 1 or 0, math.max(0, row.blockedUntil - now)}
end
`;

export const CHANGE = String.raw`${NOT_HELD}
local function change(item)
  local kind, id, asked, requestId, callerWall, toOwner = string.match(item, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local row = find(id)
  if row and isLive(row) and row.lastRequest == requestId then return {'changed', 1, row.text} end
  if not isHeldAt(row, asked) then return notHeld(row, asked) end
  if livesAsTicket(row) then renewRow(row, now + row.ttlMs, row.ttlMs, row.skewMs + wall, '') end
  if kind == 'downgrade' then
    local parts = asShared(row.partsText)
    if parts == row.partsText then return {'changed', 1, row.text} end
    row.partsText, row.parts = parts, nil
    row.lastRequest = requestId
    save(row)
    log('W', row, 'aa', '', row.reason, string.sub(partsData(row), 2))
    free(row)
    return {'changed', 0, row.text}
  end
  if epoch >= 9007199254740991 then return {'epoch'} end
  local fromOwner, fromEpoch = row.owner, row.epoch
  epoch = epoch + 1
  row.epoch, row.owner, row.lastRequest = epoch, toOwner, requestId
  if kind == 'resume' then row.skewMs = callerWall - wall end
  save(row)
  log('D', row, 'aa', fromOwner, row.reason, string.format('fromOwner$%s\tfromEpoch#%.0f\tresumed!%d', fromOwner, fromEpoch,
    kind == 'resume' and 1 or 0))
  return {'changed', 0, row.text}
end
`;
