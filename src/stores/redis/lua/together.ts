// Lua: what the plain items of one call write. A command costs more than what it writes, so items put down what they have to
// write and one command a key writes it for all of them: before anybody has to look at it (an item that is not plain, the end
// of the call) and after every TOGETHER items. An item that names what an earlier one of this call named is not plain.
//
//   rows    HSET id text …         names   ZADD 0 member … or ZREM member …
//   log     one entry for all: its id is the number of its last event (log.ts)
//   ends    when to look at whom: ids that are due together are one member, with spaces between them (govern.ts)

/** As many as are worth it: what is written together is read together. */
export const TOGETHER = 64;

/** A member of several cannot be taken back for one of them. It stays until it is due, so only where that is soon. */
export const SOON_MS = 600_000;

/** Rows of the ids, read at once; an item that comes after one that was not plain looks for itself. */
export const READ_TOGETHER = String.raw`
local ids, texts = {}, readTexts
local function textAt(i)
  if protocol then return redis.call('HGET', ROWS, ids[i]) end
  if not texts then texts = redis.call('HMGET', ROWS, unpack(ids)) end
  return texts[i]
end
`;

/** The lease nearly everybody holds: an A, or one that waited and has nothing else about it. */
export const PLAIN_LEASE = String.raw`
local WAITED = '^a [^\n]*\n%d+ %d+ %d+ 0 0 0 0\t\t\n[^\t]*\t[^\t]*\txn:[^\t\31]*\t%d+\t\t'
local function isPlainLease(text) return string.byte(text) == 65 or string.find(text, WAITED) ~= nil end
`;

export const PUT_DOWN = String.raw`
local isNamed, put = {}, 0
local rows, names, ends, groups, events = {}, {}, {}, {}, {}
local function due(at, id, isSoon)
  if not isSoon then
    ends[#ends + 1] = at
    ends[#ends + 1] = id
  elseif groups[at] then
    groups[at][#groups[at] + 1] = id
  else
    groups[at] = {id}
  end
end
`;

/** `nameCommand` says what becomes of the names: ZADD or ZREM, or nothing where they stay. */
export function writeTogether(nameCommand?: 'ZADD' | 'ZREM'): string {
  const writeNames = nameCommand ? `redis.call('${nameCommand}', INDEX, unpack(names))` : '';
  return String.raw`
  if put > 0 and (not answer or put == ${TOGETHER}) then
    redis.call('HSET', ROWS, unpack(rows))
    ${writeNames}
    for at, together in pairs(groups) do
      ends[#ends + 1] = at
      ends[#ends + 1] = table.concat(together, ' ')
    end
    if ends[1] then redis.call('ZADD', ENDS, unpack(ends)) end
    if events[1] then redis.call('XADD', LOG, seq, unpack(events)) end
    rows, names, ends, groups, events, put = {}, {}, {}, {}, {}, 0
  end
`;
}

/** About so many ids are looked at in a step (S18): a page more at most. */
export const LOOKED = 2_000;

/** Members of `ends` in a range, sixteen at a time; each id in them once. */
export const READ_ENDS = String.raw`
local function endsBetween(from, to)
  local range, isListed = {entries = {}, looked = 0, lastAt = 0, isOver = false}, {}
  function range.next()
    local page = redis.call('ZRANGEBYSCORE', ENDS, from, to, 'WITHSCORES', 'LIMIT', #range.entries, 16)
    local ids = {}
    for i = 1, #page, 2 do
      range.entries[#range.entries + 1] = page[i]
      for id in string.gmatch(page[i], '%S+') do
        if not isListed[id] then
          isListed[id] = true
          ids[#ids + 1] = id
        end
      end
    end
    range.looked, range.isOver = range.looked + #ids, #page < 32
    range.lastAt = tonumber(page[#page] or range.lastAt)
    return ids
  end
  return range
end
local function activeOf(ids)
  local rows, texts = {}, #ids > 0 and redis.call('HMGET', ROWS, unpack(ids)) or {}
  for i, text in ipairs(texts) do
    if text and string.find(text, '^[aA]') then rows[#rows + 1] = known[ids[i]] or remember(glance(text)) end
  end
  return rows
end
-- A command takes a few thousand arguments from a script, not more.
local function callInParts(command, key, args)
  for from = 1, #args, 1000 do redis.call(command, key, unpack(args, from, math.min(from + 999, #args))) end
end
`;
