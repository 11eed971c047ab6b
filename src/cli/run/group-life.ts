// A process group as a whole: sent a signal, and asked whether anybody in it is alive. Loads nothing but the file system: the
// guardian uses it too.
import { readdirSync, readFileSync } from 'node:fs';

/** The code of the error, when there was one: ESRCH, nobody is there; EPERM, nobody may be signalled by this user. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): string | undefined {
  try {
    process.kill(-group, signal);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** The dead whom nobody has buried yet (a container without a proper init) count for `kill`, but not here. */
export function hasLife(group: number): boolean {
  if (signalGroup(group, 0) === 'ESRCH') return false;
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return true; // no /proc here: what `kill` says has to do
  }
  return pids.length === 0 || pids.some((pid) => isLivingMember(pid, group));
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(pgrp) === group && state !== 'Z' && state !== 'X';
  } catch {
    return false; // ended meanwhile
  }
}
