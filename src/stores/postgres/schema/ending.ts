// end: a release, or a cancel, which knows no epoch and touches nothing newer than its own grant. A list of plain releases is one
// statement. What a caller's transaction has pinned (G1) is answered so and stays.
import { NEXT_PLACE } from './places.js';

export const ENDING = `
CREATE FUNCTION {s}.end_item_v1(
  sp {s}.space, p_now bigint, p_wall bigint, p_id text, p_epoch bigint, p_request text, p_why text,
  INOUT freed {s}.part[], OUT result json
) LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  l {s}.lease;
  w {s}.wish;
  v_mine boolean;
BEGIN
  SELECT * INTO l FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = p_id;
  IF NOT FOUND THEN
    w.id := p_id;
    w.content := 0;
    w.owner := '';
    w.ttl_ms := 0;
    w.priority := 0;
    w.max_renewals := -1;
    w.min_hold_ms := 0;
    w.lock_delay_ms := 0;
    w.remote := false;
    w.caller_wall := p_wall;
    l := {s}.new_row_v1(sp, w, p_now, p_wall);
    l.status := 5;
    l.reason := 'cancelled';
    l.ended_at := p_now;
    PERFORM {s}.add_v1(l);
    result := json_build_array('noted');
    RETURN;
  END IF;
  IF l.content = 0 THEN
    result := json_build_array('noted');
  ELSIF l.became_epoch IS NOT NULL THEN
    result := json_build_array('stale', l.became_epoch);
  ELSIF l.status = 0 THEN
    freed := freed || {s}.parts_v1(l.name, l.parts);
    PERFORM {s}.fail_v1(sp, p_now, p_wall, CASE WHEN p_why = 'timeout' THEN 'timeout' ELSE 'cancelled' END, NULL, l);
    result := json_build_array('left');
  ELSIF l.status = 5 THEN
    result := json_build_array('left');
  ELSIF l.epoch <> 0 AND l.epoch <> coalesce(p_epoch, l.grant_epoch) THEN
    result := json_build_array('stale', l.epoch);
  ELSIF l.status = 3 THEN
    result := json_build_array('expired');
  ELSIF l.status = 4 THEN
    result := json_build_array('revoked');
  ELSIF l.status = 2 THEN
    result := json_build_array('released', true, greatest(0, l.blocked_until - p_now));
  ELSE
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = p_id FOR UPDATE SKIP LOCKED;
    v_mine := FOUND;
    IF p_now >= l.expires_at THEN
      IF v_mine THEN
        freed := freed || {s}.parts_v1(l.name, l.parts);
        PERFORM {s}.expire_v1(sp, p_now, p_wall, l);
      END IF;
      result := json_build_array('expired');
    ELSIF NOT v_mine THEN
      result := json_build_array('pinned');
    ELSE
      freed := freed || {s}.parts_v1(l.name, l.parts);
      l.last_request := p_request;
      l := {s}.release_v1(sp, p_now, p_wall, CASE WHEN p_epoch IS NULL THEN 'cancelled' END, l);
      result := json_build_array('released', false, greatest(0, l.blocked_until - p_now));
    END IF;
  END IF;
END $$;

-- Any list. There may be one reason for all.
CREATE FUNCTION {s}.end_any_v1(p_namespace text, p_ids text[], p_epochs bigint[], p_requests text[], p_whys text[]) RETURNS text
LANGUAGE plpgsql VOLATILE {quick} AS $$
DECLARE
  sp {s}.space := {s}.lock_ids_v1(p_namespace, p_ids);
  v_now bigint;
  v_wall bigint;
  v_item record;
  v_tids tid[];
  v_count integer;
  v_sets text[];
  v_fast text;
  v_epoch bigint;
  v_freed {s}.part[] := '{}';
  v_result json;
  v_results json[] := '{}';
BEGIN
  IF sp.ns IS NULL THEN RETURN NULL; END IF;
  v_wall := {s}.clock_v1();
  v_now := v_wall;
  -- Nearly always every item releases a lease that is live and nobody has pinned: then they are one statement.
  SELECT array_agg(r.ctid ORDER BY i.ord), count(DISTINCT i.id), array_agg(i.id) FILTER (WHERE r.is_set)
    INTO v_tids, v_count, v_sets
    FROM unnest(p_ids, p_epochs) WITH ORDINALITY i(id, epoch, ord), LATERAL (
      SELECT x.ctid, cardinality(x.parts) > 1 AS is_set FROM {s}.lease x
      WHERE x.id = i.id AND x.ns = sp.ns AND x.epoch = i.epoch AND x.status::integer = 1 AND x.expires_at > v_now
        AND x.renewed_at <= v_now
      FOR UPDATE SKIP LOCKED) r;
  IF v_count > 0 AND v_count = cardinality(p_ids) AND sp.keep_history THEN
    v_epoch := pg_sequence_last_value(sp.epochs);
    WITH ended AS (
      UPDATE {s}.lease x SET status = 2, ended_at = v_now, last_request = i.request, reason = NULL, block_epoch = v_epoch,
          stands = x.min_hold_ms > 0,
          blocked_until = CASE WHEN x.min_hold_ms > 0 THEN x.acquired_at + x.min_hold_ms ELSE 0 END
        FROM unnest(v_tids, p_requests) WITH ORDINALITY i(tid, request, ord)
        WHERE x.ctid = i.tid
        RETURNING i.ord, x.id, x.name, x.owner, x.epoch, x.parts, v_now - x.acquired_at AS held, x.blocked_until),
    logged AS (
      INSERT INTO {s}.log (ns, type, from_status, to_status, e, s, at, wall_at, epoch, n1, n2, name, id, owner, names)
        SELECT sp.ns, 3, 1, 2, v_epoch, ${NEXT_PLACE}, v_now, nullif(v_wall, v_now), d.epoch, d.held,
          CASE WHEN d.blocked_until > v_now THEN d.blocked_until END, d.name, d.id, d.owner,
          CASE WHEN cardinality(d.parts) > 1 THEN {s}.names_v1(d.name, d.parts) END
        FROM (SELECT * FROM ended ORDER BY ord) d)
    SELECT string_agg(greatest(0, d.blocked_until - v_now)::text, ',' ORDER BY d.ord), count(*) INTO v_fast, v_count FROM ended d;
    IF v_sets IS NOT NULL THEN
      DELETE FROM {s}.lease_part o USING unnest(v_sets) i(id), LATERAL (
        SELECT x.id, {s}.names_v1(x.name, x.parts) AS names FROM {s}.lease x
        WHERE x.id = i.id AND x.ns = sp.ns AND NOT x.stands OFFSET 0) d
        WHERE o.ns = sp.ns AND o.id = d.id AND o.name = ANY (d.names);
    END IF;
    IF EXISTS (SELECT FROM {s}.lease x WHERE x.ns = sp.ns AND x.status = 0) THEN
      v_freed := ARRAY(SELECT p FROM unnest(p_ids) i(id), LATERAL (
        SELECT x.name, x.parts FROM {s}.lease x WHERE x.id = i.id AND x.ns = sp.ns OFFSET 0) r,
        unnest({s}.parts_v1(r.name, r.parts)) p);
      PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
    END IF;
    RETURN {s}.reply_v1(sp, v_now, to_json(v_fast));
  END IF;
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, NULL, p_ids));
  FOR v_item IN SELECT * FROM unnest(p_ids, p_epochs, p_requests, p_whys) i(id, epoch, request, why) LOOP
    SELECT * INTO v_freed, v_result
      FROM {s}.end_item_v1(sp, v_now, v_wall, v_item.id, v_item.epoch, v_item.request,
        CASE WHEN cardinality(p_whys) = 1 THEN p_whys[1] ELSE v_item.why END, v_freed);
    v_results := v_results || v_result;
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, array_to_json(v_results));
END $$;
`;
