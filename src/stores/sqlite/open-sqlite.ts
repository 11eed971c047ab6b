// From a URL to an open store. Another process may be opening, migrating or re-anchoring the same file at the same
// moment: whoever loses a race closes, waits a little and looks again, until its patience ends.
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Anchor } from './file-clock.js';
import { anchorFile } from './incarnation.js';
import { applyMigrations, openDatabase, pendingMigrations } from './open-file.js';
import { SqliteFile } from './sqlite-file.js';
import { SqliteStore } from './sqlite-store.js';
import { parseSqliteUrl, type SqliteUrl } from './sqlite-url.js';
import { isBusy, translateError } from './translate-error.js';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 40;

export interface SqliteOptions {
  readonly clock: Clock;
  readonly namespace?: string;
  /** 'check': refuse a file that lacks a migration instead of applying it. */
  readonly migrate?: 'auto' | 'check';
}

export async function openSqlite(url: string, options: SqliteOptions): Promise<SqliteStore> {
  const parsed = parseSqliteUrl(url);
  const { clock } = options;
  const start = clock.monotonic();
  for (;;) {
    const opened = tryOpen(parsed, options);
    if (opened.outcome === 'open') return new SqliteStore(opened.file, options.namespace ?? 'default', opened.applied);
    if (clock.monotonic() - start > PATIENCE_MS) throw opened.error;
    await pause(clock, PAUSE_MS * (0.5 + clock.random()));
  }
}

async function pause(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve, true);
  });
}

type Opened =
  | { readonly outcome: 'open'; readonly file: SqliteFile; readonly applied: readonly string[] }
  | { readonly outcome: 'taken'; readonly error: LeaseError };

function tryOpen(url: SqliteUrl, { clock, migrate }: SqliteOptions): Opened {
  let db: Database | undefined;
  try {
    db = openDatabase(url);
    if (migrate === 'check') refusePending(db, url.path);
    const applied = applyMigrations(db, url.path, clock.wall());
    const anchor: Anchor | 'taken' = anchorFile(db, clock, url.path);
    if (anchor !== 'taken') return { outcome: 'open', file: new SqliteFile(url.path, db, clock, anchor), applied };
    db.close();
    return { outcome: 'taken', error: otherKernel(url.path) };
  } catch (error) {
    db?.close();
    const translated = translateError(error, url.path);
    if (isBusy(error)) return { outcome: 'taken', error: translated };
    throw translated;
  }
}

function refusePending(db: Database, path: string): void {
  const pending = pendingMigrations(db, path).map((migration) => migration.name);
  if (pending.length === 0) return;
  throw new LeaseError('STORE_INCOMPATIBLE', `${path} lacks ${pending.join(', ')}: run \`holdfast migrate\` first`, {
    details: { path, pending },
  });
}

function otherKernel(path: string): LeaseError {
  return new LeaseError(
    'STORE_INCOMPATIBLE',
    `${path} is open in another boot, time namespace or machine, whose clock cannot be compared with this one: ` +
      'close it there first (one file, one kernel), or use PostgreSQL or Redis',
    { details: { path } },
  );
}
