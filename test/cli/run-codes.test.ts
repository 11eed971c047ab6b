// What `holdfast run` answers: the command's own code, or one that says what kept it from running. Bad input costs nobody
// a lease.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { monotonic } from '../support/process-site.js';
import { childrenOf, death, runSite, type Running } from '../support/run-site.js';

const site = runSite();

async function result(running: Running): Promise<{ code: number | string; out: string; err: string }> {
  running.process.stdin?.end();
  const code = await running.ended;
  await running.silent;
  return { code, out: running.out, err: running.err };
}
const run = (...args: string[]): ReturnType<typeof result> => result(site.holdfast('run', ...args));

describe('C2: the command', () => {
  test('its exit code is the answer, and it knows what it holds', async () => {
    const script = 'echo "$HOLDFAST_RESOURCE|$HOLDFAST_EPOCH|$HOLDFAST_LEASE_ID|$HOLDFAST_OWNER"; exit 3';
    const { code, out, err } = await run('--owner', 'alice', 'door', '--', 'sh', '-c', script);
    expect([code, err]).toEqual([3, '']);
    const [resource, epoch, id = '', owner] = out.trim().split('|');
    expect([resource, owner]).toEqual(['door', 'alice']);
    const record = await (await site.look()).get(id);
    expect(record).toMatchObject({ status: 'released', owner: 'alice', epoch: Number(epoch) });
  });

  test('several names are one to a line; words and spaces of the command stay as they are', async () => {
    const { out } = await run('b', 'a', '--', 'sh', '-c', 'echo "$HOLDFAST_RESOURCE"; echo "$1|$2"', '-', 'x  y', '--');
    expect(out).toBe('a\nb\nx  y|--\n');
  });

  test('ended by a signal it is 128 + n', async () => {
    expect((await run('door', '--', 'sh', '-c', 'kill -USR2 $$')).code).toBe(140);
    expect((await run('door', '--', 'sh', '-c', 'kill -KILL $$')).code).toBe(137);
  });

  test('standard input and both outputs are its own', async () => {
    const running = site.holdfast('run', 'door', '--', 'sh', '-c', 'cat; echo oops >&2');
    running.process.stdin?.end('through\n');
    expect(await running.ended).toBe(0);
    await running.silent;
    expect([running.out, running.err]).toEqual(['through\n', 'oops\n']);
  });

  test('with --json standard output is one document, and what the command prints goes to standard error', async () => {
    const { code, out, err } = await run('--json', 'door', '--', 'sh', '-c', 'echo hello; exit 4');
    expect([code, err]).toEqual([4, 'hello\n']);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'ended', resources: ['door'], exitCode: 4, signal: null });
  });

  test('the lease is free again when run has ended, and no guardian is left', async () => {
    const running = site.holdfast('run', 'door', '--', 'sh', '-c', 'echo up; cat');
    await running.says(/up/);
    const guardians = childrenOf(running.pid).filter(({ command }) => command.includes('guardian.js'));
    expect(guardians).toHaveLength(1);
    expect(await (await site.look()).isLocked('door')).toBe(true);
    running.process.stdin?.end();
    expect(await running.ended).toBe(0);
    const endedAt = monotonic();
    expect((await death(...guardians.map(({ pid }) => pid))) - endedAt).toBeLessThan(500); // it was killed before
    expect(await (await site.look()).isLocked('door')).toBe(false);
  });
});

