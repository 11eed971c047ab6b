// What a million locks that stand do to a pair: the same contender on a store that has them and on one of the same settings that
// is empty, in turn. `fillAll` makes the full stores, each contender's in a process of its own; it takes the longest of all.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { median } from '../measure.mjs';
import { MANY_ROWS, scaled } from '../scale.mjs';
import { attempt } from './attempt.mjs';
import { contender, takingPart } from './contenders.mjs';
import { play } from './throughput.mjs';

/** How many keys a transaction may write in etcd while it is filled; 128 by default. */
export const FILL_AT_ONCE = 5_000;
export const FULL_SETTINGS = { etcd: { 'max-txn-ops': FILL_AT_ONCE } };
const CONCURRENCY = 32;
const WINDOW_MS = scaled(300, 60);
const ROUNDS = scaled(3, 1);
/** The other Redis peers keep the same keys. */
const FILLS = [
  ...['holdfast-postgres', 'holdfast-redis', 'holdfast-sqlite', 'etcd3', 'verrou-postgres', 'bare-postgres', 'redlock'],
  ...['verrou-sqlite', 'bare-sqlite'],
];
const FILLED_AS = { 'redis-semaphore': 'redlock', 'verrou-redis': 'redlock', 'bare-redis': 'redlock' };
const SIDE_BY_SIDE = 3;
const CHILD = fileURLToPath(new URL('fill-child.mjs', import.meta.url));

/** Answers what could not be filled: that contender has a dash here, and the rest of a long run is not lost. */
export async function fillAll(say, full) {
  const waiting = [...FILLS];
  const unfilled = new Set();
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const began = performance.now();
      const isFilled = await fill(id, full.of(contender(id)));
      if (!isFilled) unfilled.add(id);
      const how = isFilled ? 'filled' : 'could NOT fill';
      say(`public: ${how} ${id} with ${MANY_ROWS} in ${Math.round((performance.now() - began) / 1_000)} s`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return unfilled;
}

async function fill(id, place) {
  const child = fork(CHILD, [id, JSON.stringify(place), String(MANY_ROWS)]);
  const [code] = await once(child, 'exit');
  return code === 0;
}

export async function growth(say, full, empty, unfilled) {
  for (const { servers } of [full, empty]) await settle(servers.postgres.url);
  const figures = [];
  for (const one of takingPart('growth')) {
    say(`public: beside ${MANY_ROWS}, ${one.id}`);
    const result = { contender: one.id, measure: 'growth', concurrency: CONCURRENCY };
    if (unfilled.has(FILLED_AS[one.id] ?? one.id)) result.dash = 'its store could not be filled in this run';
    await attempt(one, result, async () => Object.assign(result, await compare(one, full, empty)));
    figures.push(result);
  }
  return figures;
}

async function compare(one, full, empty) {
  const opened = [await one.open(full.of(one)), await one.open(empty.of(one))];
  const rates = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [i, { pair }] of opened.entries()) {
      const { perSecond } = await play(WINDOW_MS, CONCURRENCY, (caller) => pair(caller));
      if (round >= 0) rates[i].push(perSecond);
    }
  }
  for (const { close } of opened) await close();
  const [beside, alone] = rates.map(median);
  return { perSecond: beside, empty: alone, ratio: beside / alone };
}

/** Both are vacuumed and checkpointed before they are measured. */
async function settle(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  await client.end();
}
