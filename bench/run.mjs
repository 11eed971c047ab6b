// make bench: runs the suites, prints their tables and keeps their rows in bench/results.json; then the tables and plots of
// docs/benchmarks.md are made again from it.
import { pathToFileURL } from 'node:url';
import { table } from './measure.mjs';
import { describeRun, keepResults, resultsFile } from './results.mjs';
import { isShort, MANY_ROWS } from './scale.mjs';
import { missing } from './servers.mjs';
import { enterWorkplace } from './workplace.mjs';

/** In the order in which they run: what each measures, what it starts, and what its figures depend on. */
const SUITES = {
  public: {
    about: 'every contender side by side: throughput, hand-over, loss, renewals, growth, memory (about five minutes)',
    load: async () => (await import('./public.mjs')).benchPublic,
    servers: ['postgres', 'redis-server', 'etcd'],
    packages: [
      ...['better-sqlite3', 'pg', 'redis', 'ioredis', 'knex', '@verrou/core', 'redlock', 'redis-semaphore', 'etcd3'],
      ...['proper-lockfile', 'async-mutex'],
    ],
  },
  sqlite: {
    about: 'the port on SQLite against bare statements, renewals, a million rows, sweeps',
    load: async () => (await import('./sqlite.mjs')).benchSqlite,
    servers: [],
    packages: ['better-sqlite3'],
  },
  postgres: {
    about: 'PostgreSQL against bare statements and @verrou/core, hand-over, renewals, a frozen server, a million rows',
    load: async () => (await import('./postgres.mjs')).benchPostgres,
    servers: ['postgres'],
    packages: ['pg', 'knex', '@verrou/core'],
  },
  redis: {
    about: 'Redis against bare commands and its peers, hand-over, renewals, a frozen server, a million rows',
    load: async () => (await import('./redis.mjs')).benchRedis,
    servers: ['redis-server'],
    packages: ['redis', 'ioredis', 'redlock', 'redis-semaphore', '@verrou/core'],
  },
  floors: {
    about:
      'what the writes of a lease cost by themselves on PostgreSQL and Redis, and a hand-over whose question waits at the server',
    load: async () => (await import('./floors.mjs')).benchFloors,
    servers: ['postgres', 'redis-server'],
    packages: ['pg', 'redis', 'knex', '@verrou/core'],
  },
  pieces: {
    about: 'where the time of a hand-over on Redis goes',
    load: async () => (await import('./pieces.mjs')).benchPieces,
    servers: ['redis-server'],
    packages: ['redis', 'ioredis', 'redlock', 'redis-semaphore', '@verrou/core'],
  },
  layers: {
    about: 'what each layer of a hand-over on Redis costs: manager, store, client, sockets',
    load: async () => (await import('./layers.mjs')).benchLayers,
    servers: ['redis-server'],
    packages: ['redis', 'ioredis', 'redis-semaphore'],
  },
  sequence: {
    about: 'streams on every store, and sixteen writers that are killed',
    load: async () => (await import('./sequence.mjs')).benchSequence,
    servers: ['postgres', 'redis-server'],
    packages: ['better-sqlite3', 'pg', 'redis'],
  },
  manager: {
    about: 'connect, acquire and release on SQLite against the port and @verrou/core, hand-over, many held leases',
    load: async () => (await import('./manager.mjs')).benchManager,
    servers: [],
    packages: ['better-sqlite3', 'knex', '@verrou/core'],
  },
  command: {
    about: 'holdfast run against flock and an empty node',
    load: async () => (await import('./command.mjs')).benchCommand,
    servers: [],
    packages: ['better-sqlite3'],
  },
  server: {
    about: 'the server over HTTP, event streams, /metrics, waiting requests',
    load: async () => (await import('./server.mjs')).benchServer,
    servers: [],
    packages: ['better-sqlite3', 'hono', '@hono/node-server'],
  },
  page: {
    about: 'the page in Chromium with 10,000 leases and 500 changes a second',
    load: async () => (await import('./page.mjs')).benchPage,
    servers: [],
    packages: ['better-sqlite3', 'preact', '@preact/signals', 'playwright-core'],
  },
};
const HELP = `make bench [ONLY=suite,...]   or   ONLY=suite,... node bench/run.mjs   (after make build)

Runs the suites one after the other, prints a table of each and keeps it in bench/results.json with the machine, the versions
and the commit; then docs/benchmarks.md and its plots are made again from that file. Ends with 1 when a figure is below what was
asked for, 69 when a server is not installed, 70 when a suite failed.

${Object.entries(SUITES)
  .map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`)
  .join('\n')}

BENCH_SHORT=1 tries the programs out with a fraction of the work: marked as short, kept in bench/results-short.json, quoted nowhere.
`;

const wanted = readOrder(process.argv.slice(2), process.env.ONLY);
checkServers(wanted);
if (isShort) process.env.BENCH_ROWS ??= String(MANY_ROWS); // the suite of the server reads it from there
enterWorkplace();
let [isMet, hasFailed] = [true, false];
for (const name of wanted) {
  const run = describeRun(name, SUITES[name]);
  console.error(`... ${name}: ${SUITES[name].about}; load ${run.load}`);
  try {
    const began = performance.now();
    const bench = await SUITES[name].load();
    const rows = await bench((text) => console.error(`... ${text}`));
    keepResults({ ...run, seconds: Math.round((performance.now() - began) / 1_000) }, rows);
    console.error(`... ${name}: kept in ${resultsFile}`);
    isMet &&= rows.every((row) => row.met);
    console.log(`${run.command}: ${run.machine}\n\n${table(rows)}\n`);
  } catch (error) {
    hasFailed = true;
    console.error(`... ${name} failed, its older results stay: ${error.stack}`);
  }
}
if (isShort) console.error('... a short run: marked as such, and no document takes it');
else await import(pathToFileURL(new URL('plot.mjs', import.meta.url).pathname).href);
process.exit(hasFailed ? 70 : isMet ? 0 : 1);

function readOrder(args, only) {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    process.exit(0);
  }
  if (args.length > 0) refuse(`unknown argument: ${args.join(' ')}`);
  if (!only) return Object.keys(SUITES);
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !Object.hasOwn(SUITES, name));
  if (unknown.length > 0) refuse(`ONLY=${only}: no such suite: ${unknown.join(', ')}`);
  return names;
}

function refuse(why) {
  console.error(`${why}\n\n${HELP}`);
  process.exit(64);
}

function checkServers(names) {
  const absent = missing(new Set(names.flatMap((name) => SUITES[name].servers)));
  if (absent.length === 0) return;
  for (const { command, debian } of absent)
    console.error(
      `${command} was not found: install it (Debian, Ubuntu: apt-get install ${debian}), or choose other suites by ONLY=`,
    );
  process.exit(69);
}
