// backup: a copy of the file taken while others write, marked so that whoever opens it begins a new incarnation (S2).
// It is made beside its final name and renamed when it is whole: a backup that was cut short is never mistaken for one.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve as resolvePath } from 'node:path';
import { Worker } from 'node:worker_threads';
import Driver from 'better-sqlite3';
import { invalid } from '../../domain/errors.js';
import { readAnchor, writeAnchor, type Anchor } from './file-clock.js';
import { refuseMissingFolder } from './file-system.js';
import type { SqliteFile } from './sqlite-file.js';
import { translateCopyError } from './translate-error.js';

export async function backupFile(file: SqliteFile, path: string): Promise<void> {
  const target = resolvePath(path);
  if (existsSync(target)) throw invalid(`${target} exists already: name a new file for the backup`);
  refuseMissingFolder(target);
  const partial = `${target}.partial-${file.clock.randomText()}`;
  try {
    await copyInWorker(file.path, partial);
    markAsBackup(partial);
    renameSync(partial, target);
  } catch (error) {
    throw translateCopyError(error, file.path, target);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(partial + end, { force: true });
  }
}

/** One snapshot, copied off the loop. (The driver's own backup starts again whenever somebody else commits.) Its errors are
 *  made anew: those of the driver are no native ones, and come out of a worker without their code and their words. */
const WORKER_CODE = `
const { workerData } = require('node:worker_threads');
const Driver = require(workerData.driver);
const db = new Driver(workerData.path, { timeout: 1000, fileMustExist: true });
try {
  db.prepare('VACUUM INTO ?').run(workerData.target);
} catch ({ code, message }) {
  throw Object.assign(new Error(message), { code });
} finally {
  db.close();
}
`;

async function copyInWorker(path: string, target: string): Promise<void> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(WORKER_CODE, { eval: true, execArgv: [], workerData: { driver, path, target } });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => {
      resolve();
    });
  });
}

export function markAsBackup(path: string): void {
  const copy = new Driver(path);
  try {
    copy.pragma('journal_mode = DELETE');
    writeAnchor(copy, { ...(readAnchor(copy) as Anchor), backup: true });
  } finally {
    copy.close();
  }
}
