// The command's frame (C1): which store, which exit code, what goes to which output, and what a bad day looks like.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { commandSite, hasTerminals, masked } from '../support/command-site.js';

const site = commandSite();

describe('C1: the store', () => {
  test('--store, else HOLDFAST_STORE, else the state directory; -v says which', async () => {
    const said = async (...args: string[]): Promise<string> => (await site.run('-v', ...args, 'sweep')).err;
    expect(await said('--store', `sqlite:${site.folder}/other.db`)).toBe(
      `holdfast: store sqlite:${site.folder}/other.db (--store), namespace default (default), owner tester (HOLDFAST_OWNER)\n`,
    );
    site.env = { HOLDFAST_NAMESPACE: 'night' };
    expect(await said('--owner', 'me')).toContain(`(HOLDFAST_STORE), namespace night (HOLDFAST_NAMESPACE), owner me`);
    site.env = { HOLDFAST_STORE: '', XDG_STATE_HOME: join(site.folder, 'state') };
    expect(await said()).toContain(`store sqlite:${site.folder}/state/holdfast/leases.db (the user's state directory)`);
    site.env = { HOLDFAST_STORE: '' };
    expect(await said()).toContain(`store sqlite:${site.folder}/.local/state/holdfast/leases.db`);
    expect(existsSync(join(site.folder, '.local/state/holdfast/leases.db'))).toBe(true);
    expect(readdirSync(site.cwd)).toEqual([]);
  });

  const looks = [['ls'], ['show', 'a'], ['history'], ['config'], ['config', 'get', 'max_renewals'], ['files', 'ls']];
  test.each(looks.map((args) => ({ args })))(
    'no such store: $args says so and makes nothing (69)',
    async ({ args }) => {
      site.env = { HOLDFAST_STORE: '', XDG_STATE_HOME: join(site.folder, 'state') };
      const { code, out, err } = await site.run(...args);
      expect([code, out]).toEqual([69, '']);
      expect(err).toBe(
        `holdfast: there is no store at ${site.folder}/state/holdfast/leases.db yet: \`holdfast migrate\` makes it\n`,
      );
      expect(existsSync(join(site.folder, 'state'))).toBe(false);
    },
  );

  test('looking never writes, not even what has expired or a new incarnation', async () => {
    await site.run('acquire', 'a', '--ttl', '100ms');
    await site.run('acquire', 'b');
    const before = digest(site.file);
    for (const args of looks) expect((await site.run(...args)).code).toBe(0);
    expect((await site.run('backup', join(site.folder, 'copy.db'))).code).toBe(0);
    expect(digest(site.file)).toBe(before);
    site.env['HOLDFAST_STORE'] = `sqlite:${site.folder}/copy.db`;
    const copy = digest(join(site.folder, 'copy.db'));
    const { code, err } = await site.run('ls');
    expect([code, err]).toEqual([
      69,
      `holdfast: ${site.folder}/copy.db holds nothing that is live: the file was restored from a backup. ` +
        '`holdfast sweep` begins anew\n',
    ]);
    expect(digest(join(site.folder, 'copy.db'))).toBe(copy);
    expect((await site.run('sweep')).code).toBe(0);
    expect((await site.run('ls')).code).toBe(0);
  });

  test('unreachable: a folder that is not there, a file that is no database, one of some other program (69)', async () => {
    site.env['HOLDFAST_STORE'] = `sqlite:${site.folder}/missing/leases.db`;
    expect(await site.run('acquire', 'a')).toEqual({
      code: 69,
      out: '',
      err: `holdfast: the directory ${site.folder}/missing cannot be used: create it first\n`,
    });
    site.env['HOLDFAST_STORE'] = site.url;
    writeFileSync(site.file, 'this is no database, and long enough to have been one'.repeat(100));
    for (const command of ['ls', 'sweep']) {
      const { code, err } = await site.run(command);
      expect([code, err]).toEqual([
        69,
        `holdfast: ${site.file} is not a database: name another file, or move it away\n`,
      ]);
    }
    rmSync(site.file);
    new Driver(site.file).exec('CREATE TABLE t (x)').close();
    expect((await site.run('ls')).err).toBe(
      `holdfast: ${site.file} is a database of some other program: name another file\n`,
    );
  });

  test('a state directory that cannot be written (69)', async () => {
    writeFileSync(join(site.folder, 'state'), 'a file where a folder should be');
    site.env = { HOLDFAST_STORE: '', XDG_STATE_HOME: join(site.folder, 'state') };
    expect(await site.run('acquire', 'a')).toEqual({
      code: 69,
      out: '',
      err:
        `holdfast: the directory ${site.folder}/state/holdfast cannot be made: ` +
        'make it writable, or name a store in HOLDFAST_STORE\n',
    });
  });
});

