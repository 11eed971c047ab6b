// Trimming, gaps, the manual queue and the figures of streams, as src/stores/protocol/sequence says them. All but trimming only
// look. What is trimmed is settled, sealed and below every cursor: nobody else changes it meanwhile.
import { LIMITS, OPERATION_ID_KEEP_MS } from '../../../domain/limits.js';

export const SEQUENCE_KEEP = `
CREATE FUNCTION {s}.seq_trim_v1(p_namespace text, p_stream text, p_before bigint, p_limit integer) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  t {s}.stream;
  x {s}.span;
  v_before bigint;
  v_seen integer := 0;
  v_bytes bigint := 0;
  v_more boolean := false;
  v_removed bigint := 0;
  v_old bigint[];
BEGIN
  PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, false);
  v_now := {s}.clock_v1();
  SELECT y.* INTO t FROM {s}.stream y WHERE y.ns = sp.ns AND y.name = p_stream;
  IF NOT FOUND THEN RETURN {s}.seq_reply_v1(sp, v_now, '[0,1,0,false]'); END IF;
  v_before := least(p_before, t.seal + 1, (SELECT min(o.done) + 1 FROM {s}.reader o WHERE o.stream = t.id));
  FOR x IN SELECT y.* FROM {s}.span y WHERE y.stream = t.id AND y.first >= t.trimmed_before AND y.first < v_before ORDER BY y.first
  LOOP
    EXIT WHEN x.first + x.count > v_before;
    v_more := v_seen = p_limit OR v_bytes > ${LIMITS.operationsBytes};
    EXIT WHEN v_more;
    v_seen := v_seen + 1;
    v_bytes := v_bytes + coalesce(octet_length(x.operations), 0);
    v_removed := v_removed + {s}.seq_trim_one_v1(v_now, x);
    t.trimmed_before := x.first + x.count;
  END LOOP;
  IF v_seen > 0 THEN UPDATE {s}.stream y SET trimmed_before = t.trimmed_before WHERE y.id = t.id; END IF;
  v_old := ARRAY(SELECT y.first FROM {s}.span y WHERE y.stream + 0 = t.id AND y.trimmed_at IS NOT NULL
    AND y.trimmed_at <= v_now - ${OPERATION_ID_KEEP_MS} ORDER BY y.trimmed_at LIMIT p_limit + 1);
  DELETE FROM {s}.span y WHERE y.stream = t.id AND y.first = ANY (v_old[1:p_limit]);
  RETURN {s}.seq_reply_v1(sp, v_now, json_build_array(v_removed, t.trimmed_before, least(cardinality(v_old), p_limit),
    v_more OR cardinality(v_old) > p_limit)::text);
END $$;

-- How many operations went. The caller raises trimmed_before afterwards, so what is dealt with here is not trimmed late as well.
CREATE FUNCTION {s}.seq_trim_one_v1(p_now bigint, x {s}.span) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_removed integer := CASE WHEN x.operations IS NULL THEN 0 ELSE x.count END;
BEGIN
  IF x.manual OR {s}.seq_due_v1(x.state, x.expires_at, x.retry_at, x.claim_until) IS NOT NULL THEN RETURN 0; END IF;
  -- An id lives as long as the operation it was moved to, so the old number is trimmed with the new one.
  IF x.moved_to IS NULL
    OR NOT EXISTS (SELECT FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.moved_to AND y.trimmed_at IS NULL) THEN
    PERFORM {s}.seq_trim_span_v1(p_now, x);
  END IF;
  IF x.moved_from IS NOT NULL THEN
    SELECT y.* INTO x FROM {s}.span y WHERE y.stream = x.stream AND y.first = x.moved_from;
    IF FOUND AND x.trimmed_at IS NULL THEN PERFORM {s}.seq_trim_span_v1(p_now, x); END IF;
  END IF;
  RETURN v_removed;
END $$;
CREATE FUNCTION {s}.seq_trim_span_v1(p_now bigint, x {s}.span) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  was {s}.span := x;
BEGIN
  x.operations := NULL;
  x.partial := NULL;
  x.finished := NULL;
  x.trimmed_at := p_now;
  x := {s}.seq_become_v1(p_now, was, x);
END $$;

CREATE FUNCTION {s}.seq_gaps_v1(p_namespace text, p_stream text, p_after bigint, p_limit integer) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_gaps json;
BEGIN
  SELECT json_agg(json_build_array(g.first, g.count, g.operation_id, g.kind, g.reason, g.settled_at, g.expires_at, g.seal,
      g.moved_to, g.partial IS NOT NULL OR g.finished IS NOT NULL) ORDER BY g.first) INTO v_gaps
    FROM (SELECT x.*, t.seal FROM {s}.stream t, LATERAL (SELECT y.* FROM {s}.span y
        WHERE y.stream + 0 = t.id AND y.state = 3 AND y.first > p_after AND y.trimmed_at IS NULL ORDER BY y.first LIMIT p_limit + 1) x
      WHERE t.ns = sp.ns AND t.name = p_stream) g;
  RETURN {s}.seq_reply_v1(sp, {s}.clock_v1(), coalesce(v_gaps::text, '[]'));
END $$;

CREATE FUNCTION {s}.seq_manual_items_v1(
  p_namespace text, p_stream text, p_after_stream text, p_after bigint, p_limit integer
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  x record;
  v_items text[] := '{}';
  v_bytes bigint := 0;
  v_more boolean := false;
BEGIN
  FOR x IN SELECT t.name, m.* FROM {s}.stream t, LATERAL (SELECT y.* FROM {s}.span y WHERE y.stream + 0 = t.id AND y.manual
        AND (t.name <> coalesce(p_after_stream, '') OR y.first > p_after) ORDER BY y.first LIMIT p_limit + 1) m
    WHERE t.ns = sp.ns AND (p_stream IS NULL OR t.name = p_stream) AND (p_after_stream IS NULL OR t.name >= p_after_stream)
    ORDER BY t.name, m.first LIMIT p_limit + 1
  LOOP
    v_bytes := v_bytes + coalesce(length(x.partial), 0) + coalesce(length(x.finished), 0);
    v_more := cardinality(v_items) >= p_limit OR (cardinality(v_items) > 0 AND v_bytes > ${LIMITS.operationsBytes});
    EXIT WHEN v_more;
    v_items := v_items || ('[' || to_json(x.name)::text || ',' || x.first || ',' || x.count || ',' || to_json(x.operation_id)::text
      || ',' || to_json(x.kind)::text || ',' || {s}.quoted_v1(x.reason) || ',' || x.attempts || ',' || {s}.quoted_v1(x.last_error)
      || ',' || coalesce(x.settled_at, 0) || ',' || (x.retry_at IS NOT NULL)::text || ',' || coalesce(x.partial, 'null') || ','
      || coalesce(x.finished, 'null') || ',' || (x.partial IS NOT NULL)::text || ']');
  END LOOP;
  RETURN {s}.seq_reply_v1(sp, {s}.clock_v1(), '[[' || array_to_string(v_items, ',') || '],' || v_more::text || ']');
END $$;

-- Each stream as of one snapshot.
CREATE FUNCTION {s}.seq_streams_v1(p_namespace text, p_stream text, p_after text, p_limit integer) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_streams json;
BEGIN
  SELECT json_agg(json_build_array(t.name, n.next, t.seal, t.trimmed_before, t.gaps, t.moved, t.manual, o.oldest::json,
      CASE WHEN o.first IS NULL THEN 0 ELSE (SELECT sum(y.count) FROM {s}.span y WHERE y.stream + 0 = t.id AND y.state < 2
        AND y.first >= o.first) END,
      (SELECT json_agg(json_build_array(r.name, r.done, r.moved_at) ORDER BY r.name) FROM {s}.reader r WHERE r.stream = t.id))
      ORDER BY t.name) INTO v_streams
    FROM (SELECT y.* FROM {s}.stream y WHERE y.ns = sp.ns AND (p_stream IS NULL OR y.name = p_stream)
        AND y.name > coalesce(p_after, '') ORDER BY y.name LIMIT p_limit + 1) t
      JOIN {s}.stream_next n ON n.stream = t.id LEFT JOIN LATERAL (
        SELECT x.first, json_build_array(x.first, x.state, x.operation_id, x.kind, x.owner, x.leased_at, x.expires_at,
            {s}.seq_due_v1(x.state, x.expires_at, x.retry_at, x.claim_until))::text AS oldest
          FROM {s}.span x WHERE x.stream + 0 = t.id AND x.state < 2 AND x.first > greatest(t.seal, n.bottom)
          ORDER BY x.first LIMIT 1) o ON true;
  RETURN {s}.seq_reply_v1(sp, {s}.clock_v1(), coalesce(v_streams::text, '[]'));
END $$;
`;
