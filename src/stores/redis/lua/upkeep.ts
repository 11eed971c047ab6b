// Lua: opening a namespace, its settings, its time, the mark that somebody watches, and the health of its server.
import { REST } from './step.js';

/** Makes the namespace where there is none; a key that holds something else is named. */
export const OPEN = String.raw`
for i, wanted in ipairs({'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'string'}) do
  if redis.call('TYPE', KEYS[i + 1]).ok ~= wanted then return {'foreign', KEYS[i + 1]} end
end
`;

export const TIME = String.raw`
reply[4] = string.format('%.0f', epoch)
`;

/** On a cluster a command without keys goes anywhere, a script goes to where its keys are. */
export const HEALTH = String.raw`
return redis.call('INFO')
`;

export const GET_SETTINGS = String.raw`
reply[4] = redis.call('GET', SETTINGS) or '{}'
`;

/** Only from the version they were read at: another change in between is answered, and the caller looks again. */
export const SET_SETTINGS = String.raw`${REST}
if version ~= ARGV[1] then
  reply[4] = 'changed'
else
  redis.call('SET', SETTINGS, ARGV[2])
  if ARGV[3] == '1' and not keep then -- H1: whoever read before the pause is told that rows are lost
    seq = seq + 1
    pruned = string.format('%.0f', seq)
  end
  keepText, logsText = ARGV[3], ARGV[4]
  version = string.format('%.0f', version + 1)
  writeRest()
  reply[4] = 'set'
end
`;

/** Until then every step says that something changed. */
export const WATCH = String.raw`
watched, steady = math.max(tonumber(watched), now + ARGV[1]), nil
`;
