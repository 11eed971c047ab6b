// Lua: entries of the log. An entry has a field for each event, or for the events of a run of items that were granted or released
// together (acquire-list.ts, end-list.ts): the name of such a field is the letter of its events and how many they are, its text what they
// share and, in lines, what each has for itself. Who reads the log sees the events one by one, as each would have been written.
//
//   A64   now wall firstEpoch ttlMs expiresAt ⏎ owner ⏎ ids ⏎ names
//   R64   now wall ⏎ owner ⏎ ids ⏎ names ⏎ epoch expiresAt acquiredAt …
//
// Ids are divided by spaces, names and figures by tabs.

import { TOGETHER } from './together.js';

/** Writes the runs down that have come together: what is written together is read together, so not all that a list may have. */
export const LOG_RUNS = String.raw`
      if keep and (since >= ${TOGETHER} or at == count) then
        seq = seq + since
        seqText = string.format('%.0f', seq)
        redis.call('XADD', LOG, seqText, unpack(events))
        events, since = {}, 0
      end
`;

export const LOG_GROUPS = String.raw`
local function wordsOf(text, pattern)
  local words = {}
  for word in string.gmatch(text, pattern) do words[#words + 1] = word end
  return words
end
local function grantsOf(text, texts)
  local at, wallAt, from, ttlMs, expiresAt, owner, ids, names =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)\n([^\n]*)\n([^\n]*)\n(.*)$')
  ids, names = wordsOf(ids, '%S+'), wordsOf(names, '[^\t]+')
  local data = '\n\n\nttlMs#' .. ttlMs .. '\texpiresAt#' .. expiresAt .. '\twaitedMs#0'
  for i = 1, #ids do
    texts[#texts + 1] = 'A ' .. at .. ' ' .. wallAt .. string.format(' %.0f -a\n', from + i - 1) .. ids[i] .. '\n' .. owner .. '\n' .. names[i]
      .. data
  end
end
local function releasesOf(text, texts)
  local at, wallAt, owner, ids, names, held = string.match(text, '^(%d+) (%d+)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  ids, names, held = wordsOf(ids, '%S+'), wordsOf(names, '[^\t]+'), wordsOf(held, '[^\t]+')
  for i = 1, #ids do
    local epochText, acquiredAt = string.match(held[i], '^(%d+) %d+ (%d+)$')
    texts[#texts + 1] = 'R ' .. at .. ' ' .. wallAt .. ' ' .. epochText .. ' ar\n' .. ids[i] .. '\n' .. owner .. '\n' .. names[i]
      .. string.format('\n\n\nheldMs#%.0f', at - acquiredAt)
  end
end

local function lastOf(entry) return tonumber(string.match(entry[1], '^%d+')) end
local function firstOf(entry)
  if not entry.first then
    local fields, count = entry[2], 0
    for i = 1, #fields, 2 do count = count + (fields[i] == 'e' and 1 or tonumber(string.sub(fields[i], 2))) end
    entry.first = lastOf(entry) - count + 1
  end
  return entry.first
end
local function textOf(entry, key)
  if not entry.texts then
    local fields, texts = entry[2], {}
    for i = 1, #fields, 2 do
      local letter, text = string.sub(fields[i], 1, 1), fields[i + 1]
      if letter == 'A' then grantsOf(text, texts) elseif letter == 'R' then releasesOf(text, texts) else texts[#texts + 1] = text end
    end
    entry.texts = texts
  end
  return entry.texts[key - firstOf(entry) + 1]
end
`;
