// holdfast doctor (C9) as it is typed: what it prints, its exit codes, watching, ^C, a store that is gone; and a night, rehearsed
// as a script.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/doctor/diagnose.js';
import { commandSite, hasTerminals, masked } from '../support/command-site.js';

const site = commandSite();

/** Two owners who take a name from each other, though nobody let go. */
async function fight(): Promise<void> {
  for (const owner of ['ana', 'ben', 'ana', 'ben']) {
    await site.run('revoke', 'orders/0', '--reason', 'mine', '--yes');
    expect((await site.run('acquire', 'orders/0', '--owner', owner)).code).toBe(0);
  }
}

describe('C9: holdfast doctor', () => {
  test('nothing is wrong: exit 0, and it says what that is worth', async () => {
    await site.run('acquire', 'orders/0');
    site.env['COLUMNS'] = '100';
    const { code, out, err } = await site.run('doctor');
    expect([code, err]).toEqual([0, '']);
    expect(out.replaceAll(/[\d.]+ ms/g, 'N ms')).toBe(
      'nothing is wrong\n' +
        'looked at namespace default on sqlite: 1 lease, 0 waiting, 1 event of 5 min\n' +
        'the store answers in N ms, at most N ms\n' +
        'happened: lease.acquired 1\n',
    );
  });

  test('something is wrong: exit 1, with evidence, what to type and where to read', async () => {
    await fight();
    site.env['COLUMNS'] = '100';
    const { code, out, err } = await site.run('doctor');
    expect([code, err]).toEqual([1, '']);
    const plain = masked(out).replaceAll(/\d+(\.\d)? (s|ms) ago/g, 'N ago');
    expect(plain).toContain(
      'WRONG     owners-competing: orders/0 changed owner 3 times in 5 min, among 2 owners; 3 times its\n' +
        '          holder had not let go\n' +
        '          - N ago: ana (epoch EEEEEEEEEEEEEEEE) was revoked by tester, then ben (epoch\n' +
        '            EEEEEEEEEEEEEEEE)\n',
    );
    expect(out).toContain('          next: holdfast history orders/0 --since 5m\n');
    expect(plain).toContain('          read: docs/runbooks/down-to-one.md\n');
    expect(plain).toContain('\n1 wrong\n');
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('--json is one document; a resource narrows it', async () => {
    await fight();
    const { code, out } = await site.run('doctor', '--json');
    const diagnosis = JSON.parse(out) as Diagnosis;
    expect(code).toBe(1);
    expect(Object.keys(diagnosis)).toEqual(['verdict', 'findings', 'store', 'namespace', 'looked', 'happened']);
    expect(diagnosis.findings.map((one) => Object.keys(one))).toEqual([
      ['check', 'severity', 'what', 'evidence', 'next', 'runbook'],
    ]);
    const other = await site.run('doctor', 'orders/1', '--json');
    expect([other.code, JSON.parse(other.out)]).toMatchObject([0, { verdict: 'well', resource: 'orders/1' }]);
  });

  test('it only looks: the file is not written, and a store that is not there is not made', async () => {
    const missing = await site.run('doctor');
    expect([missing.code, missing.out, missing.err]).toEqual([69, '', expect.stringContaining('holdfast migrate')]);
    await site.run('acquire', 'orders/0');
    const before = await site.run('history', '--json');
    await site.run('doctor', '--for', '300ms');
    expect((await site.run('history', '--json')).out).toBe(before.out);
  });

  test('--for counts only what happens meanwhile', async () => {
    await fight();
    const quiet = await site.run('doctor', '--for', '500ms', '--json');
    expect([quiet.code, (JSON.parse(quiet.out) as Diagnosis).happened]).toEqual([0, {}]);
    const watching = site.start('doctor', '--for', '1m', '--json');
    for (let i = 0; watching.process.exitCode === null && i < 2; i += 1) await fight();
    watching.process.kill('SIGINT');
    const { code, out } = await watching.ended;
    expect(code).toBe(130);
    const seen = JSON.parse(out) as Diagnosis;
    expect(seen.verdict).toBe('wrong');
    expect(seen.looked.overMs).toBeLessThan(60_000);
    expect(seen.happened['lease.revoked']).toBeGreaterThan(2);
  });

  test.skipIf(!hasTerminals)('on a terminal the watch counts down (no `script`: no terminal)', async () => {
    await site.run('migrate');
    const watching = site.terminal(80, 'doctor', '--for', '1500ms');
    await watching.says(/watching, \ds left, \^C ends/);
    expect((await watching.ended).out).toContain('nothing is wrong');
  });

  test('a server that is not there: a finding, 69, no password', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await once(listener, 'close');
    const { code, out, err } = await site.run('--store', `redis://:hunter2@127.0.0.1:${port}`, 'doctor');
    expect([code, err]).toEqual([69, '']);
    expect(out).toContain('WRONG     store-latency: the store cannot be reached');
    expect(out).toContain('read: docs/runbooks/store-unavailable.md');
    expect(out).not.toContain('hunter2');
  });

  test.each([
    [['doctor', '--for', 'soon'], /--for takes milliseconds or text such as '30s'/],
    [['doctor', '--for', '2h'], /--for/],
    [['doctor', 'a//b'], /a\/\/b/],
  ])('%j is bad usage', async (args, message) => {
    await site.run('migrate');
    const { code, err } = await site.run(...args);
    expect([code, err]).toEqual([64, expect.stringMatching(message)]);
  });
});

test('C9, C5: a night, rehearsed: the doctor, revoke --next, and the doctor again', async () => {
  site.env['COLUMNS'] = '120';
  await fight();
  const next = site.start(
    'run',
    'orders/0',
    '--owner',
    'web2',
    '--wait',
    'forever',
    '--ttl',
    '2s',
    '--',
    'sleep',
    '60',
  );
  while (!(await site.run('ls', '--status', 'pending')).out.includes('web2')) continue;
  const night = await site.shell(`
    holdfast doctor; echo "doctor says $?"
    holdfast revoke orders/0 --reason "fights with ana, deployed twice" --keep-out 1h --yes --next 20s
    echo "revoke says $?"
    holdfast doctor orders/0 --for 3s; echo "doctor says $?"`);
  expect(night.err).toBe('');
  const [before = '', between = '', after = ''] = night.out.split(/^(?:doctor|revoke) says \d$/m);
  expect(night.out.match(/\w+ says \d/g)).toEqual(['doctor says 1', 'revoke says 0', 'doctor says 0']);
  expect(before).toContain('WRONG     owners-competing: orders/0 changed owner 3 times');
  expect(between).toMatch(/revoked orders\/0 from ben, epoch \d+\ntaken over by web2, epoch \d+\n$/);
  expect(after).toMatch(/^\nnothing is wrong\nlooked at orders\/0 in namespace default on sqlite: 1 lease, 0 waiting/);
  next.process.kill('SIGTERM');
  expect((await next.ended).code).toBe(143);
});
