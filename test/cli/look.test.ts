// Looking (C4): ls, show, history and watch, as text at every width.
import { describe, expect, test } from 'vitest';
import { commandSite, masked, type Live } from '../support/command-site.js';

const site = commandSite();

/** Four leases and somebody who waits. */
async function scene(): Promise<Live> {
  await site.run('acquire', 'deploy', '--owner', 'alice');
  await site.run('acquire', 'orders/0', 'orders/1', '--owner', 'worker-1', '--ttl', '10m');
  await site.run('acquire', 'pool', '--shared', '--limit', '3', '--owner', 'worker-2');
  await site.run('acquire', 'file:app/src/manager', '--subtree', '--owner', 'agent-with-a-long-name-7');
  const waiting = site.start('acquire', 'deploy', '--owner', 'bob', '--wait', 'forever');
  while (!(await site.run('ls', '--status', 'pending')).out.includes('bob')) continue;
  return waiting;
}

const at = async (columns: number | undefined, ...args: string[]): Promise<string> => {
  site.env = columns === undefined ? {} : { COLUMNS: String(columns) };
  const { code, out, err } = await site.run(...args);
  expect([code, err]).toEqual([0, '']);
  if (columns !== undefined)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  return masked(out);
};

describe('C4: ls', () => {
  test('is aligned, and fits 120, 80 and 40 columns without leaving anything out', async () => {
    await scene();
    expect(await at(undefined, 'ls')).toMatchInlineSnapshot(`
      "RESOURCE                 MODE       OWNER                     EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      deploy                   exclusive  alice                     EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      1
      file:app/src/manager/**  exclusive  agent-with-a-long-name-7  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      orders/0 +1              exclusive  worker-1                  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago   nmnns      0
      pool                     shared/3   worker-2                  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      "
    `);
    expect(await at(120, 'ls')).toMatchInlineSnapshot(`
      "RESOURCE                 MODE       OWNER                     EPOCH             HELD  RENEWED    LEFT  QUEUE
      deploy                   exclusive  alice                     EEEEEEEEEEEEEEEE    ns       ns  nnmnns      1
      file:app/src/manager/**  exclusive  agent-with-a-long-name-7  EEEEEEEEEEEEEEEE    ns       ns  nnmnns      0
      orders/0 +1              exclusive  worker-1                  EEEEEEEEEEEEEEEE    ns       ns   nmnns      0
      pool                     shared/3   worker-2                  EEEEEEEEEEEEEEEE    ns       ns  nnmnns      0
      "
    `);
    expect(await at(80, 'ls')).toMatchInlineSnapshot(`
      "deploy
        exclusive by alice, epoch EEEEEEEEEEEEEEEE, held ns, renewed ns ago,
        nnmnns left, queue 1
      file:app/src/manager/**
        exclusive by agent-with-a-long-name-7, epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 0
      orders/0 +1
        exclusive by worker-1, epoch EEEEEEEEEEEEEEEE, held ns, renewed ns ago,
        nmnns left, queue 0
      pool
        shared/3 by worker-2, epoch EEEEEEEEEEEEEEEE, held ns, renewed ns ago,
        nnmnns left, queue 0
      "
    `);
    expect(await at(80, 'ls', 'pool')).toMatchInlineSnapshot(`
      "RESOURCE  MODE      OWNER     EPOCH             HELD  RENEWED    LEFT  QUEUE
      pool      shared/3  worker-2  EEEEEEEEEEEEEEEE    ns       ns  nnmnns      0
      "
    `);
    expect(await at(40, 'ls')).toMatchInlineSnapshot(`
      "deploy
        exclusive by alice,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 1
      file:app/src/manager/**
        exclusive by agent-with-a-long-name-7,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 0
      orders/0 +1
        exclusive by worker-1,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nmnns left, queue 0
      pool
        shared/3 by worker-2,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 0
      "
    `);
    expect(await at(100, 'ls', '--status', 'all', '--owner', 'bob')).toMatchInlineSnapshot(`
      "RESOURCE  MODE     OWNER  EPOCH  HELD SINCE            RENEWED  LEFT  QUEUE
      deploy    waiting  bob    -      0000-00-00 00:00:00Z        -     -     #1
      "
    `);
    site.env = {};
    const plain = await site.run('ls');
    site.env = { NO_COLOR: '1' };
    expect(masked((await site.run('ls')).out)).toBe(masked(plain.out));
  });

  test('prefix, owner, status, age and order', async () => {
    await scene();
    const names = async (...args: string[]): Promise<string[]> =>
      (await site.run('ls', ...args)).out
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split('  ')[0] ?? '');
    const all = ['deploy', 'file:app/src/manager/**', 'orders/0 +1', 'pool'];
    expect(await names()).toEqual(all);
    expect(await names('orders')).toEqual(['orders/0 +1']);
    expect(await names('orders/1')).toEqual(['orders/0 +1']);
    expect(await names('order')).toEqual([]);
    expect(await names('--owner', 'worker-2')).toEqual(['pool']);
    expect(await names('--status', 'pending')).toEqual(['deploy']);
    expect(await names('--status', 'all')).toHaveLength(5);
    expect(await names('--older-than', '1h')).toEqual([]);
    expect(await names('--older-than', '0s')).toEqual(all);
    expect(await names('--sort', 'age')).toEqual(['deploy', 'orders/0 +1', 'pool', 'file:app/src/manager/**']);
    expect(await names('--sort', 'owner')).toEqual(['file:app/src/manager/**', 'deploy', 'orders/0 +1', 'pool']);
    expect((await names('--sort', 'left'))[0]).toBe('orders/0 +1');
    expect((await names('--sort', 'queue'))[0]).toBe('deploy');
    expect((await site.run('--namespace', 'other', 'ls')).err).toBe('holdfast: nothing to show\n');
  });

  test('--json has the records and the length of each queue', async () => {
    await scene();
    const { storeNow, items } = JSON.parse((await site.run('ls', 'deploy', '--json')).out) as {
      storeNow: string;
      items: object[];
    };
    expect(Date.parse(storeNow)).toBeGreaterThan(0);
    expect(items).toMatchObject([{ owner: 'alice', status: 'active', queueLength: 1, parts: [{ name: 'deploy' }] }]);
  });

  test('names that would turn the line or move the cursor are shown escaped', async () => {
    await site.run('acquire', 'a\u202eb\u200bc', '--owner', 'x\u2066y');
    const { out } = await site.run('ls');
    expect(out).toContain('a\\u{202e}b\\u{200b}c');
    expect(out).toContain('x\\u{2066}y');
    expect((await site.run('ls', '--json')).out).toContain('"name":"a\\u202eb\\u200bc"');
    for (const bad of ['a\nb', 'a\u001b[31mb', 'a\u009b31mb']) {
      for (const command of ['acquire', 'ls']) {
        const { code, err } = await site.run(command, bad);
        expect(code).toBe(64);
        expect(err).toMatch(/^holdfast: resource name "a\\\S+" holds a control character: remove it\n$/);
      }
      expect((await site.run(bad)).err).toMatch(/^holdfast: unknown command 'a\\\S+b': see `holdfast --help`\n$/);
    }
    const wide = await site.run('acquire', '注文/零');
    expect(wide.code).toBe(0);
    expect(masked((await site.run('ls', '注文')).out)).toMatchInlineSnapshot(`
      "RESOURCE  MODE       OWNER   EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      注文/零   exclusive  tester  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      "
    `);
  });
});

