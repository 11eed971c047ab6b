// A SQLite store put together as openSqlite does it, with a tail of the length a test wants to see; and what the indexes
// behind the writers must hold of the journal, asked of the file itself.
import Driver from 'better-sqlite3';
import type { Clock } from '../../src/domain/clock.js';
import { anchorFile } from '../../src/stores/sqlite/incarnation.js';
import { SqliteStore } from '../../src/stores/sqlite/index.js';
import { applyMigrations, openDatabase } from '../../src/stores/sqlite/open-file.js';
import { SPAN } from '../../src/stores/sqlite/schema.js';
import { SqliteFile } from '../../src/stores/sqlite/sqlite-file.js';
import { parseSqliteUrl } from '../../src/stores/sqlite/sqlite-url.js';
import type { TailBounds } from '../../src/stores/sqlite/tail.js';

export function openWithTail(path: string, clock: Clock, bounds: TailBounds): SqliteStore {
  return new SqliteStore(openFile(path, clock, bounds), 'default', []);
}

export function openFile(path: string, clock: Clock, bounds: TailBounds): SqliteFile {
  const db = openDatabase(parseSqliteUrl(`sqlite:${path}`));
  applyMigrations(db, path, clock.wall());
  const anchor = anchorFile(db, clock, path);
  if (anchor === 'taken') throw new Error(`${path} is open under another anchor`);
  return new SqliteFile(path, db, clock, anchor, bounds);
}

const TROUBLES: Readonly<Record<string, string>> = {
  'an indexed row whose id is missing': `SELECT j.row FROM journal j JOIN space n ON n.id = j.ns
     WHERE j.status IS NOT NULL AND j.row - j.ns * @span <= n.indexed_to
       AND NOT EXISTS (SELECT 1 FROM lease_id i WHERE i.ns = j.ns AND i.id = j.id AND i.row = j.row)`,
  'an indexed row that stands and whose name is missing': `SELECT j.row FROM journal j JOIN space n ON n.id = j.ns
     WHERE j.state > 0 AND j.row - j.ns * @span <= n.indexed_to
       AND NOT EXISTS (SELECT 1 FROM first_name f WHERE f.ns = j.ns AND f.name = j.name AND f.row = j.row)`,
  'an id of no row, or of one in the tail': `SELECT i.row FROM lease_id i JOIN space n ON n.id = i.ns
     LEFT JOIN journal j ON j.row = i.row AND j.status IS NOT NULL
     WHERE j.row IS NULL OR i.row - i.ns * @span > n.indexed_to`,
  'a name of a row that is over, or of one in the tail': `SELECT f.row FROM first_name f JOIN space n ON n.id = f.ns
     LEFT JOIN journal j ON j.row = f.row AND j.state > 0
     WHERE j.row IS NULL OR f.row - f.ns * @span > n.indexed_to`,
};

/** What is wrong with the indexes of the file, in words; nothing, it should be. */
export function indexTroubles(path: string): string[] {
  const db = new Driver(path, { readonly: true });
  const found = Object.entries(TROUBLES).flatMap(([what, sql]) =>
    (db.prepare(sql).pluck().all({ span: SPAN }) as number[]).map((row) => `${what}: ${row % SPAN}`),
  );
  db.close();
  return found;
}

export interface Indexed {
  /** Numbers within the namespace. */
  readonly indexedTo: number;
  readonly last: number;
  readonly ids: number;
  readonly names: string[];
}
/** How far the indexes of the namespace `default` have come. */
export function indexed(path: string): Indexed {
  const db = new Driver(path, { readonly: true });
  const one = (sql: string): number => db.prepare(sql).pluck().get() as number;
  const found = {
    indexedTo: one("SELECT indexed_to FROM space WHERE name = 'default'"),
    last: one('SELECT max(row) FROM journal') % SPAN,
    ids: one('SELECT count(*) FROM lease_id'),
    names: db.prepare('SELECT name FROM first_name ORDER BY name').pluck().all() as string[],
  };
  db.close();
  return found;
}
