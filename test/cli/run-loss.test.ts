// A command whose lease is lost is stopped before anybody else can have the lease: whatever it does with SIGTERM, and
// whatever has become of the store, of `run` or of its guardian.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { monotonic } from '../support/process-site.js';
import {
  beating,
  childrenOf,
  death,
  expiryOf,
  follow,
  heartbeat,
  isAlive,
  runSite,
  type Running,
} from '../support/run-site.js';

const TTL_MS = 2_500;
const guardianProgram = fileURLToPath(new URL('../../dist/cli/guardian.js', import.meta.url));
const site = runSite();

function hold(...options: string[]): Running {
  const beats = `${site.file}.beats`;
  return site.holdfast('run', 'door', '--ttl', `${TTL_MS}ms`, ...options, '--', 'sh', heartbeat, beats, 'deaf');
}
const guardianOf = ({ pid }: Running): number =>
  childrenOf(pid).find(({ command }) => command.includes('guardian.js'))?.pid ?? 0;

test('C2: revoked, it is told to stop at the next renewal, and killed after the grace', async () => {
  const running = hold('--grace', '100ms');
  const { child, grandchild } = await beating(running);
  const leases = await site.look();
  await leases.revoke({ resource: 'door', reason: 'the machine goes down' });
  const revokedAt = monotonic();
  expect((await death(child, grandchild)) - revokedAt).toBeLessThan(TTL_MS);
  expect(await running.ended).toBe(76);
  expect(running.err).toMatch(/^holdfast: Lost lease for door \(the store says: revoked\): the command was stopped\n$/);
});

test('C2, S7: while the store is frozen by a process stopped inside a write, it is gone before its lease is', async () => {
  const running = hold();
  const { child, grandchild, leaseId } = await beating(running);
  const stopper = site.run('sqlite-child.mjs', site.file, 'stopper');
  await stopper.line('open');
  stopper.tell('freeze');
  await stopper.line('frozen');
  const diedAt = await death(child, grandchild);
  stopper.process.kill('SIGKILL');
  expect(await running.ended).toBe(76);
  expect(diedAt).toBeLessThan(await expiryOf(site, leaseId));
  expect(running.err).toMatch(/Lost lease for door \(expires at .*: no answer.*\): the command was stopped/);
});

test('C2, S7: with --grace it is told so much earlier, and has the time', async () => {
  const script = `trap 'echo told; sleep 0.25; echo clean; exit 0' TERM; echo "alive $$ $$ $HOLDFAST_LEASE_ID"; while :; do sleep 0.02; done`;
  const running = site.holdfast('run', 'door', '--ttl', '4s', '--grace', '250ms', '--', 'sh', '-c', script);
  const { child, leaseId } = await beating(running);
  await site.look();
  const unlock = site.lock();
  await running.says(/told/);
  const toldAt = monotonic();
  const diedAt = await death(child);
  unlock();
  expect(await running.ended).toBe(76);
  const expiry = await expiryOf(site, leaseId);
  expect(diedAt).toBeLessThan(expiry);
  expect(expiry - toldAt).toBeGreaterThan(250 + 300); // from the deadline on it would be 402 ms, most of it reserve
});

describe('C2, S7: the guardian', () => {
  test('stops the group in time when run itself is only stopped, and run says so when it goes on', async () => {
    const running = hold();
    const { child, grandchild, leaseId } = await beating(running);
    await delay(TTL_MS * 0.7); // renewed at least once
    running.process.kill('SIGSTOP');
    const diedAt = await death(child, grandchild);
    expect(diedAt).toBeLessThan(await expiryOf(site, leaseId));
    await delay(TTL_MS / 2);
    running.process.kill('SIGCONT');
    expect(await running.ended).toBe(76);
    expect(running.err).toMatch(/^holdfast: Lost lease for door \(expired at .*\n$/);
  });

  test('is out of reach of what is sent to the group, and ends with it', async () => {
    const running = hold();
    const { child, grandchild } = await beating(running);
    const guardian = guardianOf(running);
    process.kill(-child, 'SIGTERM');
    process.kill(running.pid, 'SIGWINCH');
    expect([child, grandchild, guardian].map(isAlive)).toEqual([true, true, true]);
    process.kill(-child, 'SIGKILL');
    expect(await running.ended).toBe(137);
    await death(guardian);
  });

  test('that is killed is followed by another, which knows what the first one knew', async () => {
    const running = hold();
    const { child, grandchild, leaseId } = await beating(running);
    const first = guardianOf(running);
    process.kill(first, 'SIGKILL');
    while (guardianOf(running) === first || guardianOf(running) === 0) await delay(10);
    running.process.kill('SIGKILL');
    expect(await death(child, grandchild)).toBeLessThan(await expiryOf(site, leaseId));
  });

  test('knows whom to stop from its start on, though run was killed before it could write to it', async () => {
    const deaf = spawn('sh', ['-c', `trap '' TERM; while :; do sleep 0.02; done`], { detached: true, stdio: 'ignore' });
    onTestFinished(() => void deaf.kill('SIGKILL'));
    const group = deaf.pid ?? 0;
    const until = `until ${monotonic() + 30_000} ${monotonic() + 60_000}`;
    const guardian = follow(
      spawn(process.execPath, [guardianProgram, '100', `group ${group}`, until], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    expect(await guardian.ended).toBe(0);
    await death(group);
  });

  test('gives a command whose run was killed its SIGTERM at once, and ends with it', async () => {
    const script = `trap 'echo told; exit 0' TERM; echo "alive $$ $$ $HOLDFAST_LEASE_ID"; while :; do sleep 0.02; done`;
    const running = site.holdfast('run', 'door', '--', 'sh', '-c', script);
    const { child } = await beating(running);
    const guardian = guardianOf(running);
    running.process.kill('SIGKILL');
    await running.says(/told/);
    const diedAt = await death(child);
    expect((await death(guardian)) - diedAt).toBeLessThan(1_000);
  });
});

test('C2: --max-hold ends it, and the code says that the lease is gone', async () => {
  const running = hold('--max-hold', '3s');
  const { child, grandchild, leaseId } = await beating(running);
  const diedAt = await death(child, grandchild);
  expect(diedAt).toBeLessThan(await expiryOf(site, leaseId));
  expect(await running.ended).toBe(76);
  expect(running.err).toMatch(/maxHold is reached\): the command was stopped/);
});