describe('C4: show, history, watch', () => {
  test('show: holder, queue in order, last events, at 80 and 40 columns', async () => {
    await scene();
    expect(await at(undefined, 'show', 'deploy')).toMatchInlineSnapshot(`
      "deploy
        held by alice (exclusive), epoch EEEEEEEEEEEEEEEE
        since 0000-00-00 00:00:00Z (ns), until 0000-00-00 00:00:00Z (nnmnns left)
        looks alive: taken ns ago, never renewed, lives nhnnm without a renewal
        id IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        1 waiting:
          #1 bob, for ns, id IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        last events:
          0000-00-00 00:00:00Z  lease.acquired    Acquired deploy, epoch EEEEEEEEEEEEEEEE, by alice
          0000-00-00 00:00:00Z  lease.queued      bob is waiting for deploy, place 1
      "
    `);
    expect(await at(80, 'show', 'file:app/src/manager/face.ts')).toMatchInlineSnapshot(`
      "file:app/src/manager/face.ts
        held by agent-with-a-long-name-7 (exclusive), epoch EEEEEEEEEEEEEEEE
        since 0000-00-00 00:00:00Z (ns), until 0000-00-00 00:00:00Z (nnmnns left)
        looks alive: taken ns ago, never renewed, lives nhnnm without a renewal
        id IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        as part of file:app/src/manager/**
        nobody waits
      "
    `);
    expect(await at(40, 'show', 'deploy')).toMatchInlineSnapshot(`
      "deploy
        held by alice (exclusive), epoch
          EEEEEEEEEEEEEEEE
        since 0000-00-00 00:00:00Z (ns), until
          0000-00-00 00:00:00Z (nnmnns left)
        looks alive: taken ns ago, never
          renewed, lives nhnnm without a
          renewal
        id IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        1 waiting:
          #1 bob, for ns, id
            IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        last events:
          0000-00-00 00:00:00Z  lease.acquired
            Acquired deploy, epoch
            EEEEEEEEEEEEEEEE, by alice
          0000-00-00 00:00:00Z  lease.queued
            bob is waiting for deploy, place 1
      "
    `);
    expect(await at(80, 'show', 'orders/1')).toMatchInlineSnapshot(`
      "orders/1
        held by worker-1 (exclusive), epoch EEEEEEEEEEEEEEEE
        since 0000-00-00 00:00:00Z (ns), until 0000-00-00 00:00:00Z (nmnns left)
        looks alive: taken ns ago, never renewed, lives nnmnns without a renewal
        id IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        together with orders/0, orders/1
        nobody waits
        last events:
          0000-00-00 00:00:00Z  lease.acquired
            Acquired orders/0, epoch EEEEEEEEEEEEEEEE, by worker-1
      "
    `);
    expect(await at(80, 'show', 'free')).toMatchInlineSnapshot(`
      "free
        held by nobody
        nobody waits
      "
    `);
  });

  test('show: what keeps others out when nobody holds it', async () => {
    await site.run('acquire', 'cron', '--min-hold', '10m');
    await site.run('release', 'cron');
    expect(masked((await site.run('show', 'cron')).out)).toContain('free in nmnns: kept out by minHold or lockDelay');
  });

  test('history: by resource, below it, since, by type', async () => {
    await site.run('acquire', 'orders/0');
    await site.run('release', 'orders/0');
    await site.run('acquire', 'orders');
    expect(await at(undefined, 'history')).toMatchInlineSnapshot(`
      "0000-00-00 00:00:00Z  lease.acquired    Acquired orders/0, epoch EEEEEEEEEEEEEEEE, by tester
      0000-00-00 00:00:00Z  lease.released    Released orders/0, epoch EEEEEEEEEEEEEEEE, by tester
      0000-00-00 00:00:00Z  lease.acquired    Acquired orders, epoch EEEEEEEEEEEEEEEE, by tester
      "
    `);
    expect(await at(80, 'history', 'orders/0', '--type', 'released')).toMatchInlineSnapshot(`
      "0000-00-00 00:00:00Z  lease.released
        Released orders/0, epoch EEEEEEEEEEEEEEEE, by tester
      "
    `);
    expect(await at(40, 'history', 'orders')).toMatchInlineSnapshot(`
      "0000-00-00 00:00:00Z  lease.acquired
        Acquired orders, epoch
        EEEEEEEEEEEEEEEE, by tester
      "
    `);
    const count = async (...args: string[]): Promise<number> =>
      (JSON.parse((await site.run('history', '--json', ...args)).out) as { items: object[] }).items.length;
    expect(await count('orders', '--under')).toBe(3);
    expect(await count('--since', '1h')).toBe(3);
    expect(await count('--since', '2999-01-01')).toBe(0);
    expect(await count('--until', '1h')).toBe(0);
    expect(await count('--limit', '2')).toBe(2);
    expect(await count('--type', 'lease.acquired')).toBe(2);
    expect(await count('--owner', 'nobody')).toBe(0);
    expect((await site.run('history', 'nothing')).err).toBe('holdfast: nothing happened that matches\n');
  });

  test('watch: events below a prefix, one a line, and on from an event', async () => {
    await site.run('migrate');
    const watching = site.start('watch', 'orders');
    const everything = site.start('watch', '--json');
    for (let i = 0; !/orders/.test(watching.out) || !/orders/.test(everything.out); i += 1) {
      await site.run('acquire', `orders/${i}`);
      await site.run('acquire', `other/${i}`);
    }
    for (const one of [watching, everything]) one.process.kill('SIGINT');
    const { code, out, err } = await watching.ended;
    expect([code, err]).toEqual([130, '']);
    expect(masked(out)).toMatch(
      /^(0000-00-00 00:00:00Z {2}lease\.acquired {4}Acquired orders\/\d+, epoch E+, by tester\n)+$/,
    );
    const [first] = (await everything.ended).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    const again = site.start('watch', '--after', first?.id ?? '', '--type', 'released');
    await site.run('release', 'orders/0');
    expect(masked(await again.says(/.*\n/))).toContain('Released orders/0');
    again.process.kill('SIGTERM');
    expect((await again.ended).code).toBe(143);
  });
});
