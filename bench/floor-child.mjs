// One of the eight of bench/floors.mjs. When it is next it takes the name, holds it for a moment, and in one script lets it go and tells the
// next. It is told over its own channel and asks then ('told'), or its question is at the server before its turn comes, behind a pop that
// waits for it ('ahead'). 'bare' is told and asks over plain sockets, without a client.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { asText, openBareSocket } from './bare-socket.mjs';

const HOLD_MS = 2;
const WARM_UP = 300;
const PATIENCE_S = 60;
const PUBLISH = "redis.call('PUBLISH', ARGV[1], 'go')";
const TELL = { told: PUBLISH, bare: PUBLISH, ahead: "redis.call('RPUSH', ARGV[1], 'go')" };
const [url, own, way] = process.argv.slice(2);
const FREE = `redis.call('DEL', KEYS[1]) ${TELL[way]} return 1`;
const now = () => Number(process.hrtime.bigint()) / 1e6;
const { take, free, listen, ahead } = way === 'bare' ? await overSockets() : await overClients();
let next = 'nobody';

await listen(() => void takeTurn(take('baton')));

async function overSockets() {
  const [commands, hints] = [await openBareSocket(url), await openBareSocket(url)];
  return {
    take: async (key) => (await commands.ask(asText(['SET', key, own, 'NX', 'PX', '30000']))).slice(1, 3),
    free: (key) => commands.ask(asText(['EVAL', FREE, '1', key, `floor:${next}`])),
    listen: async (turn) => {
      await hints.ask(asText(['SUBSCRIBE', `floor:${own}`]));
      hints.hear(turn);
    },
  };
}

async function overClients() {
  const [client, hearing] = [createClient({ url }), createClient({ url })];
  await Promise.all([client.connect(), hearing.connect()]);
  const sha = await client.scriptLoad(FREE);
  const set = (key, over) => over.set(key, own, { condition: 'NX', expiration: { type: 'PX', value: 30_000 } });
  return {
    take: (key) => set(key, client),
    free: (key) => client.evalSha(sha, { keys: [key], arguments: [`floor:${next}`] }),
    listen: async (turn) => way === 'told' && (await hearing.subscribe(`floor:${own}`, turn)),
    ahead: () => {
      void hearing.blPop(`floor:${own}`, PATIENCE_S);
      void takeTurn(set('baton', hearing));
    },
  };
}

process.on('message', ({ end, next: told }) => {
  if (end) process.exit(0);
  next = told;
  if (way === 'ahead') ahead();
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
