// acquire, the answers: the present state of an id that is known (S8), a refusal with its facts, the cycle two upgrades would make
// (Q4), and the grant itself.
export const ACQUIRE_ANSWERS = `
-- An id that is over, that was granted, or that asked for something else before.
CREATE FUNCTION {s}.answer_known_v1(
  sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint, l {s}.lease, INOUT freed {s}.part[], OUT result json
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_lease {s}.lease;
BEGIN
  IF l.content = 0 THEN
    result := json_build_array('ended', l.status, l.reason);
    RETURN;
  ELSIF l.content <> w.content THEN
    result := json_build_array('mismatch');
    RETURN;
  ELSIF l.status = 1 AND p_now < l.expires_at THEN
    result := {s}.granted_v1(l, p_now, true);
    RETURN;
  END IF;
  IF l.status = 0 THEN
    freed := freed || {s}.parts_v1(l.name, l.parts);
    l := {s}.fail_v1(sp, p_now, p_wall, 'died', NULL, l);
  ELSIF l.status = 1 THEN
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = w.id FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      freed := freed || {s}.parts_v1(l.name, l.parts);
      l := {s}.expire_v1(sp, p_now, p_wall, l);
    ELSE
      l.status := 3;
    END IF;
  END IF;
  IF l.became_epoch IS NOT NULL THEN
    SELECT * INTO v_lease FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = l.upgrades;
    IF FOUND AND v_lease.status = 1 AND p_now < v_lease.expires_at AND v_lease.epoch = l.became_epoch THEN
      result := {s}.granted_v1(v_lease, p_now, true);
      RETURN;
    END IF;
  ELSIF l.cycle IS NOT NULL THEN
    result := json_build_array('deadlock', l.cycle);
    RETURN;
  END IF;
  result := json_build_array('ended', l.status, l.reason);
END $$;

-- Reason, holders (at most 20, oldest epoch first), their count, the queue ahead, and when to ask again (Q3).
CREATE FUNCTION {s}.refusal_v1(p_near {s}.lease[], p_ways {s}.obstacle[], p_own boolean, p_now bigint) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT json_build_array(
      CASE WHEN p_own THEN 'held_by_self'
        WHEN count(*) FILTER (WHERE o.kind = 'lease') > 0 THEN
          CASE WHEN bool_and(o.reason = 'pinned') FILTER (WHERE o.kind = 'lease') THEN 'pinned'
            WHEN bool_and(o.by_limit) FILTER (WHERE o.kind = 'lease') THEN 'limit' ELSE 'held' END
        WHEN count(*) FILTER (WHERE o.kind = 'block') = 0 THEN 'queue'
        WHEN bool_or(o.reason = 'min_hold') FILTER (WHERE o.kind = 'block') THEN 'min_hold'
        ELSE 'lock_delay' END,
      coalesce((SELECT json_agg({s}.record_v1(h.row) ORDER BY h.epoch) FROM (
        SELECT l AS row, l.epoch FROM unnest(p_near) l, unnest(p_ways) y WHERE y.kind = 'lease' AND y.id = l.id
        ORDER BY l.epoch LIMIT 20) h), '[]'),
      count(*) FILTER (WHERE o.kind = 'lease'),
      count(*) FILTER (WHERE o.kind = 'ticket'),
      greatest(1, min(o.until) - p_now))
    FROM unnest(p_ways) o);
END $$;

-- Q4: a second upgrade of one resource can never be granted beside the first. The cycle the two would make, or NULL.
CREATE FUNCTION {s}.rival_v1(w {s}.wish, p_upgraded {s}.lease, p_near {s}.lease[], p_ways {s}.obstacle[], p_now bigint)
RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT json_build_array(
      json_build_object('ticketId', w.id, 'owner', w.owner, 'resource', (w.parts[1]).name, 'heldBy', theirs.owner),
      json_build_object('ticketId', rival.id, 'owner', rival.owner, 'resource', rival.name, 'heldBy', p_upgraded.owner))
    FROM unnest(p_near) rival
    JOIN LATERAL (
      SELECT p_upgraded.owner AS owner WHERE rival.upgrades = p_upgraded.id
      UNION ALL
      SELECT l.owner FROM unnest(p_near) l, unnest(p_ways) o
        WHERE rival.upgrades <> p_upgraded.id AND o.kind = 'lease' AND o.id = rival.upgrades AND l.id = o.id
      LIMIT 1) theirs ON true
    WHERE rival.id <> w.id AND rival.upgrades IS NOT NULL AND rival.status = 0 AND p_now < rival.expires_at
      AND {s}.may_wait_for_v1({s}.parts_v1(rival.name, rival.parts), {s}.parts_v1(p_upgraded.name, p_upgraded.parts))
    ORDER BY rival.arrived_at - rival.priority * 30000, rival.arrival LIMIT 1);
END $$;

-- p_ticket: the ticket that claims, or a row of NULLs.
CREATE FUNCTION {s}.grant_v1(sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint, p_ticket {s}.lease) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_waited boolean := p_ticket.id IS NOT NULL;
  v_epoch bigint := nextval(sp.epochs);
  l {s}.lease := CASE WHEN v_waited THEN p_ticket ELSE {s}.new_row_v1(sp, w, p_now, p_wall) END;
BEGIN
  l.status := 1;
  l.epoch := v_epoch;
  l.grant_epoch := v_epoch;
  l.acquired_at := p_now;
  l.renewed_at := p_now;
  l.expires_at := p_now + least(l.ttl_ms, l.max_hold_ms);
  l.check_at := l.expires_at;
  l.skew_ms := floor(w.caller_wall - p_wall + 0.5);
  IF v_waited THEN PERFORM {s}.save_v1(l); ELSE PERFORM {s}.add_v1(l); END IF;
  PERFORM {s}.write_log_v1(sp, p_now, p_wall, l, 1, CASE WHEN v_waited THEN 0 END, 1, v_epoch, NULL, l.reason, l.ttl_ms,
    l.expires_at, p_now - l.arrived_at,
    CASE WHEN l.parts IS NOT NULL THEN json_build_object('parts', {s}.parts_json_v1(l.parts)) END);
  RETURN {s}.granted_v1(l, p_now, false);
END $$;

-- Q5: the same lease becomes exclusive with a new epoch; the ticket's id is spent.
CREATE FUNCTION {s}.grant_upgrade_v1(
  sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint, p_ticket {s}.lease, p_lease {s}.lease
) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_waited boolean := p_ticket.id IS NOT NULL;
  v_epoch bigint := nextval(sp.epochs);
  l {s}.lease := p_lease;
  v_ticket {s}.lease := CASE WHEN v_waited THEN p_ticket ELSE {s}.new_row_v1(sp, w, p_now, p_wall) END;
BEGIN
  l.parts := {s}.as_exclusive_v1({s}.parts_v1(p_lease.name, p_lease.parts));
  l.parts := CASE WHEN NOT {s}.plain_v1(l.parts) THEN l.parts END;
  l.epoch := v_epoch;
  l.last_request := NULL; -- what was asked under the old epoch is not answered again under the new
  PERFORM {s}.save_v1(l);
  v_ticket.status := 2;
  v_ticket.reason := 'upgraded';
  v_ticket.ended_at := p_now;
  v_ticket.became_epoch := v_epoch;
  IF v_waited THEN PERFORM {s}.save_v1(v_ticket); ELSE PERFORM {s}.add_v1(v_ticket); END IF;
  PERFORM {s}.write_log_v1(sp, p_now, p_wall, l, 8, 1, 1, v_epoch, NULL, l.reason, NULL, NULL, NULL,
    json_strip_nulls(json_build_object('fromEpoch', p_lease.epoch, 'ticketId', v_ticket.id,
      'waitedMs', p_now - v_ticket.arrived_at,
      'parts', CASE WHEN l.parts IS NOT NULL THEN {s}.parts_json_v1(l.parts) END)));
  RETURN {s}.granted_v1(l, p_now, false);
END $$;
`;
