// What the memory store owes the program it lives in; what it owes its callers is the conformance suite's to say.
import { describe, expect, test } from 'vitest';
import { connect } from '../../connect.js';
import { systemClock } from '../../system-clock.js';
import { MemoryStore } from './memory-store.js';

const clock = systemClock();
const PULSE_MS = 5;

/** How often a timer had its turn while the work was repeated without a pause. */
async function pulseBeside(work: () => Promise<unknown>): Promise<number> {
  let ticks = 0;
  const pulse = setInterval(() => (ticks += 1), PULSE_MS);
  const until = clock.monotonic() + 300;
  while (clock.monotonic() < until) await work();
  clearInterval(pulse);
  return ticks;
}

describe('S20: timers run beside a caller that never pauses', () => {
  test('that takes and lets go', async () => {
    const leases = await connect('memory:', { services: 'off' });
    const ticks = await pulseBeside(async () => {
      const attempt = await leases.tryAcquire('a');
      if (attempt.ok) await attempt.lease.release();
    });
    await leases.shutdown();
    expect(ticks).toBeGreaterThan(10);
  });

  test('that only looks, or is only refused', async () => {
    const store = new MemoryStore({ clock, givesWay: true });
    expect(await pulseBeside(() => store.list({ limit: 10 }))).toBeGreaterThan(10);
    expect(await pulseBeside(() => store.list({ limit: -1 }).catch(() => undefined))).toBeGreaterThan(10);
    await store.close();
  });

  test('that leases numbers', async () => {
    const leases = await connect('memory:', { services: 'off' });
    const stream = leases.sequence<string>('orders');
    let count = 0;
    const ticks = await pulseBeside(async () => {
      count += 1;
      await (await stream.lease({ operationId: `o${count}`, kind: 'k' })).commit('done');
    });
    await leases.shutdown();
    expect(ticks).toBeGreaterThan(10);
  });
});
