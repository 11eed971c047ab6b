// Signals that `holdfast run` is sent are the command's, and its whole group's; the terminal's keys too. Nobody of the group
// outlives the command.
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { monotonic } from '../support/process-site.js';
import { beating, death, follow, heartbeat, isAlive, runSite } from '../support/run-site.js';

const site = runSite();
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Says what it was sent, and goes on. */
const recorder = `for s in INT TERM HUP QUIT USR1 USR2 WINCH; do trap "echo got $s" $s; done
trap 'echo bye; exit 7' USR2; echo up; while :; do sleep 0.05; done`;

describe('C2: signals', () => {
  test('are passed on, one by one, and the command decides what they mean', async () => {
    const running = site.holdfast('run', 'door', '--', 'sh', '-c', recorder);
    await running.says(/up/);
    for (const name of ['INT', 'HUP', 'QUIT', 'USR1', 'WINCH', 'TERM'] as const) {
      running.process.kill(`SIG${name}`);
      await running.says(new RegExp(`got ${name}`));
    }
    running.process.kill('SIGUSR2');
    expect(await running.ended).toBe(7);
    expect(running.out.match(/got/g)).toHaveLength(6);
  });

  test('reach the whole group', async () => {
    const running = site.holdfast('run', 'door', '--', 'sh', heartbeat, `${site.file}.beats`);
    const { child, grandchild } = await beating(running);
    running.process.kill('SIGTERM');
    expect(await running.ended).toBe(143);
    await death(child, grandchild);
  });

  test('SIGTERM that is ignored is followed by SIGKILL after --grace', async () => {
    const beats = `${site.file}.beats`;
    const running = site.holdfast('run', 'door', '--grace', '700ms', '--', 'sh', heartbeat, beats, 'deaf');
    const { child, grandchild } = await beating(running);
    const sentAt = monotonic();
    running.process.kill('SIGTERM');
    expect((await death(child, grandchild)) - sentAt).toBeGreaterThan(695);
    expect(await running.ended).toBe(137);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s twice kills at once', async (name) => {
    const script = `trap 'echo got' INT TERM; echo up; while :; do sleep 0.05; done`;
    const running = site.holdfast('run', 'door', '--', 'sh', '-c', script);
    await running.says(/up/);
    running.process.kill(name);
    await running.says(/got/);
    running.process.kill(name);
    expect(await running.ended).toBe(137);
    expect(await (await site.look()).isLocked('door')).toBe(false);
  });

  test('while it waits for the lease one is enough, and the place in the queue is given up', async () => {
    const leases = await site.look();
    await leases.acquire('door', { ttl: '1m' });
    const running = site.holdfast('run', 'door', '--wait', 'forever', '--', 'echo', 'ran');
    while ((await leases.show('door')).queue.length === 0) await delay(20);
    running.process.kill('SIGINT');
    expect([await running.ended, running.out, running.err]).toEqual([130, '', '']);
    expect((await leases.show('door')).queue).toEqual([]);
  });
});

test('C2: what the command leaves behind in its group is stopped, and only then the lease is given back', async () => {
  // Deaf before it forks: the rest is told to stop as soon as the first has ended, which may be before it has begun.
  const script = `trap '' TERM; (echo "left $$"; while :; do sleep 0.05; done) & echo "pid $!"; exit 5`;
  const running = site.holdfast('run', 'door', '--grace', '2s', '--', 'sh', '-c', script);
  const [, pid] = await running.says(/pid (\d+)/);
  await running.says(/left/);
  expect(isAlive(Number(pid))).toBe(true);
  expect(await (await site.look()).isLocked('door')).toBe(true);
  expect(await running.ended).toBe(5);
  expect(isAlive(Number(pid))).toBe(false);
  expect(running.err).toMatch(/not all that it started/);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('C2: on a terminal (skipped where there is no script(1) to make one)', () => {
  test('the command reads it, Ctrl-C reaches it, Ctrl-Z does nothing', async () => {
    const inner = `read line; echo "read $line"; trap "echo interrupted; exit 6" INT; n=0; while :; do n=$((n+1)); echo "tick $n"; sleep 0.05; done`;
    // script(1) asks $SHELL, or sh where it is unset, which may stay and be interrupted itself: it is told to give way.
    const line = `exec ${process.execPath} ${main} run door -- sh -c '${inner}'`;
    const env = { ...process.env, HOLDFAST_STORE: site.url };
    const terminal = follow(spawn('script', ['-qec', line, '/dev/null'], { stdio: 'pipe', env }));
    terminal.process.stdin?.write('hello\n');
    await terminal.says(/read hello/);
    await terminal.says(/tick 1\b/);
    terminal.process.stdin?.write('\u001a');
    const seen = terminal.out.match(/tick \d+/g)?.length ?? 0;
    await terminal.says(new RegExp(`tick ${seen + 5}\\b`)); // it goes on: nothing has stopped it
    terminal.process.stdin?.write('\u0003');
    await terminal.says(/interrupted/);
    expect(await terminal.ended).toBe(6);
  });
});
