// The tables of streams (N1 to N6), the first part of the third migration.
//
// A stream is two rows, so that whoever leases does not wait for whoever reads: `stream` has what readers, gaps and trimming
// change, `stream_next` what leasing changes. A span is one lease of numbers; the indexes of what is open, a gap, manual or
// trimmed stand on (stream + 0), which no other index has: a plan made while the table was empty cannot settle on the primary
// key instead and filter. None holds a column that progress changes, so progress is a HOT update.
export const SEQUENCE_TABLES = `
CREATE TABLE {s}.stream (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ns integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  seal bigint NOT NULL DEFAULT 0,
  trimmed_before bigint NOT NULL DEFAULT 1,
  watched_until bigint NOT NULL DEFAULT 0,
  gaps bigint NOT NULL DEFAULT 0,
  moved bigint NOT NULL DEFAULT 0,
  manual bigint NOT NULL DEFAULT 0,
  UNIQUE (ns, name)
) WITH (fillfactor = 50);

-- bottom: no number up to this one is open any more. A hint where to begin to look, raised by whoever leases.
CREATE TABLE {s}.stream_next (
  stream integer PRIMARY KEY,
  next bigint NOT NULL DEFAULT 1,
  bottom bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);

-- state: 0 leased, 1 recovering, 2 committed, 3 gap, 4 filled, 5 moved. content: hash of the operations once they were stored.
-- lapsed: its holder was told that it is over, or somebody claimed it: a clock that is set back does not undo that (S13).
-- operations, partial, finished: JSON, kept as the text it came in. moved_from: made by a move; the id is that span's.
CREATE TABLE {s}.span (
  first bigint NOT NULL,
  epoch bigint NOT NULL,
  leased_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ttl_ms bigint NOT NULL,
  content bigint NOT NULL DEFAULT 0,
  stream integer NOT NULL,
  count integer NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  state smallint NOT NULL,
  manual boolean NOT NULL DEFAULT false,
  lapsed boolean NOT NULL DEFAULT false,
  operation_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  settled_at bigint,
  moved_to bigint,
  moved_from bigint,
  recovered_at bigint,
  recovery text,
  claim_epoch bigint,
  claim_until bigint,
  claim_owner text,
  retry_at bigint,
  trimmed_at bigint,
  finished_content bigint,
  reason text,
  last_error text,
  operations text,
  partial text,
  finished text,
  PRIMARY KEY (stream, first)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE UNIQUE INDEX span_by_operation ON {s}.span (operation_id, stream) WHERE moved_from IS NULL;
CREATE INDEX span_open ON {s}.span ((stream + 0), first) WHERE state < 2;
CREATE INDEX span_gap ON {s}.span ((stream + 0), first) WHERE state = 3;
CREATE INDEX span_gap_due ON {s}.span ((stream + 0), first) WHERE state = 3 AND retry_at IS NOT NULL;
CREATE INDEX span_manual ON {s}.span ((stream + 0), first) WHERE manual;
CREATE INDEX span_trimmed ON {s}.span ((stream + 0), trimmed_at) WHERE trimmed_at IS NOT NULL;

CREATE TABLE {s}.reader (
  stream integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  done bigint NOT NULL,
  epoch bigint NOT NULL,
  moved_at bigint NOT NULL,
  PRIMARY KEY (stream, name)
) WITH (fillfactor = 70);

-- What a caller's own transaction has committed to a stream: its trigger writes the log row and wakes who waits at the COMMIT,
-- so that nothing is held up while that transaction stays open. Its rows are gone before anybody could see them.
CREATE UNLOGGED TABLE {s}.at_commit (
  stream integer NOT NULL,
  first bigint NOT NULL,
  ns integer NOT NULL,
  PRIMARY KEY (stream, first)
);
`;
