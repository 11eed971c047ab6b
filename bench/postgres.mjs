// PostgreSQL, on private servers with the settings they come with (fsync and synchronous_commit on), log on. "acquire +
// release" is the port through batching, "tryAcquire + release" the manager. Both sides have a pool of ten.
import pg from 'pg';
import { connect } from '../dist/index.js';
import { openPostgres } from '../dist/stores/postgres/index.js';
import { openBarePostgres } from './bare-postgres.mjs';
import { postgresCounter } from './counting-proxy.mjs';
import { frozenServer } from './frozen-server.mjs';
import { heldRound } from './held-round.mjs';
import { collect, shown } from './measure.mjs';
import { openVerrouPostgres } from './peers/verrou.mjs';
import { clock, Port } from './port.mjs';
import { queueHandOver } from './queue.mjs';
import { MANY_ROWS } from './scale.mjs';
import { startPostgres } from './servers.mjs';
import { growth, managed, sideBySide } from './side-by-side.mjs';

const POOL_SIZE = 10;
const STORE = 'postgres';
const TARGETS = [
  [1, 0.75],
  [32, 1.8],
  [256, 5],
];
const VERROU_TARGETS = [
  [1, 1.3],
  [32, 3],
];
const NO_TARGETS = TARGETS.map(([concurrency]) => [concurrency, null]);

const open = (url) => openPostgres(url, { clock, poolSize: POOL_SIZE });
/** About as long a round at each concurrency. */
const pairsAt = (concurrency) => ({ 1: 300, 32: 1_600, 256: 5_120 })[concurrency];

export async function benchPostgres(say) {
  const server = await startPostgres();
  const { rows, add } = collect(say);
  try {
    say('postgres: acquire + release against bare statements');
    add(await againstBare(server.url, 'acquire + release', TARGETS));
    say('postgres: the same with every release on the disk before it is answered');
    add(await againstBare(everyRelease(server.url), 'acquire + release, each release on the disk', NO_TARGETS));
    say('postgres: tryAcquire + release against @verrou/core');
    add(await againstVerrou(server.url, 'tryAcquire + release', VERROU_TARGETS));
    add(await againstVerrou(`${server.url}?awake=false`, 'tryAcquire + release with awake=false', [[1, null]]));
    say('postgres: hand-over between 8 processes, ours and the peers (about a minute)');
    add(await queueHandOver(STORE, server.url));
    say('postgres: 10,000 held leases for two renewal rounds (half a minute)');
    add(await heldRound(STORE, server, open, postgresCounter));
    say('postgres: the server frozen, ours and the peers (a minute)');
    const verrou = await openVerrouPostgres(server.url, POOL_SIZE);
    add(await frozenServer(STORE, server, [verrou]));
    await verrou.close();
    add(await besideMillion(say));
    return rows;
  } finally {
    await server.remove();
  }
}

/** What is set to anything but `on` is kept to by releases too (docs/decisions/0025); without standbys `local` is the same as `on`. */
const everyRelease = (url) => `${url}?options=${encodeURIComponent('-c synchronous_commit=local')}`;

async function againstBare(url, name, targets) {
  const port = await Port.over(await open(url));
  const bare = await openBarePostgres(url, POOL_SIZE);
  const ours = { pair: (i) => port.pair(i) };
  const rows = await sideBySide({ name, store: STORE, ours, others: [bare], targets, pairsAt });
  await port.close();
  await bare.close();
  return rows;
}

async function againstVerrou(url, name, targets) {
  const leases = await connect(url, { services: 'off', poolSize: POOL_SIZE });
  const verrou = await openVerrouPostgres(url, POOL_SIZE);
  const ours = managed(leases);
  const rows = await sideBySide({ name, store: STORE, ours, others: [verrou], targets, pairsAt });
  await verrou.close();
  await leases.shutdown();
  return rows;
}

/** Two fresh servers; both are vacuumed and checkpointed once before they are measured. */
async function besideMillion(say) {
  const servers = [await startPostgres(), await startPostgres()];
  try {
    const [empty, full] = await Promise.all(servers.map(async ({ url }) => Port.over(await open(url))));
    say(`postgres: filling a store with ${MANY_ROWS.toLocaleString('en')} leases (a minute or two)`);
    await full.fill(MANY_ROWS);
    for (const { url } of servers) {
      const client = new pg.Client(url);
      await client.connect();
      await client.query('VACUUM ANALYZE');
      await client.query('CHECKPOINT');
      await client.end();
    }
    say('postgres: 1,000,000 leases against an empty store');
    const rows = await growth(STORE, empty, full);
    say('postgres: the history of one resource in that log');
    rows.push(await quietHistory(full.store));
    await empty.close();
    await full.close();
    return rows;
  } finally {
    for (const server of servers) await server.remove();
  }
}

/** The history of a name that nobody ever took: the whole log is looked through, a stretch a call (docs/decisions/0006). */
async function quietHistory(store) {
  const calls = [];
  for (let [after, more] = [undefined, true]; more;) {
    const start = performance.now();
    const page = await store.events({ resource: 'nobody/took/this', after, limit: 100 });
    calls.push(performance.now() - start);
    [after, more] = [page.next, page.more];
  }
  const name = `history of a quiet resource, a log of ${MANY_ROWS.toLocaleString('en')} rows and more: whole; longest of ${calls.length} calls`;
  const figures = [calls.reduce((sum, ms) => sum + ms, 0), Math.max(...calls)];
  return shown({ name, store: STORE, concurrency: 1, figures, unit: 'ms' });
}
