// Waits for numbers of a stream in a process of its own: node stream-waiter-child.mjs URL STREAM. Told a number it says
// "waiting N", and "reached N MILLISECONDS" when everything below it is settled.
import { createInterface } from 'node:readline';
import { connect } from '../../dist/index.js';

const [url, name] = process.argv.slice(2);
const leases = await connect(url, { services: 'off' });
const stream = leases.sequence(name);
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  const began = performance.now();
  const reached = stream.waitFor(Number(line), { timeout: 60_000 });
  process.stdout.write(`waiting ${line}\n`);
  await reached;
  process.stdout.write(`reached ${line} ${Math.round(performance.now() - began)}\n`);
}
process.stdin.destroy();
await leases.shutdown();
