// Keeping house (C7): config, sweep, backup, restore, migrate, completion, whoami.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { LeaseRecord } from '../../src/domain/lease.js';
import { MIGRATIONS } from '../../src/stores/sqlite/schema.js';
import { commandSite, masked } from '../support/command-site.js';

const site = commandSite();
const acquired = async (resource: string): Promise<LeaseRecord> =>
  JSON.parse((await site.run('acquire', resource, '--json')).out) as LeaseRecord;

describe('C7: config', () => {
  test('ls, get and set', async () => {
    await site.run('migrate');
    const before = await site.run('config');
    expect(before.out).toMatch(/^default_ttl_seconds {7}3600\nheld_ttl_seconds {10}30\n/);
    expect((await site.run('config', 'set', 'held_ttl_seconds', '60')).out).toBe('held_ttl_seconds is now 60\n');
    expect((await site.run('config', 'get', 'held_ttl_seconds')).out).toBe('60\n');
    expect((await site.run('config', 'ls')).out).toContain('held_ttl_seconds          60  (default 30)\n');
    expect((await site.run('config', 'set', 'keep_history', 'false')).code).toBe(0);
    expect((await site.run('config', 'set', 'history_archive_path', '/var/log/leases')).code).toBe(0);
    expect(JSON.parse((await site.run('config', '--json')).out)).toMatchObject({
      held_ttl_seconds: 60,
      keep_history: false,
      history_archive_path: '/var/log/leases',
    });
  });

  test.each([
    ['held_ttl_secnds', '60', 'there is no setting held_ttl_secnds: Did you mean held_ttl_seconds?'],
    ['colour', 'red', 'there is no setting colour: see them all with `holdfast config`'],
    ['keep_history', 'yes', 'keep_history takes true or false, got "yes"'],
    ['max_renewals', '1.5', 'max_renewals takes a whole number from -1 to 9007199254740991, got "1.5"'],
    ['max_lock_age_action', 'kill', `max_lock_age_action takes 'report' or 'revoke', got "kill"`],
    ['min_ttl_seconds', '1000', 'min_ttl_seconds (1000) must not be above max_ttl_seconds (900)'],
  ])('set %s %s is refused with what is allowed (64)', async (key, value, message) => {
    expect(await site.run('config', 'set', key, value)).toEqual({ code: 64, out: '', err: `holdfast: ${message}\n` });
  });

  test('two sets at once: both count', async () => {
    await site.run('migrate');
    for (let round = 1; round <= 5; round += 1) {
      const both = await Promise.all([
        site.run('config', 'set', 'max_renewals', String(round)),
        site.run('config', 'set', 'cascade_threshold', String(round)),
      ]);
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      const all = JSON.parse((await site.run('config', '--json')).out) as object;
      expect(all).toMatchObject({ max_renewals: round, cascade_threshold: round });
    }
  });
});

