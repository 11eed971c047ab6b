// What a token that is bound to a prefix sees of holders and waiters outside it (W3): their number, and nothing of who they
// are. A name that cannot be had is never shown as free, over the library (A8), the REST route and the command.
import { expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();
const command = commandSite();

test('A8 W2 W3: a holder and a waiter outside the prefix are counted by show, and make a name locked', async () => {
  const server = await site.serve();
  const admin = await site.token(server, { name: 'ops', role: 'admin' });
  const token = await site.token(server, { name: 'a', role: 'admin', prefix: 'team/a' }, admin);
  const [all, bound] = [
    await connect(server.url, { services: 'off', token: admin, owner: 'secret-boss' }),
    await connect(server.url, { services: 'off', token }),
  ];
  command.env = { HOLDFAST_STORE: server.url, HOLDFAST_TOKEN: token };
  expect(await bound.isLocked('team/a/job')).toBe(false);
  expect(await bound.show('team/a/job')).toMatchObject({ holders: [], holderCount: 0, queue: [], queueLength: 0 });
  expect((await command.run('show', 'team/a/job')).out).toContain('\n  held by nobody\n  nobody waits\n');

  const held = await all.acquire('team', { scope: 'subtree' });
  const waiting = all.acquire('team', { scope: 'subtree', wait: 'forever', owner: 'secret-waiter' });
  await expect.poll(async () => (await all.show('team')).queue.length).toBe(1);
  const counted = { holders: [], holderCount: 1, queue: [], queueLength: 1 };
  expect(await bound.isLocked('team/a/job')).toBe(true);
  expect(await bound.tryAcquire('team/a/job')).toMatchObject({ ok: false });
  const seen = [
    await bound.show('team/a/job'),
    (await site.ask(server, 'GET /v1/resource?name=team/a/job', { token })).body,
    JSON.parse((await command.run('show', 'team/a/job', '--json')).out) as object,
  ];
  for (const view of seen) {
    expect(view).toMatchObject(counted);
    expect(JSON.stringify(view)).not.toContain('secret');
  }
  expect((await command.run('show', 'team/a/job')).out).toContain(
    '\n  held outside what this token may see (1)\n  1 waiting:\n    outside what this token may see: 1\n',
  );
  expect(await command.run('revoke', 'team/a/job', '--reason', 'test', '--yes')).toMatchObject({
    code: 75,
    err: expect.stringContaining('team/a/job is held outside what this token may see') as string,
  });
  expect(await all.show('team/a/job')).toMatchObject({ holders: [{ owner: 'secret-boss' }], holderCount: 1 });
  await held.release();
  await (await waiting).release();
  expect(await bound.isLocked('team/a/job')).toBe(false);
  await Promise.all([all.shutdown(), bound.shutdown()]);
});
