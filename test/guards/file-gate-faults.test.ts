// The file gate on disks that are full or read-only and in folders this user may not write or list: every failure is a LeaseError
// (A11) that says whether the file was replaced.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, type TestContext } from 'vitest';
import { connect } from '../../src/connect.js';
import { fileGate, type FileGate } from '../../src/guards/index.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { HeldLease } from '../../src/manager/face.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const NOBODY = 65_534;
let folder: TemporaryFolder;
let disk: string | undefined;
let leases: Holdfast;
let lease: HeldLease;
let gate: FileGate;
beforeEach(async () => {
  folder = temporaryFolder();
  leases = await connect('memory:', { services: 'off' });
  lease = await leases.acquire('file:report');
  gate = fileGate(folder.path);
});
afterEach(async () => {
  gate.close();
  await leases.shutdown();
  if (disk !== undefined) execFileSync('umount', [disk]);
  disk = undefined;
  folder.remove();
});

describe('a small disk, where this user may mount one', () => {
  const place = (): string => join(folder.path, 'disk');
  const mount = (context: TestContext, ...options: string[]): void => {
    try {
      execFileSync('mount', [...options, place()], { stdio: 'ignore' });
    } catch {
      context.skip('mounting a file system is not allowed here');
    }
    disk = place();
  };
  const writeFirst = async (context: TestContext): Promise<void> => {
    mkdirSync(place());
    mount(context, '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs');
    gate = fileGate(place());
    await gate.write(lease, 'report.txt', 'first');
  };
  const content = (): string => readFileSync(join(place(), 'report.txt'), 'utf8');

  test('G4, A11: a full disk is retryable, leaves the file as it is, and takes the write when there is room', async (context) => {
    await writeFirst(context);
    const { bavail, bsize } = statfsSync(place());
    writeFileSync(join(place(), 'ballast'), Buffer.alloc(bavail * bsize));
    await expect(gate.write(lease, 'report.txt', 'second')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      message: expect.stringMatching(/^writing .*report\.txt failed: .*free some space/) as unknown,
      details: { path: join(place(), 'report.txt'), driverCode: 'ENOSPC' },
    });
    const newer = await leases.acquire('file:other');
    await expect(gate.claim(newer)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect([content(), readdirSync(place()).sort()]).toEqual(['first', ['.holdfast-gate.db', 'ballast', 'report.txt']]);
    rmSync(join(place(), 'ballast'));
    await gate.write(lease, 'report.txt', 'second');
    expect(content()).toBe('second');
  });

  test('G4, A11: a disk that has become read-only', async (context) => {
    await writeFirst(context);
    gate.close();
    execFileSync('mount', ['-o', 'remount,ro', place()]);
    await expect(gate.write(lease, 'report.txt', 'second')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: false,
      details: { driverCode: 'EROFS' },
    });
    expect(content()).toBe('first');
  });
});

/** A root user passes every permission check, and so is nobody for as long as it lasts. */
async function asNobody(mode: number, act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  for (const path of [folder.path, ...readdirSync(folder.path).map((name) => join(folder.path, name))]) {
    if (isRoot) chownSync(path, NOBODY, NOBODY);
  }
  chmodSync(folder.path, mode);
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder.path, 0o700);
  }
}

describe('a folder of which this user may not do everything', () => {
  const content = (): string => readFileSync(join(folder.path, 'report.txt'), 'utf8');
  beforeEach(async () => {
    await gate.write(lease, 'report.txt', 'first');
    gate.close();
  });

  test.each([
    ['written', 0o500],
    ['searched', 0o600],
  ])('G4, A11: one that may not be %s is refused as such', async (_, mode) => {
    await asNobody(mode, async () => {
      await expect(gate.write(lease, 'report.txt', 'second')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: false,
        details: { driverCode: 'EACCES' },
      });
    });
    expect(content()).toBe('first');
  });

  test('G4, A11: one that cannot be synced: the error says that the file was replaced all the same', async () => {
    await asNobody(0o300, async () => {
      await expect(gate.write(lease, 'report.txt', 'second')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/was replaced, but its folder could not be synced/) as unknown,
        details: { driverCode: 'EACCES', replaced: true },
      });
    });
    expect(content()).toBe('second');
  });
});
