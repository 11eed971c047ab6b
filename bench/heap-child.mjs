// So many held leases, each with its signal read and one listener on it, on SQLite so that the store's rows are not in
// this heap. Reports bytes of heap per lease.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../dist/index.js';

const HELD = Number(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-heap-'));
const leases = await connect(`sqlite:${join(folder, 'heap.db')}`, { services: 'off', ttl: '10m' });
const names = Array.from({ length: HELD }, (_, i) => `heap/${i}`);
const kept = new Array(HELD);
const used = () => {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
};
const before = used();
for (let i = 0; i < HELD; i += 1_000) {
  const some = await Promise.all(names.slice(i, i + 1_000).map((name) => leases.acquire(name)));
  for (const [j, lease] of some.entries()) {
    lease.signal.addEventListener('abort', () => lease.epoch);
    kept[i + j] = lease;
  }
}
const after = used();
process.send((after - before) / HELD, () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
