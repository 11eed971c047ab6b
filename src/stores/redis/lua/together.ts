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

/** A lease that would have ended within this is left where it is when it is released: a sweep comes upon it soon, and puts it down
 *  among those that are over. */
export const LEFT_TO_SWEEP_MS = 60_000;

/** Rows of the ids, read at once; an item that comes after one that was not plain looks for itself. */
export const READ_TOGETHER = String.raw`
local ids, texts = {}, readTexts
local function textAt(i)
  if protocol then return redis.call('HGET', ROWS, ids[i]) end
  if not texts then texts = redis.call('HMGET', ROWS, unpack(ids)) end
  return texts[i]
end
`;

/** One that waited and has nothing else about it. */
export const WAITED = String.raw`'^a [^\n]*\n%d+ %d+ %d+ 0 0 0 0\t\t\n[^\t]*\t[^\t]*\txn:[^\t\31]*\t%d+\t\t'`;

/** The lease nearly everybody holds: an A, or one that waited. */
export const PLAIN_LEASE = String.raw`
local WAITED = ${WAITED}
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
-- Who was released is put down among those that are over, which nobody did at the release.
local function activeOf(ids, again)
  local rows, over, ended = {}, {}, 0
  for i, text in ipairs(#ids > 0 and redis.call('HMGET', ROWS, unpack(ids)) or {}) do
    local letter = text and string.byte(text)
    if letter == 65 or letter == 97 then
      rows[#rows + 1] = known[ids[i]] or remember(glance(text))
    elseif letter == 114 and string.byte(text, 2) ~= 32 then
      over[#over + 1], ended = ids[i], math.max(ended, tonumber(string.match(text, '^r(%d+)')))
    end
  end
  for from = 1, #over, ${TOGETHER} do
    again[#again + 1] = OVER + ended
    again[#again + 1] = table.concat(over, ' ', from, math.min(from + ${TOGETHER - 1}, #over))
  end
  return rows
end
-- A command takes a few thousand arguments from a script, not more.
local function callInParts(command, key, args)
  for from = 1, #args, 1000 do redis.call(command, key, unpack(args, from, math.min(from + 999, #args))) end
end
`;
