// The command on stores that span machines: the same words and exit codes, and nothing of them asks which store it is.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandSite } from '../support/command-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const site = commandSite();

describe.each([
  ['postgres', startPostgres],
  ['redis', startRedis],
] as const)('C1: the command on %s', (name, start) => {
  describe.skipIf(isSkipped(name))('with a server', () => {
    let server: { readonly url: string; remove(): Promise<void> };
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.remove());
    const holdfast = (...args: string[]): ReturnType<typeof site.run> => site.run('--store', server.url, ...args);

    test('C2 to C5: acquire, look, be refused, revoke, run', async () => {
      expect((await holdfast('acquire', 'deploy', '--ttl', '1m')).code).toBe(0);
      expect((await holdfast('ls')).out).toMatch(/deploy +exclusive/);
      expect((await holdfast('run', 'deploy', '--no-wait', '--', 'true')).code).toBe(75);
      expect((await holdfast('revoke', 'deploy', '--reason', 'test', '--yes')).code).toBe(0);
      expect((await holdfast('run', 'deploy', '--', 'sh', '-c', 'exit 7')).code).toBe(7);
      const { out } = await holdfast('history', 'deploy');
      for (const type of ['lease.acquired', 'lease.revoked', 'lease.released']) expect(out).toContain(type);
    });

    test('C7: migrate has nothing left to do, backup says who makes it, sweep sweeps', async () => {
      expect((await holdfast('migrate')).code).toBe(0);
      expect((await holdfast('migrate')).out).toContain('the store is up to date');
      const backup = await holdfast('backup', '/nowhere');
      expect([backup.code, backup.err]).toEqual([64, expect.stringMatching(/pg_dump|BGSAVE/)]);
      expect((await holdfast('sweep')).code).toBe(0);
    });

    test('C1: a server that is not there is 69, in one line without the password', async () => {
      const url = server.url.replace(/:\d+(\/|$)/, ':1$1');
      const { code, err } = await site.run('--store', url, 'ls');
      expect([code, err]).toEqual([69, expect.stringMatching(/^holdfast: .*\n$/)]);
      expect(err).not.toContain('secret');
    });
  });
});
