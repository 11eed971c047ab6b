// What each layer of a hand-over on Redis costs: the rounds of bench/queue.mjs with ours, the store of ours without its manager, and a
// small lock over either client and over plain sockets, all in the same processes, with the best peer between them. Whoever is told and
// then asks can hardly do less than the last, and does it here in processes as cold and as busy with others' code as ours.
import { fileURLToPath } from 'node:url';
import { median, percentile, shown } from './measure.mjs';
import { playRounds } from './queue.mjs';
import { startRedis } from './servers.mjs';

const CHILD = fileURLToPath(new URL('queue-child.mjs', import.meta.url));

export async function benchLayers(say) {
  say('layers: hand-overs between 8 processes with less and less of ours (about three minutes)');
  const server = await startRedis();
  const waits = new Map();
  try {
    await playRounds({ kind: 'layers', url: server.url, child: CHILD }, (name, turns, releasedAt) => {
      const all = waits.get(name) ?? { first: [], any: [] };
      waits.set(name, all);
      const found = waitsOf(turns, releasedAt);
      all.first.push(found[0]);
      all.any.push(...found);
    });
  } finally {
    await server.remove();
  }
  return [...waits].map(([name, { first, any }]) =>
    shown({
      name: `${name}, hand-over between processes: median; p99; median of first turns`,
      store: 'redis',
      concurrency: 8,
      figures: [median(any), p99(any), median(first)],
      unit: 'ms',
    }),
  );
}

function waitsOf(turns, gateReleasedAt) {
  let releasedAt = gateReleasedAt;
  return [...turns]
    .sort((a, b) => a.heldAt - b.heldAt)
    .map((turn) => {
      const wait = turn.heldAt - releasedAt;
      releasedAt = turn.releasedAt;
      return wait;
    });
}

function p99(values) {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.99,
  );
}
