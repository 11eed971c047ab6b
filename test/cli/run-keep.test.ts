// holdfast run --keep: one leader among several processes, a next one after every end, loss or death, until told to stop;
// and cron's use: once, on whichever machine comes first.
import { describe, expect, test } from 'vitest';
import { death, runSite, type Running } from '../support/run-site.js';

const site = runSite();
const leader = (name: string, script: string): Running =>
  site.holdfast('--owner', name, 'run', 'leader', '--ttl', '1s', '--keep', '--', 'sh', '-c', script);
const lead = `echo "leads $HOLDFAST_OWNER $HOLDFAST_EPOCH $$"; while :; do sleep 0.05; done`;

describe('C2: --keep', () => {
  test('starts the command again after every end, each time with a higher epoch', async () => {
    const running = leader('alice', 'echo "term $HOLDFAST_EPOCH."; exit 3');
    const [, ...epochs] = await running.says(/term (\d+)\.\nterm (\d+)\.\nterm (\d+)\./);
    expect(epochs.map(Number)).toEqual(epochs.map(Number).toSorted((a, b) => a - b));
    expect(new Set(epochs).size).toBe(3);
    running.process.kill('SIGTERM');
    expect([3, 143]).toContain(await running.ended); // in a term, or between two
  });

  test('another one leads when the first is killed, and not before its command is gone', async () => {
    const first = leader('alice', lead);
    const [, epoch, pid] = await first.says(/leads alice (\d+) (\d+)/);
    const second = leader('bob', lead);
    const dead = death(Number(pid)); // looked at from now on, every few milliseconds
    first.process.kill('SIGKILL');
    const takenOver = second.says(/leads bob (\d+)/);
    expect(await Promise.race([dead.then(() => 'dead'), takenOver.then(() => 'taken over')])).toBe('dead');
    expect(Number((await takenOver)[1])).toBeGreaterThan(Number(epoch));
    second.process.kill('SIGTERM');
    expect(await second.ended).toBe(143);
    expect(await (await site.look()).isLocked('leader')).toBe(false);
  });

  test('holds again after a loss', async () => {
    const running = leader('alice', lead);
    await running.says(/leads/);
    await (await site.look()).revoke({ resource: 'leader', reason: 'step down' });
    await running.says(/leads alice \d+ \d+\n(.*\n)*leads alice/);
    expect(running.err).toMatch(/Lost lease for leader \(the store says: revoked\): the command was stopped/);
    running.process.kill('SIGINT');
    expect(await running.ended).toBe(130);
  });

  test('with --json one document for each time it was held, and nothing else on standard output', async () => {
    const running = site.holdfast(
      'run',
      'leader',
      '--ttl',
      '1s',
      '--keep',
      '--json',
      '--',
      'sh',
      '-c',
      'echo hi; exit 3',
    );
    await running.says(/^(\{"outcome":"ended",.*"exitCode":3,.*\}\n){2}/);
    running.process.kill('SIGTERM');
    await running.ended;
    expect([running.out.includes('hi'), running.err.includes('hi\n')]).toEqual([false, true]);
  });

  test('told to stop while another leads, it leaves the queue', async () => {
    const leases = await site.look();
    await leases.acquire('leader', { ttl: '1m' });
    const running = leader('bob', lead);
    while ((await leases.show('leader')).queue.length === 0) await leases.now();
    running.process.kill('SIGTERM');
    expect(await running.ended).toBe(143);
    expect((await leases.show('leader')).queue).toEqual([]);
  });
});

test('C2: cron starts it everywhere, it runs once: --no-wait --busy-exit 0 --min-hold', async () => {
  const job = ['cron/report', '--no-wait', '--busy-exit', '0', '--min-hold', '1m', '--', 'echo', 'ran'];
  const machines = ['a', 'b', 'c', 'd'].map((name) => site.holdfast('--owner', name, 'run', ...job));
  expect(await Promise.all(machines.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  await Promise.all(machines.map(({ silent }) => silent));
  expect(machines.map(({ out }) => out).join('')).toBe('ran\n');
  expect(machines.map(({ err }) => err).join('')).toBe('');
  const late = site.holdfast('run', ...job.map((word) => (word === '0' ? '8' : word)));
  expect(await late.ended).toBe(8);
  expect(late.err).toMatch(/min_hold/);
});
