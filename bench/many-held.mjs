// Many held leases in one process: what a renewal round costs in calls and in event-loop lag, and what a lease costs in heap.
import { join } from 'node:path';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, systemClock } from '../dist/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { row } from './measure.mjs';
import { scaled } from './scale.mjs';

const HELD = 10_000;
const HEAP_HELD = scaled(100_000, 5_000);
const TTL_MS = 15_000;
const HEAP_CHILD = fileURLToPath(new URL('heap-child.mjs', import.meta.url));

export async function manyHeld(folder) {
  const store = await openSqlite(`sqlite:${join(folder, 'many.db')}`, { clock: systemClock() });
  const renew = store.renew.bind(store);
  const renewed = { calls: 0, items: 0 };
  store.renew = (requests) => {
    renewed.calls += 1;
    renewed.items += requests.length;
    return renew(requests);
  };
  const leases = await connect(store, { services: 'off', ttl: TTL_MS });
  await Promise.all(Array.from({ length: HELD }, (_, i) => leases.acquire(`many/${i}`)));
  const lag = monitorEventLoopDelay({ resolution: 1 });
  await delay(1_000);
  lag.enable();
  while (renewed.items < 2 * HELD) await delay(100);
  await delay(500);
  lag.disable();
  const lost = leases.held().filter((lease) => !lease.isHeld).length;
  if (lost > 0 || leases.held().length !== HELD) throw new Error('a held lease was lost');
  await leases.shutdown();
  await store.close();
  const calls = (renewed.calls / renewed.items) * HELD;
  const lagMs = lag.percentile(99) / 1e6 - 1;
  const same = { store: 'manager', concurrency: HELD, baseline: null, baselineName: '', atMost: true };
  return [
    row({
      ...same,
      name: 'calls per renewal round',
      ours: calls,
      unit: 'calls',
      ratio: calls,
      target: 40,
    }),
    row({ ...same, name: 'event-loop lag p99', ours: lagMs, unit: 'ms', ratio: lagMs, target: 20 }),
  ];
}

/** In a process of its own, with the collector at hand. */
export async function heapPerLease() {
  const child = fork(HEAP_CHILD, [String(HEAP_HELD)], { execArgv: ['--expose-gc'], stdio: 'inherit' });
  const [bytes] = await once(child, 'message');
  return row({
    name: 'heap per held lease, signal and listener',
    store: 'manager',
    concurrency: HEAP_HELD,
    ours: bytes,
    baseline: null,
    baselineName: '',
    unit: 'bytes',
    ratio: bytes,
    target: 2_048,
    atMost: true,
  });
}
