// One of the eight of bench/floors.mjs. It has its `SET NX` at the server before its turn comes, behind a pop that waits for it. When it has
// the name it holds it for a moment, and in one script lets it go and lets the next one's through.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';

const HOLD_MS = 2;
const WARM_UP = 300;
const PATIENCE_S = 60;
const FREE = `redis.call('DEL', KEYS[1]) redis.call('RPUSH', ARGV[1], 'go') return 1`;
const [url, own] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const [client, waiting] = [createClient({ url }), createClient({ url })];
await Promise.all([client.connect(), waiting.connect()]);
const sha = await client.scriptLoad(FREE);
const take = (key, over) => over.set(key, own, { condition: 'NX', expiration: { type: 'PX', value: 30_000 } });
const free = (key, next) => client.evalSha(sha, { keys: [key], arguments: [`floor:${next}`] });

process.on('message', ({ end, next }) => {
  if (end) process.exit(0);
  void waiting.blPop(`floor:${own}`, PATIENCE_S);
  void takeTurn(take('baton', waiting), next);
  process.send({ ready: true });
});
for (let i = 0; i < WARM_UP; i += 1) {
  await take(`warm/${own}`, client);
  await free(`warm/${own}`, 'nobody');
}
process.send({ ready: true });

async function takeTurn(asked, next) {
  if ((await asked) !== 'OK') throw new Error('the baton is taken');
  const heldAt = now();
  await delay(HOLD_MS);
  const releasedAt = now();
  await free('baton', next);
  process.send({ heldAt, releasedAt });
}
