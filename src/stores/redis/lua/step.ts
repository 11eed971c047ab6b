// Lua: how every script begins and ends. The clock, the counters and the incarnation of the namespace are read once, at the
// first line, and written once, at the last; in between they are the script's own variables. All of it is one text, the field
// without a name of the rows, so that a call with one item reads and writes it with its row:
//
//   needs epoch now arrival seq tickets trees checked watched mark keep logsRenewals version pruned identity incarnation hidden …
//
// S13: now is TIME, never below the namespace's last. S2: which server process this is (`run_id`) and which promotion
// (`master_replid`) is asked of the server itself, before anything else and at most every ten milliseconds as long as the server's memory
// looks the same (the address of a function); another answer than
// the namespace remembers begins a new incarnation (docs/decisions/0011). S17: numbers become text by %.0f only.

/** The lowest version of this format that code must know to work with the data. 2: ends and log entries of several (together.ts).
 *  3: log entries with one field for several events (log-groups.ts). 4: rows of what was released as it stood (row-text.ts), and the
 *  text above among the rows. Its older place, a key of its own, keeps what it was when the format changed: older code reads there
 *  that it is too old. */
export const FORMAT = '4';

/** Names for the keys, the same in every script: a key that a script touches is always declared (a slot may be moving). */
const KEY_NAMES = String.raw`
local META, ROWS, INDEX, ENDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local QUEUE, DYING, LOG, SETTINGS = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
`;

/** Where a namespace that is not there begins to count, and a new life goes on at least: also where two begin in one millisecond, with grants in
 *  between, none is repeated (S2). */
const WALL_US = 'time[1] * 1000000 + time[2]';

const READ_META = String.raw`
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
local needs, epochText, arrivalText, seqText, epoch, now, arrival, seq, steady, tickets, trees, checked, watched, rest
local metaText = redis.call('HGET', ROWS, '')
if metaText == '' then metaText = redis.call('GET', META) end
if metaText then
  needs, epochText, now, arrivalText, seq, steady, tickets, trees, checked, watched, rest = string.match(metaText,
    '^(%d+) (%d+) (%d+) (%d+) (%d+) ((%d+) (%d+) (%d+) (%d+) (.*))$')
  if not needs then return {'foreign', META} end
  if needs ~= '${FORMAT}' and tonumber(needs) > ${FORMAT} then return {'newer', needs} end
  epoch, now, arrival, seq = tonumber(epochText), tonumber(now), tonumber(arrivalText), tonumber(seq)
  tickets, trees, checked = tonumber(tickets), tonumber(trees), tonumber(checked)
  if wall > now then now = wall end
end
`;

/** Only reads: what stands against a call must be found before anything is written. */
export const READ_STATE = KEY_NAMES + READ_META;

/** What changes seldom, taken apart and put together again. */
export const REST = String.raw`
local mark, keepText, logsText, version, pruned, identity, incarnation, future =
  string.match(rest, '^(%S+) (%d) (%d) (%d+) (%d+) (%S+) (%S+)(.*)$')
if not mark then return {'foreign', META} end
local hiddenText, later = string.match(future, '^ (%d+)(.*)$')
local hidden = tonumber(hiddenText or 0)
local function writeRest()
  rest = table.concat({mark, keepText, logsText, version, pruned, identity, incarnation}, ' ')
    .. string.format(' %.0f', hidden) .. (later or future)
  reply[3] = rest
  steady = nil
end
`;

/** A script that changes nothing. A namespace nobody has written to is empty, and its incarnation is said to be `none`. */
export const LOOK = String.raw`${READ_STATE}
if not metaText then
  epoch, now, arrival, seq, tickets, trees = ${WALL_US}, wall, 0, 0, 0, 0
  rest = '- 1 0 1 0 none none'
end
local canWrite = false
local reply = {now, wall, rest}
`;

/** Its own key set is made whole by the first step of a namespace and never becomes empty again: see keys.ts. */
const MAKE = String.raw`
  for i = 1, #KEYS do
    if redis.call('EXISTS', KEYS[i]) == 1 then return {'foreign', KEYS[i]} end
  end
  redis.call('HSET', ROWS, '', '')
  redis.call('ZADD', INDEX, 0, '')
  redis.call('ZADD', ENDS, 'inf', '')
  redis.call('ZADD', QUEUE, 'inf', '')
  redis.call('ZADD', DYING, 'inf', '')
  redis.call('XADD', LOG, '0-1', 'e', '')
  redis.call('XTRIM', LOG, 'MAXLEN', 0)
  redis.call('SET', SETTINGS, '{}')
  epoch, now, arrival, seq, tickets, trees, watched = ${WALL_US}, wall, 0, 0, 0, 0, 0
  rest = '- 1 0 1 0 - -'
`;

