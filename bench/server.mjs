// The server: its public routes against the same server answering fixed JSON, the HTTP store against one request per operation,
// event streams under load, /metrics beside a million leases, and what a waiting request costs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHttp } from '../dist/stores/http/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { alternate, collect, row } from './measure.mjs';
import { clock, inParallel, Port } from './port.mjs';
import { RawConnection } from './raw-http.mjs';

const CONNECTIONS = 64;
const PAIRS = 2_000;
const ROUNDS = 7;
const READERS = 200;
const CHANGES_PER_SECOND = 500;
const SSE_MS = 10_000;
const LONGEST_READ_MS = 60_000;
const WAITING = 2_000;
/** Fewer, to try the benchmark out. */
const MANY_ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const FEW_ROWS = 1_000;
const STORE = 'server';

export async function benchServer(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-server-'));
  const { rows, add } = collect(say);
  const file = (name) => `sqlite:${join(folder, name)}.db`;
  try {
    say('acquire + release over HTTP against fixed JSON');
    add(await withServers([file('pairs'), undefined], pairs));
    say('the HTTP store, 256 at once');
    add(await withServers([file('store')], httpStore));
    say(`${READERS} event streams, ${CHANGES_PER_SECOND} leases a second`);
    add(await withServers([file('events')], eventStreams));
    say(`/metrics beside ${MANY_ROWS} leases`);
    await fill(file('many'), MANY_ROWS);
    await fill(file('few'), FEW_ROWS);
    add(await withServers([file('many'), file('few')], metrics));
    say(`${WAITING} waiting acquires`);
    add(await withServers([file('waiting')], waiting));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Servers in processes of their own; undefined for the one that answers fixed JSON. */
async function withServers(stores, measure) {
  const path = fileURLToPath(new URL('server-child.mjs', import.meta.url));
  const children = stores.map((store) =>
    fork(path, store === undefined ? ['fixed'] : ['serve', store], { execArgv: ['--expose-gc'] }),
  );
  try {
    const servers = [];
    for (const child of children) {
      const [{ port }] = await once(child, 'message');
      servers.push({ child, port });
    }
    return await measure(...servers);
  } finally {
    for (const child of children) child.disconnect();
  }
}

async function pairs(served, fixed) {
  const ways = [];
  for (const { port } of [served, fixed]) {
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(port)));
    ways.push(() => Promise.all(connections.map((connection, i) => pairsOf(connection, i))));
  }
  for (const way of ways) await way();
  const [ours, baseline] = await alternate(ROUNDS, ways);
  const rate = (ms) => (PAIRS / ms) * 1_000;
  return [
    row({
      name: 'HTTP acquire + release on SQLite',
      store: STORE,
      concurrency: CONNECTIONS,
      ours: rate(ours),
      baseline: rate(baseline),
      baselineName: 'fixed JSON',
      unit: 'pairs/s',
      ratio: baseline / ours,
      target: 0.5,
    }),
  ];
}

async function pairsOf(connection, i) {
  const count = Math.ceil(PAIRS / CONNECTIONS);
  for (let k = 0; k < count; k += 1) {
    const taken = await connection.post('/v1/leases', { resource: `bench/${i}/${k}`, ttl: 30_000, wait: 0 });
    if (taken.status !== 201) throw new Error(taken.text);
    const { id, epoch } = JSON.parse(taken.text);
    const released = await connection.post(`/v1/leases/${id}/release`, { epoch });
    if (released.status !== 200) throw new Error(released.text);
  }
}

async function httpStore({ port }) {
  const concurrency = 256;
  const store = await openHttp(`http://127.0.0.1:${port}`, { clock });
  const batched = await Port.over(store);
  const connections = await Promise.all(Array.from({ length: concurrency }, () => RawConnection.open(port)));
  const ways = [
    () => inParallel(4_000, concurrency, (i) => batched.pair(i)),
    () => Promise.all(connections.map((connection, lane) => singlePairs(connection, batched, lane, concurrency))),
  ];
  for (const way of ways) await way();
  const [ours, baseline] = await alternate(ROUNDS, ways);
  await store.close();
  for (const connection of connections) connection.close();
  return [
    row({
      name: 'the HTTP store, batched',
      store: STORE,
      concurrency,
      ours: 4_000_000 / ours,
      baseline: 4_000_000 / baseline,
      baselineName: 'one request per operation',
      unit: 'pairs/s',
      ratio: baseline / ours,
      target: 3,
    }),
  ];
}

async function singlePairs(connection, port, lane, concurrency) {
  for (let i = lane; i < 4_000; i += concurrency) await singlePair(connection, port, i);
}

