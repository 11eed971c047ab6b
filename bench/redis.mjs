// Redis, on private servers with the settings they come with, log on. "acquire + release" is the port through batching,
// "tryAcquire + release" the manager. The peers have an ioredis client each, as they ask for.
import { connect } from '../dist/index.js';
import { openRedis } from '../dist/stores/redis/index.js';
import { openBareRedis } from './bare-redis.mjs';
import { redisCounter } from './counting-proxy.mjs';
import { frozenServer } from './frozen-server.mjs';
import { heldRound } from './held-round.mjs';
import { collect } from './measure.mjs';
import { openRedisSemaphore } from './peers/redis-semaphore.mjs';
import { openRedlock } from './peers/redlock.mjs';
import { openVerrouRedis } from './peers/verrou.mjs';
import { clock, Port } from './port.mjs';
import { queueHandOver } from './queue.mjs';
import { MANY_ROWS } from './scale.mjs';
import { startRedis } from './servers.mjs';
import { growth, managed, sideBySide } from './side-by-side.mjs';

const STORE = 'redis';

const open = (url) => openRedis(url, { clock });
/** About as long a round at each concurrency. */
const pairsAt = (concurrency) => ({ 1: 1_500, 32: 6_400, 256: 10_240 })[concurrency];

export async function benchRedis(say) {
  const server = await startRedis();
  const { rows, add } = collect(say);
  try {
    say('redis: acquire + release against bare commands, and against the peers');
    add(await throughput(server.url));
    say('redis: hand-over between 8 processes, ours and the peers (about two minutes)');
    add(await queueHandOver(STORE, server.url));
    say('redis: 10,000 held leases for two renewal rounds (half a minute)');
    add(await heldRound(STORE, server, open, redisCounter));
    say('redis: the server frozen, ours and the peers (a minute)');
    const peers = openPeers(server.url);
    add(await frozenServer(STORE, server, peers));
    await Promise.all(peers.map((peer) => peer.close()));
    add(await besideMillion(say));
    return rows;
  } finally {
    await server.remove();
  }
}

function openPeers(url) {
  return [openRedlock(url), openRedisSemaphore(url), openVerrouRedis(url)];
}

async function throughput(url) {
  const port = await Port.over(await open(url));
  const asleep = await Port.over(await open(`${url}?awake=false`));
  const leases = await connect(url, { services: 'off' });
  const bare = await openBareRedis(url);
  const peers = openPeers(url);
  const ours = { pair: (i) => port.pair(i) };
  const sleeping = { pair: (i) => asleep.pair(i) };
  const common = { store: STORE, pairsAt };
  const targets = [
    [32, 1.3],
    [256, 1.6],
  ];
  const beside = targets.map(([concurrency]) => [concurrency, null]);
  const rows = [
    ...(await sideBySide({ ...common, name: 'acquire + release', ours, others: [bare], targets: [[1, 0.8]] })),
    ...(await sideBySide({
      ...common,
      name: 'acquire + release with awake=false',
      ours: sleeping,
      others: [bare],
      targets: [[1, null]],
    })),
    ...(await sideBySide({ ...common, name: 'acquire + release', ours, others: peers, targets })),
    ...(await sideBySide({
      ...common,
      name: 'acquire + release with awake=false',
      ours: sleeping,
      others: peers,
      targets: [[32, null]],
    })),
    ...(await sideBySide({
      ...common,
      name: 'tryAcquire + release',
      ours: managed(leases),
      others: peers,
      targets: beside,
    })),
  ];
  for (const one of [port, asleep, bare, ...peers]) await one.close();
  await leases.shutdown();
  return rows;
}

/** Two fresh servers with the snapshots they take by default, which the measuring itself brings about. */
async function besideMillion(say) {
  const servers = [await startRedis(), await startRedis()];
  try {
    const [empty, full] = await Promise.all(servers.map(async ({ url }) => Port.over(await open(url))));
    say(`redis: filling a store with ${MANY_ROWS.toLocaleString('en')} leases (a minute or two)`);
    await full.fill(MANY_ROWS);
    say('redis: 1,000,000 leases against an empty store');
    const rows = await growth(STORE, empty, full);
    await empty.close();
    await full.close();
    return rows;
  } finally {
    for (const server of servers) await server.remove();
  }
}
