// Committing (N2): live, this epoch, the operation stored, the number settled; or nothing. A commit touches its own spans and no
// row of the stream, so commits run side by side. Spans are never waited for: one that another transaction has is `busy`.
//
// In a caller's own transaction the row lock is the number's life: recovery passes over it until that transaction ends. Nothing
// else is locked meanwhile; the log row is written, and who waits is woken, by a trigger at the COMMIT.
import { ENTER_QUICKLY } from './locking.js';
import { NEXT_PLACE } from './places.js';

export const SEQUENCE_COMMIT = `
CREATE FUNCTION {s}.seq_commit_v1(
  p_namespace text, p_streams text[], p_operations text[], p_epochs bigint[], p_texts text[], p_contents bigint[],
  p_counts integer[], p_plain boolean
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  sp {s}.space;
  v_done integer;
  v_now bigint;
  v_ids integer[];
  v_firsts bigint[];
  v_fine boolean;
  v_until bigint;
  v_count integer;
  v_e bigint;
  v_fast text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(v_seed);
  ${ENTER_QUICKLY}
  IF p_plain THEN
    SELECT array_agg(f.id ORDER BY f.ord), array_agg(f.first ORDER BY f.ord), bool_and(f.fine), min(f.expires_at), count(*)
      INTO v_ids, v_firsts, v_fine, v_until, v_count FROM (
        SELECT i.ord, t.id, r.first, r.expires_at, r.state = 0 AND NOT r.lapsed AND r.epoch = i.epoch AND r.count = i.count AS fine
          FROM unnest(p_streams, p_operations, p_epochs, p_counts) WITH ORDINALITY i(stream, operation, epoch, count, ord),
            LATERAL (SELECT y.id FROM {s}.stream y WHERE y.ns = sp.ns AND y.name = i.stream OFFSET 0) t,
            LATERAL (SELECT x.first, x.expires_at, x.state, x.lapsed, x.epoch, x.count FROM {s}.span x
              WHERE x.operation_id = i.operation AND x.stream = t.id AND x.moved_from IS NULL FOR UPDATE SKIP LOCKED) r) f;
  END IF;
  v_now := {s}.clock_v1();
  IF v_fine AND v_now < v_until AND v_count = cardinality(p_streams) THEN
    v_e := pg_sequence_last_value(sp.epochs);
    WITH done AS (
      UPDATE {s}.span x SET state = 2, settled_at = v_now, operations = i.text, content = i.content, retry_at = NULL,
          last_error = NULL, partial = NULL, finished = NULL, finished_content = NULL
        FROM unnest(v_ids, v_firsts, p_texts, p_contents, p_streams) WITH ORDINALITY i(id, first, text, content, stream, ord)
        WHERE x.stream = i.id AND x.first = i.first
        RETURNING i.ord, i.stream, x.first, x.count, x.operation_id, x.kind, x.owner, x.epoch, x.reason),
    logged AS (
      INSERT INTO {s}.log (ns, type, e, s, at, epoch, name, owner, reason, data)
        SELECT sp.ns, 12, v_e, ${NEXT_PLACE}, v_now, d.epoch, d.stream, d.owner, d.reason,
          {s}.seq_data_v1(d.first, d.count, d.operation_id, d.kind) || ',"outcome":"committed"}'
        FROM (SELECT * FROM done ORDER BY ord OFFSET 0) d WHERE sp.keep_history)
    SELECT string_agg(d.first::text, ',' ORDER BY d.ord), count(*) INTO v_fast, v_count FROM done d;
    IF v_count <> cardinality(p_streams) THEN
      RAISE EXCEPTION 'a row changed under its lock' USING ERRCODE = 'HF004';
    END IF;
    PERFORM {s}.seq_wake_v1(p_namespace, v_seed, v_now, sp.ns, p_streams);
    RETURN {s}.seq_reply_v1(sp, v_now, '"' || v_fast || '"');
  END IF;
  SELECT '[' || coalesce(string_agg({s}.seq_commit_one_v1(sp, v_now, i.stream, i.operation, i.epoch, i.text, i.content, i.count), ','), '') || ']'
    INTO v_fast FROM (SELECT * FROM unnest(p_streams, p_operations, p_epochs, p_texts, p_contents, p_counts)
      WITH ORDINALITY i(stream, operation, epoch, text, content, count, ord) ORDER BY i.ord OFFSET 0) i;
  PERFORM {s}.seq_wake_v1(p_namespace, v_seed, v_now, sp.ns, p_streams);
  RETURN {s}.seq_reply_v1(sp, v_now, v_fast);
END $$;

CREATE FUNCTION {s}.seq_answer_stored_v1(x {s}.span, p_content bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_stored record;
BEGIN
  SELECT * INTO v_stored FROM {s}.seq_stored_v1(x);
  IF v_stored.first IS NULL THEN RETURN NULL; END IF;
  IF v_stored.content <> p_content THEN RETURN '["mismatch"]'; END IF;
  RETURN json_build_array('committed', v_stored.first, true)::text;
END $$;

CREATE FUNCTION {s}.seq_commit_one_v1(
  sp {s}.space, p_now bigint, p_name text, p_operation text, p_epoch bigint, p_text text, p_content bigint, p_count integer
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  x {s}.span;
  v_stored text;
BEGIN
  x := {s}.seq_find_v1((SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = p_name), p_operation);
  IF x.first = -1 THEN RETURN '["failed","busy"]'; END IF;
  v_stored := {s}.seq_answer_stored_v1(x, p_content);
  IF v_stored IS NOT NULL THEN RETURN v_stored; END IF;
  IF NOT {s}.seq_is_held_v1(x, p_epoch, p_now) THEN RETURN {s}.seq_refuse_v1(x, p_epoch, p_now); END IF;
  IF x.count <> p_count THEN RETURN json_build_array('failed', 'count', x.count)::text; END IF;
  x := {s}.seq_store_here_v1(sp, p_now, p_name, p_text, p_content, NULL, x);
  RETURN json_build_array('committed', x.first, false)::text;
END $$;

-- Refuses to work outside a transaction: p_xact is the one the client was in a moment ago.
CREATE FUNCTION {s}.seq_inside_v1(p_xact text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF pg_current_xact_id()::text <> p_xact THEN
    RAISE EXCEPTION 'tx is a client inside a transaction: BEGIN on it first, COMMIT after your writes' USING ERRCODE = 'HF002';
  END IF;
END $$;
-- A no that an older snapshot gives may be a yes by now.
CREATE FUNCTION {s}.seq_doubt_v1() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'this transaction sees the stream as it was before: run it again from its BEGIN' USING ERRCODE = 'HF004';
  END IF;
END $$;

CREATE FUNCTION {s}.seq_commit_in_v1(
  p_namespace text, p_xact text, p_stream text, p_operation text, p_epoch bigint, p_text text, p_content bigint, p_count integer
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  x {s}.span;
  v_stored text;
BEGIN
  PERFORM {s}.seq_inside_v1(p_xact);
  -- What is settled is not locked, or trimming would wait for it; nor what is lost already, or recovery would pass over it.
  SELECT y.* INTO x FROM {s}.stream t JOIN {s}.span y ON y.stream = t.id
    WHERE t.ns = sp.ns AND t.name = p_stream AND y.operation_id = p_operation AND y.moved_from IS NULL;
  v_stored := {s}.seq_answer_stored_v1(x, p_content);
  IF v_stored IS NOT NULL THEN RETURN {s}.seq_reply_v1(sp, v_now, v_stored); END IF;
  IF {s}.seq_is_held_v1(x, p_epoch, v_now) THEN
    SELECT y.* INTO x FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.first FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN {s}.seq_reply_v1(sp, v_now, '["failed","busy"]'); END IF;
    v_now := {s}.clock_v1();
  END IF;
  v_stored := {s}.seq_answer_stored_v1(x, p_content);
  IF v_stored IS NOT NULL THEN RETURN {s}.seq_reply_v1(sp, v_now, v_stored); END IF;
  -- That it lapsed is not written down here: the row would be locked until the caller's transaction ends.
  IF NOT {s}.seq_is_held_v1(x, p_epoch, v_now) THEN
    PERFORM {s}.seq_doubt_v1();
    RETURN {s}.seq_reply_v1(sp, v_now, {s}.seq_not_held_v1(x, v_now));
  END IF;
  IF x.count <> p_count THEN RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('failed', 'count', x.count)::text); END IF;
  UPDATE {s}.span y SET state = 2, settled_at = v_now, operations = p_text, content = p_content, retry_at = NULL,
      last_error = NULL, partial = NULL, finished = NULL, finished_content = NULL
    WHERE y.stream = x.stream AND y.first = x.first;
  INSERT INTO {s}.at_commit (stream, first, ns) VALUES (x.stream, x.first, sp.ns);
  RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('committed', x.first, false)::text);
END $$;

CREATE FUNCTION {s}.seq_at_commit_v1() RETURNS trigger LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space;
  v_now bigint;
  x {s}.span;
  v_name text;
BEGIN
  DELETE FROM {s}.at_commit a WHERE a.stream = NEW.stream AND a.first = NEW.first;
  SELECT n.id, n.name, n.epochs, n.keep_history, n.history_renewals, n.settings_version, NULL,
      {s}.seed_v1(n.name) INTO sp FROM {s}.namespace n WHERE n.id = NEW.ns;
  SELECT t.name INTO v_name FROM {s}.stream t WHERE t.id = NEW.stream;
  SELECT y.* INTO x FROM {s}.span y WHERE y.stream = NEW.stream AND y.first = NEW.first;
  PERFORM pg_advisory_xact_lock_shared(sp.seed);
  PERFORM {s}.mark_v1(sp);
  v_now := {s}.clock_v1();
  PERFORM {s}.seq_log_v1(sp, v_now, v_name, x, 12, ',"outcome":"committed"');
  PERFORM {s}.seq_wake_v1(sp.name, sp.seed, v_now, sp.ns, ARRAY[v_name]);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON {s}.at_commit DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION {s}.seq_at_commit_v1();
`;
