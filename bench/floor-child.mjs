// One of the eight of bench/floors.mjs. When it is next it takes the name, holds it for a moment, and in one script lets it go and tells the
// next. It is told over its own channel and asks then ('told'), or its question is at the server before its turn comes, behind a pop that
// waits for it ('ahead').
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';

const HOLD_MS = 2;
const WARM_UP = 300;
const PATIENCE_S = 60;
const TELL = { told: "redis.call('PUBLISH', ARGV[1], 'go')", ahead: "redis.call('RPUSH', ARGV[1], 'go')" };
const [url, own, way] = process.argv.slice(2);
const FREE = `redis.call('DEL', KEYS[1]) ${TELL[way]} return 1`;
const now = () => Number(process.hrtime.bigint()) / 1e6;
const [client, hearing] = [createClient({ url }), createClient({ url })];
await Promise.all([client.connect(), hearing.connect()]);
const sha = await client.scriptLoad(FREE);
let next = 'nobody';

const take = (key, over = client) => over.set(key, own, { condition: 'NX', expiration: { type: 'PX', value: 30_000 } });
const free = (key) => client.evalSha(sha, { keys: [key], arguments: [`floor:${next}`] });

if (way === 'told') await hearing.subscribe(`floor:${own}`, () => void takeTurn(take('baton')));
process.on('message', ({ end, next: told }) => {
  if (end) process.exit(0);
  next = told;
  if (way === 'ahead') {
    void hearing.blPop(`floor:${own}`, PATIENCE_S);
    void takeTurn(take('baton', hearing));
  }
  process.send({ ready: true });
});
for (let i = 0; i < WARM_UP; i += 1) {
  await take(`warm/${own}`);
  await free(`warm/${own}`);
}
process.send({ ready: true });

async function takeTurn(asked) {
  if ((await asked) !== 'OK') throw new Error('the baton is taken');
  const heldAt = now();
  await delay(HOLD_MS);
  const releasedAt = now();
  await free('baton');
  process.send({ heldAt, releasedAt });
}
