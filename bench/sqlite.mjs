// SQLite at the level of the port, through batching, log on, against bare statements on the same file and settings.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Batching } from '../dist/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { openBareSqlite } from './bare-sqlite.mjs';
import { alternate, median, row } from './measure.mjs';
import { clock, inParallel, Port } from './port.mjs';
import { MANY_ROWS, scaled } from './scale.mjs';
import { growth } from './side-by-side.mjs';

export async function benchSqlite(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const rows = [];
    const small = await openBench(join(folder, 'small.db'));
    say('acquire + release against bare statements');
    rows.push(...(await against(small)));
    say('renewing 10,000 leases');
    rows.push(...(await renewals(small.port)));
    say(`filling a store with ${MANY_ROWS.toLocaleString('en')} leases (half a minute)`);
    const large = await openBench(join(folder, 'large.db'));
    await large.port.fill(MANY_ROWS);
    say('1,000,000 rows against an empty store');
    const pairs = [
      [1, 3_000],
      [32, 3_000],
    ];
    rows.push(
      ...(await growth('sqlite', small.port, large.port, { pairs, target: 0.75, baselineName: 'small store' })),
    );
    say('sweeping 10,000 expired leases');
    const medium = await openBench(join(folder, 'medium.db'));
    await medium.port.fill(10_000);
    rows.push(await sweeps(medium.port, large.port));
    for (const bench of [small, medium, large]) await bench.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The port on a file, with the bare statements on the same file beside it. */
async function openBench(path) {
  const port = await Port.over(await openSqlite(`sqlite:${path}`, { clock }));
  const bare = openBareSqlite(path);
  const close = async () => {
    await bare.close();
    await port.close();
  };
  return { port, bare, close, pairs: (count, callers) => inParallel(count, callers, (i) => port.pair(i)) };
}

async function against(bench) {
  const PAIRS = 4_000;
  const inTurn = (count) => {
    for (let i = 0; i < count; i += 1) bench.bare.pair(i);
  };
  await bench.pairs(10_000, 1);
  await bench.pairs(20_000, 32);
  inTurn(5_000);
  const [bareMs, oneMs, manyMs] = await alternate(scaled(15, 3), [
    () => inTurn(PAIRS),
    () => bench.pairs(PAIRS, 1),
    () => bench.pairs(PAIRS, 32),
  ]);
  const perSecond = (ms) => (PAIRS / ms) * 1_000;
  const common = {
    name: 'acquire + release',
    store: 'sqlite',
    baseline: perSecond(bareMs),
    baselineName: 'bare upsert + update',
    unit: 'pairs/s',
  };
  return [
    row({ ...common, concurrency: 1, ours: perSecond(oneMs), ratio: bareMs / oneMs, target: 0.45 }),
    row({ ...common, concurrency: 32, ours: perSecond(manyMs), ratio: bareMs / manyMs, target: 1.7 }),
  ];
}

async function renewals(port) {
  const COUNT = 10_000;
  const leases = await Promise.all(Array.from({ length: COUNT }, (_, i) => port.take(`renew/${i}`, 600_000)));
  const request = ({ id, epoch }) => {
    port.requests += 1;
    return { id, epoch, requestId: `r${port.requests}`, ttlMs: 600_000, callerWall: clock.wall() };
  };
  let calls = 0;
  const counted = new Batching({
    renew: (requests) => {
      calls += 1;
      return port.store.renew(requests);
    },
  });
  const together = async () => {
    calls = 0;
    const answers = await Promise.all(leases.map((lease) => counted.renew(request(lease))));
    if (answers.some(({ result }) => result.outcome !== 'renewed')) throw new Error('not renewed');
  };
  const oneByOne = async () => {
    for (const lease of leases) await port.store.renew([request(lease)]);
  };
  const [singleMs, togetherMs] = await alternate(scaled(11, 3), [oneByOne, together]);
  await Promise.all(
    leases.map(({ id, epoch }) => port.batching.end({ id, epoch, requestId: 'done', why: 'released' })),
  );
  const common = { store: 'sqlite', concurrency: COUNT };
  return [
    row({
      ...common,
      name: 'renew 10,000 leases: store calls',
      ours: calls,
      baseline: null,
      baselineName: '-',
      unit: 'calls',
      ratio: calls,
      target: 40,
      atMost: true,
    }),
    row({
      ...common,
      name: 'renew 10,000 leases: time per lease',
      ours: (togetherMs / COUNT) * 1_000,
      baseline: (singleMs / COUNT) * 1_000,
      baselineName: 'one by one',
      unit: 'µs',
      ratio: singleMs / togetherMs,
      target: 5,
    }),
  ];
}

async function sweeps(medium, large) {
  const EXPIRED = 10_000;
  const times = { medium: [], large: [] };
  for (let round = 0; round < scaled(7, 1); round += 1) {
    for (const [name, port] of [
      ['medium', medium],
      ['large', large],
    ]) {
      await Promise.all(Array.from({ length: EXPIRED }, (_, i) => port.take(`sweep/${round}/${i}`, 100)));
      await delay(150);
      const start = performance.now();
      let swept = 0;
      for (let more = true; more;) {
        const answer = await port.store.sweep({ limit: 1_000 });
        swept += answer.leases;
        more = answer.more;
      }
      times[name].push(performance.now() - start);
      if (swept !== EXPIRED) throw new Error(`swept ${swept}`);
    }
  }
  const [mediumMs, largeMs] = [median(times.medium), median(times.large)];
  return row({
    name: 'sweep of 10,000 expired among 1,000,000',
    store: 'sqlite',
    concurrency: 1,
    ours: largeMs,
    baseline: mediumMs,
    baselineName: 'among 20,000',
    unit: 'ms',
    ratio: largeMs / mediumMs,
    target: 1.5,
    atMost: true,
  });
}
