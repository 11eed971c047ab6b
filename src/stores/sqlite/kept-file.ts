// What a restore replaces is kept: as a backup of its own, or, where the file is damaged and cannot be copied as a database,
// as the bytes it has. What could not be kept as a whole leaves nothing behind.
import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { markAsBackup } from './backup.js';
import { hasAnchor } from './file-clock.js';
import { isDamage } from './translate-error.js';

const CHUNK_BYTES = 1024 * 1024;

/** The caller has locked `old` for good, its WAL is folded in; `raw` is the same file. `kept` must not exist. */
export function keepFile(old: Database, raw: number, kept: string): void {
  const copy = openSync(kept, 'wx');
  try {
    try {
      old.prepare('VACUUM INTO ?').run(kept);
      if (hasAnchor(old)) markAsBackup(kept);
    } catch (error) {
      if (!isDamage(error)) throw error;
      ftruncateSync(copy);
      copyBytes(raw, copy);
    }
  } catch (error) {
    for (const end of ['', '-journal']) rmSync(kept + end, { force: true });
    throw error;
  } finally {
    closeSync(copy);
  }
}

/** Through the descriptors there are: opening the file once more and closing it would give up the lock. */
function copyBytes(from: number, to: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; ;) {
    const read = readSync(from, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) return;
    for (let done = 0; done < read;) done += writeSync(to, chunk, done, read - done, at + done);
    at += read;
  }
}
