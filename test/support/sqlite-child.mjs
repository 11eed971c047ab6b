// A process that holds a lease file open and does as it is told, one line at a time: node sqlite-child.mjs FILE OWNER
// hold NAME TTL: take a lease. loop: acquire and release until killed. freeze: stop inside a write transaction.
// churn: acquire and release as fast as it goes, keeping one in twenty. wait NAME: queue for a lease and say when it was granted. close: end.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { makeId, systemClock } from '../../dist/index.js';
import { openSqlite } from '../../dist/stores/sqlite/index.js';

const [file, owner] = process.argv.slice(2);
const clock = systemClock();
const say = (text) => process.stdout.write(`${text}\n`);

let store;
try {
  store = await openSqlite(`sqlite:${file}`, { clock });
} catch (error) {
  say(`failed ${error.code} ${error.message}`);
  process.exit(1);
}
say('open');

async function ask(name, ttlMs, join = false) {
  const { now } = await store.time();
  return {
    id: makeId(now, clock.randomText()),
    bornAt: now,
    owner,
    parts: [{ name, scope: 'node', mode: 'exclusive' }],
    ttlMs,
    priority: 0,
    join,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: clock.wall(),
  };
}

async function acquire(name, ttlMs) {
  const request = await ask(name, ttlMs);
  const [result] = (await store.acquire([request])).results;
  return result;
}

const orders = {
  async hold(name, ttlMs) {
    const result = await acquire(name, Number(ttlMs));
    say(`held ${result.lease.id} ${result.lease.epoch}`);
  },
  async loop() {
    say('looping');
    for (let i = 0; ; i += 1) {
      const result = await acquire(`loop/${i % 7}`, 100);
      if (result.outcome !== 'granted') continue;
      say(`granted ${result.lease.id} ${result.lease.epoch}`);
      if (i % 3 === 0) continue;
      const { id, epoch } = result.lease;
      const [ended] = (await store.end([{ id, epoch, requestId: `r${i}`, why: 'released' }])).results;
      if (ended.outcome === 'released') say(`released ${id} ${epoch}`);
    }
  },
  async churn() {
    for (let i = 0; ; i += 1) {
      const { id, epoch } = (await acquire(`churn/${i}`, 600_000)).lease;
      say(`granted ${id} ${epoch}`);
      if (i % 20 !== 0) await store.end([{ id, epoch, requestId: `r${i}`, why: 'released' }]);
    }
  },
  async freeze() {
    const db = new Driver(file);
    db.exec('BEGIN IMMEDIATE');
    say('frozen');
    process.kill(process.pid, 'SIGSTOP');
    db.exec('COMMIT');
    db.close();
    say('thawed');
  },
  async wait(name) {
    const request = await ask(name, 60_000, true);
    let woken = () => undefined;
    store.subscribe({ wake: (ids) => ids.includes(request.id) && woken() });
    for (;;) {
      const hint = new Promise((resolve) => {
        woken = resolve;
      });
      const [result] = (await store.acquire([request])).results;
      if (result.outcome === 'granted') return say(`granted ${Number(process.hrtime.bigint() / 1000n)}`);
      say(result.outcome);
      await Promise.race([hint, delay(3_000)]);
    }
  },
  async end(id, epoch) {
    await store.end([{ id, epoch: Number(epoch), requestId: 'end', why: 'released' }]);
    say(`ended ${Number(process.hrtime.bigint() / 1000n)}`);
  },
  async close() {
    await store.close();
    process.exit(0);
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const [order, ...rest] = line.split(' ');
  orders[order](...rest).catch((error) => {
    say(`failed ${error.code} ${error.message}`);
  });
});
