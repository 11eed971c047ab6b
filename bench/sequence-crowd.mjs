// Sixteen writers of one stream for a minute, processes that are killed and replaced, on any store: how many committed
// operations a reader missed, how often the watermark went back, how many operations were stored twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { shown } from './measure.mjs';
import { scaled } from './scale.mjs';

const WRITERS = 16;
const SECONDS = scaled(60, 5);
const program = fileURLToPath(new URL('../test/support/sequence-crowd-child.mjs', import.meta.url));

export async function sequenceCrowd(say, kind, url) {
  say(`${kind}: ${WRITERS} writers of one stream, killed and replaced, for ${SECONDS} s`);
  const seed = Math.floor(Math.random() * 1e6);
  const args = [url, WRITERS, SECONDS * 1_000, seed].map(String);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const [code] = await once(child, 'close');
  const line = lines.find((one) => one.startsWith('crowd '));
  if (code !== 0 || line === undefined) throw new Error(`the writers on ${kind} ended with ${code} (seed ${seed})`);
  const { killed, numbers, stored, missed, back, twice, complaints } = JSON.parse(line.slice('crowd '.length));
  say(`${kind}: ${killed} killed, ${numbers} numbers, ${stored} answered as stored`);
  for (const complaint of complaints) say(complaint);
  const figure = shown({
    name: `${kind}, ${SECONDS} s of kills, rollbacks and overruns: missed; watermark back; stored twice`,
    store: 'sequence',
    concurrency: WRITERS,
    figures: [missed, back, twice],
    unit: 'times',
  });
  return { ...figure, target: '0; 0; 0', met: complaints.length === 0 };
}
