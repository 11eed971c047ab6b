// revoke, sweep and failTicket: what is done to leases and tickets from outside. Each is bounded (S18) and says when there is
// more to do. A revocation waits for the names of what it ends; a sweep never waits: what is locked is somebody's business.
export const GOVERNING = `
CREATE FUNCTION {s}.revocable_v1(l {s}.lease, p_kind text, p_up_to bigint, p_now bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT CASE WHEN l.status = 0 THEN l.joined_epoch <= p_up_to
    WHEN l.epoch > p_up_to THEN false
    WHEN l.status = 1 THEN true
    ELSE p_kind IN ('resource', 'under') AND l.block_epoch <= p_up_to
      AND EXISTS (SELECT FROM {s}.blocks_v1(l, p_now, l.owner)) END);
END $$;

-- What a revocation is aimed at and acts on, in order of id.
CREATE FUNCTION {s}.aimed_at_v1(p_ns integer, p_kind text, p_target text, p_up_to bigint, p_now bigint, p_limit integer)
RETURNS SETOF {s}.lease LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_kind = 'leaseId' THEN
    RETURN QUERY SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.id = p_target AND x.stands
      AND {s}.revocable_v1(x, p_kind, p_up_to, p_now);
  ELSIF p_kind = 'owner' THEN
    RETURN QUERY SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.stands AND x.owner = p_target AND x.status < 2
      AND {s}.revocable_v1(x, p_kind, p_up_to, p_now) ORDER BY x.id LIMIT p_limit;
  ELSE
    RETURN QUERY SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.stands AND x.id IN (
        SELECT y.id FROM {s}.lease y WHERE y.ns = p_ns AND y.stands AND y.name = p_target
        UNION ALL SELECT o.id FROM {s}.lease_part o WHERE o.ns = p_ns AND o.name = p_target
        UNION ALL SELECT y.id FROM {s}.lease y WHERE p_kind = 'under' AND y.ns = p_ns AND y.stands
          AND y.name >= p_target || '/' AND y.name < p_target || '0'
        UNION ALL SELECT o.id FROM {s}.lease_part o WHERE p_kind = 'under' AND o.ns = p_ns
          AND o.name >= p_target || '/' AND o.name < p_target || '0')
      AND {s}.revocable_v1(x, p_kind, p_up_to, p_now) ORDER BY x.id LIMIT p_limit;
  END IF;
END $$;

-- S16: what it is aimed at is locked before it is looked for again, so that a grant whose commit is under way is waited for: the target, and
-- every name of what was there already; for an owner, whose leases may be anywhere, the whole namespace. Who comes to light then and has
-- names that are not locked makes it begin anew: NULL.
CREATE FUNCTION {s}.revoke_v1(
  p_namespace text, p_kind text, p_target text, p_reason text, p_actor text, p_up_to bigint, p_keep_out bigint
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space;
  v_ids text[];
  v_names text[];
  v_above text[];
  v_whole boolean;
  v_new text[];
  v_locked boolean;
  v_now bigint;
  v_wall bigint;
  v_from integer;
  v_epoch bigint;
  l {s}.lease;
  v_freed {s}.part[] := '{}';
  v_ended json[] := '{}';
BEGIN
  SELECT array_agg(DISTINCT a.id), array_agg(DISTINCT n.name) INTO v_ids, v_names
    FROM {s}.namespace s, {s}.aimed_at_v1(s.id, p_kind, p_target, p_up_to, {s}.clock_v1(), 1001) a,
      unnest({s}.names_v1(a.name, a.parts)) n(name)
    WHERE s.name = p_namespace;
  v_ids := coalesce(v_ids, '{}');
  v_names := coalesce(v_names, '{}');
  IF p_kind IN ('resource', 'under') AND p_target <> ALL (v_names) THEN v_names := v_names || p_target; END IF;
  v_above := {s}.all_above_v1(v_names);
  v_whole := p_kind = 'owner' OR cardinality(v_names) + cardinality(v_above) > 2000;
  sp := {s}.enter_v1(p_namespace, v_whole);
  IF NOT v_whole THEN
    PERFORM {s}.lock_names_v1(sp.seed, v_names, v_above, CASE WHEN p_kind = 'leaseId' THEN ARRAY[p_target] END);
  END IF;
  IF cardinality(v_ids) <= 1000 THEN
    SELECT coalesce(array_agg(DISTINCT a.id), '{}'), coalesce(bool_and(n.name = ANY (v_names)
        OR p_kind IN ('resource', 'under') AND starts_with(n.name, p_target || '/')), true) INTO v_new, v_locked
      FROM {s}.aimed_at_v1(sp.ns, p_kind, p_target, p_up_to, {s}.clock_v1(), 1001) a,
        unnest({s}.names_v1(a.name, a.parts)) n(name)
      WHERE a.id <> ALL (v_ids);
    IF NOT v_whole AND NOT v_locked THEN RETURN NULL; END IF;
    v_ids := v_ids || v_new;
  END IF;
  PERFORM {s}.mark_v1(sp);
  v_wall := {s}.clock_v1();
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, NULL, v_ids));
  FOR l IN SELECT x.* FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_ids) AND x.stands
    AND {s}.revocable_v1(x, p_kind, p_up_to, v_now) ORDER BY x.id LIMIT 1000
  LOOP
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = l.id FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND; -- pinned (G1): it stays until its guarded transaction is over
    v_from := l.status;
    IF l.status < 2 AND v_now < l.expires_at THEN
      IF v_epoch IS NULL THEN v_epoch := {s}.draw_v1(sp); END IF;
      v_freed := v_freed || {s}.parts_v1(l.name, l.parts);
      l.status := 4;
      l.reason := p_reason;
      l.ended_at := v_now;
      l.keep_out_until := CASE WHEN p_keep_out > 0 THEN v_now + p_keep_out ELSE 0 END;
      l.block_epoch := v_epoch;
      l.blocked_until := CASE WHEN v_from = 1 AND l.lock_delay_ms > 0 THEN v_now + l.lock_delay_ms ELSE l.blocked_until END;
      PERFORM {s}.save_v1(l);
      PERFORM {s}.write_log_v1(sp, v_now, v_wall, l, 5, v_from, 4, v_epoch, p_actor, l.reason, NULL, NULL, NULL,
        CASE WHEN p_keep_out > 0 THEN json_build_object('revocationEpoch', v_epoch, 'keepOutUntil', l.keep_out_until)
          ELSE json_build_object('revocationEpoch', v_epoch) END);
      v_ended := v_ended || {s}.record_v1(l);
      CONTINUE;
    END IF;
    IF l.status < 2 THEN v_freed := v_freed || {s}.parts_v1(l.name, l.parts); END IF;
    IF l.status = 1 THEN l := {s}.expire_v1(sp, v_now, v_wall, l); END IF;
    IF l.status = 0 THEN
      PERFORM {s}.fail_v1(sp, v_now, v_wall, 'died', NULL, l);
    ELSIF p_kind IN ('resource', 'under') AND EXISTS (SELECT FROM {s}.blocks_v1(l, v_now, l.owner)) THEN
      IF v_epoch IS NULL THEN v_epoch := {s}.draw_v1(sp); END IF;
      l.blocked_until := 0;
      l.keep_out_until := 0;
      PERFORM {s}.save_v1(l);
      PERFORM {s}.write_log_v1(sp, v_now, v_wall, l, 5, l.status, l.status, v_epoch, p_actor, p_reason, NULL, NULL, NULL,
        json_build_object('lifted', true, 'revocationEpoch', v_epoch));
      v_freed := v_freed || {s}.parts_v1(l.name, l.parts);
    END IF;
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, json_build_array(array_to_json(v_ended), v_epoch, cardinality(v_ids) > 1000));
END $$;

CREATE FUNCTION {s}.draw_v1(sp {s}.space) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN
    RAISE EXCEPTION 'the epoch counter has left the range of safe integers' USING ERRCODE = 'HF002';
  END IF;
  RETURN nextval(sp.epochs);
END $$;

CREATE FUNCTION {s}.sweep_v1(p_namespace text, p_limit integer) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_wall bigint := v_now;
  v_ids text[];
  l {s}.lease;
  v_leases integer := 0;
  v_tickets integer := 0;
  v_overrun bigint := 0;
  v_more boolean;
  v_freed {s}.part[] := '{}';
BEGIN
  -- No more locks than a server has room for, however many names a lease has: the rest is for the next step.
  SELECT array_agg(c.id) FILTER (WHERE c.mine), coalesce(count(*) > 1000 OR NOT bool_and(c.fits), false)
    INTO v_ids, v_more FROM (
    SELECT d.id, d.fits, CASE WHEN d.fits THEN {s}.try_lock_names_v1(sp.seed, {s}.names_v1(d.name, d.parts)) END AS mine FROM (
      SELECT y.*, sum(y.locks) OVER (ORDER BY y.check_at, y.id) - y.locks < 3000 AS fits FROM (
        SELECT x.id, x.name, x.parts, x.check_at, {s}.locks_v1({s}.names_v1(x.name, x.parts)) AS locks
        FROM {s}.lease x WHERE x.ns = sp.ns AND x.status < 2 AND x.check_at <= v_now
        ORDER BY x.check_at LIMIT 1001) y) d) c;
  PERFORM {s}.mark_v1(sp);
  FOR l IN SELECT x.* FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_ids) AND x.status::integer < 2 AND x.expires_at <= v_now
    ORDER BY x.expires_at, x.arrival LIMIT p_limit + 1
  LOOP
    IF v_leases + v_tickets >= p_limit THEN
      v_more := true;
      EXIT;
    END IF;
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = l.id FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    v_freed := v_freed || {s}.parts_v1(l.name, l.parts);
    IF l.status = 0 THEN
      v_tickets := v_tickets + 1;
      PERFORM {s}.fail_v1(sp, v_now, v_wall, 'died', NULL, l);
    ELSE
      v_leases := v_leases + 1;
      v_overrun := greatest(v_overrun, v_now - l.expires_at);
      PERFORM {s}.expire_v1(sp, v_now, v_wall, l);
    END IF;
  END LOOP;
  UPDATE {s}.lease x SET check_at = x.expires_at
    WHERE x.ns = sp.ns AND x.id = ANY (v_ids) AND x.status::integer < 2 AND x.expires_at > v_now AND x.check_at < x.expires_at;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, json_build_array(v_leases, v_tickets, v_overrun, v_more,
    (SELECT x.check_at FROM {s}.lease x WHERE x.ns = sp.ns AND x.status < 2 ORDER BY x.check_at LIMIT 1)));
END $$;

-- See src/stores/postgres/wait-graph.ts for the order.
CREATE FUNCTION {s}.waiting_json_v1(l {s}.lease) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_array({s}.record_v1(l), l.priority, l.arrival, l.arrived_at, l.holding, l.upgrades, l.min_hold_ms,
    l.lock_delay_ms, l.blocked_until, l.keep_out_until)
$$;

-- Everything the wait-for graph is made of, in one statement: the oldest thousand tickets and those asked for, what overlaps
-- them, what they hold. "mark" says whether it is still the same: it leaves out what renewals change.
CREATE FUNCTION {s}.graph_v1(p_ns integer, p_now bigint, p_cycle text[], OUT tickets json, OUT around json, OUT mark text)
LANGUAGE sql STABLE AS $$
  WITH ticket AS (
    SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.status::integer = 0 AND p_now < x.expires_at AND x.id IN (
      (SELECT y.id FROM {s}.lease y WHERE y.ns = p_ns AND y.status = 0 ORDER BY y.arrival LIMIT 1000)
      UNION ALL SELECT unnest(p_cycle))),
  round AS (
    SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.id IN (
      SELECT n.id FROM (SELECT DISTINCT p.name, p.scope, p.mode, p.lim FROM ticket t, unnest({s}.parts_v1(t.name, t.parts)) p) q,
        {s}.near_v1(p_ns, ARRAY[ROW(q.name, q.scope, q.mode, q.lim)::{s}.part]) n
      UNION ALL SELECT unnest(t.holding || t.upgrades) FROM ticket t
      UNION ALL SELECT t.id FROM ticket t))
  SELECT (SELECT json_agg({s}.waiting_json_v1(t::{s}.lease) ORDER BY t.arrival) FROM ticket t),
    (SELECT json_agg({s}.waiting_json_v1(r::{s}.lease)) FROM round r),
    (SELECT md5(string_agg(concat_ws(' ', r.id, r.status, r.epoch, r.parts::text, p_now < r.expires_at,
      greatest(r.blocked_until, r.keep_out_until) > p_now), ',' ORDER BY r.id)) FROM round r)
$$;


-- Q4: the cycle was found standing in the graph that p_mark names. If that is still the graph, under a lock of the whole
-- namespace, the ticket fails; else the caller looks again.
CREATE FUNCTION {s}.fail_ticket_v1(p_namespace text, p_id text, p_ids text[], p_mark text, p_cycle json) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace, true);
  v_now bigint;
  v_wall bigint;
  v_mark text;
  l {s}.lease;
BEGIN
  PERFORM {s}.mark_v1(sp);
  v_wall := {s}.clock_v1();
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, NULL, p_ids));
  SELECT g.mark INTO v_mark FROM {s}.graph_v1(sp.ns, v_now, p_ids) g;
  IF v_mark IS DISTINCT FROM p_mark THEN RETURN {s}.reply_v1(sp, v_now, '"changed"'); END IF;
  SELECT * INTO l FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = p_id;
  PERFORM {s}.fail_v1(sp, v_now, v_wall, 'deadlock', p_cycle, l);
  PERFORM {s}.wake_v1(sp, v_now, {s}.parts_v1(l.name, l.parts), ARRAY[p_id]);
  RETURN {s}.reply_v1(sp, v_now, '"failed"');
END $$;
`;
