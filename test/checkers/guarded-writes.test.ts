// Guarded writes never go back (S11): of writes recorded where a guard stood, by holders that were overtaken, and with any
// kind of line changed.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { guardSqlite } from '../../src/guards/index.js';
import type { HeldLease } from '../../src/manager/face.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { checkGuardedWrites, type GuardedWrite } from '../../src/testing/store-conformance/history-writes.js';

const ROUNDS = 20;

/** Each holder is overtaken and then writes once more: with the guard that write is refused, without it it lands. */
async function recorded(isGuarded: boolean): Promise<GuardedWrite[]> {
  const clock = new FakeClock();
  const leases = await connect(new MemoryStore({ clock }), { clock, services: 'off', owner: 'crowd' });
  const db = new Database(':memory:');
  db.exec('CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (0)');
  const writes: GuardedWrite[] = [];
  const write = (lease: HeldLease, value: number): void => {
    db.exec('BEGIN IMMEDIATE');
    try {
      if (isGuarded) guardSqlite(db, lease);
      db.prepare('UPDATE counter SET value = ?').run(value);
      db.exec('COMMIT');
      writes.push({ resource: 'counter', epoch: lease.epoch, owner: lease.id, value });
    } catch {
      db.exec('ROLLBACK');
    }
  };
  const read = (): number => (db.prepare('SELECT value FROM counter').get() as { value: number }).value;
  for (let round = 0; round < ROUNDS; round += 1) {
    const late = await leases.acquire('counter', { renew: 'manual', ttl: '1s' });
    const seen = read();
    await clock.advance(1_000); // the first is over before it writes
    const next = await leases.acquire('counter', { renew: 'manual', ttl: '1s' });
    write(next, read() + 1);
    write(late, seen + 1);
    await next.release();
  }
  db.close();
  await leases.shutdown();
  return writes;
}

const guarded = await recorded(true);

test('S11: with the guard nothing goes back and nothing is lost', () => {
  expect(guarded).toHaveLength(ROUNDS);
  expect(checkGuardedWrites(guarded)).toEqual([]);
});

test('S11: the same run without the guard is rejected', async () => {
  const complaints = checkGuardedWrites(await recorded(false));
  expect(complaints).toHaveLength(2 * ROUNDS);
});

test.each<[string, RegExp, (writes: GuardedWrite[]) => GuardedWrite[]]>([
  ['an older epoch', /^S11: write 8, .* came after .* with epoch \d+$/, (all) => all.with(7, { ...all[7]!, epoch: 1 })],
  [
    'a value twice',
    /^S11: write 8, .* made the counter 7, and 8 comes next$/,
    (all) => all.with(7, { ...all[7]!, value: 7 }),
  ],
  ['a write that is gone', /^S11: write 8, .* made the counter 9, and 8 comes next$/, (all) => all.toSpliced(7, 1)],
])('S11: one line changed into %s is rejected', (_what, complaint, change) => {
  expect(checkGuardedWrites(change(guarded)).join('\n')).toMatch(new RegExp(complaint.source, 'm'));
});
