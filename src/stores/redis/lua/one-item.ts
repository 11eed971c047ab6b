// Lua: a call with one plain item, which is what a single caller sends. It does what the lists do (acquire-list.ts, end-list.ts), without
// the tables a list needs: here every text that is made and every command counts. Where the item is not as it nearly always is,
// nothing is done, and its text goes the way of any other.

/** bornAt ttlMs callerWall flags id owner name end; the answer is epoch and arrival. */
export const ACQUIRE_ONE = String.raw`
do
  local ttlMs, id, owner, name = ARGV[2], ARGV[5], ARGV[6], ARGV[7]
  local text, age = redis.call('HGET', ROWS, id), now - ARGV[1]
  if not text and epoch < 9007199254740991 and age <= 60000 and age >= -60000
    and not (trees > 0 and string.find(name, '/', 1, true))
    and redis.call('ZLEXCOUNT', INDEX, '[n' .. name .. '\0', '(n' .. name .. '\1') == 0
    and (tickets == 0 or redis.call('ZLEXCOUNT', INDEX, '[w' .. name .. '\0', '(w' .. name .. '\1') == 0) then
    epoch, arrival = epoch + 1, arrival + 1
    firstEpoch, firstArrival = epoch, arrival
    epochText, arrivalText = string.format('%.0f', epoch), string.format('%.0f', arrival)
    local expiresAt, skewMs = string.format('%.0f', now + ttlMs), ARGV[3] - wall
    redis.call('HSET', ROWS, id, 'A ' .. epochText .. ' ' .. expiresAt .. ' ' .. nowText .. ' ' .. nowText .. ' 0 '
      .. (skewMs == 0 and '0' or string.format('%.0f', skewMs)) .. ' ' .. ttlMs .. ' ' .. arrivalText .. ' 0 \n\n' .. id .. '\t' .. owner
      .. '\txn:' .. name .. '\t' .. ARGV[8])
    redis.call('ZADD', INDEX, '0', 'n' .. name .. '\0' .. id)
    redis.call('ZADD', ENDS, expiresAt, id)
    if keep then
      seq = seq + 1
      seqText = string.format('%.0f', seq)
      redis.call('XADD', LOG, seqText, 'e', 'A ' .. nowText .. ' ' .. wallText .. ' ' .. epochText .. ' -a\n' .. id .. '\n' .. owner .. '\n'
        .. name .. '\n\n\nttlMs#' .. ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#0')
    end
    reply[4], reply[5] = epoch, arrival
    items = {}
  else
    items = {ARGV[1] .. ' ' .. ttlMs .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. '\n' .. id .. '\t' .. owner .. '\txn:' .. name .. '\t' .. ARGV[8]}
    readTexts = {text}
  end
end
`;

/** id epoch acquiredAt expiresAt owner name, the figures of the row, requestId; the answer is how many. */
export const END_ONE = String.raw`
do
  local id, name, believed = ARGV[1], ARGV[6], ARGV[7]
  local text, head = redis.call('HGET', ROWS, id), 'A' .. believed .. '0 \n\n'
  if text and ARGV[4] - now > 0 and string.find(text, head, 1, true) == 1 then
    redis.call('HSET', ROWS, id, 'r' .. believed .. nowText .. ' ' .. string.sub(text, #head - 1))
    redis.call('ZREM', INDEX, 'n' .. name .. '\0' .. id)
    redis.call('ZADD', ENDS, string.format('%.0f', 4503599627370496 + now), id)
    if keep then
      seq = seq + 1
      seqText = string.format('%.0f', seq)
      redis.call('XADD', LOG, seqText, 'e', 'R ' .. nowText .. ' ' .. wallText .. ' ' .. ARGV[2] .. ' ar\n' .. id .. '\n' .. ARGV[5] .. '\n'
        .. name .. '\n\n\nheldMs#' .. string.format('%.0f', now - ARGV[3]))
    end
    if tickets > 0 then freed[1] = {name = name, isTree = false, isShared = false} end
    reply[4] = 1
    items = {}
  else
    items = {id .. ' ' .. ARGV[2] .. ' cancelled ' .. ARGV[8]}
    readTexts = {text}
  end
end
`;
