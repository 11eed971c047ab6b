// A check and the caller's own Lua as one Redis script: the check first, and the caller's lines only when it has passed, with
// KEYS and ARGV as the caller gave them. Redis runs nothing in between, so check and effect are one step (S11).
import { createHash } from 'node:crypto';
import { invalid, LeaseError, shown } from '../domain/errors.js';

export interface NodeRedisLike {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly options?: unknown;
}
export interface IoRedisLike {
  evalsha(sha: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
  readonly options?: unknown;
}
/** A client or cluster of `redis` or of `ioredis`. */
export type RedisClient = NodeRedisLike | IoRedisLike;

export interface RedisScript {
  readonly source: string;
  readonly sha: string;
}

/** `check` sets `refusal` when it refuses, and `keyCount` and `argCount` to what it has used of KEYS and ARGV. */
export function scriptOf(check: string, effect: string): RedisScript {
  if (typeof effect !== 'string' || effect.trim() === '') throw invalid(`a script is Lua text, got ${shown(effect)}`);
  if (effect.trimStart().startsWith('#!')) throw invalid('leave the #! line out: the guard writes its own');
  const source = `#!lua
local refusal, keyCount, argCount
${check}
if refusal then return redis.error_reply(refusal) end
local function after(list, count)
  local rest = {}
  for i = count + 1, #list do rest[i - count] = list[i] end
  return rest
end
local function effect(KEYS, ARGV)
${effect}
end
return effect(after(KEYS, keyCount), after(ARGV, argCount))
`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

export function checkRedis(client: unknown, guard: string): RedisClient {
  const given = client as Partial<NodeRedisLike & IoRedisLike> | null | undefined;
  const isKnown = typeof given?.evalSha === 'function' || typeof given?.evalsha === 'function';
  if (isKnown && typeof given?.eval === 'function') return client as RedisClient;
  throw invalid(`${guard} takes a client or cluster of redis or ioredis, got ${shown(client)}`);
}

/** A prefix that the client puts before every key it is given. */
export function hasKeyPrefix(client: RedisClient): boolean {
  const options = client.options as { keyPrefix?: unknown; redisOptions?: { keyPrefix?: unknown } } | undefined;
  const prefix = options?.keyPrefix ?? options?.redisOptions?.keyPrefix;
  return typeof prefix === 'string' && prefix !== '';
}

/** A server that has forgotten the script (restarted, flushed) is given it, once. */
export async function runScript(
  client: RedisClient,
  { source, sha }: RedisScript,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  try {
    try {
      return await evaluate(client, 'sha', sha, keys, args);
    } catch (error) {
      if (wordOf(error) !== 'NOSCRIPT') throw error;
      return await evaluate(client, 'source', source, keys, args);
    }
  } catch (error) {
    throw translateRedis(error);
  }
}

async function evaluate(
  client: RedisClient,
  by: 'sha' | 'source',
  text: string,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  if ('evalSha' in client) {
    const given = { keys: [...keys], arguments: [...args] };
    return by === 'sha' ? client.evalSha(text, given) : client.eval(text, given);
  }
  if (by === 'sha') return client.evalsha(text, keys.length, ...keys, ...args);
  return client.eval(text, keys.length, ...keys, ...args);
}

/** What a guard's own check said, as the words behind its code. */
export class Refused extends Error {
  readonly words: readonly string[];

  constructor(words: readonly string[]) {
    super(words.join(' '));
    this.words = words;
  }
}

/** The refusal of a check begins with this word. */
export const REFUSAL = 'HOLDFASTGUARD';

function wordOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return /^[A-Z]+(?=\s|$)/.exec(message)?.[0] ?? '';
}

function translateRedis(error: unknown): unknown {
  const word = wordOf(error);
  const said = error instanceof Error ? error.message : String(error);
  if (word === REFUSAL) return new Refused(said.split(' ').slice(1));
  if (word === 'CROSSSLOT') {
    return new LeaseError(
      'INVALID_ARGUMENT',
      'on a cluster the keys of the script must lie in the slot of the guard: give them its hash tag in braces',
      { cause: error },
    );
  }
  // The caller's own script may fail for the caller's own reasons: such errors are the caller's, as they are.
  return error;
}