async function singlePair(connection, port, i) {
  const request = port.request(`single/${i}`);
  const { results } = answerOf(await connection.post('/v1/store/acquire', { args: [[request]] }));
  if (results[0].outcome !== 'granted') throw new Error(results[0].outcome);
  const { id, epoch } = results[0].lease;
  answerOf(await connection.post('/v1/store/end', { args: [[{ id, epoch, requestId: `s${i}`, why: 'released' }]] }));
}

function answerOf({ status, text }) {
  if (status !== 200) throw new Error(text);
  return JSON.parse(text);
}

/** Every lease that is taken and released is two events; each reader must see each of them once. */
async function eventStreams({ port }) {
  const path = fileURLToPath(new URL('sse-child.mjs', import.meta.url));
  const readers = fork(path, [String(port), String(READERS)]);
  await once(readers, 'message');
  const store = await openHttp(`http://127.0.0.1:${port}`, { clock });
  const writer = await Port.over(store);
  let [changed, failed] = [0, 0];
  const begin = performance.now();
  const under = new Set();
  while (performance.now() - begin < SSE_MS) {
    const due = Math.floor(((performance.now() - begin) / 1_000) * CHANGES_PER_SECOND);
    for (; changed < due; changed += 1) {
      const pair = writer
        .pairOn(`sse/${changed}`)
        .catch(() => (failed += 1))
        .finally(() => under.delete(pair));
      under.add(pair);
    }
    await delay(5);
  }
  await Promise.all(under);
  const written = await countEvents(store);
  const { seen, twice, p99 } = await whenRead(readers, written);
  readers.disconnect();
  await store.close();
  const missing = seen.reduce((sum, count) => sum + (written - count), 0);
  const common = { store: STORE, concurrency: READERS, baseline: null, baselineName: '', atMost: true };
  const rate = `${Math.round((changed - failed) / (SSE_MS / 1_000))} leases/s`;
  return [
    row({ ...common, name: `events missing (${rate})`, ours: missing, unit: 'events', ratio: missing, target: 0 }),
    row({ ...common, name: 'events seen twice', ours: twice, unit: 'events', ratio: twice, target: 0 }),
    row({ ...common, name: 'commit to client, p99', ours: p99, unit: 'ms', ratio: p99, target: 250 }),
  ];
}

/** What the readers saw, when all have seen all of it, or after LONGEST_READ_MS. */
async function whenRead(readers, written) {
  const until = performance.now() + LONGEST_READ_MS;
  for (;;) {
    readers.send('look');
    const [report] = await once(readers, 'message');
    if (Math.min(...report.seen) >= written || performance.now() > until) return report;
    await delay(500);
  }
}

/** What the log has of it: the truth that readers are held against. */
async function countEvents(store) {
  let [count, after] = [0, undefined];
  for (;;) {
    const page = await store.events({ prefix: 'sse', limit: 1_000, after });
    count += page.rows.length;
    after = page.next;
    if (!page.more) return count;
  }
}

async function fill(url, count) {
  const store = await openSqlite(url, { clock });
  await (await Port.over(store)).fill(count);
  await store.close();
}

async function metrics(many, few) {
  const ways = [];
  for (const { port } of [many, few]) {
    const connection = await RawConnection.open(port);
    ways.push(async () => {
      for (let i = 0; i < 20; i += 1) {
        const { status, text } = await connection.get('/metrics');
        if (status !== 200) throw new Error(text);
      }
    });
  }
  for (const way of ways) await way();
  const [manyMs, fewMs] = await alternate(ROUNDS, ways);
  return [
    row({
      name: `/metrics beside ${MANY_ROWS} leases`,
      store: STORE,
      concurrency: 1,
      ours: manyMs / 20,
      baseline: fewMs / 20,
      baselineName: `${FEW_ROWS} leases`,
      unit: 'ms',
      ratio: manyMs / fewMs,
      target: 1.5,
      atMost: true,
    }),
  ];
}

async function waiting({ child, port }) {
  const used = async () => {
    child.send('memory');
    const [{ bytes }] = await once(child, 'message');
    return bytes;
  };
  const holder = await RawConnection.open(port);
  await holder.post('/v1/leases', { resource: 'held', ttl: '10m', wait: 0 });
  await holder.get('/v1/tickets');
  await delay(1_000);
  const before = await used();
  const connections = [];
  for (let i = 0; i < WAITING; i += 1) {
    const connection = await RawConnection.open(port);
    connection.send('/v1/leases', { resource: 'held', ttl: 30_000, wait: '5m' });
    connections.push(connection);
  }
  await delay(8_000); // everybody has joined, and refreshed its ticket at least once
  const each = ((await used()) - before) / WAITING / 1_024;
  for (const connection of connections) connection.close();
  return [
    row({
      name: 'a waiting acquire',
      store: STORE,
      concurrency: WAITING,
      ours: each,
      baseline: null,
      baselineName: '',
      unit: 'KiB',
      ratio: each,
      target: 20,
      atMost: true,
    }),
  ];
}
