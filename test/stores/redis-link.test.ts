// The link to one Redis server, over every kind of client: ours for a url, and the caller's. The same scripts, the same answers.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LinkListener, RedisLink, Script } from '../../src/stores/redis/link.js';
import { openLink } from '../../src/stores/redis/open-link.js';
import { systemClock } from '../../src/system-clock.js';
import { SINGLE_CLIENTS, type GivenClient } from '../support/redis-clients.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();

function script(name: string, source: string): Script {
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
const echo = script('echo', '#!lua\nreturn { KEYS[1], ARGV[1], tonumber(ARGV[2]), false, { 1, "two", {} }, "" }');
const store = script('store', '#!lua\nredis.call("SET", KEYS[1], ARGV[1]) return redis.call("GET", KEYS[1])');

describe.skipIf(isSkipped('redis'))('the link to Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  const opened: Record<string, () => Promise<{ link: RedisLink; given?: GivenClient }>> = {
    'a url': async () => ({ link: await openLink(server.url, { clock }) }),
  };
  for (const [kind, make] of Object.entries(SINGLE_CLIENTS)) {
    opened[kind] = async () => {
      const given = await make(server.port);
      return { given, link: await openLink(undefined, { clock, client: given.client }) };
    };
  }

  describe.each(Object.entries(opened))('through %s', (_kind, open) => {
    let link: RedisLink;
    let given: GivenClient | undefined;
    beforeAll(async () => {
      ({ link, given } = await open());
    });
    afterAll(async () => {
      await link.close();
      given?.close();
    });
    /** Resolves, with how to leave it, when the channel is heard. */
    const hear = (channel: string, heard: string[]): Promise<() => void> =>
      new Promise((resolve) => {
        const up = (): void => resolve(leave);
        const listener: LinkListener = { message: (text) => void heard.push(text), down: () => undefined, up };
        const leave = link.subscribe(channel, listener);
      });

    test('S17: text of any kind, numbers, nothing and lists arrive alike', async () => {
      const big = String(Number.MAX_SAFE_INTEGER); // as text: two of the libraries round integer replies this large
      const reply = await link.run(echo, ['{a}:k'], [`ä\n€\0${big}`, String(2 ** 52 + 1)]);
      expect(reply).toEqual(['{a}:k', `ä\n€\0${big}`, 2 ** 52 + 1, null, [1, 'two', []], '']);
    });

    test('a script that the server has forgotten is given to it again', async () => {
      await link.command('{a}:k', ['SCRIPT', 'FLUSH', 'SYNC']);
      expect(await link.run(store, ['{a}:k'], ['1'])).toBe('1');
      await link.command('{a}:k', ['SCRIPT', 'FLUSH', 'SYNC']);
      expect(await link.run(store, ['{a}:k'], ['2'])).toBe('2');
    });

    test('A11: what a script meets is a LeaseError with its code', async () => {
      await link.command('{a}:list', ['RPUSH', '{a}:list', 'x']);
      const failing = link.run(script('wrong', '#!lua\nreturn redis.call("GET", KEYS[1])'), ['{a}:list'], []);
      await expect(failing).rejects.toMatchObject({ name: 'LeaseError', code: 'STORE_INCOMPATIBLE' });
    });

    test('Q3: what is published is heard over a connection of its own, until it is left', async () => {
      const heard: string[] = [];
      const leave = await hear('{a}:wake', heard);
      expect(await link.command('{a}:k', ['PUBLISH', '{a}:wake', 'eins'])).toBe(1);
      await expect.poll(() => heard).toEqual(['eins']);
      leave();
      await expect.poll(() => link.command('{a}:k', ['PUBLISH', '{a}:wake', 'zwei'])).toBe(0);
      expect(heard).toEqual(['eins']);
    });

    test('Q3: a channel that is left and asked for again at once is heard, and once', async () => {
      const heard: string[] = [];
      await hear('{a}:other', []); // so that the connection stays
      for (let i = 0; i < 3; i += 1) {
        const leave = await hear('{a}:wake', heard);
        leave();
        const leaveAgain = await hear('{a}:wake', heard);
        expect(await link.command('{a}:k', ['PUBLISH', '{a}:wake', String(i)])).toBe(1);
        await expect.poll(() => heard.at(-1)).toBe(String(i));
        leaveAgain();
        link.subscribe('{a}:wake', { message: () => undefined, down: () => undefined, up: () => undefined })();
      }
      await expect.poll(() => link.command('{a}:k', ['PUBLISH', '{a}:wake', 'more'])).toBe(0);
      expect(heard).toEqual(['0', '1', '2']);
    });

    test('facts name server, client and what survives', () => {
      expect(link.facts()).toMatchObject({ server: 'redis', role: 'master', cluster: false, isConnected: true });
      expect(String(link.facts()['durability'])).toContain('appendonly');
    });
  });

  describe('S21: short calls beside one that is under way', () => {
    const clients = async (link: RedisLink): Promise<number> =>
      String(await link.command('k', ['CLIENT', 'LIST']))
        .trim()
        .split('\n').length;
    const many = (link: RedisLink, count: number, extra: readonly string[] = []): Promise<unknown[]> =>
      Promise.all(Array.from({ length: count }, (_, i) => link.run(store, ['{a}:k'], [String(i), ...extra])));
    const answers = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));

    test('go over a second connection, which is made for them and never waited for', async () => {
      const link = await openLink(server.url, { clock });
      const before = await clients(link);
      for (let i = 0; i < 3; i += 1) expect(await many(link, 1)).toEqual(['0']);
      expect(await clients(link)).toBe(before); // one at a time needs none
      expect(await many(link, 50)).toEqual(answers(50));
      await expect.poll(() => clients(link)).toBe(before + 1);
      expect(await many(link, 50)).toEqual(answers(50));
      expect(await clients(link)).toBe(before + 1);
      await link.close();
      await expect(link.run(store, ['{a}:k'], ['1'])).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    });

    test('long ones, and those of the caller’s client, do not', async () => {
      const link = await openLink(server.url, { clock });
      const before = await clients(link);
      const long = Array.from({ length: 300 }, () => 'x');
      expect(await many(link, 10, long)).toEqual(answers(10));
      expect(await clients(link)).toBe(before);
      await link.close();
    });

    test('the second does not outlive the first', async () => {
      const link = await openLink(server.url, { clock });
      const admin = await openLink(server.url, { clock });
      const first = String(await link.command('k', ['CLIENT', 'ID']));
      await many(link, 50);
      await expect.poll(() => link.facts()['connections']).toBe(2);
      await admin.command('k', ['CLIENT', 'KILL', 'ID', first]);
      await expect.poll(() => many(link, 1).catch(() => 'not yet')).toEqual(['0']);
      expect(link.facts()['connections']).toBe(1);
      expect(await many(link, 50)).toEqual(answers(50));
      await expect.poll(() => link.facts()['connections']).toBe(2);
      await link.close();
      await admin.close();
    });

    test('go over the first where the server has none to spare, and where the second was cut', async () => {
      const link = await openLink(server.url, { clock });
      const admin = await openLink(server.url, { clock });
      const [, limit] = (await admin.command('k', ['CONFIG', 'GET', 'maxclients'])) as string[];
      await admin.command('k', ['CONFIG', 'SET', 'maxclients', String(await clients(admin))]);
      const refused = async (): Promise<number> =>
        Number(/rejected_connections:(\d+)/.exec(String(await admin.command('k', ['INFO', 'stats'])))?.[1]);
      const before = await refused();
      const until = clock.monotonic() + 600;
      while (clock.monotonic() < until) expect(await many(link, 50)).toEqual(answers(50));
      expect((await refused()) - before).toBe(1); // it is not asked for all the time
      await admin.command('k', ['CONFIG', 'SET', 'maxclients', limit ?? '']);
      await link.close();
      const other = await openLink(server.url, { clock });
      await many(other, 50);
      await expect.poll(() => other.facts()['connections']).toBe(2);
      await admin.command('k', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
      await expect.poll(() => many(other, 10).catch(() => 'not yet')).toEqual(answers(10));
      await other.close();
      await admin.close();
    });
  });

  test('the caller’s client stays open when the link is closed, and keeps none of our listeners', async () => {
    for (const make of Object.values(SINGLE_CLIENTS)) {
      const given = await make(server.port);
      const emitter = given.client as {
        listenerCount(event: string): number;
        on(event: 'error', fn: () => void): void;
      };
      emitter.on('error', () => undefined);
      const before = [emitter.listenerCount('error'), emitter.listenerCount('close')];
      const link = await openLink(undefined, { clock, client: given.client });
      await link.close();
      await expect(link.command('k', ['PING'])).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
      expect([emitter.listenerCount('error'), emitter.listenerCount('close')]).toEqual(before);
      const again = await openLink(undefined, { clock, client: given.client });
      expect(await again.command('k', ['PING'])).toBe('PONG');
      await again.close();
      given.close();
    }
  });
});
