// Leases on files (C6) for whoever is no Node program.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { commandSite, masked } from '../support/command-site.js';

const site = commandSite();
beforeEach(() => {
  mkdirSync(join(site.cwd, '.git'));
  mkdirSync(join(site.cwd, 'src', 'lib'), { recursive: true });
  for (const name of ['a.ts', 'b.ts', 'lib/c.ts']) writeFileSync(join(site.cwd, 'src', name), '');
});
const files = (owner: string, ...args: string[]): ReturnType<typeof site.run> =>
  site.run('--owner', owner, 'files', ...args);

describe('C6: files', () => {
  test('acquire, ls and release, from anywhere in the tree', async () => {
    const { code, out } = await files('agent-1', 'acquire', 'src/a.ts', 'src/lib');
    expect(code).toBe(0);
    expect(masked(out)).toMatchInlineSnapshot(`
      "acquired src/a.ts, src/lib
        id      IIIIIIIIIIIIIIIIIIIIIIIIIIIII
        epoch   EEEEEEEEEEEEEEEE
        owner   agent-1
        until   0000-00-00 00:00:00Z (nhnnm)
      "
    `);
    site.cwd = join(site.cwd, 'src');
    expect((await files('agent-2', 'acquire', 'b.ts', '--shared')).code).toBe(0);
    expect((await files('agent-3', 'acquire', 'b.ts', '--shared')).code).toBe(0);
    expect(masked((await site.run('files', 'ls')).out)).toMatchInlineSnapshot(`
      "PATH      MODE       OWNER    EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      src/a.ts  exclusive  agent-1  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      src/b.ts  shared     agent-2  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      src/b.ts  shared     agent-3  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      src/lib   exclusive  agent-1  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0
      "
    `);
    site.env['COLUMNS'] = '40';
    expect(masked((await site.run('files', 'ls', 'lib/c.ts')).out)).toMatchInlineSnapshot(`
      "src/a.ts
        exclusive by agent-1,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 0
      src/lib
        exclusive by agent-1,
        epoch EEEEEEEEEEEEEEEE, held ns,
        renewed ns ago, nnmnns left, queue 0
      "
    `);
    expect((await files('agent-1', 'release', 'a.ts')).out).toBe('released src/a.ts, src/lib\n');
    expect((await files('agent-2', 'release', '--all')).out).toBe('released src/b.ts\n');
    expect((await files('agent-3', 'release', '--all')).out).toBe('released src/b.ts\n');
    expect((await files('agent-3', 'release', '--all')).err).toMatch(/^holdfast: agent-3 has nothing in \S+here\n$/);
    expect((await site.run('files', 'ls')).out).toBe('');
  });

  test('a refusal names path, holder and until when, one line each, and then what to do (75)', async () => {
    await files('agent-1', 'acquire', 'src/a.ts');
    await files('agent-2', 'acquire', 'src/lib');
    const { code, out, err } = await files('agent-3', 'acquire', 'src/a.ts', 'src/lib/c.ts', 'src/b.ts', '--no-wait');
    expect([code, out]).toEqual([75, '']);
    expect(masked(err)).toMatchInlineSnapshot(`
      "holdfast: src/a.ts is held by agent-1 until 0000-00-00T00:00:00.000Z
      holdfast: src/lib/c.ts is held by agent-2 until 0000-00-00T00:00:00.000Z (all of src/lib)
      holdfast: nothing was acquired: wait with --wait nm, or work on something else meanwhile
      "
    `);
    const json = JSON.parse((await files('agent-3', 'acquire', 'src', '--no-wait', '--json')).out) as object;
    expect(json).toMatchObject({
      refusal: {
        conflicts: [
          { path: 'src/a.ts', owner: 'agent-1' },
          { path: 'src/lib', owner: 'agent-2' },
        ],
      },
    });
  });

  test('--section, --name and --root', async () => {
    expect((await files('one', 'acquire', 'src/a.ts', '--section', 'imports', '--name', 'app')).out).toContain(
      'acquired src/a.ts (section imports)\n',
    );
    expect((await files('two', 'acquire', 'src/a.ts', '--section', 'body', '--name', 'app', '--no-wait')).code).toBe(0);
    expect((await files('two', 'acquire', 'src/a.ts', '--name', 'app', '--no-wait')).code).toBe(75);
    const other = join(site.folder, 'checkout');
    mkdirSync(join(other, 'src'), { recursive: true });
    const path = join(other, 'src/a.ts');
    expect((await files('two', 'acquire', path, '--root', other, '--name', 'app', '--no-wait')).code).toBe(75);
    expect((await files('two', 'acquire', path, '--root', other, '--no-wait')).code).toBe(0);
    expect((await files('one', 'release', 'src/a.ts', '--name', 'app')).out).toBe(
      'released src/a.ts (section imports)\n',
    );
  });

  test('names with line breaks and escape sequences are shown escaped', async () => {
    writeFileSync(join(site.cwd, 'a\nb\u001b[31m'), '');
    expect((await files('one', 'acquire', 'a\nb\u001b[31m')).out).toContain('acquired a\\nb\\x1b[31m\n');
    expect((await site.run('files', 'ls')).out).toContain('a\\nb\\x1b[31m  exclusive');
    const { err } = await files('two', 'acquire', 'a\nb\u001b[31m', '--no-wait');
    expect(err).not.toContain('\u001b');
    expect(err.split('\n')).toHaveLength(3);
  });
});

describe('C6: bad days', () => {
  test('a path outside the root, a loop of symlinks, an empty path (64)', async () => {
    symlinkSync('loop', join(site.cwd, 'loop'));
    symlinkSync('/', join(site.cwd, 'out'));
    for (const [path, message] of [
      ['../x', /lies outside the root/],
      ['out/etc', /lies outside the root/],
      ['loop', /goes round in a loop of symlinks/],
      ['', /a path must not be empty/],
    ] as const) {
      const { code, out, err } = await files('one', 'acquire', path);
      expect([code, out]).toEqual([64, '']);
      expect(err).toMatch(/^holdfast: .*\n$/);
      expect(err).toMatch(message);
    }
    expect((await files('one', 'acquire', 'src', 'x', '--section', 's')).err).toContain('name one path');
    expect((await files('one', 'release')).err).toContain('name the paths to release, or say --all');
  });

  test('a root that vanished, and a working directory that did (64)', async () => {
    const gone = join(site.folder, 'gone');
    const { code, err } = await files('one', 'acquire', 'a', '--root', gone);
    expect([code, err]).toEqual([
      64,
      `holdfast: the root "${gone}" is not there: make the folder, or give another root\n`,
    ]);
    const script = `mkdir -p ${gone}; cd ${gone}; rmdir ${gone}; holdfast files acquire a`;
    const { code: status, err: said } = await site.shell(script);
    expect(status).toBe(64);
    expect(said).toBe('holdfast: the working directory is gone: go to one that exists\n');
  });

  test('releasing what another has, or what is held by a folder above (76)', async () => {
    await files('one', 'acquire', 'src');
    const { code, err } = await files('two', 'release', 'src');
    expect(code).toBe(76);
    expect(err).toMatch(/^holdfast: two has no lease on \S+: see `holdfast files ls`; is --owner right\?\n$/);
    expect((await files('one', 'release', 'src/a.ts')).code).toBe(76);
    rmSync(join(site.cwd, 'src'), { recursive: true });
    expect((await files('one', 'release', 'src')).out).toBe('released src\n');
  });
});
