// renew, end and change: what a holder does to its own lease, as src/stores/protocol/hold.ts says it. All start from ids: which
// names to lock is looked up first, then locked, then everything is looked at again (S16). An id that turned up in between is
// answered by doing the whole call again: nothing has been written yet.
import { ENTER_QUICKLY_LATE, lockEverything } from './locking.js';

export const RENEWING = `
-- ns is NULL when an id was written down between looking it up and locking it, and when there is something to be opened first.
CREATE FUNCTION {s}.lock_ids_v1(p_namespace text, p_ids text[], OUT sp {s}.space)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_known text[];
  v_names text[];
  v_above text[] := '{}';
  v_unknown text[] := '{}';
  v_sets boolean;
  v_done integer;
  v_name text;
BEGIN
  SELECT array_agg(r.id), array_agg(r.name), bool_or(cardinality(r.parts) > 1) INTO v_known, v_names, v_sets
    FROM {s}.namespace n, unnest(p_ids) i(id), LATERAL (
      SELECT x.id, x.name, x.parts FROM {s}.lease x WHERE x.id = i.id AND x.ns = n.id OFFSET 0) r
    WHERE n.name = p_namespace;
  IF v_sets THEN
    v_names := ARRAY(SELECT DISTINCT a FROM {s}.namespace n, unnest(p_ids) i(id), LATERAL (
        SELECT x.name, x.parts FROM {s}.lease x WHERE x.id = i.id AND x.ns = n.id OFFSET 0) r,
      unnest({s}.names_v1(r.name, r.parts)) a WHERE n.name = p_namespace);
  END IF;
  IF coalesce(cardinality(v_known), 0) < cardinality(p_ids) THEN
    v_unknown := ARRAY(SELECT i FROM unnest(p_ids) i WHERE i <> ALL (coalesce(v_known, '{}')));
  END IF;
  IF cardinality(v_names) > 4 THEN
    v_above := {s}.all_above_v1(v_names);
  ELSIF v_names IS NOT NULL THEN
    FOREACH v_name IN ARRAY v_names LOOP
      v_above := v_above || {s}.above_v1(v_name);
    END LOOP;
  END IF;
  IF coalesce(cardinality(v_names), 0) + cardinality(v_above) + cardinality(v_unknown) > 2000 THEN
    sp := {s}.enter_v1(p_namespace, true);
    PERFORM {s}.mark_v1(sp);
    RETURN;
  END IF;
  ${lockEverything('v_seed', 'v_names', 'v_above', 'v_unknown')}
  ${ENTER_QUICKLY_LATE}
  IF cardinality(v_unknown) > 0 AND EXISTS (SELECT FROM unnest(v_unknown) i(id), LATERAL (
      SELECT FROM {s}.lease x WHERE x.id = i.id AND x.ns = sp.ns OFFSET 0) r) THEN
    sp.ns := NULL;
  END IF;
END $$;

-- How the id stands, for a message that is late. Its own late message writes an expiry down (S3).
CREATE FUNCTION {s}.not_held_v1(
  sp {s}.space, p_now bigint, p_wall bigint, l {s}.lease, p_epoch bigint, INOUT freed {s}.part[], OUT result json
) LANGUAGE plpgsql VOLATILE {tuned} AS $$
BEGIN
  IF l.id IS NULL OR l.content = 0 THEN
    result := json_build_array('notHeld', NULL, NULL);
    RETURN;
  END IF;
  IF l.status = 1 AND l.epoch = p_epoch THEN
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = l.id FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      freed := freed || {s}.parts_v1(l.name, l.parts);
      l := {s}.expire_v1(sp, p_now, p_wall, l);
    END IF;
  END IF;
  result := json_build_array('notHeld',
    CASE WHEN p_now < l.expires_at THEN l.status WHEN l.status = 1 THEN 3 WHEN l.status = 0 THEN 5 ELSE l.status END,
    CASE WHEN l.epoch <> p_epoch AND l.epoch <> 0 THEN l.epoch END);
END $$;

CREATE FUNCTION {s}.renew_v1(
  p_namespace text, p_ids text[], p_epochs bigint[], p_requests text[], p_ttls bigint[], p_walls double precision[]
) RETURNS text LANGUAGE plpgsql VOLATILE {quick} AS $$
DECLARE
  sp {s}.space := {s}.lock_ids_v1(p_namespace, p_ids);
  v_now bigint;
  v_wall bigint;
  l {s}.lease;
  v_item record;
  v_until bigint;
  v_tids tid[];
  v_count integer;
  v_fast text;
  v_freed {s}.part[] := '{}';
  v_result json;
  v_results json[] := '{}';
BEGIN
  IF sp.ns IS NULL THEN RETURN NULL; END IF;
  v_wall := {s}.clock_v1();
  v_now := v_wall;
  -- Nearly always every item is what it should be: then they are one statement.
  SELECT array_agg(r.ctid ORDER BY i.ord), count(DISTINCT i.id) INTO v_tids, v_count
    FROM unnest(p_ids, p_epochs, p_requests) WITH ORDINALITY i(id, epoch, request, ord), LATERAL (
      SELECT x.ctid FROM {s}.lease x WHERE x.id = i.id AND x.ns = sp.ns AND x.epoch = i.epoch AND x.status::integer = 1
        AND x.expires_at > v_now AND x.renewed_at <= v_now AND x.max_renewals < 0 AND x.max_hold_ms IS NULL
        AND x.last_request IS DISTINCT FROM i.request OFFSET 0) r;
  IF v_count > 0 AND v_count = cardinality(p_ids) AND NOT sp.history_renewals THEN
    WITH renewed AS (
      UPDATE {s}.lease x SET expires_at = greatest(x.expires_at, v_now + coalesce(i.ttl_ms, x.ttl_ms)),
          ttl_ms = coalesce(i.ttl_ms, x.ttl_ms), renewed_at = v_now, renewals = x.renewals + 1,
          skew_ms = floor(i.wall - v_wall + 0.5), last_request = i.request
        FROM unnest(v_tids, p_requests, p_ttls, p_walls) WITH ORDINALITY i(tid, request, ttl_ms, wall, ord)
        WHERE x.ctid = i.tid
        RETURNING x.expires_at, x.renewals, i.ord)
    SELECT string_agg(r.expires_at || ' ' || r.renewals, ',' ORDER BY r.ord), count(*) INTO v_fast, v_count FROM renewed r;
    IF v_count <> cardinality(p_ids) THEN
      RAISE EXCEPTION 'a row changed under its lock' USING ERRCODE = 'HF004';
    END IF;
    RETURN {s}.reply_v1(sp, v_now, to_json(v_fast));
  END IF;
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, NULL, p_ids));
  FOR v_item IN SELECT * FROM unnest(p_ids, p_epochs, p_requests, p_ttls, p_walls) i(id, epoch, request, ttl_ms, wall) LOOP
    SELECT * INTO l FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_item.id;
    IF NOT FOUND OR l.epoch <> v_item.epoch OR l.status <> 1 OR v_now >= l.expires_at THEN
      SELECT * INTO v_freed, v_result FROM {s}.not_held_v1(sp, v_now, v_wall, l, v_item.epoch, v_freed);
      v_results := v_results || v_result;
      CONTINUE;
    END IF;
    IF l.last_request IS DISTINCT FROM v_item.request THEN
      IF l.max_renewals >= 0 AND l.renewals >= l.max_renewals THEN
        v_results := v_results || json_build_array('maxRenewals', l.expires_at - v_now);
        CONTINUE;
      END IF;
      l.ttl_ms := coalesce(v_item.ttl_ms, l.ttl_ms);
      IF l.expires_at >= l.acquired_at + l.max_hold_ms AND v_now + l.ttl_ms > l.acquired_at + l.max_hold_ms THEN
        v_results := v_results || json_build_array('maxHold', l.expires_at - v_now);
        CONTINUE;
      END IF;
      v_until := least(greatest(l.expires_at, v_now + l.ttl_ms), l.acquired_at + l.max_hold_ms);
      l.expires_at := v_until;
      l.renewals := l.renewals + 1;
      UPDATE {s}.lease x SET expires_at = v_until, ttl_ms = l.ttl_ms, renewed_at = v_now, renewals = l.renewals,
          skew_ms = floor(v_item.wall - v_wall + 0.5), last_request = v_item.request
        WHERE x.ns = sp.ns AND x.id = l.id;
      IF sp.history_renewals THEN
        PERFORM {s}.write_log_v1(sp, v_now, v_wall, l, 2, 1, 1, NULL, NULL, l.reason, NULL, NULL, NULL,
          json_build_object('expiresAt', v_until, 'renewals', l.renewals, 'maxRenewals', l.max_renewals));
      END IF;
    END IF;
    v_results := v_results || json_build_array('renewed', l.expires_at - v_now, l.expires_at, l.renewals);
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, array_to_json(v_results));
END $$;
`;
