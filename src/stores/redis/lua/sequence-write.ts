// Lua: writing spans, streams and their log rows. Everything an item changes is changed in the script's own tables first and
// written by `flush` when the item is decided; what does not pass its checks has written nothing. Indexes follow from what a
// row was when it was read and what it is now, so that no transition can forget one.
import { BEGIN, FINISH, LOOK, READ_STATE } from './step.js';
import { STREAM_KEYS } from './sequence-rows.js';

/** The keys of streams are made whole by the first step that needs them, and looked at before anything is written. */
export const SEQUENCE_STEP = String.raw`${READ_STATE}${STREAM_KEYS}
local kindOfKey = redis.call('TYPE', STREAMS).ok
if kindOfKey ~= 'none' and kindOfKey ~= 'hash' then return {'foreign', STREAMS} end
if kindOfKey == 'none' then
  for i = 10, #KEYS do
    if redis.call('EXISTS', KEYS[i]) == 1 then return {'foreign', KEYS[i]} end
  end
end
${BEGIN}
if kindOfKey == 'none' then
  for _, key in ipairs({STREAMS, SPANS, WORK, IDS, READERS}) do redis.call('HSET', key, '', '') end
  for _, key in ipairs({OPEN, PLACES}) do redis.call('ZADD', key, 0, '') end
  for _, key in ipairs({DUE, AGAIN}) do redis.call('ZADD', key, 'inf', '') end
end
`;

export const SEQUENCE_LOOK = LOOK + STREAM_KEYS;

export const SEQUENCE_WRITE = String.raw`
local touched, entries, settled = {}, {}, {}

local function encode(row)
  return string.format('%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
    row.bytes > INLINE and string.upper(row.state) or row.state, row.first, row.count, row.bytes, row.partialBytes, row.finishedBytes, row.epoch, row.leasedAt, row.expiresAt,
    row.content, row.settledAt, row.movedTo, row.movedFrom, row.attempts, row.retryAt, row.trimmedAt, row.isManual,
    row.claimEpoch, row.claimUntil, row.finishedContent) .. '\t' .. table.concat({row.operationId, row.kind, row.owner,
    row.reason, row.lastError, row.claimOwner, row.type, row.inline}, '\t')
end
local function touch(row)
  if not row.isTouched then
    row.isTouched = true
    touched[#touched + 1] = row
  end
end
local function saveStream(stream)
  streams[stream.name] = stream
  stream.isChanged = true
end

local function place(isIn, letter, spot)
  if isIn then redis.call('ZADD', PLACES, 0, letter .. spot) else redis.call('ZREM', PLACES, letter .. spot) end
end
local function setTime(key, at, spot)
  if at then redis.call('ZADD', key, at, spot) else redis.call('ZREM', key, spot) end
end
local function writeSpan(row)
  local was, is, spot = row.was, standing(row), row.spot
  if row.isNew then
    if row.movedFrom == 0 then redis.call('HSET', IDS, row.stream .. '\0' .. row.operationId, string.format('%.0f', row.first)) end
    if row.count > 1 then place(true, 'w', spot) end
  end
  if is.open ~= was.open then
    if is.open then redis.call('ZADD', OPEN, 0, spot) else redis.call('ZREM', OPEN, spot) end
  end
  if is.due ~= was.due then setTime(DUE, is.due, spot) end
  if is.again ~= was.again then
    setTime(AGAIN, is.again, spot)
    if (is.again == nil) ~= (was.again == nil) then place(is.again, 'r', spot) end
  end
  if is.gap ~= was.gap then place(is.gap, 'g', spot) end
  if is.manual ~= was.manual then place(is.manual, 'm', spot) end
  if is.trimmed and not was.trimmed then place(true, 't', spotOf(row.stream, row.trimmedAt) .. '\0' .. padded(row.first)) end
  for letter, text in pairs(row.kept) do redis.call('HSET', WORK, spot .. letter, text) end
  if was.bytes > INLINE and is.bytes == 0 then redis.call('HDEL', WORK, spot .. 'o') end
  if was.partialBytes > 0 and is.partialBytes == 0 then redis.call('HDEL', WORK, spot .. 'p') end
  if was.finishedBytes > 0 and is.finishedBytes == 0 then redis.call('HDEL', WORK, spot .. 'f') end
  row.text = encode(row)
  redis.call('HSET', SPANS, spot, row.text)
  row.was, row.kept, row.isNew, row.isTouched = is, {}, nil, nil
end
local function flush()
  for _, row in ipairs(touched) do writeSpan(row) end
  for _, entry in ipairs(entries) do redis.call('XADD', LOG, entry[1], 'e', entry[2]) end
  touched, entries = {}, {}
end

local NOTHING_YET = {bytes = 0, partialBytes = 0, finishedBytes = 0, open = false, gap = false, manual = false, trimmed = false}
local function newSpan(stream, first, count, operationId, kind, owner)
  local spot = spotOf(stream.name, first)
  local row = {
    stream = stream.name, spot = spot, state = 'l', first = first, count = count, bytes = 0, partialBytes = 0,
    finishedBytes = 0, epoch = 0, leasedAt = now, expiresAt = now, content = 0, settledAt = 0, movedTo = 0, movedFrom = 0,
    attempts = 0, retryAt = 0, trimmedAt = 0, isManual = 0, claimEpoch = 0, claimUntil = 0, finishedContent = 0,
    operationId = operationId, kind = kind, owner = owner, reason = '', lastError = '', claimOwner = '', type = '',
    inline = '', kept = {}, was = NOTHING_YET, isNew = true,
  }
  spans[spot] = row
  touch(row)
  return row
end
local function setOperations(row, text, content)
  row.bytes, row.content, row.inline = #text, content, ''
  if #text > INLINE then row.kept.o = text else row.inline = text end
end

local function log(letter, row, data, actor, failure)
  if not keep then return end
  seq = seq + 1
  local count = row.count > 1 and string.format('\tcount#%.0f', row.count) or ''
  entries[#entries + 1] = {seq, string.format('%s %.0f %.0f %.0f --\n', letter, now, wall, row.epoch)
    .. table.concat({'', row.owner, row.stream, actor or '', row.reason, string.format('number#%.0f', row.first) .. count
    .. '\toperationId$' .. row.operationId .. '\tkind$' .. row.kind .. data, failure}, '\n')}
end
`;

/** Whoever waits for one of the streams is told; hints may be lost, so an error in sending one is none (Q3). */
export const SEQUENCE_FINISH = String.raw`
flush()
local heard = {}
for name, stream in pairs(streams) do
  if stream.isChanged then
    redis.call('HSET', STREAMS, name, streamText(stream))
    if stream.isNew then redis.call('ZADD', PLACES, 0, 's' .. name) end
  end
  if settled[name] and stream.watchedUntil > now then heard[#heard + 1] = name end
end
if #heard > 0 then redis.pcall('PUBLISH', string.sub(META, 1, -5) .. 'settled', table.concat(heard, '\n')) end
${FINISH}`;
