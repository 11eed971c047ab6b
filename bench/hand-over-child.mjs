// One of the eight: takes its turns and reports when it held and when it let go, on the clock all processes share.
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../dist/index.js';

const [url, turns] = process.argv.slice(2);
const leases = await connect(url, { services: 'off' });
const now = () => Number(process.hrtime.bigint()) / 1e6;
const report = [];
for (let i = 0; i < Number(turns); i += 1) {
  const lease = await leases.acquire('baton', { wait: 'forever' });
  const heldAt = now();
  await delay(2);
  report.push({ epoch: lease.epoch, heldAt, releasedAt: now() });
  await lease.release();
}
process.send(report);
await leases.shutdown();
process.disconnect();
