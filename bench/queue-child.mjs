// One of the eight of bench/queue.mjs. It is told whose lock to take and in which round, says that it has asked, holds the
// lock for a moment, and reports when it held and when it let go, on the clock all processes share.
import { setTimeout as delay } from 'node:timers/promises';
import { openRivals } from './rivals.mjs';

const HOLD_MS = 2;
const WARM_UP = 300;
const [kind, url] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const rivals = await openRivals(kind, url);

process.on('message', ({ rival, end }) => {
  if (end) void close();
  else void takeTurn(rivals.find(({ name }) => name === rival));
});
for (const { lock } of rivals) {
  for (let i = 0; i < WARM_UP; i += 1) await (await lock(`warm/${process.pid}`)).release();
}
process.send({ ready: true });

async function takeTurn({ lock }) {
  const asked = lock('baton');
  process.send({ asked: true });
  const held = await asked;
  const heldAt = now();
  await delay(HOLD_MS);
  const releasedAt = now();
  await held.release();
  process.send({ heldAt, releasedAt });
}

async function close() {
  await Promise.all(rivals.map((rival) => rival.close()));
  process.disconnect();
}
