// A key prefix of the caller's client would move the keys of the store but not its channels, nor what a script makes of them: each
// kind of client is refused with one, wherever the library lets it be written, and before it is used for anything. None of the clients
// here is connected.
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis6';
import { createClient, createCluster } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { recogniseClient } from './recognise.js';

const NODES = [{ host: '127.0.0.1', port: 1 }];
const lazyConnect = true;

interface Ending {
  disconnect(): void;
}
const made: Ending[] = [];
afterEach(() => {
  for (const client of made.splice(0)) client.disconnect();
});
function later<T extends Ending>(client: T): T {
  made.push(client);
  return client;
}

/** Each with a way to write a prefix. */
const CLIENTS: Readonly<Record<string, (keyPrefix: string) => object>> = {
  'ioredis 5': (keyPrefix) => later(new Redis5({ lazyConnect, keyPrefix })),
  'ioredis 6': (keyPrefix) => later(new Redis6({ lazyConnect, keyPrefix })),
  'a cluster of ioredis 5': (keyPrefix) => later(new Cluster5(NODES, { lazyConnect, keyPrefix })),
  'a cluster of ioredis 6': (keyPrefix) => later(new Cluster6(NODES, { lazyConnect, keyPrefix })),
  'a cluster of ioredis 5, for its nodes': (keyPrefix) =>
    later(new Cluster5(NODES, { lazyConnect, redisOptions: { keyPrefix } })),
  'a cluster of ioredis 6, for its nodes': (keyPrefix) =>
    later(new Cluster6(NODES, { lazyConnect, redisOptions: { keyPrefix } })),
  'a cluster of ioredis 6, for its nodes where it has an empty one': (keyPrefix) =>
    later(new Cluster6(NODES, { lazyConnect, keyPrefix: '', redisOptions: { keyPrefix } })),
  'redis 6': (keyPrefix) => createClient({ keyPrefix }),
  'a cluster of redis 6': (keyPrefix) => createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }], keyPrefix }),
};

describe.each(Object.entries(CLIENTS))('a key prefix of %s', (kind, make) => {
  test('A11: is refused, with what to do instead, and none of our listeners stays on the client', () => {
    const client = make('app:') as { eventNames(): unknown[] };
    const before = client.eventNames();
    expect(() => recogniseClient(client)).toThrow(
      expect.objectContaining({
        name: 'LeaseError',
        code: 'INVALID_ARGUMENT',
        retryable: false,
        message: expect.stringMatching(/keyPrefix .*without it, and use `namespace`/) as string,
      }),
    );
    expect(client.eventNames()).toEqual(before);
  });

  test('A11: that is empty is none', () => {
    const take = (): unknown => recogniseClient(make(''));
    if (kind.includes('redis 6') && !kind.includes('ioredis')) expect(take).toThrow(/call its connect\(\)/);
    else expect(take()).toMatchObject({ cluster: kind.includes('cluster') });
  });
});
