// make bench (ONLY=sqlite, postgres, redis, sequence, manager, command, server or page): runs the benchmarks, prints a table and
// writes bench/results.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { benchCommand } from './command.mjs';
import { benchManager } from './manager.mjs';
import { table } from './measure.mjs';
import { benchPage } from './page.mjs';
import { benchPostgres } from './postgres.mjs';
import { benchRedis } from './redis.mjs';
import { benchSequence } from './sequence.mjs';
import { benchServer } from './server.mjs';
import { benchSqlite } from './sqlite.mjs';

const BENCHES = {
  sqlite: benchSqlite,
  postgres: benchPostgres,
  redis: benchRedis,
  sequence: benchSequence,
  manager: benchManager,
  command: benchCommand,
  server: benchServer,
  page: benchPage,
};
const only = process.env.ONLY;
if (only && !Object.hasOwn(BENCHES, only)) {
  console.error(`ONLY=${only} is not a benchmark: known are ${Object.keys(BENCHES).join(', ')}`);
  process.exit(64);
}
const say = (text) => console.error(`... ${text}`);
const results = fileURLToPath(new URL('results.json', import.meta.url));
const rows = [];
for (const [name, bench] of Object.entries(BENCHES)) if (!only || only === name) rows.push(...(await bench(say)));
const others = only ? readOld().filter((row) => row.store !== only) : [];
writeFileSync(results, `${JSON.stringify([...others, ...rows], null, 2)}\n`);
const { model } = cpus()[0];
console.log(
  `${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}\n`,
);
console.log(table(rows));
process.exit(rows.every((row) => row.met) ? 0 : 1);

function readOld() {
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    return [];
  }
}
