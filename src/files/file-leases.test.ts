// File leases end to end: real folders, the memory store, two agents.
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { managerSite, type ManagerSite } from '../../test/support/manager-site.js';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import type { HeldLease } from '../manager/face.js';
import { describeConflicts } from './file-conflicts.js';
import type { FileLeases } from './file-leases.js';

let folder: TemporaryFolder;
let top: string;
let site: ManagerSite;
let alice: FileLeases;
let bob: FileLeases;

beforeEach(async () => {
  folder = temporaryFolder();
  top = realpathSync(folder.path);
  mkdirSync(join(top, 'src', 'deep'), { recursive: true });
  for (const file of ['a.ts', 'src/b.ts', 'src/c.ts']) writeFileSync(join(top, file), '');
  site = await managerSite();
  alice = site.leases.files(top, { name: 'app' });
  bob = (await site.join({ owner: 'bob' })).leases.files(top, { name: 'app' });
});
afterEach(() => folder.remove());

const isFree = async (paths: Parameters<FileLeases['tryAcquire']>[0]): Promise<boolean> => {
  const got = await bob.tryAcquire(paths);
  if (got.ok) await got.lease.release();
  return got.ok;
};

test('A12, S1: a file has one holder, whatever link it is reached by', async () => {
  symlinkSync('src', join(top, 'link'));
  const lease = await alice.acquire('src/b.ts');
  expect(lease.resources).toEqual(['file:app/src/b.ts']);
  expect(await isFree('link/b.ts')).toBe(false);
  expect(await isFree(join(top, 'src', 'b.ts'))).toBe(false);
  expect(await isFree(['src/c.ts', 'a.ts'])).toBe(true);
  await lease.release();
  expect(await isFree('src/b.ts')).toBe(true);
});

test('A12, S1: a folder is all that is in it, also what is not there yet', async () => {
  await alice.acquire('src');
  for (const path of ['src', 'src/b.ts', 'src/new/x.ts', 'src/deep', '.']) expect(await isFree(path)).toBe(false);
  expect(await isFree(['a.ts', 'srcs'])).toBe(true);
});

test('A12: what does not exist yet may become a folder, so it is leased with all below it', async () => {
  const lease = await alice.acquire('new');
  expect(lease.parts).toEqual([{ name: 'file:app/new', scope: 'subtree', mode: 'exclusive' }]);
  mkdirSync(join(top, 'new'));
  expect(await isFree('new/x.ts')).toBe(false);
});

test('A12: without a name the root is called by its real path, and roots inside one another agree', async () => {
  symlinkSync('src', join(top, 'link'));
  const whole = site.leases.files(top);
  const inner = site.leases.files(join(top, 'link'));
  const lease = await whole.acquire('src/b.ts');
  expect(lease.resources).toEqual([`file:${top}/src/b.ts`]);
  expect((await inner.tryAcquire('b.ts')).ok).toBe(false);
  expect((await inner.tryAcquire('c.ts')).ok).toBe(true);
});

test('A12: two checkouts of one name agree, two names do not meet', async () => {
  const other = temporaryFolder();
  mkdirSync(join(other.path, 'src'));
  await alice.acquire('src/b.ts');
  expect((await site.leases.files(other.path, { name: 'app' }).tryAcquire('src/b.ts')).ok).toBe(false);
  expect((await site.leases.files(join(other.path, 'src'), { name: 'app/src' }).tryAcquire('b.ts')).ok).toBe(false);
  expect((await site.leases.files(other.path, { name: 'app-2' }).tryAcquire('src/b.ts')).ok).toBe(true);
  other.remove();
});

test('A12: two files whose names differ in their Unicode form only are two resources', async () => {
  await alice.acquire('é.ts');
  expect(await isFree('é.ts')).toBe(false);
  expect(await isFree('e\u0301.ts')).toBe(true);
});

test('A12, S10: several paths are one lease, all or nothing; equal and nested ones fold', async () => {
  const paths = ['src/b.ts', 'a.ts', 'src', './a.ts', 'src/deep/x', await alice.section('a.ts', 'imports')];
  const lease = await alice.acquire(paths);
  expect(lease.resources).toEqual(['file:app/a.ts', 'file:app/src']);
  expect(await isFree(['other.ts', 'src/c.ts'])).toBe(false);
  expect(await isFree('other.ts')).toBe(true);
  await lease.release();
  expect(await isFree(['other.ts', 'src/c.ts'])).toBe(true);
});

