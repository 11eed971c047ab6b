// The tables, as the first migration makes them. `{s}` stands for the quoted name of the schema, `{l}` for the same name as a
// text literal. Indexes are few and partial: what stands, what is due, who waits, what ended. None holds a column that a
// renewal changes, so that a renewal is a HOT update. The namespace comes second where one row is looked for: a plan made
// while the table was empty must not settle on "all of the namespace, then filter".
export const TABLES = `
-- A server that answers before it has written may lose what it answered. Not the tables.
SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off';

CREATE TYPE {s}.part AS (name text COLLATE "C", scope text, mode text, lim integer);

CREATE TABLE {s}.namespace (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  epochs regclass,
  settings text NOT NULL DEFAULT '{}',
  keep_history boolean NOT NULL DEFAULT true,
  history_renewals boolean NOT NULL DEFAULT false,
  settings_version bigint NOT NULL DEFAULT 1,
  pruned_e bigint NOT NULL DEFAULT 0,
  pruned_s bigint NOT NULL DEFAULT 0
);

-- S2: which life of the server the data belongs to. Unlogged on purpose: crash recovery, a base backup and a promoted replica
-- empty it, so that a life that may have lost answered writes is never taken for the one before. A dump and a copy of the database
-- keep the row: born is the transaction that wrote it, which the row itself knows as xmin, and database where that was.
CREATE UNLOGGED TABLE {s}.life (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  started timestamptz NOT NULL,
  timeline text NOT NULL,
  database oid NOT NULL,
  born xid,
  incarnation text NOT NULL
);

CREATE SEQUENCE {s}.log_row AS bigint CACHE 1;
SELECT nextval('{s}.log_row');

-- One row an id, ticket and lease alike (S8). parts is NULL for the form nearly every lease has: one exclusive node, "name".
-- status: 0 pending, 1 active, 2 released, 3 expired, 4 revoked, 5 failed. stands: active, pending, or may still block.
-- Where a row is looked up by its id, its status is compared as status::integer: so no index made for a status is taken instead.
-- check_at: not after expires_at, and not moved by renewals; the sweep puts it right when it comes by.
-- Columns: what is never NULL first, and of that, what a renewal or a release changes last, because an update is written to the WAL from
-- the first change on. A page is filled by two thirds, so that what is written anew nearly always lies on the same page.
CREATE TABLE {s}.lease (
  ns integer NOT NULL,
  remote boolean NOT NULL DEFAULT false,
  priority smallint NOT NULL DEFAULT 0,
  content bigint NOT NULL,
  epoch bigint NOT NULL,
  grant_epoch bigint NOT NULL,
  ttl_ms bigint NOT NULL,
  acquired_at bigint NOT NULL,
  skew_ms bigint NOT NULL,
  arrival bigint NOT NULL,
  arrived_at bigint NOT NULL,
  max_renewals bigint NOT NULL DEFAULT -1,
  joined_epoch bigint NOT NULL DEFAULT 0,
  min_hold_ms bigint NOT NULL DEFAULT 0,
  lock_delay_ms bigint NOT NULL DEFAULT 0,
  blocked_until bigint NOT NULL DEFAULT 0,
  keep_out_until bigint NOT NULL DEFAULT 0,
  renewals bigint NOT NULL DEFAULT 0,
  renewed_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  check_at bigint NOT NULL,
  block_epoch bigint NOT NULL DEFAULT 0,
  status smallint NOT NULL,
  stands boolean NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  ended_at bigint,
  last_request text,
  became_epoch bigint,
  max_hold_ms bigint,
  reason text,
  cycle json,
  parts {s}.part[],
  upgrades text,
  holding text[],
  operation_id text,
  metadata text,
  PRIMARY KEY (id, ns) WITH (fillfactor = 70)
) WITH (fillfactor = 65, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE INDEX lease_by_name ON {s}.lease (name, ns) WHERE stands;
-- Nearly always empty: then nothing above or beside a name has to be looked for.
CREATE INDEX lease_not_plain ON {s}.lease (ns) WHERE stands AND parts IS NOT NULL;
CREATE INDEX lease_due ON {s}.lease (ns, check_at) WHERE status < 2;
CREATE INDEX lease_waiting ON {s}.lease (ns, arrival) WHERE status = 0;
CREATE INDEX lease_ended ON {s}.lease (ns, ended_at) WHERE status > 1;

-- The further names of standing leases that have more than one.
CREATE TABLE {s}.lease_part (
  ns integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (name, ns, id)
);

-- The log (H1), in the order of (e, s): see places.ts. It has no index but that order (docs/decisions/0006). n1, n2, n3: the facts of
-- the two events every lease has. data: those of the others, as JSON. list_*: what a row has that is many events; its owner and
-- its n1 are those of all of them, unless there are list_owners or list_n1.
CREATE TABLE {s}.log (
  ns integer NOT NULL,
  type smallint NOT NULL,
  from_status smallint,
  e bigint NOT NULL,
  s bigint NOT NULL,
  at bigint NOT NULL,
  wall_at bigint,
  epoch bigint,
  n1 bigint,
  n2 bigint,
  n3 bigint,
  name text COLLATE "C",
  id text COLLATE "C",
  owner text COLLATE "C",
  to_status smallint,
  actor text,
  reason text,
  names text[] COLLATE "C",
  data text,
  list_count smallint,
  list_ids text[] COLLATE "C",
  list_names text[] COLLATE "C",
  list_owners text[] COLLATE "C",
  list_epochs bigint[],
  list_n1 bigint[],
  PRIMARY KEY (ns, e, s)
);
-- To be stored as they are: making them shorter would take longer than writing them.
ALTER TABLE {s}.log ALTER list_ids SET STORAGE EXTERNAL, ALTER list_names SET STORAGE EXTERNAL, ALTER list_owners SET STORAGE EXTERNAL,
  ALTER list_epochs SET STORAGE EXTERNAL, ALTER list_n1 SET STORAGE EXTERNAL;
`;
