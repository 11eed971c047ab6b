// holdfast token (C10) as it is typed: made, listed and taken back in the store itself, without a server.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, describe, test } from 'vitest';
import { connect } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';
import { ServeSite } from '../support/serve-site.js';

const site = commandSite();
const servers = new ServeSite();
const SECRET = /^hf_[0-9a-f]{16}_[A-Za-z0-9_-]{43}\n$/;

describe('C10: token', () => {
  test('C10, W3: create prints the secret once, alone; the store keeps its hash', async () => {
    const made = await site.run('token', 'create', 'ops', '--role', 'admin');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(SECRET) as string });
    expect(made.err).toMatch(
      /^holdfast: made token ops \([0-9a-f]{16}\) with the role admin; the secret is not shown again\n$/,
    );
    const secret = made.out.trim().split('_').slice(2).join('_');
    const { out } = await site.run('token', 'ls');
    expect(out).toMatch(
      /^ID +NAME +ROLE +PREFIX +OWNER +EXPIRES +MADE BY\n[0-9a-f]{16} +ops +admin +- +- +- +tester\n$/,
    );
    expect(out).not.toContain(secret);
    const kept = readdirSync(site.folder)
      .filter((name) => name.startsWith('leases.db'))
      .map((name) => readFileSync(join(site.folder, name), 'latin1'))
      .join('');
    expect(kept).toContain(createHash('sha256').update(secret).digest('hex'));
    expect(kept).not.toContain(secret);
  });

  test('C10: bounds are kept and shown, as JSON too', async () => {
    const flags = ['--role', 'write', '--prefix', 'ci/builds', '--bind-owner', 'ci-7', '--expires', '90d'];
    const made = JSON.parse((await site.run('token', 'create', 'ci', ...flags, '--json')).out) as Record<
      string,
      string
    >;
    expect(made).toMatchObject({ name: 'ci', role: 'write', prefix: 'ci/builds', owner: 'ci-7', createdBy: 'tester' });
    expect(Date.parse(made['expiresAt'] ?? '') - Date.parse(made['createdAt'] ?? '')).toBe(90 * 86_400_000);
    const { secret: _, ...shown } = made;
    expect(JSON.parse((await site.run('token', 'ls', '--json')).out)).toEqual({ items: [shown] });
  });

  test('C10: revoke takes an id or a name, and one that is not there is said so', async () => {
    const id = (await site.run('token', 'create', 'a', '--role', 'read')).out.split('_')[1] ?? '';
    await site.run('token', 'create', 'b', '--role', 'read');
    expect(await site.run('token', 'revoke', id)).toEqual({ code: 0, out: `revoked a (${id})\n`, err: '' });
    expect((await site.run('token', 'revoke', 'b')).out).toMatch(/^revoked b /);
    expect(await site.run('token', 'revoke', 'b')).toMatchObject({ code: 64, out: '' });
    expect((await site.run('token', 'ls')).err).toContain('there is no token');
    // A name is free again when its token is gone.
    expect((await site.run('token', 'create', 'b', '--role', 'read')).code).toBe(0);
    expect((await site.run('token', 'create', 'b', '--role', 'read')).err).toContain('a token of this name stands');
  });

  test('W3, W4, C10: when create and revoke end, every server of the store goes by it', async () => {
    const server = await servers.serve({ store: site.url });
    const status = async (token?: string): Promise<number> =>
      (await servers.ask(server, 'GET /v1/leases', { token })).status;
    expect(await status()).toBe(200);
    for (const name of ['a', 'b', 'c']) {
      const token = (await site.run('token', 'create', name, '--role', 'read')).out.trim();
      expect([await status(), await status(token)]).toEqual([401, 200]);
      await site.run('token', 'revoke', name);
      expect(await status(token)).toBe(401);
    }
  });

  test('W3, C10: without a token a server that asks for one is answered with where to put it (77)', async () => {
    const server = await servers.serve({ store: site.url });
    const token = (await site.run('token', 'create', 'ops', '--role', 'admin')).out.trim();
    const holdfast = (...args: string[]): ReturnType<typeof site.run> => site.run('--store', server.url, ...args);
    const refused = { code: 77, out: '', err: expect.stringMatching(/ asks for a token: .*HOLDFAST_TOKEN/) as string };
    expect(await holdfast('sweep')).toEqual(refused);
    expect(await holdfast('token', 'ls')).toEqual(refused);
    site.env['HOLDFAST_TOKEN'] = token;
    expect((await holdfast('sweep')).code).toBe(0);
    expect((await holdfast('token', 'create', 'ci', '--role', 'read', '--expires', '90d')).code).toBe(0);
    expect((await holdfast('token', 'create', 'x', '--role', 'read', '--expires', '90')).err).toContain(
      '--expires needs',
    );
  });

  test('W3, C10: a token that is bound to an owner acts as that owner where no other is given, and says how where one is', async () => {
    const server = await servers.serve({ store: site.url });
    const token = (await site.run('token', 'create', 'ci', '--role', 'write', '--bind-owner', 'ci-7')).out.trim();
    const free = (await site.run('token', 'create', 'free', '--role', 'write')).out.trim();
    const unnamed = { HOLDFAST_STORE: server.url, HOLDFAST_OWNER: '' };
    site.env = { ...unnamed, HOLDFAST_TOKEN: token };
    const taken = await site.run('acquire', 'x', '--json');
    expect([taken.code, (JSON.parse(taken.out) as { owner: string }).owner]).toEqual([0, 'ci-7']);
    expect(await site.run('run', 'y', '--', 'sh', '-c', 'echo $HOLDFAST_OWNER')).toMatchObject({
      code: 0,
      out: 'ci-7\n',
    });
    expect(await site.run('acquire', 'z', '--owner', 'ann')).toMatchObject({
      code: 77,
      err: expect.stringContaining('act as ci-7: --owner, HOLDFAST_OWNER or connect({ owner })') as string,
    });
    const leases = await connect(server.url, { token, services: 'off' });
    expect((await leases.acquire('z')).owner).toBe('ci-7');
    await leases.shutdown();
    const other = await connect(server.url, { token, owner: 'ann', services: 'off' });
    await expect(other.acquire('z')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await other.shutdown();
    site.env = { ...unnamed, HOLDFAST_TOKEN: free };
    const { owner } = JSON.parse((await site.run('acquire', 'w', '--json')).out) as { owner: string };
    expect(owner).toMatch(/^.+@.+$/);
  });

  test('C10: what makes no sense is refused before anything is made; looking makes no store', async () => {
    expect((await site.run('token', 'ls')).code).toBe(69);
    expect((await site.run('token', 'create', 'x')).code).toBe(64);
    expect((await site.run('token', 'create', 'x', '--role', 'root')).code).toBe(64);
    expect((await site.run('token', 'create', 'x', '--role', 'read', '--prefix', '/x')).code).toBe(64);
    expect((await site.run('token', 'create', 'x', '--role', 'read', '--expires', 'soon')).code).toBe(64);
    expect((await site.run('token', 'create', '', '--role', 'read')).code).toBe(64);
    expect((await site.run('token', 'create', 'n'.repeat(101), '--role', 'read')).code).toBe(64);
    expect((await site.run('token', 'ls')).err).toContain('there is no token');
  });
});
