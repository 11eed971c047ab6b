// Ten thousand locks held by one process: what each costs in memory, and how many calls renew all of them once, counted on the
// wire by a proxy where there is one. Counts and not times, so a few contenders run side by side.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { countingProxy, grpcCounter, postgresCounter, redisCounter } from '../counting-proxy.mjs';
import { scaled } from '../scale.mjs';
import { attempt } from './attempt.mjs';
import { CONTENDERS } from './contenders.mjs';
import { serverOf } from './places.mjs';

const HELD = scaled(10_000, 500);
const PER = 10_000;
const TTL_MS = scaled(30_000, 12_000);
const SIDE_BY_SIDE = 4;
const COUNTERS = { postgres: postgresCounter, redis: redisCounter, etcd: grpcCounter };
/** What a connection says to know that it is alive, whatever is held. */
const HEARTBEATS = ['SELECT 1', 'PING'];
const CHILD = fileURLToPath(new URL('held-child.mjs', import.meta.url));

export async function held(say, places) {
  const waiting = CONTENDERS.filter(({ dashes }) => dashes.heap === undefined);
  const figures = [];
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      say(`public: ${HELD} held by one process, ${one.id}`);
      figures.push(...(await measure(one, places.of(one))));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return figures;
}

async function measure(one, place) {
  const heap = { contender: one.id, measure: 'heap', concurrency: HELD };
  const renewals = { contender: one.id, measure: 'renewals', concurrency: HELD };
  const counter = COUNTERS[serverOf(one)];
  const proxy = counter && (await countingProxy(place.url, counter));
  const its = proxy ? { ...place, url: proxy.url.replace(/\/$/, '') } : place;
  const args = [one.id, JSON.stringify(its), String(HELD), String(TTL_MS)];
  const child = fork(CHILD, args, { execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await attempt(one, heap, async () => {
    heap.bytes = (await heard(child, 'bytes')).bytes;
    if (one.dashes.renewals !== undefined) return;
    child.send('go');
    await heard(child, 'begin');
    proxy?.reset();
    child.send('go');
    const { renewed, calls } = await heard(child, 'end');
    renewals.calls = ((proxy ? sum(proxy.counts()) : calls) * PER) / renewed;
    child.send('go');
  });
  child.kill('SIGKILL');
  proxy?.close();
  if (heap.dash !== undefined) renewals.dash = heap.dash;
  return [heap, ...(one.dashes.renewals === undefined ? [renewals] : [])];
}

async function heard(child, kind) {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const exit = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the holding process ended with ${code}`);
    });
    const [message] = await Promise.race([once(child, 'message', { signal }), exit]);
    if (message.failed !== undefined) throw new Error(message.failed);
    if (message[kind] === undefined) throw new Error(`${kind} was expected`);
    return message;
  } finally {
    ended.abort();
  }
}

function sum(counts) {
  return Object.entries(counts).reduce((all, [what, count]) => all + (HEARTBEATS.includes(what) ? 0 : count), 0);
}
