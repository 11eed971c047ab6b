// A frozen server (SIGSTOP to all of it): from that moment to the abort of the holder's signal, ttl 1 s, at moments spread
// over the renewal period. Beside it what each peer tells its holder while the server stays frozen: redis-semaphore calls
// `onLockLost` when a renewal is refused, redlock and @verrou/core tell nothing by themselves, so their holder extends by hand.
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../dist/index.js';
import { median, row, shown } from './measure.mjs';
import { scaled } from './scale.mjs';

const TTL_MS = 1_000;
const ROUNDS = scaled(24, 2);
const PEER_ROUNDS = scaled(3, 1);
const PEER_PATIENCE_MS = 5_000;
const EXTEND_MS = 600;

export async function frozenServer(kind, server, peers) {
  const rows = await ourWorst(kind, server);
  for (const peer of peers) rows.push(await peerWorst(kind, server, peer));
  return rows;
}

async function ourWorst(kind, server) {
  const delays = [];
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  const leases = await connect(server.url, { services: 'off', ttl: TTL_MS });
  for (let round = 0; round < ROUNDS; round += 1) {
    const lease = await leases.acquire('frozen', { wait: '30s' });
    await delay(50 + (round * 900) / ROUNDS);
    if (lease.signal.aborted) throw new Error('lost before anything was frozen');
    const lost = once(lease.signal, 'abort');
    const frozenAt = performance.now();
    server.freeze();
    await lost;
    delays.push(performance.now() - frozenAt);
    server.thaw();
  }
  lag.disable();
  await leases.shutdown();
  const worst = Math.max(...delays);
  const same = { store: kind, concurrency: 1, unit: 'ms' };
  return [
    row({
      ...same,
      name: `frozen server to abort, ttl 1 s: worst of ${ROUNDS}, median ${Math.round(median(delays))} ms`,
      ours: worst,
      baseline: null,
      baselineName: '',
      ratio: worst,
      target: TTL_MS,
      atMost: true,
    }),
    shown({ ...same, name: "the holder's event loop meanwhile: latest turn", figures: [lag.max / 1e6 - 1] }),
  ];
}

async function peerWorst(kind, server, peer) {
  const told = [];
  for (let round = 0; round < PEER_ROUNDS; round += 1) {
    let tell;
    const isTold = new Promise((resolve) => {
      tell = resolve;
    });
    const held = await peer.lock(`frozen/${round}`, TTL_MS, tell);
    const timer = held.extend && setInterval(() => held.extend().catch(tell), EXTEND_MS);
    await delay(100 + round * 200);
    const frozenAt = performance.now();
    server.freeze();
    const first = await Promise.race([isTold.then(() => 'told'), delay(PEER_PATIENCE_MS, 'silence')]);
    told.push(first === 'told' ? performance.now() - frozenAt : Infinity);
    server.thaw();
    clearInterval(timer);
    await Promise.resolve(held.release()).catch(() => undefined);
  }
  const worst = Math.max(...told);
  const how = kind === 'redis' && peer.name === 'redis-semaphore' ? 'onLockLost' : 'extend by hand rejects';
  return shown({
    name: `frozen server to ${how} of ${peer.name}: worst of ${PEER_ROUNDS}`,
    store: kind,
    concurrency: 1,
    figures: [Number.isFinite(worst) ? worst : `not told in ${PEER_PATIENCE_MS}`],
    unit: 'ms',
  });
}
