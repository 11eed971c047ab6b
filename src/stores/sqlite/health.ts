// What the file says of itself, for `holdfast doctor`: sizes, room on its disk, and who has the write lock. Linux shows that in
// /proc/locks: in WAL mode the writer has byte 120 of the -shm file; asking SQLite itself would mean taking the lock.
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SqliteHealth } from '../store-health.js';
import { networkFileSystem } from './file-system.js';

const WRITE_LOCK_BYTE = 120;
/** One line of /proc/locks: `1: POSIX  ADVISORY  WRITE 4242 fe:01:1311 120 120`. */
const LOCK = /^\d+: (?:POSIX|OFDLCK)\s+ADVISORY\s+WRITE (-?\d+) \S+:(\d+) (\d+) (\d+|EOF)$/;

export function healthOfFile(path: string): SqliteHealth {
  const { type, bsize, bavail, blocks } = statfsSync(dirname(path));
  return {
    kind: 'sqlite',
    path,
    fileBytes: sizeOf(path),
    walBytes: sizeOf(`${path}-wal`),
    freeBytes: bsize * bavail,
    diskBytes: bsize * blocks,
    networkFileSystem: networkFileSystem(type),
    writer: writerOf(path),
    walChangedAt: statSync(`${path}-wal`, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function writerOf(path: string): number | undefined {
  const shared = statSync(`${path}-shm`, { throwIfNoEntry: false });
  if (shared === undefined) return undefined;
  let locks: string;
  try {
    locks = readFileSync('/proc/locks', 'latin1');
  } catch {
    return undefined; // another system than Linux, or a container that hides it
  }
  for (const line of locks.split('\n')) {
    const [, pid, inode, from, to] = LOCK.exec(line) ?? [];
    if (Number(inode) !== shared.ino || Number(pid) <= 0) continue;
    const isInside = Number(from) <= WRITE_LOCK_BYTE && (to === 'EOF' || Number(to) >= WRITE_LOCK_BYTE);
    if (isInside) return Number(pid);
  }
  return undefined;
}
