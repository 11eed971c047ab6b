// SQLite at the level of the port, through batching, log on, against bare statements on the same file and settings.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { Batching, makeId, systemClock } from '../dist/index.js';
import { Checkpointer } from '../dist/stores/sqlite/checkpointer.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { alternate, row } from './measure.mjs';

const MILLION = 1_000_000;
const clock = systemClock();
const OWNER = 'bench-1-abcdef';

export async function benchSqlite(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const rows = [];
    const small = await Bench.open(join(folder, 'small.db'));
    say('acquire + release against bare statements');
    rows.push(...(await against(small)));
    say('renewing 10,000 leases');
    rows.push(...(await renewals(small)));
    say('filling a store with 1,000,000 leases (half a minute)');
    const large = await Bench.open(join(folder, 'large.db'));
    await large.fill(MILLION, 3_600_000);
    say('1,000,000 rows against an empty store');
    rows.push(...(await growth(small, large)));
    say('sweeping 10,000 expired leases');
    const medium = await Bench.open(join(folder, 'medium.db'));
    await medium.fill(10_000, 3_600_000);
    rows.push(await sweeps(medium, large));
    for (const bench of [small, medium, large]) await bench.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Bench {
  static async open(path) {
    const bench = new Bench();
    bench.store = await openSqlite(`sqlite:${path}`, { clock });
    bench.calls = 0;
    bench.batching = new Batching(bench.store);
    bench.bare = bareStatements(path);
    bench.now = (await bench.store.time()).now;
    bench.requests = 0;
    return bench;
  }

  request(name, ttlMs = 30_000) {
    return {
      id: makeId(this.now, clock.randomText()),
      bornAt: this.now,
      owner: OWNER,
      parts: [{ name, scope: 'node', mode: 'exclusive' }],
      ttlMs,
      priority: 0,
      join: false,
      holding: [],
      upgrades: undefined,
      reclaim: false,
      maxRenewals: -1,
      maxHoldMs: undefined,
      minHoldMs: 0,
      lockDelayMs: 0,
      operationId: undefined,
      metadata: undefined,
      remote: false,
      callerWall: clock.wall(),
    };
  }

  async take(name, ttlMs) {
    const { now, result } = await this.batching.acquire(this.request(name, ttlMs));
    this.now = now;
    if (result.outcome !== 'granted') throw new Error(`${name}: ${result.outcome}`);
    return result.lease;
  }

  async pair(name) {
    const { id, epoch } = await this.take(name, 30_000);
    this.requests += 1;
    const { result } = await this.batching.end({ id, epoch, requestId: `r${this.requests}`, why: 'released' });
    if (result.outcome !== 'released') throw new Error(`${name}: ${result.outcome}`);
  }

  async pairs(count, clients) {
    let next = 0;
    const client = async () => {
      while (next < count) {
        next += 1;
        await this.pair(`bench/${next % 1000}`);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  async fill(count, ttlMs) {
    for (let at = 0; at < count; at += 256) {
      const requests = Array.from({ length: Math.min(256, count - at) }, (_, i) =>
        this.request(`fill/${Math.floor((at + i) / 1000)}/${at + i}`, ttlMs),
      );
      const { results, now } = await this.store.acquire(requests);
      this.now = now;
      if (results.some((result) => result.outcome !== 'granted')) throw new Error('filling failed');
    }
  }

  async close() {
    await this.bare.close();
    await this.store.close();
  }
}

/** Two prepared statements, each its own transaction: what a lock table by hand would do. */
function bareStatements(path) {
  const db = new Driver(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = normal');
  db.pragma('cache_size = -16384');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('temp_store = memory');
  db.exec('CREATE TABLE bare (name TEXT PRIMARY KEY, owner TEXT, expires_at INTEGER, status TEXT)');
  const take = db.prepare(
    `INSERT INTO bare VALUES (?, ?, ?, 'active') ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
     expires_at = excluded.expires_at, status = excluded.status`,
  );
  const free = db.prepare("UPDATE bare SET status = 'released' WHERE name = ? AND owner = ?");
  const checkpointer = new Checkpointer(path);
  return {
    pairs(count) {
      for (let i = 0; i < count; i += 1) {
        const name = `bench/${i % 1000}`;
        take.run(name, OWNER, clock.wall() + 30_000);
        checkpointer.committed();
        free.run(name, OWNER);
        checkpointer.committed();
      }
    },
    async close() {
      await checkpointer.stop();
      db.close();
    },
  };
}

async function against(bench) {
  const PAIRS = 4_000;
  await bench.pairs(10_000, 1);
  await bench.pairs(20_000, 32);
  bench.bare.pairs(5_000);
  const [bareMs, oneMs, manyMs] = await alternate(15, [
    () => bench.bare.pairs(PAIRS),
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

async function growth(small, large) {
  const PAIRS = 3_000;
  const rows = [];
  for (const clients of [1, 32]) {
    await large.pairs(PAIRS, clients);
    await small.pairs(PAIRS, clients);
    const [emptyMs, fullMs] = await alternate(11, [
      () => small.pairs(PAIRS, clients),
      () => large.pairs(PAIRS, clients),
    ]);
    rows.push(
      row({
        name: 'acquire + release beside 1,000,000 leases',
        store: 'sqlite',
        concurrency: clients,
        ours: (PAIRS / fullMs) * 1_000,
        baseline: (PAIRS / emptyMs) * 1_000,
        baselineName: 'small store',
        unit: 'pairs/s',
        ratio: emptyMs / fullMs,
        target: 0.75,
      }),
    );
  }
  return rows;
}

async function renewals(bench) {
  const COUNT = 10_000;
  const leases = await Promise.all(Array.from({ length: COUNT }, (_, i) => bench.take(`renew/${i}`, 600_000)));
  const request = ({ id, epoch }) => {
    bench.requests += 1;
    return { id, epoch, requestId: `r${bench.requests}`, ttlMs: 600_000, callerWall: clock.wall() };
  };
  let calls = 0;
  const counted = new Batching({
    renew: (requests) => {
      calls += 1;
      return bench.store.renew(requests);
    },
  });
  const together = async () => {
    calls = 0;
    const answers = await Promise.all(leases.map((lease) => counted.renew(request(lease))));
    if (answers.some(({ result }) => result.outcome !== 'renewed')) throw new Error('not renewed');
  };
  const oneByOne = async () => {
    for (const lease of leases) await bench.store.renew([request(lease)]);
  };
  const [singleMs, togetherMs] = await alternate(11, [oneByOne, together]);
  await Promise.all(
    leases.map(({ id, epoch }) => bench.batching.end({ id, epoch, requestId: 'done', why: 'released' })),
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
  for (let round = 0; round < 7; round += 1) {
    for (const [name, bench] of [
      ['medium', medium],
      ['large', large],
    ]) {
      await Promise.all(Array.from({ length: EXPIRED }, (_, i) => bench.take(`sweep/${round}/${i}`, 100)));
      await delay(150);
      const start = performance.now();
      let swept = 0;
      for (let more = true; more;) {
        const answer = await bench.store.sweep({ limit: 1_000 });
        swept += answer.leases;
        more = answer.more;
      }
      times[name].push(performance.now() - start);
      if (swept !== EXPIRED) throw new Error(`swept ${swept}`);
    }
  }
  const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const [mediumMs, largeMs] = [middle(times.medium), middle(times.large)];
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
