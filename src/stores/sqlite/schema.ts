// The schema of the file, as named migrations. A migration is never edited once it has been released: its checksum is
// in every file it was applied to (O4).
//
// `journal` holds lease rows and log rows side by side in one tree, appended in the order they are made: what is written
// together lies on the same page, and pages are what a commit costs (docs/decisions/0003). Ids and names are indexed behind
// the writers (docs/decisions/0012): names only of rows that still stand (active, pending, blocking) when their turn comes,
// so ended leases and the log cost the hot path nothing, however many there are.

import { SEQUENCE_MIGRATION } from './sequence-schema.js';

export const APPLICATION_ID = 0x484f4c44;

/** journal.state: what a row is to the questions of the protocol. Log rows and rows that are over have 0. */
export const STATE = { over: 0, active: 1, pending: 2, blocking: 3 } as const;

/** Row numbers: each namespace counts within a span of its own, so that its last row is one look-up away. */
export const SPAN = 2 ** 43;
export const MOST_NAMESPACES = 1_023;

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    name: '001-journal',
    sql: `
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE namespace (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- The counters as of log number \`seq\`. Newer values, if any, stand in the last log row.
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  tickets INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  settings TEXT NOT NULL,
  settings_version INTEGER NOT NULL,
  pruned_through INTEGER NOT NULL,
  swept_to INTEGER NOT NULL
);

CREATE TABLE journal (
  row INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  state INTEGER NOT NULL,
  -- The lease this row is, or, in a log row, is about.
  id TEXT,
  name TEXT,
  owner TEXT,
  epoch INTEGER,
  -- lease rows
  status INTEGER,
  expires_at INTEGER,
  acquired_at INTEGER,
  renewed_at INTEGER,
  ended_at INTEGER,
  ttl_ms INTEGER,
  content INTEGER,
  renewals INTEGER,
  max_renewals INTEGER,
  skew_ms INTEGER,
  last_request TEXT,
  parts TEXT,
  more TEXT,
  -- log rows
  type INTEGER,
  at INTEGER,
  wall_at INTEGER,
  counter INTEGER,
  tickets INTEGER,
  data TEXT
);

CREATE UNIQUE INDEX journal_by_id ON journal (ns, id) WHERE status IS NOT NULL;
CREATE INDEX journal_by_name ON journal (ns, name) WHERE state > 0;
CREATE INDEX journal_waiting ON journal (ns) WHERE state = 2;

-- When to look at a row for its expiry: never later than it expires, perhaps earlier. Filled by the sweep as it walks the
-- journal (up to namespace.swept_to), so a lease that ends before the next sweep costs this tree nothing.
CREATE TABLE due (
  ns INTEGER NOT NULL,
  at INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (ns, at, row)
) WITHOUT ROWID;

-- The names of standing subtrees, and the second and further names of standing leases that have several.
CREATE TABLE other_name (
  ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (ns, name, row)
) WITHOUT ROWID;
`,
  },
  {
    name: '002-tail',
    sql: `
-- Ids and first names of the rows up to space.indexed_to. Rows past it, the tail, are found by whoever reads them: they
-- are few (tail.ts). Of a row that is over the name is not kept, and one that ended within the tail never had it here.
CREATE TABLE lease_id (
  ns INTEGER NOT NULL,
  id TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (ns, id)
) WITHOUT ROWID;

CREATE TABLE first_name (
  ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (ns, name, row)
) WITHOUT ROWID;

INSERT INTO lease_id SELECT ns, id, row FROM journal WHERE status IS NOT NULL ORDER BY ns, id;
INSERT INTO first_name SELECT ns, name, row FROM journal WHERE state > 0 ORDER BY ns, name, row;

ALTER TABLE namespace ADD COLUMN indexed_to INTEGER NOT NULL DEFAULT 0;
UPDATE namespace SET indexed_to = max(seq, coalesce((
  SELECT row FROM journal WHERE row > namespace.id * 8796093022208 AND row < (namespace.id + 1) * 8796093022208
  ORDER BY row DESC LIMIT 1) - namespace.id * 8796093022208, 0));

DROP INDEX journal_by_id;
DROP INDEX journal_by_name;

-- Code of the first schema would not see the tail, and would prune a grant with its log row. Where it has the file open still,
-- every one of its calls asks this table first, and fails.
ALTER TABLE namespace RENAME TO space;
`,
  },
  SEQUENCE_MIGRATION,
];