describe('C2: refused or not in time', () => {
  test.each([
    ['75 at once', ['--no-wait'], 75, /^holdfast: door is not free: held by .* until .*\n$/],
    ['75 after the wait', ['--wait', '200ms'], 75, /^holdfast: door was not free within 200ms: held by /],
    ['the code of --busy-exit', ['--no-wait', '--busy-exit', '9'], 9, /^holdfast: door is not free/],
    ['nothing at all with --busy-exit 0, for cron', ['--no-wait', '--busy-exit', '0'], 0, /^$/],
  ])('%s', async (_, options, code, err) => {
    await (await site.look()).acquire('door', { ttl: '1m' });
    const answer = await run('door', ...options, '--', 'echo', 'ran');
    expect(answer).toMatchObject({ code, out: '' });
    expect(answer.err).toMatch(err);
  });

  test('--json says by whom', async () => {
    await (await site.look()).acquire('door', { ttl: '1m', owner: 'bob' });
    const { code, out } = await run('door', '--json', '--no-wait', '--', 'true');
    expect(code).toBe(75);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'refused', refusal: { holders: [{ owner: 'bob' }] } });
  });

  test('a store that is silent is no refusal: 69, whatever --busy-exit says', async () => {
    await site.look();
    const unlock = site.lock();
    const { code, out } = await run('door', '--ttl', '1s', '--no-wait', '--busy-exit', '0', '--', 'echo', 'ran');
    unlock();
    expect([code, out]).toEqual([69, '']);
  });
});

describe('C2: bad input', () => {
  const cases: [string, string[], number, RegExp][] = [
    ['-- is missing', ['door', 'make', '-j4'], 64, /-- is missing .*: holdfast run door -- make -j4$/],
    ['nothing after --', ['door', '--'], 64, /name the command after the --/],
    ['nothing before --', ['--', 'true'], 64, /name what to hold before the --/],
    ['an unknown option', ['door', '--busy-exti', '1', '--', 'true'], 64, /--busy-exti.*--busy-exit/],
    ['a bad duration', ['door', '--ttl', 'soon', '--', 'true'], 64, /--ttl takes milliseconds or text such as '30s'/],
    ['a code that is none', ['door', '--busy-exit', '256', '--', 'true'], 64, /from 0 to 255/],
    ['--limit without --shared', ['door', '--limit', '2', '--', 'true'], 64, /--limit needs --shared/],
    ['--keep that does not wait', ['door', '--keep', '--no-wait', '--', 'true'], 64, /--keep waits for as long as/],
    [
      'a grace that does not fit a given ttl',
      ['door', '--ttl', '30s', '--grace', '10s', '--', 'true'],
      64,
      /18000 \+ 2 × requestTimeout 3000 \+ backoff 600 \+ grace 10000 \+ reserve 1015 = 35615 ms > ttl 30000 ms; use --ttl 56s or more, or --grace 4s385ms or less/,
    ],
    [
      "a grace that does not fit the store's ttl",
      ['door', '--grace', '10s', '--', 'echo', 'ran'],
      64,
      /> ttl 30000 ms; use --ttl 56s or more/,
    ],
    ['a bad name', ['a//b', '--', 'true'], 64, /has an empty segment/],
    [
      'no such program',
      ['door', '--', 'no-such-program'],
      127,
      /no-such-program cannot be started: no such program in PATH/,
    ],
    ['no such file', ['door', '--', './no/such'], 127, /\.\/no\/such cannot be started: there is no such file/],
    ['a folder', ['door', '--', '/'], 126, /\/ is no program: it is a folder/],
  ];
  test.each(cases)('%s', async (_, args, code, err) => {
    const answer = await run(...args);
    expect(answer).toMatchObject({ code, out: '' });
    expect(answer.err.trimEnd()).toMatch(err);
    expect(answer.err.trimEnd().split('\n')).toHaveLength(1);
  });

  test('a file that may not be executed, and one that is no program: 126', async () => {
    const file = join(site.folder, 'data');
    writeFileSync(file, '\0\u0001\u0002');
    expect(await run('door', '--', file)).toMatchObject({
      code: 126,
      err: expect.stringContaining('may not be executed') as string,
    });
    chmodSync(file, 0o755);
    expect((await run('door', '--', file)).code).toBe(126);
    expect(await (await site.look()).isLocked('door')).toBe(false);
  });

  test('no such store, and a store that cannot be there', async () => {
    const nothing = await result(site.with({ HOLDFAST_STORE: 'nosuch:thing' }, 'run', 'door', '--', 'true'));
    expect(nothing.code).toBe(64);
    const nowhere = await result(
      site.with({ HOLDFAST_STORE: 'sqlite:/no/such/leases.db' }, 'run', 'door', '--', 'true'),
    );
    expect(nowhere.code).toBe(69);
  });
});
