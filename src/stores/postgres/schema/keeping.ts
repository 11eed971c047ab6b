// prune and settings: keeping house. Neither touches what stands.
import { endOf, NEXT_PLACE } from './places.js';

export const KEEPING = `
-- H4: events by age, oldest first, never past the place where a running transaction may still write; a row that holds many keeps the
-- rest. Ended ids by age too,
-- but never before S8 and their block allow: of those that ended first the ones that came first, so that a step reads no more
-- rows than it may delete, and a thousand.
CREATE FUNCTION {s}.prune_v1(
  p_namespace text, p_older bigint, p_kept_ms bigint, p_has_up_to boolean, p_incarnation text, p_e bigint, p_s bigint,
  p_limit integer
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_bound_e bigint;
  v_bound_s bigint;
  v_e bigint[];
  v_s bigint[];
  v_last_e bigint;
  v_last_s bigint;
  v_to bigint;
  v_rest integer;
  v_is_full boolean := false;
  v_gone integer := 0;
  v_ids text[];
  v_more boolean;
  v_row record;
BEGIN
  -- One after the other: who comes second sees what the first has left of a row.
  PERFORM pg_advisory_xact_lock(hashtextextended('prune', sp.seed + 2));
  SELECT h.e, h.s INTO v_bound_e, v_bound_s FROM {s}.horizon_v1(sp) h;
  IF p_has_up_to AND (p_incarnation IS DISTINCT FROM sp.incarnation OR p_e > v_bound_e OR p_s > v_bound_s) THEN
    v_bound_e := 0;
    v_bound_s := 0;
  ELSIF p_has_up_to AND (p_e, p_s) < (v_bound_e, v_bound_s) THEN
    v_bound_e := p_e;
    v_bound_s := p_s;
  END IF;
  FOR v_row IN SELECT k.e, k.s, ${endOf('k')} AS last, k.at FROM {s}.log k WHERE k.ns = sp.ns AND (k.e, k.s) <= (v_bound_e, v_bound_s)
    ORDER BY k.e, k.s LIMIT p_limit + 1
  LOOP
    EXIT WHEN v_row.at >= v_now - p_older;
    v_to := CASE WHEN v_row.e = v_bound_e THEN least(v_row.last, v_bound_s) ELSE v_row.last END;
    v_is_full := v_gone + v_to - v_row.s + 1 > p_limit;
    IF v_is_full THEN v_to := v_row.s + p_limit - v_gone - 1; END IF;
    EXIT WHEN v_to < v_row.s;
    v_gone := v_gone + v_to - v_row.s + 1;
    v_last_e := v_row.e;
    v_last_s := v_to;
    IF v_to < v_row.last THEN
      v_rest := v_to - v_row.s + 2;
      UPDATE {s}.log k SET s = v_to + 1, list_count = v_row.last - v_to, list_ids = k.list_ids[v_rest:],
          list_names = k.list_names[v_rest:], list_owners = k.list_owners[v_rest:], list_epochs = k.list_epochs[v_rest:],
          list_n1 = k.list_n1[v_rest:]
        WHERE k.ns = sp.ns AND k.e = v_row.e AND k.s = v_row.s;
      EXIT;
    END IF;
    v_e := v_e || v_row.e;
    v_s := v_s || v_row.s;
  END LOOP;
  IF v_gone > 0 THEN
    DELETE FROM {s}.log k USING unnest(v_e, v_s) g(e, s) WHERE k.ns = sp.ns AND k.e = g.e AND k.s = g.s;
    UPDATE {s}.namespace n SET pruned_e = v_last_e, pruned_s = v_last_s
      WHERE n.id = sp.ns AND (n.pruned_e, n.pruned_s) < (v_last_e, v_last_s);
  END IF;
  v_ids := ARRAY(SELECT f.id FROM (SELECT x.id, x.arrival FROM {s}.lease x WHERE x.ns = sp.ns AND x.status > 1
    AND x.ended_at < v_now - greatest(p_older, p_kept_ms) AND x.blocked_until <= v_now AND x.keep_out_until <= v_now
    ORDER BY x.ended_at LIMIT p_limit + 1000) f ORDER BY f.arrival LIMIT p_limit + 1);
  v_more := cardinality(v_ids) > p_limit;
  v_ids := ARRAY(SELECT x.id FROM unnest(v_ids) WITH ORDINALITY f(id, place) JOIN {s}.lease x ON x.ns = sp.ns AND x.id = f.id
    WHERE x.status::integer > 1 AND x.blocked_until <= v_now AND x.keep_out_until <= v_now
    ORDER BY f.place FOR UPDATE OF x SKIP LOCKED);
  DELETE FROM {s}.lease_part o USING {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_ids[1:p_limit]) AND x.stands
    AND cardinality(x.parts) > 1 AND o.ns = sp.ns AND o.id = x.id AND o.name = ANY ({s}.names_v1(x.name, x.parts));
  DELETE FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_ids[1:p_limit]);
  RETURN {s}.reply_v1(sp, v_now, json_build_array(v_gone, least(cardinality(v_ids), p_limit),
    v_is_full OR v_more AND cardinality(v_ids) > 0));
END $$;

CREATE FUNCTION {s}.settings_v1(p_namespace text) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_settings text;
BEGIN
  SELECT n.settings, n.settings_version INTO v_settings, sp.version FROM {s}.namespace n WHERE n.id = sp.ns;
  sp.version := coalesce(sp.version, 1);
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), coalesce(v_settings, '{}')::json);
END $$;

-- The caller has checked the new settings against those of p_version. Whoever comes second looks again.
CREATE FUNCTION {s}.set_settings_v1(
  p_namespace text, p_version bigint, p_settings text, p_keep_history boolean, p_history_renewals boolean
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace, true);
BEGIN
  IF sp.version <> p_version THEN RETURN {s}.reply_v1(sp, {s}.clock_v1(), 'false'); END IF;
  sp.version := sp.version + 1;
  UPDATE {s}.namespace n SET settings = p_settings, settings_version = sp.version, keep_history = p_keep_history,
    history_renewals = p_history_renewals WHERE n.id = sp.ns;
  -- H1: nothing was logged for a while. Whoever read before that is told that rows are lost.
  IF p_keep_history AND NOT sp.keep_history THEN
    UPDATE {s}.namespace n SET pruned_e = pg_sequence_last_value(sp.epochs), pruned_s = ${NEXT_PLACE}
      WHERE n.id = sp.ns;
  END IF;
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), 'true');
END $$;

-- For info: what survives, and what this server is.
CREATE FUNCTION {s}.info_v1(p_namespace text) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
BEGIN
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), json_build_object(
    'version', current_setting('server_version'), 'synchronousCommit', current_setting('synchronous_commit'),
    'fsync', current_setting('fsync'), 'fullPageWrites', current_setting('full_page_writes'),
    'standbys', current_setting('synchronous_standby_names'), 'replica', pg_is_in_recovery()));
END $$;
`;
