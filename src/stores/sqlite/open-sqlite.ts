// From a URL to an open store. Another process may be opening, migrating or re-anchoring the same file at the same
// moment: whoever loses a race closes, waits a little and looks again, until its patience ends.
import { existsSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { readAnchor, whyStale, type Anchor } from './file-clock.js';
import { realFile } from './file-name.js';
import { refuseMissingFolder } from './file-system.js';
import { anchorFile } from './incarnation.js';
import { applyMigrations, openDatabase, pendingMigrations } from './open-file.js';
import { SqliteFile } from './sqlite-file.js';
import { TAIL_BOUNDS } from './tail.js';
import { SqliteStore } from './sqlite-store.js';
import { parseSqliteUrl, type SqliteUrl } from './sqlite-url.js';
import { codeOf, isBusy, translateError } from './translate-error.js';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 40;

export interface SqliteOptions {
  readonly clock: Clock;
  readonly namespace?: string;
  /** 'check': refuse a file that lacks a migration instead of applying it. */
  readonly migrate?: 'auto' | 'check';
  /** For looking only: a file that is missing, lacks a migration or needs a new incarnation is refused as it is. */
  readonly readOnly?: boolean;
  /** Whoever makes the store makes its directory too. */
  readonly isFolderMade?: boolean;
}

export async function openSqlite(url: string, options: SqliteOptions): Promise<SqliteStore> {
  const parsed = parseSqliteUrl(url);
  const located = { ...parsed, path: realFile(parsed.path) };
  const { clock } = options;
  const start = clock.monotonic();
  for (;;) {
    const opened = tryOpen(located, options);
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

function tryOpen(url: SqliteUrl, options: SqliteOptions): Opened {
  const { clock, migrate, readOnly = false, isFolderMade = false } = options;
  let db: Database | undefined;
  const before = standingAt(url.path);
  try {
    if (readOnly) refuseMissing(url.path, isFolderMade);
    db = openDatabase(url, readOnly);
    if (readOnly) return { outcome: 'open', file: openToLook(db, url.path, clock), applied: [] };
    if (migrate === 'check') refusePending(db, url.path);
    const applied = applyMigrations(db, url.path, clock.wall());
    const anchor: Anchor | 'taken' = anchorFile(db, clock, url.path);
    if (anchor !== 'taken') {
      return { outcome: 'open', file: new SqliteFile(url.path, db, clock, anchor, TAIL_BOUNDS), applied };
    }
    db.close();
    return { outcome: 'taken', error: otherKernel(url.path) };
  } catch (error) {
    db?.close();
    const translated = translateError(error, url.path);
    // Whatever went wrong in a file that a restore has replaced meanwhile says nothing about the one there is now.
    // (Who came when there was none may have met the empty one that a restore made and replaced.)
    const isReplaced = before === '' ? codeOf(error) === 'SQLITE_NOTADB' : standingAt(url.path) !== before;
    if (isBusy(error) || isReplaced) return { outcome: 'taken', error: translated };
    throw translated;
  }
}

/** Which file has this name; empty when there is none, or none that can be looked at: opening it says why. */
function standingAt(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : '';
  } catch {
    return '';
  }
}

/** Looking at a file that is not there must not make it. */
function refuseMissing(path: string, isFolderMade: boolean): void {
  if (existsSync(path)) return;
  if (!isFolderMade) refuseMissingFolder(path);
  throw new LeaseError('STORE_UNAVAILABLE', `there is no store at ${path} yet: \`holdfast migrate\` makes it`, {
    details: { path, missing: true },
    retryable: false,
  });
}

function openToLook(db: Database, path: string, clock: Clock): SqliteFile {
  refusePending(db, path);
  const anchor = readAnchor(db);
  const stale = anchor === undefined ? 'nobody has used the file yet' : whyStale(anchor, clock, path);
  if (anchor !== undefined && stale === undefined) return new SqliteFile(path, db, clock, anchor, TAIL_BOUNDS);
  throw new LeaseError(
    'STORE_UNAVAILABLE',
    `${path} holds nothing that is live: ${stale ?? ''}. \`holdfast sweep\` begins anew`,
    { details: { path, stale: true }, retryable: false },
  );
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
