// What the functions about streams are made of: locks, the look at a stream's head, the transitions of a span with their log
// rows (src/stores/protocol/sequence/transitions.ts, word for word), and waking.
//
// Locks, in this order for everybody: the namespace (shared), streams that are made, rows of `stream` by id, rows of `stream_next` by
// id, then spans and readers, which are never waited for (SKIP LOCKED: a caller's transaction may have one for minutes), then the watch of a
// stream (an advisory lock: shared by who settles, exclusive by who begins to wait, so that no wake-up is missed).
import { NEXT_PLACE } from './places.js';

export const WATCH_MS = 10_000;
/** How long somebody else's transaction is given before its number is asked for again. */
export const BUSY_MS = 100;

export const SEQUENCE_PARTS = `
CREATE FUNCTION {s}.seq_reply_v1(sp {s}.space, p_now bigint, p_body text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"now":' || p_now || ',"incarnation":"' || (sp).incarnation || '","version":' || (sp).version || ',"body":' || p_body || '}'
$$;

CREATE FUNCTION {s}.quoted_v1(p_text text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(to_json(p_text)::text, 'null')
$$;

CREATE FUNCTION {s}.seq_epoch_v1(sp {s}.space) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN
    RAISE EXCEPTION 'the epoch counter has left the range of safe integers' USING ERRCODE = 'HF002';
  END IF;
  RETURN nextval(sp.epochs);
END $$;

-- Makes the streams that are not there. Sorted, so that two who make the same do not wait for each other.
CREATE FUNCTION {s}.seq_make_v1(p_ns integer, p_names text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO {s}.stream (ns, name) SELECT p_ns, n.name FROM (SELECT DISTINCT u AS name FROM unnest(p_names) u) n
    WHERE NOT EXISTS (SELECT FROM {s}.stream t WHERE t.ns = p_ns AND t.name = n.name) ORDER BY n.name ON CONFLICT DO NOTHING;
  INSERT INTO {s}.stream_next (stream) SELECT t.id FROM {s}.stream t WHERE t.ns = p_ns AND t.name = ANY (p_names)
    AND NOT EXISTS (SELECT FROM {s}.stream_next n WHERE n.stream = t.id) ORDER BY t.id ON CONFLICT DO NOTHING;
END $$;

-- p_stream: the rows that gaps, seals and trimming change. p_next: those that leasing changes. How many there are. Where only leasing is
-- meant, each stream is named once, and where one is missing nothing is locked: it is made first, and who makes it as well may want these.
CREATE FUNCTION {s}.seq_lock_v1(p_ns integer, p_names text[], p_stream boolean, p_next boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_ids integer[] := ARRAY(SELECT t.id FROM {s}.stream t WHERE t.ns = p_ns AND t.name = ANY (p_names));
BEGIN
  IF NOT p_stream AND cardinality(v_ids) < cardinality(p_names) THEN RETURN cardinality(v_ids); END IF;
  IF p_stream THEN
    PERFORM FROM {s}.stream t WHERE t.id = ANY (v_ids) ORDER BY t.id FOR NO KEY UPDATE;
  END IF;
  IF p_next THEN
    PERFORM FROM {s}.stream_next n WHERE n.stream = ANY (v_ids) ORDER BY n.stream FOR NO KEY UPDATE;
  END IF;
  RETURN cardinality(v_ids);
END $$;

-- N3: next and the lowest open number as of one snapshot, for one statement sees one.
CREATE TYPE {s}.head AS (
  id integer, seal bigint, trimmed_before bigint, watched_until bigint, next bigint, watermark bigint, oldest text
);
CREATE FUNCTION {s}.seq_head_v1(p_ns integer, p_name text) RETURNS {s}.head LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  h {s}.head;
BEGIN
  SELECT t.id, t.seal, t.trimmed_before, t.watched_until, n.next, coalesce(o.first, n.next) - 1, o.oldest INTO h
    FROM {s}.stream t JOIN {s}.stream_next n ON n.stream = t.id LEFT JOIN LATERAL (
      SELECT x.first, json_build_array(x.first, x.state, x.operation_id, x.kind, x.owner, x.leased_at, x.expires_at,
          {s}.seq_due_v1(x.state, x.expires_at, x.retry_at, x.claim_until))::text AS oldest
        FROM {s}.span x WHERE x.stream + 0 = t.id AND x.state < 2 AND x.first > greatest(t.seal, n.bottom)
        ORDER BY x.first LIMIT 1) o ON true
    WHERE t.ns = p_ns AND t.name = p_name;
  IF NOT FOUND THEN h := ROW(0, 0, 1, 0, 1, 0, NULL); END IF;
  RETURN h;
END $$;

CREATE FUNCTION {s}.seq_head_text_v1(h {s}.head) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '[' || (h).watermark || ',' || (h).seal || ',' || (h).next || ',' || (h).trimmed_before || ',' || coalesce((h).oldest, 'null') || ']'
$$;

-- When a recoverer may claim it; NULL when never.
CREATE FUNCTION {s}.seq_due_v1(p_state smallint, p_expires bigint, p_retry bigint, p_claimed bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_state = 0 THEN greatest(p_expires, p_retry, p_claimed) WHEN p_state = 1 THEN greatest(0, p_retry, p_claimed)
    WHEN p_state = 3 AND p_retry IS NOT NULL THEN greatest(p_retry, p_claimed) END
$$;

-- The span an operation was leased with, locked. Its first number is -1 when another transaction has it.
CREATE FUNCTION {s}.seq_find_v1(p_stream integer, p_operation text) RETURNS {s}.span LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  x {s}.span;
BEGIN
  SELECT y.* INTO x FROM {s}.span y WHERE y.operation_id = p_operation AND y.stream = p_stream AND y.moved_from IS NULL
    FOR UPDATE SKIP LOCKED;
  IF NOT FOUND AND EXISTS (
      SELECT FROM {s}.span y WHERE y.operation_id = p_operation AND y.stream = p_stream AND y.moved_from IS NULL) THEN
    x.first := -1;
  END IF;
  RETURN x;
END $$;

CREATE FUNCTION {s}.seq_state_v1(x {s}.span, p_now bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN (x).first IS NULL THEN 'unknown' WHEN (x).state = 0 AND (p_now >= (x).expires_at OR (x).lapsed) THEN 'expired'
    ELSE (ARRAY['leased', 'recovering', 'committed', 'gap', 'filled', 'moved'])[(x).state + 1] END
$$;
CREATE FUNCTION {s}.seq_not_held_v1(x {s}.span, p_now bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_array('notHeld', {s}.seq_state_v1(x, p_now), (x).epoch)::text
$$;

-- Leased, by who says so, and not over.
CREATE FUNCTION {s}.seq_is_held_v1(x {s}.span, p_epoch bigint, p_now bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN x.first IS NOT NULL AND x.state = 0 AND x.epoch = p_epoch AND p_now < x.expires_at AND NOT x.lapsed;
END $$;
-- A holder that is told that its lease is over is told so for good, also when the clock is set back afterwards (S13). The row is locked.
CREATE FUNCTION {s}.seq_refuse_v1(x {s}.span, p_epoch bigint, p_now bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF x.state = 0 AND x.epoch = p_epoch AND NOT x.lapsed THEN
    UPDATE {s}.span y SET lapsed = true WHERE y.stream = x.stream AND y.first = x.first;
  END IF;
  RETURN {s}.seq_not_held_v1(x, p_now);
END $$;

-- Where the operations of this span's operation id are stored: its number there and their hash; NULL when they are not.
CREATE FUNCTION {s}.seq_stored_v1(x {s}.span, OUT first bigint, OUT content bigint) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF x.content <> 0 THEN
    first := x.first;
    content := x.content;
  ELSIF x.moved_to IS NOT NULL THEN
    SELECT y.first, y.content INTO first, content FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.moved_to;
  END IF;
END $$;

CREATE FUNCTION {s}.seq_log_v1(
  sp {s}.space, p_now bigint, p_name text, x {s}.span, p_type integer, p_more text, p_actor text DEFAULT NULL
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NOT sp.keep_history THEN RETURN; END IF;
  INSERT INTO {s}.log (ns, type, e, s, at, epoch, name, owner, actor, reason, data)
    VALUES (sp.ns, p_type, pg_sequence_last_value(sp.epochs), ${NEXT_PLACE}, p_now, x.epoch, p_name, x.owner, p_actor,
      x.reason, {s}.seq_data_v1(x.first, x.count, x.operation_id, x.kind) || p_more || '}');
END $$;
CREATE FUNCTION {s}.seq_data_v1(p_first bigint, p_count integer, p_operation text, p_kind text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT '{"number":' || p_first || CASE WHEN p_count > 1 THEN ',"count":' || p_count ELSE '' END
    || ',"operationId":' || to_json(p_operation)::text || ',"kind":' || to_json(p_kind)::text
$$;
-- How long after its expiry a number was dealt with, and how; nothing for what its own holder did in time.
CREATE FUNCTION {s}.seq_overrun_v1(x {s}.span, p_now bigint, p_method text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_method IS NULL THEN ''
    ELSE ',"overrunMs":' || greatest(0, p_now - (x).expires_at) || ',"method":"' || p_method || '"' END
$$;

-- Writes the row back, and the counters of its stream where they change. What trimming passed over, because somebody still
-- had to deal with it, goes when that is done.
CREATE FUNCTION {s}.seq_become_v1(p_now bigint, was {s}.span, INOUT x {s}.span) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_gaps bigint;
  v_moved bigint;
  v_manual bigint;
BEGIN
  IF x.state > 1 AND x.trimmed_at IS NULL AND NOT x.manual AND x.moved_to IS NULL
    AND {s}.seq_due_v1(x.state, x.expires_at, x.retry_at, x.claim_until) IS NULL
    AND EXISTS (SELECT FROM {s}.stream t WHERE t.id = x.stream AND x.first + x.count <= t.trimmed_before) THEN
    x.partial := NULL;
    x.finished := NULL;
    x.trimmed_at := p_now;
  END IF;
  v_gaps := (x.state = 3 AND x.moved_to IS NULL AND x.trimmed_at IS NULL)::integer
    - (was.state = 3 AND was.moved_to IS NULL AND was.trimmed_at IS NULL)::integer;
  v_moved := (x.state = 5 AND x.trimmed_at IS NULL)::integer - (was.state = 5 AND was.trimmed_at IS NULL)::integer;
  v_manual := (x.manual AND x.trimmed_at IS NULL)::integer - (was.manual AND was.trimmed_at IS NULL)::integer;
  UPDATE {s}.span y SET state = x.state, manual = x.manual, owner = x.owner, epoch = x.epoch, leased_at = x.leased_at,
      expires_at = x.expires_at, ttl_ms = x.ttl_ms, content = x.content, settled_at = x.settled_at, moved_to = x.moved_to,
      claim_epoch = x.claim_epoch, claim_until = x.claim_until, claim_owner = x.claim_owner, attempts = x.attempts,
      retry_at = x.retry_at, trimmed_at = x.trimmed_at, reason = x.reason, last_error = x.last_error,
      operations = x.operations, partial = x.partial, finished = x.finished, finished_content = x.finished_content
    WHERE y.stream = x.stream AND y.first = x.first;
  IF v_gaps <> 0 OR v_moved <> 0 OR v_manual <> 0 THEN
    UPDATE {s}.stream t SET gaps = t.gaps + v_gaps * x.count, moved = t.moved + v_moved * x.count,
      manual = t.manual + v_manual * x.count WHERE t.id = x.stream;
  END IF;
END $$;

-- A terminal outcome: nothing is left to be done about the operation, and its work need not be kept.
CREATE FUNCTION {s}.seq_forget_work_v1(INOUT x {s}.span) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  x.claim_epoch := NULL;
  x.claim_until := NULL;
  x.claim_owner := NULL;
  x.retry_at := NULL;
  x.last_error := NULL;
  x.manual := false;
  x.partial := NULL;
  x.finished := NULL;
  x.finished_content := NULL;
END $$;

-- Stores operations at the span's own number, as committed or, where a gap was, as filled.
CREATE FUNCTION {s}.seq_store_here_v1(
  sp {s}.space, p_now bigint, p_name text, p_operations text, p_content bigint, p_method text, INOUT x {s}.span
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  was {s}.span := x;
BEGIN
  x := {s}.seq_forget_work_v1(x);
  x.state := CASE WHEN was.state = 3 THEN 4 ELSE 2 END;
  x.settled_at := p_now;
  x.operations := p_operations;
  x.content := p_content;
  x := {s}.seq_become_v1(p_now, was, x);
  PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, CASE WHEN x.state = 4 THEN 14 ELSE 12 END,
    ',"outcome":"' || {s}.seq_state_v1(x, p_now) || '"' || {s}.seq_overrun_v1(x, p_now, p_method));
END $$;

-- Reserves the next numbers.
CREATE FUNCTION {s}.seq_reserve_v1(p_stream integer, p_name text, p_count integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_first bigint;
BEGIN
  UPDATE {s}.stream_next n SET next = n.next + p_count WHERE n.stream = p_stream AND n.next + p_count <= 9007199254740991
    RETURNING n.next - p_count INTO v_first;
  IF v_first IS NULL THEN
    RAISE EXCEPTION '% has left the range of safe integers', p_name USING ERRCODE = 'HF002';
  END IF;
  RETURN v_first;
END $$;

-- V2: the operation under a new number, the old one pointing to it. An open number becomes moved; a gap stays one.
CREATE FUNCTION {s}.seq_store_elsewhere_v1(
  sp {s}.space, p_now bigint, p_name text, p_operations text, p_content bigint, p_method text, INOUT x {s}.span
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  was {s}.span := x;
BEGIN
  x := {s}.seq_forget_work_v1(x);
  x.moved_to := {s}.seq_reserve_v1(x.stream, p_name, x.count);
  INSERT INTO {s}.span (stream, first, count, operation_id, kind, state, owner, epoch, leased_at, expires_at, ttl_ms,
      settled_at, moved_from, operations, content, recovered_at, recovery)
    VALUES (x.stream, x.moved_to, x.count, x.operation_id, x.kind, 2, x.owner, x.epoch, p_now, p_now, x.ttl_ms,
      p_now, x.first, p_operations, p_content, p_now, p_method);
  IF x.state < 2 THEN x.state := 5; END IF;
  x.settled_at := coalesce(x.settled_at, p_now);
  x := {s}.seq_become_v1(p_now, was, x);
  PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 15,
    ',"movedTo":' || x.moved_to || ',"outcome":"moved"' || {s}.seq_overrun_v1(x, p_now, p_method));
END $$;

-- N4: above the seal a gap takes its own operation back; at or below it, or when its number is open, the operation gets a new one.
CREATE FUNCTION {s}.seq_place_v1(
  sp {s}.space, p_now bigint, p_name text, p_operations text, p_content bigint, p_method text, INOUT x {s}.span,
  OUT first bigint, OUT how text
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF x.state > 1 AND EXISTS (SELECT FROM {s}.stream t WHERE t.id = x.stream AND x.first > t.seal) THEN
    x := {s}.seq_store_here_v1(sp, p_now, p_name, p_operations, p_content, p_method, x);
    first := x.first;
    how := 'filled';
  ELSE
    x := {s}.seq_store_elsewhere_v1(sp, p_now, p_name, p_operations, p_content, p_method, x);
    first := x.moved_to;
    how := 'moved';
  END IF;
END $$;

-- x has what changes beside the state. Only a number that was open is news.
CREATE FUNCTION {s}.seq_gap_v1(
  sp {s}.space, p_now bigint, p_name text, p_reason text, p_method text, was {s}.span, INOUT x {s}.span
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  x.state := 3;
  IF was.state < 2 THEN
    x.reason := p_reason;
    x.settled_at := p_now;
  END IF;
  x := {s}.seq_become_v1(p_now, was, x);
  IF was.state < 2 THEN
    PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 13, ',"outcome":"gap"' || {s}.seq_overrun_v1(x, p_now, p_method));
  END IF;
END $$;

-- Who settles shares the watch of the stream until it commits; who begins to wait has it alone. So either the settler sees that
-- somebody waits, or the waiter sees what was settled. A caller's transaction with an older snapshot does not see who waits.
CREATE FUNCTION {s}.seq_wake_v1(p_namespace text, p_seed bigint, p_now bigint, p_ns integer, p_names text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_names text[] := ARRAY(SELECT DISTINCT n FROM unnest(p_names) n ORDER BY n);
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(n, p_seed + 2)) FROM unnest(v_names) n;
  PERFORM pg_notify({s}.seq_channel_v1(), json_build_object('n', p_namespace, 's', t.name)::text)
    FROM {s}.stream t WHERE t.ns = p_ns AND t.name = ANY (v_names)
      AND (t.watched_until > p_now OR current_setting('transaction_isolation') <> 'read committed');
END $$;
CREATE FUNCTION {s}.seq_channel_v1() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT {s}.channel_v1() || '_streams'
$$;
`;
