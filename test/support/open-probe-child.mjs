// Opens a lease file under some handicap and prints the error it meets: node open-probe-child.mjs FILE nobody|fill
import { makeId, systemClock } from '../../dist/index.js';
import { openSqlite } from '../../dist/stores/sqlite/index.js';

const [file, handicap] = process.argv.slice(2);
const clock = systemClock();
if (handicap === 'nobody' && process.getuid() === 0) {
  process.setgid(65534);
  process.setuid(65534);
}
try {
  const store = await openSqlite(`sqlite:${file}`, { clock });
  for (let i = 0; i < 20_000; i += 1) {
    const { now } = await store.time();
    const { results } = await store.acquire([
      {
        id: makeId(now, clock.randomText()),
        bornAt: now,
        owner: 'filler',
        parts: [{ name: `fill/${i}`, scope: 'node', mode: 'exclusive' }],
        ttlMs: 60_000,
        priority: 0,
        join: false,
        holding: [],
        reclaim: false,
        maxRenewals: -1,
        minHoldMs: 0,
        lockDelayMs: 0,
        metadata: { ballast: 'x'.repeat(2_000) },
        remote: false,
        callerWall: clock.wall(),
      },
    ]);
    if (results[0].outcome !== 'granted') throw new Error(results[0].outcome);
  }
  console.log('no error at all');
} catch (error) {
  console.log(`${error.code} ${error.retryable} ${error.message}`);
}
process.exit(0);
