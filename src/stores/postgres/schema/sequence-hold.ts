// progress and release: what the holder of numbers does beside committing, as src/stores/protocol/sequence/hold.ts says it; and
// results that have lost their lease (append, fill), as place.ts beside it does.
export const SEQUENCE_HOLD = `
-- p_whats: 0 look, 1 renew, 2 partial, 3 finished. p_counts: of finished operations.
CREATE FUNCTION {s}.seq_progress_v1(
  p_namespace text, p_streams text[], p_operations text[], p_epochs bigint[], p_whats integer[], p_ttls bigint[], p_texts text[],
  p_contents bigint[], p_counts integer[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_item record;
  x {s}.span;
  v_results text[] := '{}';
BEGIN
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_operations, p_epochs, p_whats, p_ttls, p_texts, p_contents, p_counts)
      i(stream, operation, epoch, what, ttl, text, content, count)
  LOOP
    x := {s}.seq_find_v1(v_item.id, v_item.operation);
    IF x.first = -1 THEN
      v_results := v_results || '["failed","busy"]'::text;
    ELSIF NOT {s}.seq_is_held_v1(x, v_item.epoch, v_now) THEN
      v_results := v_results || {s}.seq_refuse_v1(x, v_item.epoch, v_now);
    ELSIF v_item.what = 3 AND x.count <> v_item.count THEN
      v_results := v_results || json_build_array('failed', 'count', x.count)::text;
    ELSE
      IF v_item.what = 1 THEN
        x.expires_at := greatest(x.expires_at, v_now + v_item.ttl);
        UPDATE {s}.span y SET expires_at = x.expires_at, ttl_ms = v_item.ttl WHERE y.stream = x.stream AND y.first = x.first;
      ELSIF v_item.what = 2 THEN
        UPDATE {s}.span y SET partial = v_item.text WHERE y.stream = x.stream AND y.first = x.first;
      ELSIF v_item.what = 3 THEN
        UPDATE {s}.span y SET finished = v_item.text, finished_content = v_item.content
          WHERE y.stream = x.stream AND y.first = x.first;
      END IF;
      v_results := v_results || json_build_array('kept', x.expires_at, x.owner)::text;
    END IF;
  END LOOP;
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

CREATE FUNCTION {s}.seq_release_v1(
  p_namespace text, p_streams text[], p_operations text[], p_epochs bigint[], p_reasons text[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  v_item record;
  x {s}.span;
  was {s}.span;
  v_results text[] := '{}';
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_lock_v1(sp.ns, p_streams, true, false);
  v_now := {s}.clock_v1();
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_operations, p_epochs, p_reasons) i(stream, operation, epoch, reason)
  LOOP
    x := {s}.seq_find_v1(v_item.id, v_item.operation);
    IF x.first = -1 THEN
      v_results := v_results || '["failed","busy"]'::text;
    ELSIF x.state = 3 AND x.epoch = v_item.epoch AND x.reason = v_item.reason THEN
      v_results := v_results || '["released",true]'::text;
    ELSIF NOT {s}.seq_is_held_v1(x, v_item.epoch, v_now) THEN
      v_results := v_results || {s}.seq_refuse_v1(x, v_item.epoch, v_now);
    ELSE
      was := x;
      x.claim_epoch := NULL;
      x.claim_until := NULL;
      x.claim_owner := NULL;
      x.retry_at := NULL;
      x := {s}.seq_gap_v1(sp, v_now, v_item.stream, v_item.reason, NULL, was, x);
      v_results := v_results || '["released",false]'::text;
    END IF;
  END LOOP;
  PERFORM {s}.seq_wake_v1(p_namespace, sp.seed, v_now, sp.ns, p_streams);
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

CREATE FUNCTION {s}.seq_append_v1(
  p_namespace text, p_streams text[], p_operations text[], p_kinds text[], p_owners text[], p_epochs bigint[], p_types text[],
  p_texts text[], p_contents bigint[], p_counts integer[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  v_item record;
  x {s}.span;
  v_place record;
  v_result text;
  v_results text[] := '{}';
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_make_v1(sp.ns, p_streams);
  PERFORM {s}.seq_lock_v1(sp.ns, p_streams, true, true);
  v_now := {s}.clock_v1();
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_operations, p_kinds, p_owners, p_epochs, p_types, p_texts, p_contents, p_counts)
      i(stream, operation, kind, owner, epoch, type, text, content, count)
  LOOP
    x := {s}.seq_find_v1(v_item.id, v_item.operation);
    SELECT * INTO v_place FROM {s}.seq_stored_v1(x);
    IF x.first = -1 THEN
      v_result := '["failed","busy"]';
    ELSIF x.first IS NULL THEN
      IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN
        v_result := '["failed","epochs"]';
      ELSE
        -- A result whose lease the store never saw, or forgot: it is leased and committed at once.
        x := {s}.seq_add_v1(sp, v_now, v_item.id, v_item.stream, v_item.operation, v_item.kind, 0, v_item.count, v_item.owner);
        x := {s}.seq_store_here_v1(sp, v_now, v_item.stream, v_item.text, v_item.content, v_item.type, x);
        v_result := json_build_array('stored', x.first, 'new')::text;
      END IF;
    ELSIF x.kind <> v_item.kind OR x.count <> v_item.count
      OR (v_place.first IS NOT NULL AND v_place.content <> v_item.content) THEN
      v_result := '["mismatch"]';
    ELSIF v_place.first IS NOT NULL THEN
      v_result := json_build_array('stored', v_place.first, 'repeated')::text;
    ELSIF v_now < x.claim_until THEN
      v_result := json_build_array('busy', x.claim_until - v_now)::text;
    ELSIF x.state = 0 AND v_now < x.expires_at AND NOT x.lapsed THEN
      IF x.epoch IS DISTINCT FROM v_item.epoch THEN
        v_result := json_build_array('busy', x.expires_at - v_now)::text;
      ELSE
        x := {s}.seq_store_here_v1(sp, v_now, v_item.stream, v_item.text, v_item.content, NULL, x);
        v_result := json_build_array('stored', x.first, 'committed')::text;
      END IF;
    ELSE
      SELECT p.first, p.how INTO v_place
        FROM {s}.seq_place_v1(sp, v_now, v_item.stream, v_item.text, v_item.content, v_item.type, x) p;
      v_result := json_build_array('stored', v_place.first, v_place.how)::text;
    END IF;
    v_results := v_results || v_result;
  END LOOP;
  PERFORM {s}.seq_wake_v1(p_namespace, sp.seed, v_now, sp.ns, p_streams);
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

CREATE FUNCTION {s}.seq_fill_v1(
  p_namespace text, p_streams text[], p_numbers bigint[], p_operations text[], p_texts text[], p_contents bigint[],
  p_counts integer[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  v_item record;
  v_first bigint;
  x {s}.span;
  v_place record;
  v_result text;
  v_results text[] := '{}';
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_lock_v1(sp.ns, p_streams, true, true);
  v_now := {s}.clock_v1();
  FOR v_item IN SELECT i.*, (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = i.stream) AS id
    FROM unnest(p_streams, p_numbers, p_operations, p_texts, p_contents, p_counts)
      i(stream, number, operation, text, content, count)
  LOOP
    v_first := {s}.seq_at_v1(v_item.id, v_item.number);
    SELECT y.* INTO x FROM {s}.span y WHERE y.stream = v_item.id AND y.first = v_first FOR UPDATE SKIP LOCKED;
    SELECT * INTO v_place FROM {s}.seq_stored_v1(x);
    IF v_first IS NULL THEN
      v_result := '["notGap","unknown"]';
    ELSIF x.first IS NULL THEN
      v_result := '["failed","busy"]';
    ELSIF x.operation_id <> v_item.operation OR (v_place.first IS NOT NULL AND v_place.content <> v_item.content) THEN
      v_result := '["mismatch"]';
    ELSIF v_place.first IS NOT NULL THEN
      v_result := json_build_array('stored', v_place.first, 'repeated')::text;
    ELSIF x.state <> 3 THEN
      v_result := json_build_array('notGap', {s}.seq_state_v1(x, v_now))::text;
    ELSIF x.count <> v_item.count THEN
      v_result := json_build_array('failed', 'count', x.count)::text;
    ELSE
      SELECT p.first, p.how INTO v_place
        FROM {s}.seq_place_v1(sp, v_now, v_item.stream, v_item.text, v_item.content, 'manual', x) p;
      v_result := json_build_array('stored', v_place.first, v_place.how)::text;
    END IF;
    v_results := v_results || v_result;
  END LOOP;
  PERFORM {s}.seq_wake_v1(p_namespace, sp.seed, v_now, sp.ns, p_streams);
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || array_to_string(v_results, ',') || ']');
END $$;

-- The first number of the span that has this number.
CREATE FUNCTION {s}.seq_at_v1(p_stream integer, p_number bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT y.first FROM (SELECT x.first, x.count FROM {s}.span x WHERE x.stream = p_stream AND x.first <= p_number
    ORDER BY x.first DESC LIMIT 1) y WHERE p_number < y.first + y.count
$$;
`;
