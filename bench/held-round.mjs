// Ten thousand held leases in one process: the questions that a renewal round puts on the wire, counted by a proxy between
// the driver and the server, and not by our own code.
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../dist/index.js';
import { countingProxy } from './counting-proxy.mjs';
import { row, shown } from './measure.mjs';

const HELD = 10_000;
const TTL_MS = 15_000;
const ROUNDS = 2;
/** What the connection for hints says every few seconds to know that it is alive, whatever is held; shown, not counted. */
const HEARTBEATS = ['SELECT 1', 'PING'];

/** `open(url)` answers the store; `newCounter` reads its protocol. */
export async function heldRound(kind, server, open, newCounter) {
  const proxy = await countingProxy(server.url, newCounter);
  const store = await open(proxy.url);
  const renew = store.renew.bind(store);
  const renewed = { items: 0 };
  store.renew = (requests) => {
    renewed.items += requests.length;
    return renew(requests);
  };
  const leases = await connect(store, { services: 'off', ttl: TTL_MS });
  await Promise.all(Array.from({ length: HELD }, (_, i) => leases.acquire(`held/${i}`, { wait: 'forever' })));
  // The first round tells a fresh server its statement or script, and brings together what was granted one batch after the other.
  await untilRenewed(renewed, HELD);
  renewed.items = 0;
  proxy.reset();
  await untilRenewed(renewed, ROUNDS * HELD);
  const counts = proxy.counts();
  const lost = leases.held().filter((lease) => !lease.isHeld).length;
  if (lost > 0 || leases.held().length !== HELD) throw new Error('a held lease was lost');
  const rounds = renewed.items / HELD;
  await leases.shutdown().catch(() => undefined); // what a busy machine does not give back in time lapses
  await store.close();
  proxy.close();
  const asked = Object.entries(counts).filter(([what]) => !HEARTBEATS.includes(what));
  const trips = asked.reduce((sum, [, count]) => sum + count, 0) / rounds;
  const each = Object.entries(counts).map(([what, count]) => `${what === '' ? 'unnamed' : what}: ${count}`);
  const same = { store: kind, concurrency: HELD };
  return [
    row({
      ...same,
      name: 'round trips of a renewal round, counted on the wire',
      ours: trips,
      baseline: null,
      baselineName: '',
      unit: 'trips',
      ratio: trips,
      target: 40,
      atMost: true,
    }),
    shown({ ...same, name: `what was sent in ${rounds.toFixed(2)} rounds`, figures: each, unit: 'trips' }),
  ];
}

/** And until nothing more follows at once. */
async function untilRenewed(renewed, items) {
  while (renewed.items < items) await delay(20);
  await delay(500);
}
