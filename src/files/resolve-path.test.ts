// Paths on a real disk: links, loops, what is not there, what is outside, and names that are no text.
import { chmodSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import { absoluteRoot, isFolder, resolvePath, resolveRoot } from './resolve-path.js';

let folder: TemporaryFolder;
let top: string;
let root: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  top = join(realpathSync(folder.path), 'app');
  mkdirSync(join(top, 'src', 'deep'), { recursive: true });
  writeFileSync(join(top, 'a.ts'), '');
  writeFileSync(join(top, 'src', 'b.ts'), '');
  writeFileSync(join(top, '..', 'outside.ts'), '');
  root = await resolveRoot(top);
});
afterEach(() => folder.remove());

const at = async (path: unknown): Promise<string> => (await resolvePath(root, path)).join('/');
const link = (target: string, path: string): void => symlinkSync(target, join(top, path));
const refused = (text: string | RegExp): unknown =>
  expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(text) as unknown });

test('A12: relative, absolute, roundabout and slashed spellings are one path', async () => {
  for (const spelling of ['src/b.ts', './src//b.ts', 'src/../src/b.ts', 'src/deep/../b.ts', `${top}/src/b.ts`]) {
    expect(await at(spelling)).toBe('src/b.ts');
  }
  expect(await at('src/')).toBe('src');
  expect(await at('../app/src')).toBe('src');
  for (const spelling of ['.', './', 'src/..', top, `${top}/`]) expect(await at(spelling)).toBe('');
});

test('A12: a path reached through two links is one path', async () => {
  link('src', 'one');
  link(join(top, 'src', 'b.ts'), 'two.ts');
  link('one', 'three');
  for (const spelling of ['one/b.ts', 'two.ts', 'three/b.ts', 'src/b.ts']) expect(await at(spelling)).toBe('src/b.ts');
});

test('A12: `..` after a link goes where the kernel goes', async () => {
  link('src/deep', 'link');
  expect(await at('link/../b.ts')).toBe('src/b.ts');
});

test('A12: what is not there counts by its nearest existing parent, also at the far end of a link', async () => {
  link('src/deep', 'link');
  link('src/later.ts', 'dangling.ts');
  expect(await at('link/new/x.ts')).toBe('src/deep/new/x.ts');
  expect(await at('new/../src/./x.ts')).toBe('src/x.ts');
  expect(await at('new/more/../../link/x.ts')).toBe('src/deep/x.ts');
  expect(await at('dangling.ts')).toBe('src/later.ts');
});

test('A12: outside the root is refused, by text, by link and by a link that leads nowhere', async () => {
  link('../outside.ts', 'out.ts');
  link('../nowhere/x', 'gone.ts');
  link('/', 'all');
  for (const path of [
    '..',
    '../outside.ts',
    '/etc/passwd',
    `${top}2/a.ts`,
    'out.ts',
    'gone.ts',
    'all/etc',
    'new/../..',
  ]) {
    await expect(at(path)).rejects.toEqual(refused('lies outside the root'));
  }
  const error = await at('out.ts').catch((caught: unknown) => caught);
  expect(error).toMatchObject({ details: { path: 'out.ts', real: join(top, '..', 'outside.ts') } });
});

test('A12: a loop of links is an error that says so', async () => {
  link('pong', 'ping');
  link('ping', 'pong');
  link('self/x', 'self');
  await expect(at('ping')).rejects.toEqual(refused('loop of symlinks'));
  await expect(at('ping/a.ts')).rejects.toEqual(refused('loop of symlinks'));
  await expect(at('self')).rejects.toEqual(refused('loop of symlinks'));
  await expect(resolveRoot(join(top, 'ping'))).rejects.toEqual(refused('loop of symlinks'));
});

test('A12: below a file there is nothing to lease', async () => {
  await expect(at('a.ts/x')).rejects.toEqual(refused(/leads through ".*a\.ts", which is a file/));
});

test('A12: a root that is not there, vanished, is a file or leads through one is an error that says so', async () => {
  await expect(resolveRoot(join(top, 'none'))).rejects.toEqual(refused('is not there'));
  await expect(resolveRoot(join(top, 'a.ts'))).rejects.toEqual(refused('is a file'));
  await expect(resolveRoot(join(top, 'a.ts', 'x'))).rejects.toEqual(refused('leads through a file'));
  rmSync(top, { recursive: true });
  await expect(resolveRoot(top)).rejects.toEqual(refused('is not there'));
});

test('A12: a root is the folder its links lead to', async () => {
  link('src', 'current');
  expect(await resolveRoot(join(top, 'current'))).toEqual(await resolveRoot(join(top, 'src')));
  expect(await resolveRoot(join(top, 'current', '..', 'src'))).toEqual(await resolveRoot(join(top, 'src')));
  expect(absoluteRoot('.')).toBe(`${process.cwd()}/.`);
});

test.each([[''], ['a\0b'], ['\ud800'], [7], [undefined], [null]])('A12: %j is no path and no root', async (path) => {
  await expect(at(path)).rejects.toEqual(refused('.'));
  expect(() => absoluteRoot(path)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});

test('A12: a name that is no UTF-8 is refused, because two such files would look alike', async () => {
  const bad = Buffer.concat([Buffer.from(`${top}/x`), Buffer.from([0xff]), Buffer.from('y')]);
  writeFileSync(bad, '');
  symlinkSync(bad, join(top, 'bad'));
  await expect(at('bad')).rejects.toEqual(refused('not valid UTF-8'));
});

test.skipIf(process.getuid?.() === 0)('A12: a folder that may not be searched is an error that says so', async () => {
  chmodSync(join(top, 'src'), 0o600);
  await expect(at('src/b.ts')).rejects.toEqual(refused('may not be searched'));
  chmodSync(join(top, 'src'), 0o700);
});

test('A12: hard links are two paths, and a rename makes another path', async () => {
  linkSync(join(top, 'a.ts'), join(top, 'hard.ts'));
  expect(await at('hard.ts')).toBe('hard.ts');
  renameSync(join(top, 'a.ts'), join(top, 'c.ts'));
  expect(await at('a.ts')).toBe('a.ts');
});

test('A12: only what is a folder now counts as one', async () => {
  expect(await isFolder(root, ['src'])).toBe(true);
  expect(await isFolder(root, [])).toBe(true);
  expect(await isFolder(root, ['a.ts'])).toBe(false);
  expect(await isFolder(root, ['none'])).toBe(false);
});
