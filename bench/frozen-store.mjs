// A frozen store: another process is stopped inside a write transaction, so nobody can renew. Measured: from that moment
// to the abort of each holder's signal, ttl 1 s, and how late the holder's event loop ran meanwhile.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../dist/index.js';
import { row } from './measure.mjs';
import { scaled } from './scale.mjs';

const ROUNDS = scaled(10, 2);
const CHILD = fileURLToPath(new URL('frozen-store-child.mjs', import.meta.url));

export async function frozenStore(folder) {
  const path = join(folder, 'frozen.db');
  const delays = [];
  const lags = [];
  const leases = await connect(`sqlite:${path}`, { services: 'off', ttl: '1s' });
  for (let round = 0; round < ROUNDS; round += 1) {
    const lease = await leases.acquire('frozen', { wait: '20s' });
    await delay(100 + round * 90);
    const child = fork(CHILD, [path], { stdio: 'inherit' });
    await once(child, 'message');
    child.kill('SIGSTOP');
    const stoppedAt = performance.now();
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    if (!lease.signal.aborted) {
      await once(lease.signal, 'abort');
    }
    delays.push(performance.now() - stoppedAt);
    lag.disable();
    lags.push(lag.max / 1e6 - 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await leases.shutdown();
  const worst = Math.max(...delays);
  const lagMs = Math.max(...lags);
  const same = { store: 'manager', concurrency: 1, baseline: null, baselineName: '', unit: 'ms', atMost: true };
  return [
    row({
      ...same,
      name: `frozen store to abort, worst of ${ROUNDS}, ttl 1 s`,
      ours: worst,
      ratio: worst,
      target: 1_000,
    }),
    row({ ...same, name: 'event-loop lag meanwhile, worst', ours: lagMs, ratio: lagMs, target: 50 }),
  ];
}
