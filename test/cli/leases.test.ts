// Leases that outlive the command (C3): acquire, renew, release.
import { describe, expect, test } from 'vitest';
import type { LeaseRecord } from '../../src/domain/lease.js';
import { commandSite, masked } from '../support/command-site.js';

const site = commandSite();
const json = async (...args: string[]): Promise<LeaseRecord> =>
  JSON.parse((await site.run(...args, '--json')).out) as LeaseRecord;

describe('C3: acquire', () => {
  test('prints id, epoch and expiry, and the lease stays', async () => {
    const { code, out, err } = await site.run('acquire', 'deploy', 'db/a');
    expect([code, err]).toEqual([0, '']);
    expect(masked(out)).toMatchInlineSnapshot(`
      "acquired db/a, deploy
        id      IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        epoch   EEEEEEEEEEEEEEEE
        owner   tester
        until   0000-00-00 00:00:00Z (nhnnm)
      "
    `);
    const [record] = ((await json('ls')) as unknown as { items: LeaseRecord[] }).items;
    expect(record).toMatchObject({ owner: 'tester', status: 'active', ttlMs: 3_600_000 });
    expect(out).toContain(record?.id);
  });

  test('takes every option of a lease', async () => {
    const flags = ['--ttl', '10m', '--shared', '--limit', '3', '--subtree', '--priority', '2'];
    const more = ['--min-hold', '1m', '--max-hold', '2h', '--lock-delay', '5s', '--wait', '1s'];
    expect(await json('acquire', 'pool', ...flags, ...more)).toMatchObject({
      parts: [{ name: 'pool', scope: 'subtree', mode: 'shared', limit: 3 }],
      ttlMs: 600_000,
    });
    expect((await site.run('release', 'pool')).code).toBe(0);
    const { code, err } = await site.run('acquire', 'pool', '--no-wait');
    expect(code).toBe(75);
    expect(err).toMatch(/^holdfast: pool is not free: min_hold, for \d+s(\d+ms)? at least\n$/);
  });

  test('refused: one line that names the holder, with --json the refusal, and 75', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const { code, out, err } = await site.run('acquire', 'deploy', '--wait', '50ms', '--json');
    expect(code).toBe(75);
    expect(JSON.parse(out)).toMatchObject({ refusal: { reason: 'held', holders: [{ owner: 'alice' }] } });
    expect(masked(err)).toMatchInlineSnapshot(`
      "holdfast: deploy was not free within nnms: held by alice (epoch EEEEEEEEEEEEEEEE) until 0000-00-00T00:00:00.000Z
      "
    `);
  });

  test.each(['acquire deploy', 'acquire deploy --json', 'files acquire deploy'])(
    '%s that cannot print its id gives the lease back, and says so (74)',
    async (line) => {
      const { out, err } = await site.shell(`holdfast ${line} > /dev/full; echo $?`);
      expect([out, err]).toEqual([
        '74\n',
        expect.stringMatching(/^holdfast: standard output cannot be written: ENOSPC.*: the lease was given back\n$/),
      ]);
      expect((await site.run('ls')).err).toBe('holdfast: nothing to show\n');
    },
  );

  test('into a pipe that nobody reads it gives the lease back too (74)', async () => {
    const { out, err } = await site.shell(`{ holdfast acquire deploy --json; echo $? >&2; } | true`);
    expect([out, err]).toEqual(['', 'holdfast: nobody reads standard output: the lease was given back\n74\n']);
    expect((await site.run('ls')).err).toBe('holdfast: nothing to show\n');
  });

  test('into one that somebody reads a line of, it is taken', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      expect((await site.shell(`holdfast acquire ${name} | head -1`)).out).toBe(`acquired ${name}\n`);
    }
    expect((await site.run('ls')).out.match(/exclusive/g)).toHaveLength(5);
  });

  test('told to end while it waits, it leaves the queue and ends with the signal’s code', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const waiting = site.start('acquire', 'deploy', '--wait', 'forever');
    while (!(await site.run('ls', '--status', 'pending')).out.includes('tester')) continue;
    waiting.process.kill('SIGINT');
    expect(await waiting.ended).toEqual({
      code: 130,
      out: '',
      err: 'holdfast: the wait for deploy was cancelled by its signal\n',
    });
    expect((await site.run('ls', '--status', 'pending')).out).toBe('');
  });
});

describe('C3: renew and release', () => {
  test('by id, or by a resource that --owner holds', async () => {
    const { id, epoch, expiresAt } = await json('acquire', 'deploy', '--ttl', '1m');
    expect(masked((await site.run('renew', 'deploy')).out)).toMatchInlineSnapshot(`
      "renewed deploy, epoch EEEEEEEEEEEEEEEE, until 0000-00-00 00:00:00Z
      "
    `);
    const renewed = await json('renew', id, '--ttl', '2h', '--epoch', String(epoch));
    expect(renewed).toMatchObject({ id, epoch, renewals: 2 });
    expect(Date.parse(renewed.expiresAt) - Date.parse(expiresAt)).toBeGreaterThan(7_000_000);
    expect(masked((await site.run('release', id)).out)).toBe('released deploy, epoch EEEEEEEEEEEEEEEE\n');
    expect((await site.run('release', id)).out).toBe('deploy was released before\n');
  });

  test.each(['renew', 'release'])('%s of what the owner does not hold says who does (76)', async (command) => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const { code, out, err } = await site.run(command, 'deploy');
    expect([code, out]).toEqual([76, '']);
    expect(masked(err)).toBe(
      'holdfast: tester holds no lease on deploy: held by alice (epoch EEEEEEEEEEEEEEEE) ' +
        'until 0000-00-00 00:00:00Z; is --owner right?\n',
    );
    expect((await site.run(command, 'nothing')).err).toBe(
      'holdfast: tester holds no lease on nothing: nobody does; acquire it first\n',
    );
    expect((await site.run('--owner', 'alice', command, 'deploy')).code).toBe(0);
  });

  test('a lease that was lost meanwhile says how (76)', async () => {
    const { id } = await json('acquire', 'deploy');
    await site.run('revoke', 'deploy', '--reason', 'in the way', '--yes');
    for (const command of ['renew', 'release']) {
      const { code, err } = await site.run(command, id);
      expect(code).toBe(76);
      expect(masked(err)).toBe(
        'holdfast: the lease on deploy is over: revoked (in the way) at 0000-00-00 00:00:00Z; acquire it again\n',
      );
    }
  });

  test('a stale epoch changes nothing (76)', async () => {
    const { id, epoch } = await json('acquire', 'deploy');
    expect((await site.run('renew', id, '--epoch', String(epoch - 1))).code).toBe(76);
    expect((await site.run('release', id, '--epoch', String(epoch - 1))).code).toBe(76);
    expect((await json('renew', id)).epoch).toBe(epoch);
  });

  test('two leases of one owner on one name have to be told apart', async () => {
    const first = await json('acquire', 'pool', '--shared');
    const second = await json('acquire', 'pool', '--shared');
    const { code, err } = await site.run('release', 'pool');
    expect(code).toBe(64);
    expect(err).toContain(`tester has 2 leases on pool: name one by its id: `);
    expect(err).toContain(first.id);
    expect((await site.run('release', second.id)).code).toBe(0);
    expect((await site.run('release', 'pool')).code).toBe(0);
  });
});
