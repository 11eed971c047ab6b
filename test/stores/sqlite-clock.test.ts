// The clock in the file and its incarnations: wall steps, restarts, copies and backups (S2, S13, H1).
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { ask, acquire, grant } from '../support/ask.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
});
afterEach(() => {
  folder.remove();
});

const open = (clock: FakeClock, path = file): Promise<SqliteStore> => openSqlite(`sqlite:${path}`, { clock });

/** Opening may have to wait for its turn; the fake clock must go on meanwhile. */
async function openWhileTimePasses(clock: FakeClock, path = file): Promise<SqliteStore> {
  const opening = open(clock, path);
  const done = opening.then(
    () => true,
    () => true,
  );
  for (let i = 0; i < 400; i += 1) {
    if (await Promise.race([done, clock.advance(50).then(() => false)])) break;
  }
  return opening;
}

test('S13: stepping the wall clock changes nothing, in either direction', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const lease = await grant(store, clock, 'a');
  const { now } = await store.time();
  clock.stepWall(3_600_000);
  expect((await store.time()).now).toBe(now);
  clock.stepWall(-7_200_000);
  await clock.advance(1_000);
  expect((await store.time()).now).toBe(now + 1_000);
  expect((await store.get([lease.id])).items[0]?.status).toBe('active');
  await store.close();
  const again = await open(clock);
  expect((await again.time()).now).toBe(now + 1_000);
  await again.close();
});

test('S2, S13: a restart of the machine begins a new incarnation; no epoch repeats and now does not go back', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const local = await grant(store, clock, 'local', { lockDelayMs: 5_000 });
  const remote = await grant(store, clock, 'remote', { remote: true, ttlMs: 20_000 });
  const waiting = await ask(store, clock, 'remote', { join: true });
  expect((await acquire(store, waiting)).outcome).toBe('queued');
  const before = await store.time();
  const { next } = (await store.events({ limit: 10 })) as { next: string };
  await store.close();

  clock.reboot('another-boot', 50);
  clock.stepWall(-86_400_000);
  const after = await open(clock);
  const time = await after.time();
  expect(time.incarnation).not.toBe(before.incarnation);
  expect(time.now).toBeGreaterThan(before.now);
  const [localNow, remoteNow] = (await after.get([local.id, remote.id])).items;
  expect(localNow?.status).toBe('expired');
  expect(remoteNow).toMatchObject({ status: 'active', expiresAt: time.now + 20_000 });
  expect(await acquire(after, waiting)).toMatchObject({ outcome: 'ended', status: 'failed', reason: 'died' });
  expect(await acquire(after, await ask(after, clock, 'local'))).toMatchObject({
    outcome: 'refused',
    refusal: { reason: 'lock_delay' },
  });
  expect((await grant(after, clock, 'other')).epoch).toBeGreaterThan(remote.epoch + 900);
  expect(await after.events({ after: next, limit: 10 })).toMatchObject({ outcome: 'lost' });
  const log = await after.events({ limit: 1_000 });
  expect(log.outcome === 'rows' && log.rows.some((row) => row.type === 'store.incarnation')).toBe(true);
  await after.close();
});

test('S13: a number renewed for less than it has does not take the clock of the next boot ahead', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const streams = store.sequences;
  const order = { stream: 's', operationId: 'a', kind: 'k', count: 1, owner: 'me', ttlMs: 600_000 };
  const [leased] = (await streams.lease([order])).results;
  if (leased?.outcome !== 'leased') throw new Error('not leased');
  const { epoch } = leased;
  await streams.progress([{ stream: 's', operationId: 'a', epoch, progress: { what: 'renew', ttlMs: 30_000 } }]);
  const remote = await grant(store, clock, 'remote', { remote: true, ttlMs: 60_000 });
  const { now } = await store.time();
  await store.close();
  clock.reboot('another-boot', 50);
  const after = await open(clock);
  expect((await after.time()).now).toBeLessThan(now + 10_000);
  expect((await after.get([remote.id])).items[0]).toMatchObject({ status: 'active' });
  await after.close();
});

