// Taking a lease away (C5): what is shown, when it asks, what it spares, and who comes next.
import { describe, expect, test } from 'vitest';
import type { LeaseRecord } from '../../src/domain/lease.js';
import { commandSite, hasTerminals, masked } from '../support/command-site.js';

const site = commandSite();
const held = async (): Promise<LeaseRecord[]> =>
  (JSON.parse((await site.run('ls', '--status', 'all', '--json')).out) as { items: LeaseRecord[] }).items;
const owners = async (): Promise<string[]> => (await held()).map(({ owner }) => owner);

async function waits(owner: string, resource: string): Promise<ReturnType<typeof site.start>> {
  const waiting = site.start('acquire', resource, '--owner', owner, '--wait', 'forever');
  while (!(await site.run('ls', '--status', 'pending')).out.includes(owner)) continue;
  return waiting;
}

describe('C5: a holder that looks alive', () => {
  test('is shown, and without a terminal nothing happens unless --yes (75)', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    await waits('bob', 'deploy');
    site.env['COLUMNS'] = '80';
    const { code, out, err } = await site.run('revoke', 'deploy', '--reason', 'host is gone');
    expect(code).toBe(75);
    expect(masked(out)).toMatchInlineSnapshot(`
      "RESOURCE  MODE       OWNER  EPOCH             HELD  RENEWED    LEFT  QUEUE
      deploy    exclusive  alice  EEEEEEEEEEEEEEEE    ns       ns  nnmnns      1
      alice looks alive: taken ns ago, never renewed, lives nhnnm without a renewal
      1 waits for it
      "
    `);
    expect(err).toBe('holdfast: nothing was revoked: alice looks alive; add --yes if you mean it\n');
    site.env['COLUMNS'] = '40';
    expect(masked((await site.run('revoke', 'deploy', '--reason', 'x')).out)).toMatchInlineSnapshot(`
      "deploy
        exclusive by alice,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 1
      alice looks alive: taken ns ago, never
        renewed, lives nhnnm without a renewal
      1 waits for it
      "
    `);
    expect(await owners()).toEqual(['alice', 'bob']);
  });

  test('with --yes it is revoked, and --next says who took over', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const bob = await waits('bob', 'deploy');
    const { code, out, err } = await site.run('revoke', 'deploy', '--reason', 'gone', '--yes', '--next', '10s');
    expect([code, err]).toEqual([0, '']);
    expect(masked(out).split('\n').slice(-3)).toEqual([
      'revoked deploy from alice, epoch EEEEEEEEEEEEEEEE',
      'taken over by bob, epoch EEEEEEEEEEEEEEEE',
      '',
    ]);
    expect((await bob.ended).code).toBe(0);
    const { out: told } = await site.run('history', 'deploy', '--type', 'revoked');
    expect(told).toContain('tester revoked deploy from alice: gone');
  });

  test('nobody takes over in time: 75, and the lease is gone all the same', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const { code, out, err } = await site.run(
      ...['revoke', 'deploy', '--reason', 'gone', '--yes', '--next', '100ms', '--json'],
    );
    expect(code).toBe(75);
    expect(JSON.parse(out)).toMatchObject({ revoked: [{ owner: 'alice', status: 'revoked' }], next: null });
    expect(err).toBe('holdfast: nobody took deploy over within 100ms; it is free\n');
    expect(await held()).toEqual([]);
  });

  test.skipIf(!hasTerminals)('on a terminal its name has to be typed (no `script`: no terminal)', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const ask = async (answer: string): Promise<{ code: number | string; out: string }> => {
      const asking = site.terminal(80, 'revoke', 'deploy', '--reason', 'gone');
      await asking.says(/alice looks alive\. Type deploy to revoke: /);
      asking.process.stdin?.write(answer);
      return asking.ended;
    };
    expect((await ask('deploi\r')).code).toBe(75);
    expect((await ask('\u0003')).out).toContain('nothing was revoked');
    expect(await owners()).toEqual(['alice']);
    const { code, out } = await ask('deploy\r');
    expect(code).toBe(0);
    expect(out).toContain('revoked deploy from alice');
    expect(await owners()).toEqual([]);
  });
});

describe('C5: a holder that is silent', () => {
  test('is revoked without asking', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice', '--ttl', '6s');
    while ((await held()).some(({ renewedAt }) => Date.now() - Date.parse(renewedAt) < 4_300)) continue;
    const { code, out } = await site.run('revoke', 'deploy', '--reason', 'silent');
    expect(masked(out)).toContain(
      'alice looks silent: taken ns ago, never renewed, lives ns without a renewal, renewal is overdue\n',
    );
    expect(masked(out)).toContain('revoked deploy from alice, epoch EEEEEEEEEEEEEEEE\n');
    expect(code).toBe(0);
  });

  test('--if-silent spares whoever renewed lately (75)', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const { code, err } = await site.run('revoke', 'deploy', '--reason', 'x', '--yes', '--if-silent', '10m');
    expect(code).toBe(75);
    expect(masked(err)).toBe('holdfast: nothing was revoked: alice renewed ns ago, not silent for nnm\n');
    expect((await site.run('revoke', 'deploy', '--reason', 'x', '--yes', '--if-silent', '1ms')).code).toBe(0);
    expect(await held()).toEqual([]);
  });
});

