// A process that holds many: node --expose-gc held-child.mjs CONTENDER PLACE HOW-MANY TTL. It says what a lock costs it in memory,
// then marks the beginning and the end of one renewal of each: counted from the library's own word (ours), after the period at
// which the library renews by itself, or by extending each by hand where it does not. What is not on the wire it counts itself.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { contender } from './contenders.mjs';

const AT_ONCE = 250;
const SETTLED_MS = 500;
const [TRIES, PAUSE_MS] = [60, 1_000];
const [id, place, howMany, ttl] = process.argv.slice(2);
const [held, ttlMs] = [Number(howMany), Number(ttl)];
const one = contender(id);
const counted = { calls: 0 };
const onCall = () => (counted.calls += 1);
const opened = await one.open(JSON.parse(place), onCall);
process.on('disconnect', () => process.exit(0));
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.once(event, (error) => process.send({ failed: String(error?.message ?? error) }, () => process.exit(1)));
}

const names = Array.from({ length: held }, (_, i) => `${id}/held/${i % 100}/${i}`);
const kept = new Array(held);
const take = opened.hold ?? opened.lock;
await (await take(`${id}/first`, ttlMs, () => undefined)).release(); // what is loaded and compiled once is nobody's lock
const before = used();
await inTurns(names, async (name, i) => {
  kept[i] = await patiently(() => take(name, ttlMs, lost));
});
const bytes = (used() - before) / held;
process.send({ bytes });
await once(process, 'message');
await renewOnce();
process.exit(0);

async function renewOnce() {
  const renewed = { count: 0 };
  const until = async (count) => {
    while (renewed.count < count) await delay(20);
    await delay(SETTLED_MS);
  };
  if (opened.leases) {
    opened.leases.on('lease.renewed', () => (renewed.count += 1));
    await until(held); // the first round brings together what was granted one batch after the other
    renewed.count = 0;
  }
  await kept[0].extend?.(); // what a fresh connection or server is told once is no renewal
  await mark({ begin: true });
  counted.calls = 0;
  if (opened.leases) await until(held);
  else if (one.renewsEvery) await delay(one.renewsEvery * ttlMs);
  else await inTurns(kept, (lock) => lock.extend());
  await mark({ end: true, renewed: opened.leases ? renewed.count : held, calls: counted.calls });
}

/** Says it and waits until it was heard: the parent counts what is between. */
async function mark(message) {
  process.send(message);
  await once(process, 'message');
}

/** Stores are being filled meanwhile: a library whose server is too busy to answer is asked to try again. */
async function patiently(act) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (opened.leases || tries === TRIES) throw error;
      await delay(PAUSE_MS);
    }
  }
}

async function inTurns(items, act) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const i = (next += 1) - 1;
      await act(items[i], i);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function used() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function lost(reason) {
  throw new Error(`lost a lock while holding ${held}: ${reason?.message ?? reason}`);
}
