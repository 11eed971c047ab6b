// The gate for files: what is written is whole, what is stale is not written, and nothing outside the folder is touched.
import Database from 'better-sqlite3';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import { connect } from '../connect.js';
import type { Holdfast } from '../holdfast.js';
import type { HeldLease } from '../manager/face.js';
import { FakeClock } from '../testing/fake-clock.js';
import { checkWrite, type CheckedWrite } from './fence.js';
import { fileGate } from './file-gate.js';
import { GateFile } from './gate-file.js';

let folder: TemporaryFolder;
let outside: TemporaryFolder;
let leases: Holdfast;
beforeEach(async () => {
  folder = temporaryFolder();
  outside = temporaryFolder();
  leases = await connect('memory:', { services: 'off' });
});
afterEach(async () => {
  await leases.shutdown();
  folder.remove();
  outside.remove();
});
/** A lease for the report that was taken and given back: what counts here is its epoch. */
async function held(): Promise<HeldLease> {
  const lease = await leases.acquire('file:report');
  await lease.release();
  return lease;
}
const content = (file: string): string => readFileSync(join(folder.path, file), 'utf8');

test('G4, S11: a write of the holder before is refused and leaves the file as it is', async () => {
  const older = await leases.acquire('file:report', { renew: 'manual', ttl: 100 });
  const newer = await leases.acquire('file:report', { wait: '10s' });
  const gate = fileGate(folder.path);
  await gate.write(older, 'report.txt', 'older');
  await gate.claim(newer);
  await expect(gate.write(older, 'report.txt', 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
  expect(content('report.txt')).toBe('older');
  await gate.write(newer, 'report.txt', new TextEncoder().encode('newer'));
  expect(content('report.txt')).toBe('newer');
  gate.close();
  const again = fileGate(folder.path); // the epochs are in the folder
  await expect(again.write(older, 'report.txt', 'late')).rejects.toThrow(
    `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
  );
  again.close();
  expect(readdirSync(folder.path).sort()).toEqual(['.holdfast-gate.db', 'report.txt']);
});

test.each<[string, () => void]>([
  ['gate file', () => rmSync(join(folder.path, '.holdfast-gate.db'))],
  [
    'whole folder',
    () => {
      rmSync(folder.path, { recursive: true });
      mkdirSync(folder.path);
    },
  ],
])(
  'G4, S11: a process that has the gate open goes by the one that is there after its %s was made anew',
  async (_, remove) => {
    const [oldest, older, newest] = [await held(), await held(), await held()];
    const [gate, other] = [fileGate(folder.path), fileGate(folder.path)];
    await gate.write(oldest, 'report.txt', 'oldest');
    remove();
    await other.write(older, 'report.txt', 'older');
    await expect(gate.write(oldest, 'report.txt', 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    expect(content('report.txt')).toBe('older');
    await gate.write(newest, 'report.txt', 'newest');
    await expect(other.write(older, 'report.txt', 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    expect(content('report.txt')).toBe('newest');
    gate.close();
    other.close();
  },
);

test('G4: many writes at once find the gate that was made anew, and all land', async () => {
  const lease = await leases.acquire({ name: 'out', scope: 'subtree' });
  const gate = fileGate(folder.path);
  await gate.claim(lease);
  rmSync(join(folder.path, '.holdfast-gate.db'));
  await Promise.all(Array.from({ length: 20 }, (_, i) => gate.write(lease, `${i}.txt`, `content ${i}`)));
  expect(readdirSync(folder.path)).toHaveLength(21);
  gate.close();
});

test('G4: who came between the note and the rename keeps the file as it is', async () => {
  const gate = new GateFile(folder.path, new FakeClock());
  const [older, newer] = [41, 42].map((epoch) => [checkWrite({ resource: 'a', epoch })]) as [
    CheckedWrite[],
    CheckedWrite[],
  ];
  await gate.note(older);
  await gate.note(newer);
  let isRenamed = false;
  const late = gate.hold(older, () => {
    isRenamed = true;
  });
  await expect(late).rejects.toMatchObject({ code: 'STALE_EPOCH' });
  expect(isRenamed).toBe(false);
  gate.close();
});

test.each(['600', '755', '666', '440'])(
  'G4: a file of mode %s keeps it, from before its first byte on',
  async (text) => {
    const mode = Number.parseInt(text, 8);
    const lease = await leases.acquire('file:key');
    const gate = fileGate(folder.path);
    const path = join(folder.path, 'key.pem');
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    const modes: number[] = [];
    const watcher = watch(folder.path, (_, name) => {
      const found = name?.endsWith('-new') ? statSync(join(folder.path, name), { throwIfNoEntry: false }) : undefined;
      if (found) modes.push(found.mode & 0o777 & ~mode);
    });
    await gate.write(lease, 'key.pem', 'new');
    watcher.close();
    expect([content('key.pem'), statSync(path).mode & 0o777]).toEqual(['new', mode]);
    expect(modes.filter((more) => more !== 0)).toEqual([]);
    gate.close();
  },
);

test('G4: a new file has the mode that the process gives to its files', async () => {
  const gate = fileGate(folder.path);
  await gate.write(await leases.acquire('file:new'), 'new.txt', 'new');
  writeFileSync(join(folder.path, 'other.txt'), 'other');
  const [mode, usual] = ['new.txt', 'other.txt'].map((name) => statSync(join(folder.path, name)).mode);
  expect(mode).toBe(usual);
  gate.close();
});

test('G4: a hundred writers of one holder all land', async () => {
  const lease = await leases.acquire({ name: 'out', scope: 'subtree' });
  const gate = fileGate(folder.path);
  mkdirSync(join(folder.path, 'out'));
  await Promise.all(Array.from({ length: 100 }, (_, i) => gate.write(lease, `out/${i}.txt`, `content ${i}`)));
  expect(readdirSync(join(folder.path, 'out'))).toHaveLength(100);
  expect(content('out/42.txt')).toBe('content 42');
  gate.close();
});

test('G4: who holds the lock of the gate is waited for, and not for ever', async () => {
  const clock = new FakeClock();
  const lease = await leases.acquire('file:report');
  const gate = fileGate(folder.path, { clock });
  await gate.claim(lease);
  const other = new Database(join(folder.path, '.holdfast-gate.db'));
  other.exec('BEGIN IMMEDIATE');
  const waits = gate.write(lease, 'report.txt', 'later');
  await expect.poll(() => clock.pendingTimers).toBeGreaterThan(0);
  other.exec('ROLLBACK');
  await clock.advance(50);
  await expect.poll(() => clock.advance(50).then(() => readdirSync(folder.path))).toContain('report.txt');
  await waits;
  other.exec('BEGIN IMMEDIATE');
  let isOver = false;
  const never = gate.admit({ resource: 'y', epoch: 1 });
  const over = expect(never)
    .rejects.toThrow(/locked by another writer for more than 10000 ms/)
    .finally(() => {
      isOver = true;
    });
  await expect.poll(() => clock.advance(500).then(() => isOver), { timeout: 10_000 }).toBe(true);
  await over;
  other.close();
  gate.close();
});

test('what lies outside the folder, or is no file of the caller’s, is refused', async () => {
  const lease = await leases.acquire('file:report');
  const gate = fileGate(folder.path);
  mkdirSync(join(folder.path, 'sub'));
  symlinkSync(outside.path, join(folder.path, 'leak'));
  writeFileSync(join(outside.path, 'target'), '');
  symlinkSync(join(outside.path, 'target'), join(folder.path, 'link'));
  const refused: [string, RegExp][] = [
    ['../x', /outside the folder/],
    [join(outside.path, 'x'), /outside the folder/],
    ['leak/x', /outside the folder/],
    ['link', /is a symbolic link/],
    ['sub', /is a folder/],
    ['.', /outside the folder/],
    ['', /named by its path/],
    ['a\0b', /named by its path/],
    ['nowhere/x', /does not exist: create it first/],
    ['.holdfast-gate.db', /the file of the gate itself/],
    ['.holdfast-gate.db-journal', /the file of the gate itself/],
  ];
  for (const [file, message] of refused) await expect(gate.write(lease, file, 'x')).rejects.toThrow(message);
  await expect(gate.write(lease, 'x', 42 as never)).rejects.toThrow(/a string or bytes/);
  await gate.write(lease, join(folder.path, 'sub', 'x'), 'absolute, and inside');
  expect(content('sub/x')).toBe('absolute, and inside');
  expect(readdirSync(outside.path)).toEqual(['target']);
  gate.close();
  expect(() => fileGate(join(folder.path, 'nowhere'))).toThrow(/create it first/);
  expect(() => fileGate(join(folder.path, 'sub', 'x'))).toThrow(/is no folder/);
  expect(() => fileGate('')).toThrow(/takes a folder/);
});

test('a gate file that is none is an error, not an empty gate', async () => {
  writeFileSync(
    join(folder.path, '.holdfast-gate.db'),
    'something else entirely, and long enough to be read as a header',
  );
  const gate = fileGate(folder.path);
  await expect(gate.admit({ resource: 'a', epoch: 1 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});
