// What a redis url may say, and that no message shows its password.
import { describe, expect, test } from 'vitest';
import { checkNoAddress, parseRedisUrl } from './redis-url.js';

describe('redis urls', () => {
  test('A11: name host, port, user, password and database', () => {
    expect(parseRedisUrl('redis://lo%40cal:pass%2Fword@example.test:6380/3')).toMatchObject({
      seeds: [{ host: 'example.test', port: 6380 }],
      username: 'lo@cal',
      password: 'pass/word',
      database: 3,
      tls: false,
      cluster: false,
      shown: 'redis://example.test:6380',
    });
    expect(parseRedisUrl('rediss://:secret@[::1]')).toMatchObject({
      seeds: [{ host: '::1', port: 6379 }],
      username: undefined,
      password: 'secret',
      tls: true,
      shown: 'rediss://[::1]:6379',
    });
    expect(parseRedisUrl('redis:')).toMatchObject({ seeds: [{ host: '127.0.0.1', port: 6379 }] });
  });

  test("A11: beside the caller's client, which has an address of its own, may not name another", () => {
    for (const url of ['redis:', 'rediss:', 'redis:///', 'redis:?awake=false&replicas=1&replicasTimeout=100ms']) {
      expect(() => checkNoAddress(url)).not.toThrow();
    }
    const addresses = ['//cache:6379', '//:secret@', '//cache', '/2', '?cluster=true', '?tlsCa=ca.pem'];
    for (const address of addresses) {
      expect(() => checkNoAddress(`redis:${address}`)).toThrow(/client has an address of its own/);
    }
  });

  test('several hosts, or cluster=true, are a cluster', () => {
    expect(parseRedisUrl('redis://a:1,b:2,c')).toMatchObject({
      cluster: true,
      seeds: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
        { host: 'c', port: 6379 },
      ],
    });
    expect(parseRedisUrl('redis://a?cluster=true').cluster).toBe(true);
  });

  test('replicas to wait for are counted and bounded in time', () => {
    expect(parseRedisUrl('redis://a?replicas=2&replicasTimeout=250ms').replicas).toEqual({ count: 2, timeoutMs: 250 });
    expect(parseRedisUrl('redis://a?replicas=1').replicas.timeoutMs).toBeGreaterThan(0);
  });

  test('awake=false lets this process sleep while it waits for an answer', () => {
    expect(parseRedisUrl('redis://a').awake).toBe(true);
    expect(parseRedisUrl('redis://a?awake=false').awake).toBe(false);
  });

  test.each([
    'redis://a?awake=no',
    'redis://a:0',
    'redis://a:70000',
    'redis://a b',
    'redis://user@a',
    'redis://a/x',
    'redis://a/0?nodes=3',
    'redis://a?cluster=yes',
    'redis://a?cluster=true&cluster=true',
    'redis://a,b?cluster=false',
    'redis://a,b/1',
    'redis://a,b?replicas=1',
    'redis://a?replicas=-1',
    'redis://a?replicas=1.5',
    'redis://a?replicas=1&replicasTimeout=0',
    'redis://a?replicas=1&replicasTimeout=1h',
    'redis://a?replicasTimeout=1s',
    'redis://a?tlsCa=/ca.pem',
    'redis://%zz@a',
    `redis://${Array.from({ length: 65 }, (_, index) => `h${index}`).join(',')}`,
    'http://a',
    '',
  ])('A11: %s is refused', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  test.each([
    'redis://:se@cret@host',
    'redis://:se/cret@host',
    'redis://:se?cret@host',
    'redis://u:se%zzcret@host',
    'redis://:se#cret@host',
  ])('A11: no part of the password of %s is shown, wherever it ended up', (url) => {
    let message = '';
    try {
      parseRedisUrl(url);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).not.toBe('');
    expect(message).not.toMatch(/cret|:se/);
  });
});