describe('C5: what is revoked', () => {
  test('by subtree, by owner and by lease; tickets too', async () => {
    await site.run('acquire', 'orders/0', '--owner', 'alice');
    await site.run('acquire', 'orders/1', '--owner', 'bob');
    await site.run('acquire', 'other', '--owner', 'alice');
    await site.run('acquire', 'last', '--owner', 'carol');
    const dave = await waits('dave', 'orders/1');
    const under = await site.run('revoke', '--under', 'orders', '--reason', 'all out', '--yes');
    expect(masked(under.out)).toMatchInlineSnapshot(`
      "RESOURCE  MODE       OWNER  EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      orders/0  exclusive  alice  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      orders/1  exclusive  bob    EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      1
      orders/1  waiting    dave   -                 0000-00-00 00:00:00Z        -       -     #1
      alice looks alive: taken ns ago, never renewed, lives nhnnm without a renewal
      bob looks alive: taken ns ago, never renewed, lives nhnnm without a renewal
      dave waits
      revoked orders/0 from alice, epoch EEEEEEEEEEEEEEEE
      revoked orders/1 from bob, epoch EEEEEEEEEEEEEEEE
      revoked the wait of dave for orders/1
      "
    `);
    expect((await dave.ended).code).toBe(75);
    await site.run('revoke', '--owner', 'alice', '--reason', 'out', '--yes');
    const [carol] = await held();
    expect(carol?.owner).toBe('carol');
    await site.run('revoke', '--lease', carol?.id ?? '', '--reason', 'out', '--yes');
    expect(await held()).toEqual([]);
  });

  test('--keep-out bars the old owner and nobody else', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    await site.run('revoke', 'deploy', '--reason', 'out', '--yes', '--keep-out', '1h');
    expect((await site.run('acquire', 'deploy', '--owner', 'alice', '--no-wait')).code).toBe(75);
    expect((await site.run('acquire', 'deploy', '--owner', 'bob', '--no-wait')).code).toBe(0);
  });

  test('nobody holds it: an answer; a block is lifted; a subtree above is named', async () => {
    expect(await site.run('revoke', 'free', '--reason', 'x')).toEqual({
      code: 0,
      out: '',
      err: 'holdfast: nobody holds free\n',
    });
    await site.run('acquire', 'cron', '--min-hold', '1h');
    await site.run('release', 'cron');
    expect((await site.run('revoke', 'cron', '--reason', 'run it again')).code).toBe(0);
    expect((await site.run('acquire', 'cron', '--no-wait')).code).toBe(0);
    await site.run('acquire', 'tree', '--subtree', '--owner', 'alice');
    const { code, err } = await site.run('revoke', 'tree/leaf', '--reason', 'x', '--yes');
    expect([code, err]).toEqual([75, 'holdfast: tree/leaf is held by alice through tree: revoke that instead\n']);
  });

  test.each([
    [['--owner', 'ci-7'], 'ci-7 holds nothing'],
    [['--under', 'orders'], 'nobody holds orders or anything below it'],
    [['--lease', 'no-such-lease'], 'there is no lease no-such-lease'],
  ])('%j that matches nothing is said in its own words', async (target, message) => {
    expect(await site.run('revoke', ...target, '--reason', 'x')).toEqual({
      code: 0,
      out: '',
      err: `holdfast: ${message}\n`,
    });
  });

  test('--lease of one that is over says so', async () => {
    const { id } = JSON.parse((await site.run('acquire', 'deploy', '--json')).out) as LeaseRecord;
    await site.run('release', id);
    expect((await site.run('revoke', '--lease', id, '--reason', 'x')).err).toBe(
      `holdfast: the lease ${id} is over: released\n`,
    );
  });

  test.each([
    [['--under', 'orders/'], /^holdfast: resource name "orders\/" has an empty segment[^\n]*\n$/],
    [['--owner', ''], /^holdfast: --owner is from 1 to 128 bytes of UTF-8, got 0\n$/],
  ])('%j is refused before anything is said about it', async (target, message) => {
    const { code, err } = await site.run('revoke', ...target, '--reason', 'x');
    expect(code).toBe(64);
    expect(err).toMatch(message);
  });

  test.each([
    [['revoke', 'a'], /required option '--reason <text>' not specified/],
    [['revoke', '--reason', 'x'], /name one thing to revoke: a RESOURCE, --under NAME, --lease ID or --owner ID/],
    [['revoke', 'a', '--owner', 'b', '--reason', 'x'], /name one thing to revoke/],
    [['revoke', '--owner', 'b', '--reason', 'x', '--next', '1s'], /--next needs a RESOURCE or a --lease/],
    [['revoke', 'a', '--reason', 'x', '--next', 'soon'], /--next takes milliseconds or text such as '30s'/],
  ])('%j is bad usage', async (args, message) => {
    const { code, err } = await site.run(...args);
    expect(code).toBe(64);
    expect(err).toMatch(message);
  });
});
