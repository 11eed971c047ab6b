// The schema of the file, as named migrations. A migration is never edited once it has been released: its checksum is
// in every file it was applied to (O4).
//
// `journal` holds lease rows and log rows side by side in one tree, in order of time: a lease's key is its id, which
// begins with the time it was made; a log row's key begins with the time it was written. What is written together lies
// on the same page, and pages are what a commit costs (docs/decisions/0003). Only rows that stand (active, pending,
// blocking) are indexed, so ended leases and the log cost the hot path nothing, however many there are.

export const APPLICATION_ID = 0x484f4c44;

/** journal.state: what a row is to the questions of the protocol. Log rows and rows that are over have 0. */
export const STATE = { over: 0, active: 1, pending: 2, blocking: 3 } as const;

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
  pruned_through TEXT NOT NULL,
  swept_to TEXT NOT NULL
);

CREATE TABLE journal (
  ns INTEGER NOT NULL,
  key TEXT NOT NULL,
  state INTEGER NOT NULL,
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
  arrival INTEGER,
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
  lease TEXT,
  counter INTEGER,
  tickets INTEGER,
  data TEXT,
  PRIMARY KEY (ns, key)
) WITHOUT ROWID;

CREATE INDEX journal_by_name ON journal (ns, name) WHERE state > 0;
CREATE INDEX journal_waiting ON journal (ns, arrival) WHERE state = 2;

-- When to look at a row for its expiry: never later than it expires, perhaps earlier. Filled by the sweep as it walks the
-- journal (up to namespace.swept_to), so a lease that ends before the next sweep costs this tree nothing.
CREATE TABLE due (
  ns INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (ns, at, key)
) WITHOUT ROWID;

-- The second and further names of standing leases that have several.
CREATE TABLE other_name (
  ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (ns, name, key)
) WITHOUT ROWID;
`,
  },
];
