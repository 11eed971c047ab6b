// Decision 0018: writes of one turn of the loop share a snapshot, and nobody can tell but by the time they take. Where it matters
// the turn is ended by hand; the file, its locks and the other connections are real.
import { join } from 'node:path';
import Driver, { type Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/domain/clock.js';
import { makeId } from '../../src/domain/ids.js';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { KeptSnapshot } from '../../src/stores/sqlite/kept-snapshot.js';
import { LoopTurns } from '../../src/stores/protocol/loop-turns.js';
import { applyMigrations, openDatabase } from '../../src/stores/sqlite/open-file.js';
import { parseSqliteUrl } from '../../src/stores/sqlite/sqlite-url.js';
import { Statements } from '../../src/stores/sqlite/statements.js';
import { WriteLane } from '../../src/stores/sqlite/write-lane.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire } from '../support/ask.js';
import { acquireRequest, exclusive } from '../support/domain-values.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const real = systemClock();
let folder: TemporaryFolder;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'leases.db');
});
afterEach(() => {
  folder.remove();
});

describe('the lane of writes', () => {
  let db: Database;
  let other: Database;
  let lane: WriteLane;
  let snapshot: KeptSnapshot;
  let endTurn: () => void;

  beforeEach(() => {
    const url = parseSqliteUrl(`sqlite:${path}`);
    db = openDatabase(url);
    applyMigrations(db, path, real.wall());
    db.exec('CREATE TABLE said (word TEXT) STRICT');
    other = new Driver(path, { timeout: 1 });
    const ends: (() => void)[] = [];
    endTurn = () => {
      for (const end of ends.splice(0)) end();
    };
    const clock: Clock = { ...real, soon: (end) => void ends.push(end) };
    const turns = new LoopTurns(clock);
    snapshot = new KeptSnapshot(db, turns);
    lane = new WriteLane({ sql: new Statements(db), clock, path, turns, snapshot, onRollback: () => undefined });
  });
  afterEach(() => {
    snapshot.end();
    db.close();
    other.close();
  });

  const say = (word: string): unknown => lane.run(() => db.prepare('INSERT INTO said VALUES (?)').run(word));
  const said = (by: Database): unknown => by.prepare('SELECT word FROM said').pluck().all();
  /** 1 when somebody is still reading what was there before. */
  const isHeldUp = (): unknown => (other.pragma('wal_checkpoint(RESTART)') as { busy: number }[])[0]?.busy;

  test('keeps it from the second write of a turn on, and lets go when the turn is over', () => {
    say('one');
    expect([snapshot.isKept, isHeldUp()]).toEqual([false, 0]);
    say('two');
    expect([snapshot.isKept, isHeldUp()]).toEqual([true, 1]);
    endTurn();
    expect([snapshot.isKept, isHeldUp()]).toEqual([false, 0]);
    say('of another turn');
    expect(snapshot.isKept).toBe(false);
  });

  test('every write is there for others as soon as it is answered', () => {
    for (const word of ['one', 'two', 'three', 'four']) {
      say(word);
      expect(said(other)).toEqual(said(db));
    }
    expect(said(other)).toEqual(['one', 'two', 'three', 'four']);
  });

  test('S16: what somebody else has written meanwhile is there for the next write', () => {
    say('one');
    say('two');
    other.exec(`INSERT INTO said VALUES ('between')`);
    expect(lane.run(() => said(db))).toEqual(['one', 'two', 'between']);
    say('three');
    expect(said(other)).toEqual(['one', 'two', 'between', 'three']);
  });

  test('S20: a write that finds the lock taken waits in line, and holds up nobody meanwhile', async () => {
    say('one');
    say('two');
    other.exec('BEGIN IMMEDIATE');
    other.exec(`INSERT INTO said VALUES ('first')`);
    const waiting = say('second');
    expect(snapshot.isKept).toBe(false);
    other.exec('COMMIT');
    await waiting;
    expect(said(other)).toEqual(['one', 'two', 'first', 'second']);
  });

  test('one that fails leaves the file as it was, and those before it', () => {
    say('one');
    say('two');
    const fail = (): never => {
      db.prepare('INSERT INTO said VALUES (?)').run('never');
      throw new Error('in the middle');
    };
    expect(() => lane.run(fail)).toThrow('in the middle');
    expect([snapshot.isKept, isHeldUp()]).toEqual([false, 0]);
    say('three');
    expect(said(other)).toEqual(['one', 'two', 'three']);
  });

  test('N6: a durable write among them is one', async () => {
    const synchronous = (): unknown => db.pragma('synchronous', { simple: true });
    say('one');
    say('two');
    expect([await lane.run(synchronous, 'durable'), await lane.run(synchronous)]).toEqual([2, 1]);
    expect(said(other)).toEqual(['one', 'two']);
  });
});

test('S1, S16: two stores that write and read by turns in one turn of the loop see each other at once', async () => {
  const open = (): Promise<Store> => openSqlite(`sqlite:${path}`, { clock: real });
  const [one, other] = [await open(), await open()];
  const { now } = await one.time();
  const request = (name: string): AcquireRequest =>
    acquireRequest({
      id: makeId(now, real.randomText()),
      bornAt: now,
      parts: [exclusive(name)],
      callerWall: real.wall(),
    });
  for (let i = 0; i < 200; i += 1) {
    const [mine, theirs] = i % 3 === 0 ? [one, other] : [other, one];
    const lease = await granted(mine, request(`a/${i % 7}`));
    await granted(mine, request(`b/${i}`));
    const refused = (await acquire(theirs, request(`a/${i % 7}`))).outcome;
    const seen = (await theirs.get([lease.id])).items[0]?.status;
    await mine.end([{ id: lease.id, epoch: lease.epoch, requestId: real.randomText(), why: 'released' }]);
    const after = (await theirs.get([lease.id])).items[0]?.status;
    expect([refused, seen, after]).toEqual(['refused', 'active', 'released']);
  }
  for (const store of [one, other]) await store.close();
});

async function granted(store: Store, request: AcquireRequest): Promise<Lease> {
  const result = await acquire(store, request);
  if (result.outcome !== 'granted') throw new Error(`expected a grant, it was ${result.outcome}`);
  return result.lease;
}