test('A12, S10: a part with another mode below a path of the same call is refused, not dropped', async () => {
  const section = await alice.section('a.ts', 'imports');
  await expect(alice.acquire(['a.ts', { ...section, mode: 'shared' }])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

test('A12, S1: a section is in the way of its file and the folders above, not of other sections', async () => {
  const part = await alice.section('src/b.ts', 'imports');
  expect(part).toEqual({ name: 'file:app/src/b.ts/#imports', scope: 'node' });
  const lease = await alice.acquire(part);
  expect(await isFree([await bob.section('./src/b.ts', 'imports')])).toBe(false);
  for (const path of ['src/b.ts', 'src', '.']) expect(await isFree(path)).toBe(false);
  expect(await isFree([await bob.section('src/b.ts', 'exports'), 'src/c.ts'])).toBe(true);
  await lease.release();
  await alice.acquire('src/b.ts');
  expect(await isFree(part)).toBe(false);
});

test('A12: a section stands apart from a real child when the file becomes a folder', async () => {
  await alice.acquire(await alice.section('a.ts', 'x'));
  rmSync(join(top, 'a.ts'));
  mkdirSync(join(top, 'a.ts'));
  expect(await isFree('a.ts/#x')).toBe(true);
  expect(await isFree('a.ts')).toBe(false);
  await expect(alice.section('a.ts', 'x')).rejects.toThrow('is a folder: only files have sections');
});

test('A12: shared leases of a file go together; options are those of acquire, without a scope', async () => {
  await alice.acquire('a.ts', { mode: 'shared', owner: 'reader', metadata: { task: 1 } });
  expect((await bob.tryAcquire('a.ts', { mode: 'shared' })).ok).toBe(true);
  expect(await isFree('a.ts')).toBe(false);
  const [first] = await bob.who('a.ts');
  expect(first).toMatchObject({ owner: 'reader', metadata: { task: 1 } });
  await expect(alice.acquire('a.ts', { scope: 'node' } as object)).rejects.toThrow('leave scope out');
});

test('A12: withFiles holds while the work runs, and always lets go', async () => {
  const seen = await alice.withFiles(['src', 'a.ts'], async (lease) => {
    expect(await isFree('src/b.ts')).toBe(false);
    return lease.resources.length;
  });
  expect(seen).toBe(2);
  const broken = alice.withFiles('src', () => Promise.reject(new Error('the work failed')), { ttl: '10s' });
  await expect(broken).rejects.toThrow('the work failed');
  expect(await isFree('src')).toBe(true);
  await expect(alice.withFiles('src', undefined as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('A12: an error of the work is its own, also when it is a refusal of other files', async () => {
  await bob.acquire('a.ts');
  const inner = alice.withFiles('src', async () => site.leases.withLease('file:app/a.ts', { wait: 0 }, async () => 1));
  const error = await inner.catch((caught: unknown) => caught as Error);
  expect(error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  expect((error as Error).message).not.toContain('\n');
  const outer = alice.withFiles('a.ts', async () => 1, { wait: 0 });
  await expect(outer).rejects.toThrow(/\n {2}a\.ts is held by bob until /);
});

test('A12: who holds a path: it, a folder above, anything below; nobody else', async () => {
  const ids = async (path: string): Promise<string[]> => (await bob.who(path)).map(({ id }) => id);
  const b = await alice.acquire('src/b.ts');
  const deep = await alice.acquire(['src/deep/x.ts', 'a.ts']);
  const section = await alice.acquire(await alice.section('src/c.ts', 'top'));
  expect(await ids('src/b.ts')).toEqual([b.id]);
  expect(await ids('src')).toEqual([b.id, deep.id, section.id]);
  expect(await ids('src/c.ts')).toEqual([section.id]);
  expect(await ids('.')).toEqual([b.id, deep.id, section.id]);
  expect(await ids('src/deep/y.ts')).toEqual([]);
  const waits = bob.acquire('src', { wait: '10s' }); // who waits does not hold
  await site.pass(10);
  expect(await ids('src')).toEqual([b.id, deep.id, section.id]);
  for (const lease of [b, deep, section]) await lease.release();
  await site.pass(10);
  const whole: HeldLease = await waits;
  expect(await ids('src/deep/y.ts')).toEqual([whole.id]);
});

test('A12: places tells a lease in paths of the root', async () => {
  const lease = await alice.acquire(['src', await alice.section('a.ts', 'top'), { name: 'orders/0' }]);
  expect(await alice.places(lease)).toEqual([
    { path: 'a.ts', section: 'top', mode: 'exclusive' },
    { path: 'src', mode: 'exclusive' },
  ]);
});

test('A12: parts go where resources go: a nested lease, keep, show', async () => {
  const outer = await alice.acquire('a.ts');
  const inner = await outer.acquire(await alice.parts(['src/b.ts', 'src']));
  expect(inner.resources).toEqual(['file:app/src']);
});

test('A12: a root that vanished refuses, and a lease taken before stays', async () => {
  const lease = await alice.acquire('a.ts');
  rmSync(top, { recursive: true });
  const calls = [
    () => alice.acquire('a.ts'),
    () => alice.tryAcquire('a.ts'),
    () => alice.who('a.ts'),
    () => alice.section('a.ts', 'x'),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/is not there/) as string,
    });
  }
  expect(lease.isHeld).toBe(true);
  mkdirSync(top);
  expect(await isFree('a.ts')).toBe(false);
});

test('A12: bad paths, lists and parts are refused before anything is asked of the store', async () => {
  const many = Array.from({ length: 1_025 }, (_, i) => `f${i}`);
  for (const bad of [[], [''], [7], [null], many, many.slice(0, 65), [{ name: '' }], undefined]) {
    await expect(alice.acquire(bad as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  }
  await expect(alice.acquire(['a.ts', '../x'])).rejects.toThrow('lies outside the root');
  expect(() => site.leases.files('')).toThrow('must not be empty');
  expect(() => site.leases.files(top, { name: '/app' })).toThrow('no slash at either end');
  expect(await site.live()).toEqual([]);
});

test('A12: a refusal names path, holder and until when, one line each', async () => {
  await alice.acquire(['src/b.ts', 'a.ts'], { ttl: '30s' });
  const got = await bob.tryAcquire(['src', 'a.ts', 'other.ts']);
  if (got.ok) throw new Error('this must be refused');
  const { until } = got.refusal.conflicts[0]!;
  expect(describeConflicts(got.refusal)).toEqual([
    `a.ts is held by alice until ${until}`,
    `src/b.ts is held by alice until ${until}`,
  ]);
  expect(got.refusal.asked.map(({ path }) => path)).toEqual(['a.ts', 'other.ts', 'src']);
});