describe('C7: backup and restore', () => {
  test('there and back: what was in it is in the log, nothing is held, epochs go on growing', async () => {
    const before = await acquired('deploy');
    const copy = join(site.folder, 'monday.db');
    expect((await site.run('backup', copy)).out).toBe(`backed up into ${copy}\n`);
    const later = await acquired('later');
    const { code, out, err } = await site.run('restore', copy);
    expect([code, err]).toEqual([0, '']);
    expect(out.replace(/incarnation {2}\S+/, 'incarnation  NEW').replace(/\d{8}T\d{9}Z/, 'TIME')).toBe(
      `restored ${site.file}\n  incarnation  NEW\n  replaced     ${site.file}.replaced-TIME\n`,
    );
    expect((await site.run('ls')).err).toBe('holdfast: nothing to show\n');
    expect((await site.run('history')).out).toContain('restored from a backup');
    expect((await site.run('show', 'later')).out).not.toContain('Acquired later');
    const after = await acquired('deploy');
    expect(after.epoch).toBeGreaterThan(later.epoch);
    expect(later.epoch).toBeGreaterThan(before.epoch);
    expect((await site.run('renew', before.id)).code).toBe(76);
    const [replaced = ''] = readdirSync(site.folder).filter((name) => name.includes('replaced'));
    expect((await site.run('restore', join(site.folder, replaced))).code).toBe(0);
    expect((await site.run('show', 'later')).out).toContain('Acquired later');
    expect(readdirSync(site.folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('a backup goes over nothing that exists (64)', async () => {
    await acquired('deploy');
    const copy = join(site.folder, 'monday.db');
    writeFileSync(copy, 'precious');
    expect(await site.run('backup', copy)).toEqual({
      code: 64,
      out: '',
      err: `holdfast: ${copy} exists already: name a new file for the backup\n`,
    });
    expect(readFileSync(copy, 'utf8')).toBe('precious');
    expect(await site.run('backup', join(site.folder, 'no', 'folder.db'))).toEqual({
      code: 69,
      out: '',
      err: `holdfast: the directory ${site.folder}/no cannot be used: create it first\n`,
    });
  });

  test('a restore while others have the file open changes nothing (75)', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const copy = join(site.folder, 'monday.db');
    await site.run('backup', copy);
    const later = await acquired('later');
    const looking = site.start('ls', '--watch');
    await looking.says(/alice/);
    const refused = await site.run('restore', copy);
    expect(refused).toEqual({
      code: 75,
      out: '',
      err: `holdfast: others have ${site.file} open: stop them first; nothing was changed\n`,
    });
    looking.process.kill('SIGTERM');
    await looking.ended;
    const waiting = site.start('acquire', 'deploy', '--owner', 'bob', '--wait', 'forever');
    while (!(await site.run('ls', '--status', 'pending')).out.includes('bob')) continue;
    expect((await site.run('restore', copy)).code).toBe(75);
    expect((await site.run('show', 'later')).out).toContain(String(later.epoch));
    waiting.process.kill('SIGTERM');
    await waiting.ended;
    expect((await site.run('restore', copy)).code).toBe(0);
  });

  test('among commands that come and go it loses no grant: each is in the store or in one that was replaced', async () => {
    await acquired('seed');
    const copy = join(site.folder, 'monday.db');
    await site.run('backup', copy);
    const granted: string[] = [];
    const worker = async (name: string): Promise<void> => {
      for (let i = 0; i < 8; i += 1) granted.push((await acquired(`${name}/${i}`)).id);
    };
    const restorer = async (): Promise<void> => {
      for (let i = 0; i < 6; i += 1) expect([0, 75]).toContain((await site.run('restore', copy)).code);
    };
    await Promise.all([worker('a'), worker('b'), restorer()]);
    const files = readdirSync(site.folder).filter((name) => /^leases\.db(\.replaced-\w+)?$/.test(name));
    const known = new Set<unknown>();
    for (const file of files) {
      const db = new Driver(join(site.folder, file));
      for (const id of db.prepare('SELECT id FROM journal').pluck().all()) known.add(id);
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      db.close();
    }
    expect(granted.filter((id) => !known.has(id))).toEqual([]);
    expect(granted).toHaveLength(16);
  });

  test('into a store that is not there yet, which it makes', async () => {
    await acquired('deploy');
    const copy = join(site.folder, 'monday.db');
    await site.run('backup', copy);
    site.env = { HOLDFAST_STORE: '', XDG_STATE_HOME: join(site.folder, 'state') };
    const { code, out } = await site.run('restore', copy);
    expect(code).toBe(0);
    expect(out).not.toContain('replaced');
    expect((await site.run('history', 'deploy')).out).toContain('Acquired deploy');
  });

  test('into a directory that is not there: that one is named, not the backup (69)', async () => {
    await acquired('deploy');
    const copy = join(site.folder, 'monday.db');
    await site.run('backup', copy);
    expect(await site.run('restore', copy, '--store', `sqlite:${site.folder}/no/leases.db`)).toEqual({
      code: 69,
      out: '',
      err: `holdfast: the directory ${site.folder}/no cannot be used: create it first\n`,
    });
  });

  test.each([
    ['missing.db', undefined, 64, /there is no file \S+missing\.db: name a backup made with `holdfast backup`/],
    ['text.db', 'hello '.repeat(1_000), 69, /text\.db is not a database/],
    ['empty.db', '', 64, /empty\.db is no lease file/],
    ['leases.db', undefined, 64, /leases\.db is the store itself/],
  ])('from %s is refused, and the store is as it was', async (name, content, status, message) => {
    await acquired('deploy');
    const path = join(site.folder, name);
    if (content !== undefined) writeFileSync(path, content);
    const { code, err } = await site.run('restore', path);
    expect(err).toMatch(message);
    expect(code).toBe(status);
    expect((await site.run('ls')).out).toContain('deploy');
    expect(readdirSync(site.folder).filter((one) => /partial|replaced/.test(one))).toEqual([]);
  });
});

describe('C7: migrate, sweep, whoami', () => {
  test('migrate makes the store; --dry-run only says so', async () => {
    expect(await site.run('migrate', '--dry-run')).toEqual({ code: 0, out: 'to be applied: a new store\n', err: '' });
    expect(existsSync(site.file)).toBe(false);
    expect((await site.run('migrate')).out).toBe('applied: a new store\n');
    expect(existsSync(site.file)).toBe(true);
    expect((await site.run('migrate')).out).toBe('the store is up to date\n');
    expect((await site.run('migrate', '--dry-run')).out).toBe('the store is up to date\n');
  });

  test.each(['ls', 'token ls', 'migrate --dry-run', 'migrate'])(
    '%s in a directory that is not there says to create it (69)',
    async (line) => {
      site.env['HOLDFAST_STORE'] = `sqlite:${site.folder}/no/leases.db`;
      expect(await site.run(...line.split(' '))).toEqual({
        code: 69,
        out: '',
        err: `holdfast: the directory ${site.folder}/no cannot be used: create it first\n`,
      });
    },
  );

  test('migrate on an empty file names what it lacks', async () => {
    writeFileSync(site.file, '');
    const all = MIGRATIONS.map(({ name }) => name).join(', ');
    expect((await site.run('ls')).err).toBe(`holdfast: ${site.file} lacks ${all}: run \`holdfast migrate\` first\n`);
    expect((await site.run('migrate', '--dry-run')).out).toBe(`to be applied: ${all}\n`);
    expect((await site.run('migrate')).out).toBe(`applied: ${all}\n`);
    expect((await site.run('ls')).code).toBe(0);
  });

  test('sweep writes down what has expired', async () => {
    await site.run('acquire', 'a', '--ttl', '100ms', '--json');
    while ((await site.run('ls')).out !== '') continue;
    const { code, out } = await site.run('sweep');
    expect(code).toBe(0);
    expect(masked(out)).toMatch(
      /^(1 expired lease written down, the longest ago n+m?s|0 expired leases written down)\n$/,
    );
    expect((await site.run('history', '--type', 'expired')).out).toContain('Lease of tester on a expired');
  });

  test('whoami says what applies and why, and opens nothing', async () => {
    expect(await site.run('whoami')).toEqual({
      code: 0,
      out:
        'owner      tester  (HOLDFAST_OWNER)\n' +
        'namespace  default  (default)\n' +
        `store      sqlite:${site.file}  (HOLDFAST_STORE)\n`,
      err: '',
    });
    site.env['HOLDFAST_OWNER'] = '';
    expect((await site.run('--namespace', 'night', 'whoami')).out).toMatch(
      /^owner {6}\S+@\S+ {2}\(user and host\)\n.*night {2}\(--namespace\)/,
    );
    expect(existsSync(site.file)).toBe(false);
  });
});

describe('C7: completion', () => {
  test('bash completes commands, options and inner commands', async () => {
    const words = async (...typed: string[]): Promise<string[]> => {
      const list = typed.map((word) => `'${word}'`).join(' ');
      const script = `source <(holdfast completion bash)
        COMP_WORDS=(holdfast ${list}); COMP_CWORD=${typed.length}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return (await site.shell(script)).out.trim().split('\n');
    };
    expect(await words('re')).toEqual(['renew', 'release', 'revoke', 'restore']);
    expect(await words('--owner', 'me', 'ls', '--s')).toEqual(['--status', '--sort', '--store']);
    expect(await words('config', 's')).toEqual(['set']);
    expect(await words('files', 'a')).toEqual(['acquire']);
  });

  test.each(['zsh', 'fish'])('%s: every command and option is in it', async (shell) => {
    const { code, out } = await site.run('completion', shell);
    expect(code).toBe(0);
    for (const word of ['revoke', 'if-silent', 'busy-exit', 'dry-run', 'section']) expect(out).toContain(word);
  });

  test('another shell is refused with the choices (64)', async () => {
    const { code, err } = await site.run('completion', 'tcsh');
    expect(code).toBe(64);
    expect(err).toContain('Allowed choices are bash, zsh, fish.');
  });
});
