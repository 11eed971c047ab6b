// Where a run works: one temporary folder of its own, in which every suite makes its folders (TMPDIR points there, for
// children as well), so that two runs never meet. Whatever ends the run, Ctrl-C included, the servers it started are stopped,
// every process below it is ended and the folder is removed.
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const GRACE_MS = 5_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const stops = new Set();

/** Called by whoever starts a server: `stop` ends it. Answers a function that forgets it again. */
export function stopAtTheEnd(stop) {
  stops.add(stop);
  return () => stops.delete(stop);
}

export function enterWorkplace() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-run-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user
  process.env.TMPDIR = folder;
  process.on('exit', () => {
    endAllBelow(process.pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  let isLeaving = false;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (isLeaving) process.exit(128 + constants.signals[signal]);
      isLeaving = true;
      console.error(`... ${signal}: stopping the servers and removing what was made`);
      void leave().finally(() => process.exit(128 + constants.signals[signal]));
    });
  }
}

/** The servers in good order, as long as that does not take for ever; what is left is killed when the process exits. */
async function leave() {
  const stopped = Promise.allSettled([...stops].map((stop) => stop()));
  await Promise.race([stopped, delay(GRACE_MS)]);
}

/** Children of children as well, also stopped ones: found first, then killed, so that nobody is missed. */
function endAllBelow(pid) {
  for (const one of descendants(pid)) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // ended meanwhile
    }
  }
}

function descendants(pid) {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendants)];
}

function childrenOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').map(Number).filter(Boolean),
    );
  } catch {
    return []; // gone, or no /proc here
  }
}
