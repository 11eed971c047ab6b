// The keys of one namespace: a fixed set under one hash tag, so that a cluster keeps them together, none with a Redis ttl.
// Every script is given all it may touch, in this order, and none of them ever becomes empty: a slot that moves is either
// here or there for the whole of a script. Those of streams are made when a stream is first written to.

const NAMES = ['meta', 'rows', 'index', 'ends', 'queue', 'dying', 'log', 'settings'] as const;
const STREAM_NAMES = ['streams', 'spans', 'work', 'ids', 'readers', 'open', 'due', 'again', 'places'] as const;

/** What Redis says the keys are. */
const TYPES = ['string', 'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'string'] as const;
const STREAM_TYPES = ['hash', 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset'] as const;
export const KEY_TYPES: readonly string[] = [...TYPES, ...STREAM_TYPES];

export function keysOf(namespace: string): readonly string[] {
  return NAMES.map((name) => keyOf(namespace, name));
}

/** Those that scripts about streams are given: all of the namespace. */
export function streamKeysOf(namespace: string): readonly string[] {
  return [...keysOf(namespace), ...STREAM_NAMES.map((name) => keyOf(namespace, name))];
}

/** Where the scripts say whom to wake: those of one owner, or of all whose owner's channel nobody hears. */
export function channelOf(namespace: string, owner?: string): string {
  return keyOf(namespace, owner === undefined ? 'hints' : `hints:${owner}`);
}

/** Where they say that something changed, while somebody watches. */
export function changesChannelOf(namespace: string): string {
  return keyOf(namespace, 'changes');
}

/** Where they say in which streams something was settled, while somebody waits for that. */
export function settledChannelOf(namespace: string): string {
  return keyOf(namespace, 'settled');
}

function keyOf(namespace: string, name: string): string {
  return `holdfast:{${namespace}}:${name}`;
}
