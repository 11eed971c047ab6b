// The manager on SQLite: what it costs over the port, against @verrou/core, hand-over between processes, ten thousand and
// a hundred thousand held leases, and how soon a holder knows that it must stop when the store is frozen.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../dist/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { frozenStore } from './frozen-store.mjs';
import { handOver } from './hand-over.mjs';
import { heapPerLease, manyHeld } from './many-held.mjs';
import { alternate, row } from './measure.mjs';
import { openVerrouSqlite } from './peers/verrou.mjs';
import { clock, inParallel, Port } from './port.mjs';
import { scaled } from './scale.mjs';

const ROUNDS = scaled(45, 3);
/** Both sides run until the compiler is done with them: after 3,000 pairs it was not yet. */
const WARM_UP = scaled(10_000, 1_000);

export async function benchManager(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    say('tryAcquire + release against the port and against @verrou/core');
    const rows = [await againstPort(folder), ...(await againstVerrou(folder))];
    say('hand-over between 8 processes');
    rows.push(...(await handOver(folder)));
    say('10,000 held leases for two renewal rounds (half a minute)');
    rows.push(...(await manyHeld(folder)));
    say('heap of 100,000 held leases');
    rows.push(await heapPerLease());
    say('a process stopped inside a write transaction');
    rows.push(...(await frozenStore(folder)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function againstPort(folder) {
  const pairs = 300;
  const leases = await connect(`sqlite:${join(folder, 'manager.db')}`, { services: 'off' });
  const port = await Port.over(await openSqlite(`sqlite:${join(folder, 'port.db')}`, { clock }));
  await inTurn(WARM_UP, (i) => port.pair(i % pairs));
  await inTurn(WARM_UP, (i) => managerPair(leases, i % pairs));
  const [portMs, managerMs] = await alternate(ROUNDS, [
    () => inTurn(pairs, (i) => port.pair(i)),
    () => inTurn(pairs, (i) => managerPair(leases, i)),
  ]);
  await port.close();
  await leases.shutdown();
  return row({
    name: 'tryAcquire + release',
    store: 'manager',
    concurrency: 1,
    ours: (pairs / managerMs) * 1_000,
    baseline: (pairs / portMs) * 1_000,
    baselineName: 'the port',
    unit: 'pairs/s',
    ratio: portMs / managerMs,
    target: 0.7,
  });
}

async function againstVerrou(folder) {
  const leases = await connect(`sqlite:${join(folder, 'ours.db')}`, { services: 'off' });
  const verrou = await openVerrouSqlite(join(folder, 'verrou.db'));
  const rows = [];
  const pairs = 320;
  await inTurn(WARM_UP, (i) => verrou.pair(i % pairs));
  await inTurn(WARM_UP, (i) => managerPair(leases, i % pairs));
  for (const concurrency of [1, 32]) {
    const [theirMs, ourMs] = await alternate(ROUNDS, [
      () => inParallel(pairs, concurrency, (i) => verrou.pair(i)),
      () => inParallel(pairs, concurrency, (i) => managerPair(leases, i)),
    ]);
    const rates = { ours: (pairs / ourMs) * 1_000, baseline: (pairs / theirMs) * 1_000 };
    rows.push(
      row({
        name: 'tryAcquire + release',
        store: 'manager',
        concurrency,
        ...rates,
        baselineName: '@verrou/core',
        unit: 'pairs/s',
        ratio: theirMs / ourMs,
        target: 2.5,
      }),
    );
  }
  await verrou.close();
  await leases.shutdown();
  return rows;
}

async function managerPair(leases, i) {
  const attempt = await leases.tryAcquire(`bench/${i}`);
  if (!attempt.ok) throw new Error(`bench/${i}: ${attempt.refusal.reason}`);
  await attempt.lease.release();
}

async function inTurn(count, act) {
  for (let i = 0; i < count; i += 1) await act(i);
}
