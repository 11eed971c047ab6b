// Which servers are refused, from what INFO says.
import { describe, expect, test } from 'vitest';
import { checkServer, durabilityOf, factsOf, parseInfo } from './server-checks.js';

const INFO = [
  '# Server',
  'redis_version:7.2.4',
  'redis_mode:standalone',
  '# Replication',
  'role:master',
  'connected_slaves:2',
  '# Memory',
  'maxmemory_policy:noeviction',
  'aof_enabled:1',
  'cluster_enabled:0',
  '',
].join('\r\n');

function facts(changes: Readonly<Record<string, string>> = {}, config: Readonly<Record<string, string>> = {}) {
  return factsOf(new Map([...parseInfo(INFO), ...Object.entries(changes)]), new Map(Object.entries(config)));
}

describe('what a Redis server says of itself', () => {
  test('is read from INFO', () => {
    expect(facts({}, { appendfsync: 'always' })).toEqual({
      server: 'redis',
      version: '7.2.4',
      role: 'master',
      cluster: false,
      maxmemoryPolicy: 'noeviction',
      appendonly: true,
      appendfsync: 'always',
      connectedReplicas: 2,
    });
    expect(facts({ redis_mode: 'cluster' }).cluster).toBe(true);
  });

  test.each([
    [{ redis_version: '7.0.0' }, true],
    [{ redis_version: '10.1' }, true],
    [{ redis_version: '6.2.14' }, false],
    [{ redis_version: '255.255.255' }, true],
    [{ redis_version: '7.2.4', valkey_version: '7.2.5' }, true],
    [{ redis_version: '7.2.4', valkey_version: '8.0.1' }, true],
    [{ redis_version: '7.2.4', valkey_version: '7.1.9' }, false],
    [{ redis_version: 'nonsense' }, false],
  ])('A11: the version of %j is enough: %s', (changes, isEnough) => {
    const check = (): void => checkServer(facts(changes), 'here');
    if (isEnough) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'STORE_INCOMPATIBLE', retryable: false }));
  });

  test('A11: a replica is refused, and may be a primary later', () => {
    expect(() => checkServer(facts({ role: 'slave' }), 'here')).toThrow(
      expect.objectContaining({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining('replica') as string,
      }),
    );
  });

  test.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random'])(
    'A11: %s may throw leases away and is refused',
    (policy) => {
      expect(() => checkServer(facts({ maxmemory_policy: policy }), 'here')).toThrow(/noeviction/);
      const silent = factsOf(parseInfo('redis_version:7.2.4\r\nrole:master'), new Map([['maxmemory-policy', policy]]));
      expect(() => checkServer(silent, 'here')).toThrow(/noeviction/);
      expect(() =>
        checkServer(facts({ maxmemory_policy: policy.replace('allkeys', 'volatile') }), 'here'),
      ).not.toThrow();
    },
  );

  test('what survives is said, not promised', () => {
    expect(durabilityOf(facts({ aof_enabled: '0' }), 0)).toMatch(/restart may lose/);
    expect(durabilityOf(facts({}, { appendfsync: 'everysec' }), 0)).toMatch(/last second/);
    expect(durabilityOf(facts({}, { appendfsync: 'always' }), 1)).toMatch(
      /before each answer; answered after 1 replica/,
    );
    expect(durabilityOf(facts(), 0)).toMatch(/unknown/);
  });
});
