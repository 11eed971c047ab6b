// Recovery as the store sees it (V1, V2, V4): claims with epochs of their own, and the one step that settles what was claimed, as
// src/stores/protocol/sequence/recover.ts says it. A claim takes what nobody has locked: a number that a caller's transaction is
// just committing is passed over.
import { LIMITS } from '../../../domain/limits.js';

/** What its holder was told is over is due also where the clock was set back since. */
const DUE = '{s}.seq_due_v1(y.state, CASE WHEN y.lapsed THEN 0 ELSE y.expires_at END, y.retry_at, y.claim_until)';

/** Spans that are due, lowest numbers first, as far as the list is not full. */
function takeDue(where: string): string {
  return `FOR x IN SELECT y.* FROM {s}.span y WHERE y.stream + 0 = v_stream.id AND ${where}
        AND ${DUE} <= v_now
        ORDER BY y.first LIMIT p_limit + 1 - v_seen FOR UPDATE SKIP LOCKED
      LOOP
        v_seen := v_seen + 1;
        v_bytes := v_bytes + coalesce(length(x.partial), 0) + coalesce(length(x.finished), 0);
        v_full := v_full OR v_seen > p_limit OR (v_seen > 1 AND v_bytes > ${LIMITS.operationsBytes});
        EXIT WHEN v_full;
        x.claim_epoch := {s}.seq_epoch_v1(sp);
        x.claim_until := v_now + p_ttl;
        UPDATE {s}.span y SET state = CASE WHEN y.state < 2 THEN 1 ELSE y.state END, lapsed = true, claim_epoch = x.claim_epoch,
            claim_until = x.claim_until, claim_owner = p_owner, retry_at = CASE WHEN y.state < 2 THEN NULL ELSE y.retry_at END
          WHERE y.stream = x.stream AND y.first = x.first;
        v_claimed := v_claimed || {s}.seq_claimed_v1(v_stream.name, x);
      END LOOP;`;
}

const EACH_STREAM = `SELECT t.id, t.name FROM {s}.stream t
      WHERE t.ns = sp.ns AND (p_stream IS NULL OR t.name = p_stream) ORDER BY t.name`;

