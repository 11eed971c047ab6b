// A gate for the files of one folder (G4). The epochs are in a small SQLite file of that folder. A write is:
//
//   content to a file beside the target, fsync ▶ epoch noted, durably ▶ write lock of the gate, epoch compared again, rename
//   while the lock is held ▶ fsync of the folder
//
// A reader sees the old content or the new one; a crash at any point leaves a gate that knows at least what was written; a
// newer holder waits for a rename under way instead of being overwritten by it. The lock is the kernel's: local disks only.
import { renameSync, statSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkKeys } from '../domain/check-keys.js';
import type { Clock } from '../domain/clock.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import type { HeldLease } from '../manager/face.js';
import { systemClock } from '../system-clock.js';
import { writesOf, type CheckedWrite } from './fence.js';
import { gateOf, telling, type FenceGate } from './gate.js';
import { GateFile } from './gate-file.js';
import { explainFile } from './file-error.js';
import { checkFolder, targetIn } from './file-target.js';

export interface FileGateOptions {
  clock?: Clock;
}
export interface FileGate extends FenceGate {
  /** Replaces the file as a whole, or throws STALE_EPOCH and leaves it as it is. `file` is relative to the folder. */
  write(lease: HeldLease, file: string, content: string | Uint8Array): Promise<void>;
  /** Closes the gate's file; the next call opens it again. */
  close(): void;
}

const KNOWN: ReadonlySet<string> = new Set<keyof FileGateOptions>(['clock']);

export function fileGate(folder: string, options: FileGateOptions = {}): FileGate {
  checkKeys(options, KNOWN, 'of fileGate');
  const { clock = systemClock() } = options;
  const home = checkFolder(folder);
  const gate = new GateFile(home, clock);
  const note = (writes: readonly CheckedWrite[]): Promise<void> => gate.note(writes);
  return {
    ...gateOf('fileGate', note),
    write: async (lease, file, content) => {
      if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
        throw invalid(`the content of a file is a string or bytes, got ${shown(content)}`);
      }
      const writes = writesOf(lease);
      const target = targetIn(home, file);
      const fresh = join(dirname(target), `.${clock.randomText()}.holdfast-new`);
      try {
        await writeDurably(fresh, content, modeOf(target));
        await telling(lease, 'fileGate', async () => {
          await gate.note(writes);
          await gate.hold(writes, () => renameSync(fresh, target));
        });
      } catch (error) {
        await unlink(fresh).catch(() => undefined); // what was not renamed is nobody's
        throw explainFile(error, `writing ${target}`, target);
      }
      await syncFolder(dirname(target)).catch((error: unknown) => {
        throw notSynced(target, error);
      });
    },
    close: () => gate.close(),
  };
}

/** What the target may be used for now; undefined when it is new. */
function modeOf(target: string): number | undefined {
  const found = statSync(target, { throwIfNoEntry: false });
  return found && found.mode & 0o777;
}

/** With this mode from before the first byte on: what few may read is not there for all meanwhile. */
async function writeDurably(path: string, content: string | Uint8Array, mode: number | undefined): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    if (mode !== undefined) await file.chmod(mode); // the process's umask may have taken some of it away
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The new content is there for everybody to read: the caller must not take this for a write that did not happen. */
function notSynced(target: string, cause: unknown): LeaseError {
  const message = `${target} was replaced, but its folder could not be synced: a power cut may bring the old content back; write again`;
  const { details, retryable } = explainFile(cause, 'syncing', target);
  return new LeaseError('STORE_UNAVAILABLE', message, { cause, retryable, details: { ...details, replaced: true } });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
