// Who owns a spool file: its name says it (host, boot, process and when that process began), and a file changes its owner by
// being renamed, which only one can do. So there is no lock to be left behind, and one owner at any time. The name also says
// which store and namespace its results are for: nobody else may store them. A name without that is of an older version, and
// its results are for whoever opens the folder, as they were then.
//
// A container that is started again has the host's name, another set of process numbers, and must take over what it left. So a
// process of another container is taken for dead; where it lives, it notices before it says that a result is kept.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../domain/clock.js';

export const SPOOL_ENDING = '.spool';
const NAME = /^([A-Za-z0-9-]+)\.([A-Za-z0-9]+)\.(\d+)\.(\d+)(?:\.([a-f0-9]{16}))?\.[A-Za-z0-9_-]+\.spool$/;

/** Where results belong, as a part of a name. `place` is where the store is, without who may use it. */
export function homeOf(store: { kind: string; namespace: string }, place = ''): string {
  return createHash('sha256').update([store.kind, store.namespace, place].join('\n')).digest('hex').slice(0, 16);
}

export function ownName(clock: Clock, home: string): string {
  const random = clock
    .randomText()
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, 12);
  return [hostPart(), bootPart(clock), process.pid, startOf(process.pid), home, random].join('.') + SPOOL_ENDING;
}

/** Whether its results may be stored there. */
export function isOfHome(file: string, home: string): boolean {
  return (NAME.exec(file)?.[5] ?? home) === home;
}

/** `own`, `dead` (to be taken over), `alive`, `elsewhere` (another machine: nobody here can tell), or `other` (no spool). */
export function ownerOf(file: string, clock: Clock): 'own' | 'dead' | 'alive' | 'elsewhere' | 'other' {
  const [, host, boot, pid = '0', started = '0'] = NAME.exec(file) ?? [];
  if (host === undefined) return 'other';
  if (host !== hostPart()) return 'elsewhere';
  if (boot !== bootPart(clock)) return 'dead';
  if (Number(pid) === process.pid && started === startOf(process.pid)) return 'own';
  return isAlive(Number(pid)) && startOf(Number(pid)) === started ? 'alive' : 'dead';
}

function hostPart(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9-]/g, '-')
      .slice(0, 64) || 'host'
  );
}
function bootPart(clock: Clock): string {
  return (
    clock
      .machine()
      .replace(/[^A-Za-z0-9]/g, '')
      .slice(0, 32) || 'boot'
  );
}

/** When the process began, in ticks since boot; 0 where that cannot be known. A number that was given out again differs. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
  } catch {
    return '0';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
