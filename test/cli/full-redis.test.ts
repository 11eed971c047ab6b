// The command at a Redis whose memory is full: it connects anew each time, and what it is called for then is to end something.
import { createClient } from 'redis';
import { describe, expect, test } from 'vitest';
import { commandSite } from '../support/command-site.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const site = commandSite();

describe.skipIf(isSkipped('redis'))('the command at maxmemory', () => {
  test('C3, C5, C7: what is new is refused; release, revoke, renew, config and sweep go on', async () => {
    const server = await startRedis();
    const admin = createClient({ url: server.url });
    await admin.connect();
    try {
      site.env = { HOLDFAST_STORE: server.url };
      for (const name of ['one', 'two']) expect((await site.run('acquire', name, '--ttl', '10m')).code).toBe(0);
      await admin.configSet('maxmemory', '1');
      const refused = await site.run('acquire', 'three', '--ttl', '10m', '--no-wait');
      expect([refused.code, refused.err]).toEqual([69, expect.stringContaining('maxmemory')]);
      expect((await site.run('renew', 'one')).code).toBe(0);
      expect((await site.run('release', 'one')).out).toMatch(/^released one/);
      expect((await site.run('revoke', 'two', '--reason', 'to make room', '--yes')).code).toBe(0);
      expect((await site.run('config', 'set', 'history_retention_days', '1')).code).toBe(0);
      expect((await site.run('sweep')).code).toBe(0);
      expect((await site.run('ls', '--json')).out).not.toContain('active');
    } finally {
      admin.destroy();
      await server.remove();
    }
  });
});
