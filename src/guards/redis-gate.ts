// A gate in Redis (G4): one hash, one field a name. `script` makes the check and the caller's write one script; `admit` alone
// is a check beforehand, and guards nothing that is written by a later command.
import { invalid, LeaseError, shown } from '../domain/errors.js';
import type { HeldLease } from '../manager/face.js';
import { checkWrites, staleWrite, writesOf, type CheckedWrite, type FenceWrite } from './fence.js';
import { gateOf, telling, type FenceGate } from './gate.js';
import {
  checkRedis,
  Refused,
  REFUSAL,
  runScript,
  scriptOf,
  type RedisClient,
  type RedisScript,
} from './redis-script.js';

const DEFAULT_PREFIX = 'holdfast:gate';

export interface RedisGate extends FenceGate {
  /** Lua with its KEYS and ARGV as given to `run`, which acts only when the write is admitted. On a cluster the keys share
   *  the slot of the gate: give both the same hash tag, e.g. `redisGate(client, '{orders}:gate')`. */
  script(lua: string): {
    run(write: HeldLease | FenceWrite | readonly FenceWrite[], keys?: string[], args?: string[]): Promise<unknown>;
  };
}

/** The key of the gate is `prefix`; a gate is for one namespace. */
export function redisGate(client: RedisClient, prefix: string = DEFAULT_PREFIX): RedisGate {
  const redis = checkRedis(client, 'redisGate');
  if (typeof prefix !== 'string' || prefix === '')
    throw invalid(`prefix names the key of the gate, got ${shown(prefix)}`);
  const enter = async (
    script: RedisScript,
    writes: readonly CheckedWrite[],
    keys: readonly string[] = [],
    args: readonly string[] = [],
  ): Promise<unknown> => {
    const asked = writes.flatMap((write) => [write.resource, String(write.epoch), write.mode, write.scope]);
    try {
      return await runScript(redis, script, [prefix, ...keys], [String(writes.length), ...asked, ...args]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const write = writes[Number(error.words[0]) - 1];
      throw write ? staleWrite(write, Number(error.words[1])) : new LeaseError('STORE_INCOMPATIBLE', error.message);
    }
  };
  return {
    ...gateOf('redisGate', async (writes) => {
      await enter(CHECK_ONLY, writes);
    }),
    script: (lua) => {
      const script = scriptOf(CHECK, lua);
      return {
        run: async (write, keys, args) => {
          if (!isLease(write)) return enter(script, checkWrites(write), keys, args);
          return telling(write, 'redisGate', () => enter(script, writesOf(write), keys, args));
        },
      };
    },
  };
}

function isLease(write: HeldLease | FenceWrite | readonly FenceWrite[]): write is HeldLease {
  return typeof write === 'object' && write !== null && 'parts' in write;
}

/** fence.ts in Lua. A field holds exclusive, any, subtreeExclusive, subtreeAny, and the highest below: exclusive, any. Nothing
 *  is written before everything was compared. Numbers become text by %.0f only (S17). */
const CHECK = `
local gate, count = KEYS[1], tonumber(ARGV[1])
keyCount, argCount = 1, 1 + 4 * count
local seen, changed = {}, {}
local function marks(name)
  if not seen[name] then
    local found = {}
    for number in string.gmatch(redis.call('HGET', gate, name) or '0 0 0 0 0 0', '%d+') do
      found[#found + 1] = tonumber(number)
    end
    seen[name] = found
  end
  return seen[name]
end
local function lift(name, place, epoch)
  local found = marks(name)
  if found[place] < epoch then
    found[place] = epoch
    changed[name] = true
  end
end
local function above(name)
  local names, at = {}, string.find(name, '/', 1, true)
  while at do
    names[#names + 1] = string.sub(name, 1, at - 1)
    at = string.find(name, '/', at + 1, true)
  end
  return names
end
for i = 1, count do
  local at = 2 + 4 * (i - 1)
  local name, epoch, isShared = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2] == 'shared'
  local isSubtree = ARGV[at + 3] == 'subtree'
  local highest = marks(name)[isShared and 1 or 2]
  for _, upper in ipairs(above(name)) do highest = math.max(highest, marks(upper)[isShared and 3 or 4]) end
  if isSubtree then highest = math.max(highest, marks(name)[isShared and 5 or 6]) end
  if highest > epoch and not refusal then refusal = string.format('${REFUSAL} %d %.0f', i, highest) end
end
if not refusal then
  for i = 1, count do
    local at = 2 + 4 * (i - 1)
    local name, epoch, isShared = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2] == 'shared'
    local isSubtree = ARGV[at + 3] == 'subtree'
    lift(name, 2, epoch)
    if not isShared then lift(name, 1, epoch) end
    if isSubtree then lift(name, 4, epoch) end
    if isSubtree and not isShared then lift(name, 3, epoch) end
    for _, upper in ipairs(above(name)) do
      lift(upper, 6, epoch)
      if not isShared then lift(upper, 5, epoch) end
    end
  end
  for name in pairs(changed) do
    redis.call('HSET', gate, name, string.format('%.0f %.0f %.0f %.0f %.0f %.0f', unpack(seen[name])))
  end
end
`;

const CHECK_ONLY = scriptOf(CHECK, 'return 1');