export const SEQUENCE_RECOVER = `
CREATE FUNCTION {s}.seq_claimed_v1(p_name text, x {s}.span) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '[' || to_json(p_name)::text || ',' || (x).first || ',' || (x).count || ',' || to_json((x).operation_id)::text || ','
    || to_json((x).kind)::text || ',' || (x).claim_epoch || ',' || (x).claim_until || ',' || (x).leased_at || ','
    || (x).expires_at || ',' || (x).attempts || ',' || ((x).state > 1)::text || ',' || coalesce((x).partial, 'null') || ','
    || coalesce((x).finished, 'null') || ',' || ((x).partial IS NOT NULL)::text || ']'
$$;

-- How many are due, at most one more than a step takes.
CREATE FUNCTION {s}.seq_backlog_v1(sp {s}.space, p_stream text, p_now bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT count(*) FROM (SELECT FROM (${EACH_STREAM}) t, LATERAL (
      SELECT FROM {s}.stream_next n JOIN {s}.span y ON y.stream + 0 = n.stream
        WHERE n.stream = t.id AND y.state < 2 AND y.first > n.bottom
          AND ${DUE} <= p_now) d
    LIMIT ${LIMITS.rowsPerStep + 1}) c);
END $$;

CREATE FUNCTION {s}.seq_claim_v1(p_namespace text, p_stream text, p_limit integer, p_owner text, p_ttl bigint, p_gaps boolean)
RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_backlog bigint := {s}.seq_backlog_v1(sp, p_stream, v_now);
  v_stream record;
  x {s}.span;
  v_claimed text[] := '{}';
  v_seen integer := 0;
  v_bytes bigint := 0;
  v_full boolean := false;
BEGIN
  -- Nothing to claim is the ordinary case, and writes nothing.
  IF v_backlog = 0 AND NOT (p_gaps AND EXISTS (SELECT FROM (${EACH_STREAM}) t, LATERAL (
      SELECT FROM {s}.span y WHERE y.stream + 0 = t.id AND y.state = 3 AND y.retry_at IS NOT NULL
        AND ${DUE} <= v_now LIMIT 1) d)) THEN
    RETURN {s}.seq_reply_v1(sp, v_now, '[[],0,false]');
  END IF;
  sp := {s}.enter_v1(p_namespace);
  v_now := {s}.clock_v1();
  v_backlog := {s}.seq_backlog_v1(sp, p_stream, v_now);
  FOR v_stream IN ${EACH_STREAM} LOOP
    EXIT WHEN v_full OR v_backlog = 0;
    ${takeDue('y.state < 2')}
  END LOOP;
  FOR v_stream IN ${EACH_STREAM} LOOP
    EXIT WHEN v_full OR NOT p_gaps;
    ${takeDue('y.state = 3 AND y.retry_at IS NOT NULL')}
  END LOOP;
  RETURN {s}.seq_reply_v1(sp, v_now, '[[' || array_to_string(v_claimed, ',') || '],' || v_backlog || ',' || v_full::text || ']');
END $$;

-- Whoever lost its claim is told the epoch of the one there is.
CREATE FUNCTION {s}.seq_claim_lost_v1(x {s}.span, p_now bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_array('notHeld', {s}.seq_state_v1(x, p_now), (x).claim_epoch)::text
$$;

CREATE FUNCTION {s}.seq_renew_claims_v1(
  p_namespace text, p_streams text[], p_operations text[], p_epochs bigint[], p_ttls bigint[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_item record;
  x {s}.span;
  v_results text[] := '{}';
BEGIN
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_operations, p_epochs, p_ttls) i(stream, operation, epoch, ttl)
  LOOP
    x := {s}.seq_find_v1(v_item.id, v_item.operation);
    IF x.first = -1 THEN
      v_results := v_results || '["failed","busy"]'::text;
    ELSIF x.claim_epoch = v_item.epoch AND v_now < x.claim_until THEN
      x.claim_until := greatest(x.claim_until, v_now + v_item.ttl);
      UPDATE {s}.span y SET claim_until = x.claim_until WHERE y.stream = x.stream AND y.first = x.first;
      v_results := v_results || json_build_array('kept', x.claim_until - v_now)::text;
    ELSE
      v_results := v_results || {s}.seq_claim_lost_v1(x, v_now);
    END IF;
  END LOOP;
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

-- p_hows: commit, move, gap, retry, manual. p_words: the reason of a gap or of a hand-over. p_afters: of a retry, of a gap to be
-- tried again. p_errors: of a retry or a hand-over.
CREATE FUNCTION {s}.seq_settle_v1(
  p_namespace text, p_streams text[], p_operations text[], p_epochs bigint[], p_hows text[], p_texts text[], p_contents bigint[],
  p_counts integer[], p_types text[], p_words text[], p_errors text[], p_afters bigint[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  v_item record;
  x {s}.span;
  v_result text;
  v_results text[] := '{}';
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_lock_v1(sp.ns, p_streams, true, 'move' = ANY (p_hows) OR 'commit' = ANY (p_hows));
  v_now := {s}.clock_v1();
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_operations, p_epochs, p_hows, p_texts, p_contents, p_counts, p_types, p_words, p_errors, p_afters)
      i(stream, operation, epoch, how, text, content, count, type, word, error, after)
  LOOP
    x := {s}.seq_find_v1(v_item.id, v_item.operation);
    IF x.first = -1 THEN
      v_result := '["failed","busy"]';
    ELSIF x.claim_epoch IS DISTINCT FROM v_item.epoch OR v_now >= x.claim_until THEN
      v_result := {s}.seq_claim_lost_v1(x, v_now);
    ELSIF v_item.how = 'commit' AND x.finished IS NULL THEN
      v_result := '["failed","unfinished"]';
    ELSIF v_item.how = 'move' AND x.count <> v_item.count THEN
      v_result := json_build_array('failed', 'count', x.count)::text;
    ELSIF v_item.how = 'commit' THEN
      v_result := {s}.seq_recovered_v1(sp, v_now, v_item.stream, x, x.finished, x.finished_content, 'recommitted');
    ELSIF v_item.how = 'move' THEN
      v_result := {s}.seq_recovered_v1(sp, v_now, v_item.stream, x, v_item.text, v_item.content, v_item.type);
    ELSE
      v_result := {s}.seq_put_off_v1(sp, v_now, v_item.stream, x, v_item.how, v_item.word, v_item.error, v_item.after);
    END IF;
    v_results := v_results || v_result;
  END LOOP;
  PERFORM {s}.seq_wake_v1(p_namespace, sp.seed, v_now, sp.ns, p_streams);
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

-- A finished result of an open number stays at that number; anything else is filled in or moved.
CREATE FUNCTION {s}.seq_recovered_v1(
  sp {s}.space, p_now bigint, p_name text, x {s}.span, p_operations text, p_content bigint, p_method text
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_first bigint := x.first;
BEGIN
  IF x.state < 2 AND p_method = 'recommitted' THEN
    x := {s}.seq_store_here_v1(sp, p_now, p_name, p_operations, p_content, p_method, x);
  ELSE
    SELECT p.first INTO v_first FROM {s}.seq_place_v1(sp, p_now, p_name, p_operations, p_content, p_method, x) p;
    SELECT y.* INTO x FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.first;
  END IF;
  PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 16, ',"outcome":"' || {s}.seq_state_v1(x, p_now) || '","storedAt":' || v_first
    || {s}.seq_overrun_v1(x, p_now, p_method));
  RETURN json_build_array('settled', {s}.seq_state_v1(x, p_now), v_first)::text;
END $$;

CREATE FUNCTION {s}.seq_put_off_v1(
  sp {s}.space, p_now bigint, p_name text, x {s}.span, p_how text, p_reason text, p_error text, p_after bigint
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  was {s}.span := x;
  v_failed text;
BEGIN
  x.claim_epoch := NULL;
  x.claim_until := NULL;
  x.claim_owner := NULL;
  x.retry_at := NULL;
  IF p_how <> 'gap' OR was.manual THEN
    x.attempts := x.attempts + 1;
    x.last_error := CASE WHEN p_how = 'gap' THEN p_reason ELSE p_error END;
    v_failed := CASE WHEN p_how = 'retry' THEN 'failed' ELSE 'manual' END;
  END IF;
  IF p_how = 'retry' THEN
    IF x.state = 1 THEN x.state := 0; END IF;
    x.retry_at := p_now + p_after;
    x := {s}.seq_become_v1(p_now, was, x);
  ELSE
    IF p_how = 'gap' AND NOT was.manual THEN x.retry_at := p_now + p_after; END IF;
    x.manual := x.manual OR p_how = 'manual';
    x := {s}.seq_gap_v1(sp, p_now, p_name, p_reason, CASE WHEN p_how = 'gap' THEN 'gap' ELSE 'manual' END, was, x);
  END IF;
  IF p_how = 'gap' AND was.state < 2 THEN
    PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 16, ',"outcome":"gap"' || {s}.seq_overrun_v1(x, p_now, 'gap'));
  ELSIF v_failed IS NOT NULL THEN
    PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 17, ',"outcome":"' || CASE WHEN p_how = 'retry' THEN 'retry' ELSE 'manual' END
      || '","attempts":' || x.attempts || {s}.seq_overrun_v1(x, p_now, v_failed)
      || CASE WHEN p_how = 'retry' THEN ',"retryAt":' || x.retry_at ELSE '' END || ',"error":' || to_json(x.last_error)::text);
  END IF;
  RETURN json_build_array('settled', {s}.seq_state_v1(x, p_now), NULL)::text;
END $$;

CREATE FUNCTION {s}.seq_manual_v1(p_namespace text, p_stream text, p_operation text, p_act text, p_actor text) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  x {s}.span;
  was {s}.span;
  v_place record;
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, true);
  v_now := {s}.clock_v1();
  x := {s}.seq_find_v1((SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = p_stream), p_operation);
  was := x;
  IF x.first = -1 THEN
    RAISE EXCEPTION 'operation % of % is being worked on: try again', p_operation, p_stream USING ERRCODE = 'HF004';
  ELSIF x.manual IS NOT TRUE THEN
    RETURN {s}.seq_reply_v1(sp, v_now, '["unknown"]');
  ELSIF p_act = 'discard' THEN
    x.manual := false;
    x.claim_epoch := NULL;
    x.claim_until := NULL;
    x.claim_owner := NULL;
    x.retry_at := NULL;
    x.partial := NULL;
    x.finished := NULL;
    x := {s}.seq_become_v1(v_now, was, x);
    PERFORM {s}.seq_log_v1(sp, v_now, p_stream, x, 17, ',"outcome":"discarded","method":"manual","error":"discarded"', p_actor);
    RETURN {s}.seq_reply_v1(sp, v_now, '["discarded"]');
  ELSIF x.finished IS NULL THEN
    x.retry_at := coalesce(x.retry_at, v_now);
    x := {s}.seq_become_v1(v_now, was, x);
    RETURN {s}.seq_reply_v1(sp, v_now, '["queued"]');
  END IF;
  SELECT p.first, p.how INTO v_place
    FROM {s}.seq_place_v1(sp, v_now, p_stream, x.finished, x.finished_content, 'manual', x) p;
  SELECT y.* INTO x FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.first;
  PERFORM {s}.seq_log_v1(sp, v_now, p_stream, x, 16, ',"outcome":"' || {s}.seq_state_v1(x, v_now) || '","storedAt":'
    || v_place.first || ',"method":"manual"', p_actor);
  PERFORM {s}.seq_wake_v1(p_namespace, sp.seed, v_now, sp.ns, ARRAY[p_stream]);
  RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('stored', v_place.first, v_place.how)::text);
END $$;
`;