test('S13, V1: numbers and claims of the old boot end with it, and anybody may recover them at once', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const ask = { stream: 's', kind: 'k', ttlMs: 600_000, count: 1, owner: 'o' };
  const leaseOf = async (operationId: string, ttlMs: number): Promise<{ first: number; epoch: number }> => {
    const [leased] = (await store.sequences.lease([{ ...ask, operationId, ttlMs }])).results;
    if (leased?.outcome !== 'leased') throw new Error(`${operationId} is ${leased?.outcome ?? 'not answered'}`);
    return leased;
  };
  await leaseOf('claimed', 1_000);
  const held = await leaseOf('held', 600_000);
  await clock.advance(1_000);
  const claim = { stream: 's', limit: 10, owner: 'recoverer', ttlMs: 300_000, gapsToo: false };
  const { claimed: before } = await store.sequences.claim(claim);
  expect(before.map(({ operationId }) => operationId)).toEqual(['claimed']);
  await clock.advance(5_000);
  const renew = { stream: 's', operationId: 'held', epoch: held.epoch };
  await store.sequences.progress([{ ...renew, progress: { what: 'renew', ttlMs: 600_000 } }]);
  const { now: last } = await store.time();
  await store.close();

  clock.reboot('another-boot', 50);
  clock.stepWall(-86_400_000);
  const after = await open(clock);
  expect((await after.time()).now).toBeGreaterThan(last);
  const commit = { stream: 's', operationId: 'held', epoch: held.epoch, operations: ['late'] };
  expect((await after.sequences.commit([commit])).results).toMatchObject([{ outcome: 'notHeld', state: 'expired' }]);
  const { claimed } = await after.sequences.claim(claim);
  expect(claimed.map(({ operationId }) => operationId)).toEqual(['claimed', 'held']);
  expect(claimed[0]?.claimEpoch).toBeGreaterThan(before[0]?.claimEpoch ?? 0);
  const settle = { stream: 's', operationId: 'claimed', settlement: { to: 'gap', reason: 'over' } } as const;
  const late = { ...settle, claimEpoch: before[0]?.claimEpoch ?? 0 };
  expect((await after.sequences.settle([late])).results).toMatchObject([{ outcome: 'notHeld' }]);
  const settled = claimed.map(({ operationId, claimEpoch }) => ({ ...settle, operationId, claimEpoch }));
  expect((await after.sequences.settle(settled)).results).toMatchObject([{ state: 'gap' }, { state: 'gap' }]);
  await after.close();
});

test('S13: another identity may not re-anchor while somebody has the file open', async () => {
  const here = new FakeClock();
  const store = await open(here);
  await grant(store, here, 'a');
  const elsewhere = new FakeClock({ seed: 2 });
  elsewhere.reboot('another-kernel', 7);
  await expect(openWhileTimePasses(elsewhere)).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
  expect((await store.list({ limit: 10 })).items).toHaveLength(1);
  await store.close();
  const taken = await openWhileTimePasses(elsewhere);
  await taken.close();
});

test('S13: processes that come back together after a restart agree on one new incarnation', async () => {
  const clock = new FakeClock();
  await (await open(clock)).close();
  clock.reboot('second-boot', 10);
  const stores = await Promise.all([1, 2, 3].map(() => openWhileTimePasses(clock)));
  const times = await Promise.all(stores.map((store) => store.time()));
  expect(new Set(times.map((time) => time.incarnation)).size).toBe(1);
  for (const store of stores) await store.close();
});

test('S2: a copied file is another life of the data', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const lease = await grant(store, clock, 'a');
  const { incarnation } = await store.time();
  await store.close();
  const copy = join(folder.path, 'copy.db');
  copyFileSync(file, copy);
  const other = await open(clock, copy);
  const time = await other.time();
  expect(time.incarnation).not.toBe(incarnation);
  expect(time.epoch).toBeGreaterThan(lease.epoch);
  await other.close();
});

test('S2, A8: a backup carries a mark: restoring it in place never repeats an epoch', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const first = await grant(store, clock, 'a');
  const backup = join(folder.path, 'backup.db');
  await store.backup(backup);
  const later = await grant(store, clock, 'b');
  await expect(store.backup(backup)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await store.close();
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  copyFileSync(backup, file);
  await clock.advance(1);
  const restored = await open(clock);
  expect((await restored.get([first.id, later.id])).items.map((lease) => lease?.status)).toEqual([
    'expired',
    undefined,
  ]);
  expect((await grant(restored, clock, 'b')).epoch).toBeGreaterThan(later.epoch);
  await restored.close();
});

test('S2: a deleted file never repeats an epoch', async () => {
  const clock = new FakeClock();
  const store = await open(clock);
  const { epoch } = await grant(store, clock, 'a');
  await store.close();
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  await clock.advance(1);
  const fresh = await open(clock);
  expect((await grant(fresh, clock, 'a')).epoch).toBeGreaterThan(epoch);
  await fresh.close();
});
