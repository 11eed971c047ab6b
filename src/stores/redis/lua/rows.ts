// Lua: rows by id and by name. The index is one sorted set in byte order, a letter before each name: n where a lease or a
// block stands, w where a ticket waits (in queue order), t for subtrees of either kind. Rows leave it when they are over; a
// block that has run out leaves with the first write that comes upon it. There is none by owner: a revocation of an owner
// looks at everything that stands, in bounded steps, and every grant and release is spared a write.
//
// Rows and look-ups by name are remembered for the whole of a script and kept true by everything that writes a row.

export const ROWS = String.raw`
local OVER = 4503599627370496
local known, named = {}, {}

local function remember(row)
  local was = {status = row.status, kind = ''}
  if row.status == 'p' then was.kind = 'w'
  elseif row.status == 'a' or row.blockedUntil > 0 or row.keepOutUntil > 0 then was.kind = 'n' end
  rawset(row, 'was', was)
  known[row.id] = row
  return row
end
local function find(id)
  if id == '' then return nil end
  if known[id] then return known[id] end
  local text = redis.call('HGET', ROWS, id)
  if text then return remember(decode(text)) end
end
local function load(ids, found)
  local missing = {}
  for i = 1, #ids do
    local id = ids[i]
    if not known[id] and not missing[id] then
      missing[#missing + 1] = id
      missing[id] = true
    end
  end
  for from = 1, #missing, 1000 do
    local texts = redis.call('HMGET', ROWS, unpack(missing, from, math.min(from + 999, #missing)))
    for i = 1, #texts do if texts[i] then remember(glance(texts[i])) end end
  end
  for i = 1, #ids do
    local row = known[ids[i]]
    if row then found[#found + 1] = row end
  end
  return found
end
-- Somebody wrote this row past the memory of this script.
local function forget(id, name)
  known[id] = nil
  named[name] = nil
end

local function place(row) return string.format('%014.0f%016.0f', row.rank, row.arrival) end

local function membersOf(row, kind)
  local members = {}
  local spot = kind == 'w' and place(row) or ''
  for i, part in ipairs(partsOf(row)) do
    local more = i > 1 and '+' or ''
    members[#members + 1] = kind .. part.name .. '\0' .. spot .. row.id .. more
    if part.isTree then members[#members + 1] = 't' .. part.name .. '\0' .. row.id end
  end
  return members
end

local function treesIn(row)
  local count = 0
  for _, part in ipairs(partsOf(row)) do if part.isTree then count = count + 1 end end
  return count
end

local function reindex(row)
  local kind = ''
  if row.status == 'p' then kind = 'w'
  elseif row.status == 'a' or row.blockedUntil > 0 or row.keepOutUntil > 0 then kind = 'n' end
  local was = row.was
  if was.kind == kind then return end
  if was.kind ~= '' then
    redis.call('ZREM', INDEX, unpack(membersOf(row, was.kind)))
    trees = trees - treesIn(row)
  end
  if kind ~= '' then
    local members = membersOf(row, kind)
    local args = {}
    for i, member in ipairs(members) do args[2 * i - 1], args[2 * i] = 0, member end
    redis.call('ZADD', INDEX, unpack(args))
    trees = trees + treesIn(row)
    if was.kind == '' then
      for _, part in ipairs(partsOf(row)) do
        if named[part.name] then table.insert(named[part.name], row) end
      end
    end
  end
  was.kind = kind
end

local function save(row)
  if not rawget(row, 'was') then row.was = {status = '', kind = ''} end
  local was = row.was.status
  reindex(row)
  if was == 'p' and row.status ~= 'p' then
    redis.call('ZREM', QUEUE, row.id)
    redis.call('ZREM', DYING, row.id)
  end
  if row.status == 'p' then
    if was ~= 'p' then redis.call('ZADD', QUEUE, row.arrival, row.id) end
    redis.call('ZADD', DYING, row.expiresAt, row.id)
  elseif row.status == 'a' then
    redis.call('ZADD', ENDS, row.expiresAt, row.id)
  elseif was ~= row.status then
    redis.call('ZADD', ENDS, OVER + row.endedAt, row.id)
  end
  row.was.status = row.status
  row.text = encode(row)
  redis.call('HSET', ROWS, row.id, row.text)
  known[row.id] = row
end

local function idIn(member)
  local id = string.sub(member, string.find(member, '\0', 1, true) + 1)
  if string.byte(member) == 119 then id = string.sub(id, 31) end
  if string.byte(id, #id) == 43 then id = string.sub(id, 1, #id - 1) end
  return id
end

local function loadRange(from, to)
  local members, ids = redis.call('ZRANGEBYLEX', INDEX, from, to), {}
  for i = 1, #members do ids[i] = idIn(members[i]) end
  return load(ids, {})
end
-- The tickets of a name come with their place, which stands in the index.
local function loadQueue(name)
  local members, ids = redis.call('ZRANGEBYLEX', INDEX, '[w' .. name .. '\0', '(w' .. name .. '\1'), {}
  for i = 1, #members do ids[i] = idIn(members[i]) end
  local rows, at = load(ids, {}), #name + 3
  for i, row in ipairs(rows) do
    if not rawget(row, 'rank') and row.id == ids[i] then
      rawset(row, 'rank', tonumber(string.sub(members[i], at, at + 13)))
      rawset(row, 'arrival', tonumber(string.sub(members[i], at + 14, at + 29)))
    end
  end
  return rows
end
local function standingOn(name)
  if not named[name] then
    local rows = loadRange('[n' .. name .. '\0', '(n' .. name .. '\1')
    if tickets > 0 then
      local queue = loadQueue(name)
      for i = 1, #queue do rows[#rows + 1] = queue[i] end
    end
    named[name] = rows
  end
  return named[name]
end

local function isAbove(upper, lower)
  return #lower > #upper and string.byte(lower, #upper + 1) == 47 and string.sub(lower, 1, #upper) == upper
end

-- Everything strictly below a name, a thousand at a time, until each says that it has seen enough.
local function below(letter, name, each)
  local from, to = '[' .. letter .. name .. '/', '(' .. letter .. name .. '0'
  repeat
    local members = redis.call('ZRANGEBYLEX', INDEX, from, to, 'LIMIT', 0, 1000)
    local ids = {}
    for i, member in ipairs(members) do ids[i] = idIn(member) end
    if each(load(ids, {})) then return end
    from = '(' .. (members[#members] or '')
  until #members < 1000
end

local function stands(row)
  if row.status == 'a' or row.status == 'p' then return true end
  if row.blockedUntil > now or row.keepOutUntil > now then return true end
  if canWrite and row.was.kind ~= '' then
    row.blockedUntil, row.keepOutUntil = 0, 0
    save(row)
  end
  return false
end

-- Every row that is active, pending or blocks and has a name that overlaps one of these parts (more is harmless).
-- Bounded where a bound cannot hide a conflict: an exclusive part conflicts with whatever is live below it (S18).
local function overlapping(parts)
  local rows, seen = {}, {}
  local function add(found)
    local anyLive = false
    for i = 1, #found do
      local row = found[i]
      if not seen[row] then
        seen[row] = true
        if stands(row) then rows[#rows + 1] = row end
      end
      if isLive(row) then anyLive = true end
    end
    return anyLive
  end
  for _, part in ipairs(parts) do
    local name = part.name
    add(standingOn(name))
    if trees > 0 then
      local at = string.find(name, '/', 1, true)
      while at do
        local upper = string.sub(name, 1, at - 1)
        add(loadRange('[t' .. upper .. '\0', '(t' .. upper .. '\1'))
        at = string.find(name, '/', at + 1, true)
      end
    end
  end
  for _, part in ipairs(parts) do
    if part.isTree then
      local function each(found) return add(found) and not part.isShared end
      below('n', part.name, each)
      if tickets > 0 then below('w', part.name, each) end
    end
  end
  return rows
end
`;
