// Watches processes die, in a process that does nothing else, so that its eyes are seldom shut: node death-watch-child.mjs
//   watch KEY [PID, …]  answers  dead KEY SEEN GONE: when one of them was last seen alive, and when none was any more
import { readFileSync } from 'node:fs';
import { now, obey, say } from './child-orders.mjs';

const LOOK_MS = 2;
const watched = new Map();

function isAlive(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2)); // dead and not buried yet is dead
  } catch {
    return false;
  }
}

setInterval(() => {
  for (const [key, one] of watched) {
    const before = now();
    if (one.pids.some(isAlive)) one.seenAt = before;
    else {
      watched.delete(key);
      say('dead', key, one.seenAt, now());
    }
  }
}, LOOK_MS);

obey({
  async watch(key, pids) {
    watched.set(key, { pids, seenAt: 0 });
  },
});
say('open');
