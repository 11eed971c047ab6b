// Servers over the stores that span machines, two of them each: a token made at one shuts both, a lease taken at one is seen at
// the other, and the command reaches them with HOLDFAST_TOKEN, the doctor included (W1, W3, C9, C10).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();
const command = commandSite();

describe.each([
  ['postgres', startPostgres],
  ['redis', startRedis],
] as const)('servers over %s', (name, start) => {
  describe.skipIf(isSkipped(name))('two of them', () => {
    let behind: { readonly url: string; remove(): Promise<void> };
    beforeAll(async () => {
      behind = await start();
    });
    afterAll(() => behind.remove());

    test('W1, W3, C10: one door, one set of leases, one set of tokens', async () => {
      const [one, two] = [await site.serve({ store: behind.url }), await site.serve({ store: behind.url })];
      const admin = await site.token(one, { name: 'ops', role: 'admin' });
      await expect.poll(async () => (await site.ask(two, 'GET /v1/leases')).status, { timeout: 2_000 }).toBe(401);
      const reader = await site.token(two, { name: 'reader', role: 'read' }, admin);
      await expect
        .poll(async () => (await site.ask(one, 'GET /v1/whoami', { token: reader })).body, { timeout: 2_000 })
        .toMatchObject({ role: 'read' });

      const leases = await connect(one.url, { token: admin, owner: 'library' });
      const lease = await leases.acquire('orders/7', { ttl: '30s' });
      const seen = await site.ask(two, `GET /v1/leases/${lease.id}`, { token: reader });
      expect(seen.body).toMatchObject({ owner: 'library', epoch: lease.epoch, status: 'active' });

      const holdfast = (...args: string[]): ReturnType<typeof command.run> => command.run('--store', two.url, ...args);
      command.env = { HOLDFAST_TOKEN: admin };
      expect((await holdfast('ls')).out).toMatch(/orders\/7 +exclusive/);
      expect((await holdfast('token', 'ls')).out).toMatch(/reader +read/);
      const diagnosis = await holdfast('doctor', '--json');
      expect([0, 1]).toContain(diagnosis.code);
      expect(JSON.parse(diagnosis.out)).toMatchObject({ findings: expect.any(Array) as unknown });
      expect((await holdfast('token', 'revoke', 'reader')).code).toBe(0);
      await expect
        .poll(async () => (await site.ask(one, 'GET /v1/whoami', { token: reader })).status, { timeout: 2_000 })
        .toBe(401);
      command.env = { HOLDFAST_TOKEN: 'hf_wrong' };
      expect((await holdfast('ls')).code).toBe(77);
      await lease.release();
      await leases.shutdown();
    });
  });
});
