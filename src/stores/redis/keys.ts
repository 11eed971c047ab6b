// The keys of one namespace: a fixed set under one hash tag, so that a cluster keeps them together, none with a Redis ttl.
// Every script is given all of them, in this order, and none of them ever becomes empty: a slot that moves is either here
// or there for the whole of a script.

const NAMES = ['meta', 'rows', 'index', 'ends', 'queue', 'dying', 'log', 'settings'] as const;

export function keysOf(namespace: string): readonly string[] {
  return NAMES.map((name) => `holdfast:{${namespace}}:${name}`);
}

/** Where the scripts say whom to wake, and that something changed. */
export function channelOf(namespace: string): string {
  return `holdfast:{${namespace}}:hints`;
}
