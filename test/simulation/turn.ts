// One turn: every promise settles, however long its chain, and an error that nobody handles is told; no time passes.
//
// Node does both between two callbacks of `setImmediate`, also between two that fall due together. So immediates are kept in
// store and each turn takes the next: a turn of the whole event loop, with its system calls, costs several times as much.

const STORED = 256;
const DISK = /^FSReq|^FileHandle|^CloseReq/i;

let waiting: (() => void) | undefined;
let left = 0;

function take(): void {
  left -= 1;
  const resume = waiting;
  waiting = undefined;
  resume?.();
}

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting = resolve;
    if (left > 0) return;
    left = STORED;
    for (let i = 0; i < STORED; i += 1) setImmediate(take);
  });
}

/** The same where the disk is used: it has no virtual time, so whatever was asked of it is waited for. */
export async function turnWithDisk(): Promise<void> {
  do {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  } while (process.getActiveResourcesInfo().some((name) => DISK.test(name)));
}
