// Hand-over: 8 processes queue on one resource, each holds it for a moment and lets go. Measured from the call of
// release() in one process to the moment the next one has its handle; the order must be that of the queue throughout.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../dist/index.js';
import { median, percentile, row } from './measure.mjs';
import { scaled } from './scale.mjs';

const PROCESSES = 8;
const TURNS = scaled(60, 8);
const CHILD = fileURLToPath(new URL('hand-over-child.mjs', import.meta.url));

export async function handOver(folder) {
  const url = `sqlite:${join(folder, 'hand-over.db')}`;
  const leases = await connect(url, { services: 'off' });
  const gate = await leases.acquire('baton', { ttl: '60s' });
  const children = Array.from({ length: PROCESSES }, () => fork(CHILD, [url, String(TURNS)], { stdio: 'inherit' }));
  const reports = children.map((child) => once(child, 'message'));
  while ((await leases.list({ status: 'pending' })).items.length < PROCESSES) {
    await delay(20);
  }
  await gate.release();
  const turns = (await Promise.all(reports)).flatMap(([report]) => report).sort((a, b) => a.epoch - b.epoch);
  const inOrder = await keptOrder(leases);
  await leases.shutdown();
  const waits = turns.slice(1).map((turn, i) => turn.heldAt - turns[i].releasedAt);
  const sorted = [...waits].sort((a, b) => a - b);
  const p99 = percentile(sorted, 0.99);
  const same = { store: 'manager', concurrency: PROCESSES, baseline: null, baselineName: '', unit: 'ms', atMost: true };
  return [
    row({ ...same, name: 'hand-over, median', ours: median(waits), ratio: median(waits), target: 3 }),
    row({ ...same, name: 'hand-over, p99', ours: p99, ratio: p99, target: 15 }),
    row({ ...same, name: 'hand-over, out of order', unit: 'grants', ours: inOrder, ratio: inOrder, target: 0 }),
  ];
}

/** How many grants did not come in the order in which the tickets joined. */
async function keptOrder(leases) {
  const events = [];
  let cursor;
  do {
    const page = await leases.history({ resource: 'baton', limit: 1_000, ...(cursor ? { cursor } : {}) });
    events.push(...page.items);
    cursor = page.cursor;
  } while (cursor);
  events.reverse();
  const line = [];
  let wrong = 0;
  for (const { type, leaseId } of events) {
    if (type === 'lease.queued') line.push(leaseId);
    if (type === 'lease.acquired' && line.includes(leaseId) && line.shift() !== leaseId) wrong += 1;
  }
  return wrong;
}
