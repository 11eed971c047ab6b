// The guardian: a process of its own that stops the command's process group in time when `run` cannot (C2), because it
// was killed, stopped or is stuck. It is in a session of its own, so that no signal meant for the group, for `run` or for
// their terminal reaches it, and it loads next to nothing, so that it is there before the command is.
//
//   group PGID         whom to stop
//   until STOP KILL    SIGTERM at STOP, SIGKILL at KILL (monotonic milliseconds): sent anew after every renewal
//   stopping KILL      `run` has sent SIGTERM by itself; only KILL is left
//   end of the pipe    `run` is dead, nobody renews: SIGTERM now, SIGKILL after the grace, at KILL at the latest
//
// What is known when it is started are its arguments, after the grace: from its first instant on it knows them, even if
// `run` is killed before it can write a line.
//
// It ends when the group is killed or, with `run` dead, gone; while `run` lives it is ended by it.
import { hasLife, signalGroup } from './group-life.js';

const POLL_MS = 50;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** `run` is given this share of the window before the guardian thinks that it does nothing, and never more than that. */
const HEAD_START_SHARE = 0.25;
const LONGEST_HEAD_START_MS = 100;

const graceMs = Number(process.argv[2]);
let group = 0;
let stopAt = Infinity;
let killAt = Infinity;
let isTold = false;
let isAlone = false;
let timer: NodeJS.Timeout | undefined;

function now(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

function look(): void {
  clearTimeout(timer);
  if (group === 0) return isAlone ? process.exit() : undefined;
  const at = now();
  if (at >= killAt) {
    signalGroup(group, 'SIGKILL');
    process.exit();
  }
  if (at >= stopAt && !isTold) {
    isTold = true;
    signalGroup(group, 'SIGTERM');
    signalGroup(group, 'SIGCONT'); // one that is stopped could not obey
  }
  if (isAlone && !hasLife(group)) process.exit();
  const next = Math.min(isTold ? killAt : stopAt, isAlone ? at + POLL_MS : Infinity);
  timer = setTimeout(look, Math.min(Math.max(Math.ceil(next - at), 0), LONGEST_TIMEOUT_MS));
}

function obey(line: string): void {
  const [word, ...numbers] = line.split(' ');
  const [first = Infinity, second = Infinity] = numbers.map(Number);
  if (word === 'group') group = first;
  else if (word === 'until') {
    stopAt = first + Math.min((second - first) * HEAD_START_SHARE, LONGEST_HEAD_START_MS);
    killAt = second;
  } else if (word === 'stopping') {
    isTold = true;
    killAt = first;
  }
}

for (const line of process.argv.slice(3)) obey(line);
look();

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) obey(line);
  look();
});
process.stdin.on('error', () => undefined); // followed by `close`
process.stdin.on('close', () => {
  isAlone = true;
  stopAt = now();
  killAt = Math.min(killAt, stopAt + graceMs);
  look();
});
process.stdout.on('error', () => undefined); // `run` has died before it could hear this
process.stdout.write('ready\n');
