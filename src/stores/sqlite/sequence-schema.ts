// The tables of streams, as a migration of its own (O4: never edited once released).
//
// A span lies in its stream by its first number, so that reading in order is reading pages in order. Only what is open is
// in the index the watermark is read from: a million settled numbers cost it nothing (N3).
import type { Migration } from './schema.js';

/** span.state. The first two are open. */
export const SPAN_STATES = ['leased', 'recovering', 'committed', 'gap', 'filled', 'moved'] as const;

export const SEQUENCE_MIGRATION: Migration = {
  name: '003-sequences',
  sql: `
CREATE TABLE stream (
  id INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- At least this: the last span, while there is one, says where the next number begins.
  next INTEGER NOT NULL,
  seal INTEGER NOT NULL,
  trimmed_before INTEGER NOT NULL,
  watched_until INTEGER NOT NULL,
  gaps INTEGER NOT NULL,
  moved INTEGER NOT NULL,
  manual INTEGER NOT NULL,
  UNIQUE (ns, name)
);

CREATE TABLE span (
  stream INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  state INTEGER NOT NULL,
  operation_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  leased_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ttl_ms INTEGER NOT NULL,
  content INTEGER NOT NULL,
  settled_at INTEGER,
  moved_to INTEGER,
  moved_from INTEGER,
  -- When a recoverer may claim it; of open spans and of gaps that are to be tried again.
  due_at INTEGER,
  is_manual INTEGER NOT NULL,
  trimmed_at INTEGER,
  -- JSON, where there is any: reason, claim, attempts, retryAt, lastError, recovery.
  more TEXT,
  operations TEXT,
  partial TEXT,
  finished TEXT,
  PRIMARY KEY (stream, first)
) WITHOUT ROWID;

CREATE UNIQUE INDEX span_by_operation ON span (stream, operation_id) WHERE moved_from IS NULL;
CREATE INDEX span_open ON span (stream, first, due_at, count) WHERE state < 2;
CREATE INDEX span_gap ON span (stream, first, due_at) WHERE state = 3;
CREATE INDEX span_gap_due ON span (stream, first, due_at) WHERE state = 3 AND due_at IS NOT NULL;
CREATE INDEX span_manual ON span (stream, first) WHERE is_manual = 1;
CREATE INDEX span_trimmed ON span (stream, trimmed_at) WHERE trimmed_at IS NOT NULL;

CREATE TABLE reader (
  stream INTEGER NOT NULL,
  name TEXT NOT NULL,
  done INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (stream, name)
) WITHOUT ROWID;
`,
};
