// Writers of one stream, each a process of its own: some die with a lease, overrun it, give up or are late, and every one
// but the readers is killed with -9 after a while and replaced. Then everything that was answered is held against the stream.
//
// node sequence-crowd-child.mjs URL WRITERS MILLISECONDS SEED prints `crowd JSON`: how many were killed, how many numbers
// there are, how many operations were answered as stored, and how often one was missed, stored twice, or the watermark
// went back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../dist/index.js';
import { openStore } from '../../dist/stores/open-store.js';
import { checkSequenceHistory, readWholeStream } from '../../dist/testing/index.js';

const program = fileURLToPath(new URL('sequence-workload-child.mjs', import.meta.url));
const READING = 2;
const [url, ...numbers] = process.argv.slice(2);
const [writers, durationMs, seed] = numbers.map(Number);
const clock = systemClock();
const end = clock.monotonic() + durationMs;
const records = [];
let [started, killed] = [0, 0];

/** A process until it ends. Its life is so many operations long; readers live to the end. */
async function live(place) {
  const isReading = place < READING;
  const name = `process-${(started += 1)}`;
  const rest = Math.max(0, Math.round(end - clock.monotonic()));
  const clients = [1, isReading ? 1 : 0, place % 4 === 0 ? 1 : 0];
  const args = [url, name, seed + started, rest, ...clients].map(String);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const reader = createInterface({ input: child.stdout });
  let stored = 20 + Math.floor(clock.random() * 80);
  reader.on('line', (line) => {
    const record = recordOf(line);
    if (!record) return;
    records.push(record);
    if (isReading || record.what !== 'stored') return;
    stored -= 1;
    if (stored === 0) child.kill('SIGKILL');
  });
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(reader, 'close')]);
  if (signal === 'SIGKILL') killed += 1;
  else if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}`);
  return signal === 'SIGKILL';
}

/** The last line of one that was killed may be half a line. */
function recordOf(line) {
  if (!line.startsWith('record ')) return undefined;
  try {
    return JSON.parse(line.slice(7));
  } catch {
    return undefined;
  }
}

async function keepAlive(place) {
  while ((await live(place)) && clock.monotonic() < end);
}

const store = await openStore(url, { clock, namespace: 'default', migrate: 'auto' });
await Promise.all(Array.from({ length: writers }, (_, place) => keepAlive(place)));
const stream = await readWholeStream(store, clock);
await store.close();
const complaints = checkSequenceHistory({ records, stream });
const counted = (pattern) => complaints.filter((text) => pattern.test(text)).length;
const [back, twice] = [counted(/the watermark is/), counted(/stored twice/)];
const crowd = {
  killed,
  numbers: stream.length,
  stored: new Set(records.flatMap((one) => (one.what === 'stored' ? [one.operationId] : []))).size,
  states: [...new Set(stream.map(({ state }) => state))].sort(),
  missed: complaints.length - back - twice,
  back,
  twice,
  complaints,
};
process.stdout.write(`crowd ${JSON.stringify(crowd)}\n`);