describe('C1: output', () => {
  test('a reader that leaves ends it quietly', async () => {
    await site.run('acquire', 'a');
    expect(await site.shell('holdfast ls | true; echo "${PIPESTATUS[0]}"')).toEqual({ code: 0, out: '0\n', err: '' });
    expect(await site.shell('holdfast --help >&-; echo "$?"')).toMatchObject({ out: '0\n', err: '' });
    const watching = site.shell('holdfast watch | head -1');
    const state = { isOver: false };
    const ended = watching.finally(() => (state.isOver = true));
    for (let i = 0; !state.isOver; i += 1) await site.run('acquire', `b/${i}`);
    expect(masked((await ended).out)).toMatch(/lease\.acquired {4}Acquired b\/\d+, epoch E+, by tester\n$/);
    expect(await ended).toMatchObject({ code: 0, err: '' });
  });

  test('a full disk under standard output is said (74)', async () => {
    await site.run('acquire', 'a');
    const { out, err } = await site.shell('holdfast ls > /dev/full; echo $?');
    expect([out, err]).toEqual(['74\n', expect.stringMatching(/^holdfast: standard output cannot be written: ENOSPC/)]);
  });

  test.skipIf(!hasTerminals)('colours on a terminal, and none with NO_COLOR (no `script`: no terminal)', async () => {
    await site.run('acquire', 'a');
    const { out } = await site.terminal(100, 'ls').ended;
    expect(out.startsWith('\u001b[1mRESOURCE  ')).toBe(true);
    expect(out.split('\r\n')[0]?.endsWith('QUEUE\u001b[22m')).toBe(true);
    site.env['NO_COLOR'] = '1';
    expect((await site.terminal(100, 'ls').ended).out).not.toContain('\u001b');
    expect((await site.terminal(40, 'ls').ended).out).toMatch(/^a\r\n {2}exclusive by tester,\r\n/);
  });

  test('--json is one document and nothing else, wherever it stands', async () => {
    await site.run('acquire', 'a');
    const commands = [
      ['--json', 'ls'],
      ['ls', '--json'],
      ['show', 'a', '--json'],
      ['history', '--json'],
      ['acquire', 'b', '--json'],
      ['acquire', 'b', '--json', '--no-wait'],
      ['renew', 'b', '--json'],
      ['release', 'b', '--json'],
      ['revoke', 'b', '--json', '--reason', 'none'],
      ['config', '--json'],
      ['config', 'ls', '--json'],
      ['--json', 'config', 'get', 'max_renewals'],
      ['config', 'set', 'max_renewals', '7', '--json'],
      ['sweep', '--json'],
      ['migrate', '--json'],
      ['migrate', '--dry-run', '--json'],
      ['backup', '--json', join(site.folder, 'copy.db')],
      ['restore', '--json', join(site.folder, 'copy.db')],
      ['whoami', '--json'],
      ['completion', 'bash', '--json'],
      ['files', 'acquire', 'x', '--json'],
      ['files', '--json', 'ls'],
      ['files', 'release', 'x', '--json'],
    ];
    for (const args of commands) {
      const { out } = await site.run(...args);
      expect(out, args.join(' ')).toMatch(/^\{.*\}\n$/);
      expect(() => JSON.parse(out) as unknown, args.join(' ')).not.toThrow();
    }
  });
});

test('C1: starting loads nothing that is not used', async () => {
  const counter = join(site.folder, 'counter.mjs');
  const hooks = join(site.folder, 'hooks.mjs');
  mkdirSync(join(site.folder, 'seen'));
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs';
     export async function load(url, context, next) { appendFileSync(process.env.SEEN, url + '\\n'); return next(url, context); }`,
  );
  writeFileSync(counter, `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`);
  const loaded = async (...args: string[]): Promise<string[]> => {
    const seen = join(site.folder, 'seen', args.join('-'));
    site.env = { NODE_OPTIONS: `--import ${counter}`, SEEN: seen };
    expect((await site.run(...args)).code).toBe(0);
    const own = readFileSync(seen, 'utf8')
      .split('\n')
      .filter((url) => url.includes('/dist/'));
    return own.flatMap((url) => /\/dist\/cli\/([a-z-]+?)(?:-[\w-]{8})?\.js$/.exec(url)?.[1] ?? url);
  };
  await site.run('migrate');
  const help = await loaded('--help');
  expect(help.toSorted()).toEqual(
    ['errors', 'escape', 'exit-codes', 'global-options', 'main', 'output', 'system-clock'].toSorted(),
  );
  const ls = await loaded('ls');
  expect(ls).toEqual(expect.arrayContaining(['main', 'ls', 'sqlite']));
  const unused = ['run', 'show', 'revoke', 'watch-table', 'memory', 'metrics', 'start-services'];
  expect(ls.filter((name) => unused.includes(name))).toEqual([]);
  expect(ls.length).toBeLessThanOrEqual(35);
  expect(await loaded('whoami')).not.toContain('connect');
});

function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
