// guardedScript (G3): the check of the lease and the caller's own Lua as one Redis script. The lease is looked up by id and
// compared by epoch and by the clock of the store, as the store itself does it (stores/redis/lua); then the caller's lines run.
import { invalid, shown } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import type { HeldLease } from '../manager/face.js';
import { originOf, tellRejected } from '../manager/origin.js';
import type { Store } from '../stores/store.js';
import { staleEpoch } from './fence.js';
import { leaseGone } from './lease-gone.js';
import { checkRedis, hasKeyPrefix, Refused, REFUSAL, runScript, scriptOf, type RedisClient } from './redis-script.js';

export interface GuardedScript {
  /** `keys` and `args` are KEYS and ARGV of the script. On a cluster the keys share the slot of the leases: put the hash tag of
   *  the namespace into them, which `guardedKey(lease, name)` does. Throws STALE_EPOCH or LEASE_LOST, and nothing was written. */
  run(client: RedisClient, lease: HeldLease, keys?: string[], args?: string[]): Promise<unknown>;
}

export function guardedScript(lua: string): GuardedScript {
  const script = scriptOf(CHECK, lua);
  return {
    run: async (client, lease, keys = [], args = []) => {
      const redis = checkRedis(client, 'guardedScript');
      const own = keysOf(originOf(lease).store);
      // A client with a key prefix would put it before the keys of the leases too: they go as arguments then.
      const declared = hasKeyPrefix(redis) ? [] : own;
      const asked = [String(declared.length), ...own, lease.id, String(lease.epoch)];
      const names = [String(lease.resources.length), ...lease.resources];
      try {
        return await runScript(redis, script, [...declared, ...keys], [...asked, ...names, ...args]);
      } catch (error) {
        throw tellRejected(lease, 'guardedScript', error instanceof Refused ? refusal(lease, error) : error);
      }
    },
  };
}

/** A key for the caller's own data that lies in the slot of the leases of this namespace. */
export function guardedKey(lease: HeldLease, name: string): string {
  if (typeof name !== 'string' || name === '') throw invalid(`name the key, got ${shown(name)}`);
  const [tag] = /\{[^}]+\}/.exec(keysOf(originOf(lease).store)[0]) ?? [''];
  return `${tag}:${name}`;
}

type Keys = readonly [meta: string, rows: string, index: string];

/** Three of the keys of stores/redis/keys.ts; a test holds them together. */
function keysOf({ kind, namespace }: Store): Keys {
  if (kind === 'redis') {
    const key = (name: string): string => `holdfast:{${namespace}}:${name}`;
    return [key('meta'), key('rows'), key('index')];
  }
  throw invalid(
    `guardedScript is for leases kept in Redis, this one is in a ${kind} store: use redisGate(client) instead`,
  );
}

function refusal(lease: HeldLease, { words }: Refused): unknown {
  const [how = 'unknown', number = '0'] = words;
  if (how === 'stale') return staleEpoch(lease.resources[0] ?? '', lease.epoch, Number(number));
  return leaseGone(lease, how, how === 'expired' ? isoTime(Number(number)) : undefined);
}

/** Only a refused write looks further: who has one of the names now, or the subtree it lies in, makes the epoch stale. */
const CHECK = `
local declared = tonumber(ARGV[1])
local META, ROWS, INDEX, id, mine = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local nameCount = tonumber(ARGV[7])
keyCount, argCount = declared, 7 + nameCount
local function head(key)
  local text = redis.call('HGET', ROWS, key)
  if text then return string.match(string.gsub(text, '^r%d+ A', 'r', 1), '^(%a) (%d+) (%d+) ') end
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local counters = redis.call('HGET', ROWS, '')
if counters == '' then counters = redis.call('GET', META) end
local last = tonumber(string.match(counters or '', '^%d+ %d+ (%d+) ') or '0')
if last > now then now = last end
local status, epoch, expiresAt = head(id)
status = status and string.lower(status)
if not status then
  refusal = '${REFUSAL} unknown'
elseif tonumber(epoch) ~= mine then
  refusal = '${REFUSAL} stale ' .. epoch
elseif status ~= 'a' then
  local words = {p = 'pending', r = 'released', e = 'expired', k = 'revoked', f = 'failed'}
  refusal = '${REFUSAL} ' .. (words[status] or 'ended') .. ' ' .. expiresAt
elseif now >= tonumber(expiresAt) then
  refusal = '${REFUSAL} expired ' .. expiresAt
end
if refusal and not string.find(refusal, ' stale ', 1, true) then
  local current = 0
  local function look(spot)
    for _, member in ipairs(redis.call('ZRANGEBYLEX', INDEX, '[' .. spot .. '\\0', '(' .. spot .. '\\1', 'LIMIT', 0, 20)) do
      local other = string.gsub(string.sub(member, #spot + 2), '%+$', '')
      local itsStatus, itsEpoch, itsEnd = head(other)
      if itsStatus and string.lower(itsStatus) == 'a' and now < tonumber(itsEnd) then
        current = math.max(current, tonumber(itsEpoch))
      end
    end
  end
  for i = 8, 7 + nameCount do
    look('n' .. ARGV[i])
    local at = string.find(ARGV[i], '/', 1, true)
    while at do
      look('t' .. string.sub(ARGV[i], 1, at - 1))
      at = string.find(ARGV[i], '/', at + 1, true)
    end
  end
  if current > mine then refusal = string.format('${REFUSAL} stale %.0f', current) end
end
`;