/** This process and this promotion, in one word: `found`. */
export const WHICH_SERVER = String.raw`
  local info = redis.call('INFO', 'server', 'replication')
  local found = string.sub(redis.sha1hex((string.match(info, 'run_id:%x+') or '')
    .. (string.match(info, 'master_replid:%x+') or '')), 1, 16)
`;

/** Comes after `READ_STATE`. No function is made on this way: most calls are over before the protocol is put together. */
export const BEGIN = String.raw`
local canWrite = true
local here = string.sub(tostring(redis.call), 11)
if not metaText then
${MAKE}
end
local reply, freed, woken = {now, wall, rest}, {}, {}
local firstEpoch, firstArrival, firstSeq, firstTickets, firstTrees = epochText and epoch, arrival, seq, tickets, trees
if not checked or wall < checked or wall >= checked + 10 or string.find(rest, here, 1, true) ~= 1
  or string.byte(rest, #here + 1) ~= 32 then
  checked, steady = wall, nil
${WHICH_SERVER}
${REST}
  mark = string.gsub(here, '%s', '')
  if found ~= identity then
    incarnation = string.sub(redis.sha1hex(found .. META .. time[1] .. ':' .. time[2]), 1, 16)
    identity = found
    if metaText then
      if ${WALL_US} > epoch then epoch = ${WALL_US} else epoch = math.min(epoch + 1, 9007199254740991) end
      if keepText == '1' then
        seq = seq + 1
        redis.call('XADD', LOG, seq, 'e', string.format(
          'I %.0f %.0f 0 --\n\n\n\nstore\nthe server was restarted or replaced\nincarnation$%s\tepoch#%.0f',
          now, wall, incarnation, epoch))
      end
    end
  end
  writeRest()
end
local flags = string.find(rest, ' ', 1, true)
local keep, logsRenewals = string.byte(rest, flags + 1) == 49, string.byte(rest, flags + 3) == 49
local nowText = string.format('%.0f', now)
local wallText = wall == now and nowText or string.format('%.0f', wall)
`;

export const STEP = READ_STATE + BEGIN;

/** Who waits is told where its owner is told, and where nobody hears that (or not at this node of a cluster) everybody is. Hints may be
 *  lost, so an error in sending one is none: a user may have no right to the channel. */
export const tellOwner = (owner: string, ids: string): string => String.raw`
  local channel = string.sub(KEYS[1], 1, -5) .. 'hints'
  local heard = redis.pcall('PUBLISH', channel .. ':' .. ${owner}, ${ids})
  if heard == 0 or type(heard) == 'table' then redis.pcall('PUBLISH', channel, ${ids}) end
`;

/** Whoever watches looks for itself what has changed. */
export const TELL_CHANGE = String.raw`redis.pcall('PUBLISH', string.sub(KEYS[1], 1, -5) .. 'changes', '')`;

/** `woken` is the ids of each owner. */
const TELL = String.raw`
for owner, ids in pairs(woken) do
${tellOwner('owner', 'ids')}
end
if tonumber(watched) > now then ${TELL_CHANGE} end
`;

/** The log is kept short. */
export const FINISH = String.raw`${TELL}
if seq > 1000000 and math.floor(seq / 128) > math.floor(firstSeq / 128) then
  redis.call('XTRIM', LOG, 'MINID', '~', string.format('%.0f', seq - 999999))
end
if not steady or tickets ~= firstTickets or trees ~= firstTrees then
  -- Half a step may stand, where a command in it failed: a figure below 0 would read like no counters at all.
  steady = string.format('%.0f %.0f %.0f %.0f ', math.max(tickets, 0), math.max(trees, 0), checked, watched) .. rest
end
if epoch ~= firstEpoch or arrival ~= firstArrival then
  epochText, arrivalText = string.format('%.0f', epoch), string.format('%.0f', arrival)
end
metaText = '${FORMAT} ' .. epochText .. ' ' .. nowText .. ' ' .. arrivalText .. ' '
  .. (seqText or string.format('%.0f', seq)) .. ' ' .. steady
redis.call('HSET', ROWS, '', metaText)
if needs ~= '${FORMAT}' then redis.call('SET', META, metaText) end
return reply
`;
