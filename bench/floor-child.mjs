// One of the eight of bench/floors.mjs: told over its own channel that it is next, it takes the name, holds it for a moment, and in one
// script lets it go and tells the next.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';

const HOLD_MS = 2;
const WARM_UP = 300;
const FREE = "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', ARGV[1], 'go') return 1";
const [url, own] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const [client, hearing] = [createClient({ url }), createClient({ url })];
await Promise.all([client.connect(), hearing.connect()]);
const sha = await client.scriptLoad(FREE);
let next = 'nobody';

const take = (key) => client.set(key, own, { condition: 'NX', expiration: { type: 'PX', value: 30_000 } });
const free = (key) => client.evalSha(sha, { keys: [key], arguments: [`floor:${next}`] });

await hearing.subscribe(`floor:${own}`, () => void takeTurn());
process.on('message', ({ end, next: told }) => {
  if (end) process.exit(0);
  next = told;
  process.send({ ready: true });
});
for (let i = 0; i < WARM_UP; i += 1) {
  await take(`warm/${own}`);
  await free(`warm/${own}`);
}
process.send({ ready: true });

async function takeTurn() {
  if ((await take('baton')) !== 'OK') throw new Error('the baton is taken');
  const heldAt = now();
  await delay(HOLD_MS);
  const releasedAt = now();
  await free('baton');
  process.send({ heldAt, releasedAt });
}
