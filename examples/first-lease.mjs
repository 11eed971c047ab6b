// The first lease: take a name, see what the next one is told, give it back. The same lines stand in the README.
import { makeId, normaliseParts, systemClock } from 'holdfast';
import { openSqlite } from 'holdfast/stores/sqlite';

const clock = systemClock();
const store = await openSqlite('sqlite:leases.db', { clock });
const terms = { priority: 0, join: false, holding: [], reclaim: false, maxRenewals: -1, minHoldMs: 0, lockDelayMs: 0 };
const acquire = async (owner, name) => {
  const { now: bornAt } = await store.time();
  const who = { id: makeId(bornAt, clock.randomText()), bornAt, owner, remote: false, callerWall: clock.wall() };
  return (await store.acquire([{ ...who, ...terms, parts: normaliseParts(name), ttlMs: 30_000 }])).results[0];
};
const { lease } = await acquire('worker-1', 'orders/0');
const { outcome, refusal } = await acquire('worker-2', 'orders/0');
console.log(
  `worker-1 has epoch ${lease.epoch}; worker-2 is ${outcome}: ${refusal.reason} by ${refusal.holders[0].owner}`,
);
await store.end([{ id: lease.id, epoch: lease.epoch, requestId: clock.randomText(), why: 'released' }]);
await store.close();
