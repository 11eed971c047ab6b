// The transitions a row can go through, each with its row in the log (S6), as src/stores/protocol/transitions.ts has them.
// Whoever calls these holds the locks that allow it and hands in the row as it read it under them.
import { NEXT_PLACE } from './places.js';

export const TRANSITIONS = `
-- p_e: the epoch this row drew, or NULL. Types and statuses are numbers: see src/stores/postgres/log-codec.ts.
CREATE FUNCTION {s}.write_log_v1(
  sp {s}.space, p_now bigint, p_wall bigint, l {s}.lease, p_type integer, p_from integer, p_to integer,
  p_e bigint, p_actor text, p_reason text, p_n1 bigint, p_n2 bigint, p_n3 bigint, p_data json
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_names text[] := CASE WHEN cardinality(l.parts) > 1 THEN {s}.names_v1(l.name, l.parts) END;
BEGIN
  IF NOT sp.keep_history THEN RETURN; END IF;
  INSERT INTO {s}.log (ns, type, from_status, to_status, e, s, at, wall_at, epoch, n1, n2, n3, name, id, owner, actor, reason,
      names, data)
    VALUES (sp.ns, p_type, p_from, p_to, coalesce(p_e, pg_sequence_last_value(sp.epochs)), ${NEXT_PLACE}, p_now,
      nullif(p_wall, p_now), nullif(l.epoch, 0), p_n1, p_n2, p_n3, l.name, l.id, l.owner, p_actor, p_reason, v_names, p_data::text);
END $$;

-- Writes the whole row back, and keeps the list of further names in step with what stands.
CREATE FUNCTION {s}.save_v1(l {s}.lease) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  l.stands := l.status < 2 OR l.blocked_until > 0 OR l.keep_out_until > 0;
  UPDATE {s}.lease x SET status = l.status, stands = l.stands, epoch = l.epoch, grant_epoch = l.grant_epoch,
      ttl_ms = l.ttl_ms, acquired_at = l.acquired_at, renewed_at = l.renewed_at, expires_at = l.expires_at,
      check_at = CASE WHEN l.status = 0 THEN least(x.check_at, l.expires_at) ELSE l.check_at END,
      renewals = l.renewals, skew_ms = l.skew_ms, owner = l.owner, last_request = l.last_request, ended_at = l.ended_at,
      reason = l.reason, parts = l.parts, blocked_until = l.blocked_until, keep_out_until = l.keep_out_until,
      block_epoch = l.block_epoch, became_epoch = l.became_epoch, cycle = l.cycle
    WHERE x.ns = l.ns AND x.id = l.id;
  IF NOT l.stands AND cardinality(l.parts) > 1 THEN
    DELETE FROM {s}.lease_part o WHERE o.ns = l.ns AND o.id = l.id AND o.name = ANY ({s}.names_v1(l.name, l.parts));
  END IF;
END $$;

CREATE FUNCTION {s}.add_v1(l {s}.lease) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  l.stands := l.status < 2 OR l.blocked_until > 0 OR l.keep_out_until > 0;
  INSERT INTO {s}.lease SELECT l.*;
  IF l.stands AND cardinality(l.parts) > 1 THEN
    INSERT INTO {s}.lease_part (ns, name, id)
      SELECT l.ns, n, l.id FROM unnest({s}.names_v1(l.name, l.parts)) n WHERE n <> l.name;
  END IF;
END $$;

-- S3: once, as of expires_at.
CREATE FUNCTION {s}.expire_v1(sp {s}.space, p_now bigint, p_wall bigint, INOUT l {s}.lease)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  l.status := 3;
  l.ended_at := l.expires_at;
  l.blocked_until := CASE WHEN l.lock_delay_ms = 0 THEN 0 ELSE l.expires_at + l.lock_delay_ms END;
  l.block_epoch := l.epoch;
  PERFORM {s}.save_v1(l);
  PERFORM {s}.write_log_v1(sp, p_now, p_wall, l, 4, 1, 3, NULL, 'store', l.reason, NULL, NULL, NULL,
    json_build_object('expiresAt', l.expires_at, 'overrunMs', p_now - l.expires_at, 'heldMs', l.expires_at - l.acquired_at));
END $$;

-- p_reason NULL: an ordinary release, which may leave a block.
CREATE FUNCTION {s}.release_v1(sp {s}.space, p_now bigint, p_wall bigint, p_reason text, INOUT l {s}.lease)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  l.status := 2;
  l.reason := p_reason;
  l.ended_at := p_now;
  l.blocked_until := CASE WHEN p_reason IS NULL AND l.min_hold_ms > 0 THEN l.acquired_at + l.min_hold_ms ELSE 0 END;
  l.block_epoch := pg_sequence_last_value(sp.epochs);
  PERFORM {s}.save_v1(l);
  PERFORM {s}.write_log_v1(sp, p_now, p_wall, l, 3, 1, 2, NULL, NULL, p_reason, p_now - l.acquired_at,
    CASE WHEN l.blocked_until > p_now THEN l.blocked_until END, NULL, NULL);
END $$;

-- A ticket that never became a lease. A dead one ends as of the moment it died.
CREATE FUNCTION {s}.fail_v1(sp {s}.space, p_now bigint, p_wall bigint, p_reason text, p_cycle json, INOUT l {s}.lease)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_died boolean := p_now >= l.expires_at;
BEGIN
  l.status := 5;
  l.reason := CASE WHEN v_died THEN 'died' ELSE p_reason END;
  l.ended_at := CASE WHEN v_died THEN l.expires_at ELSE p_now END;
  l.cycle := CASE WHEN NOT v_died THEN p_cycle END;
  PERFORM {s}.save_v1(l);
  PERFORM {s}.write_log_v1(sp, p_now, p_wall, l, CASE WHEN l.cycle IS NULL THEN 6 ELSE 10 END, 0, 5, NULL,
    CASE WHEN v_died THEN 'store' END, l.reason, NULL, NULL, NULL,
    CASE WHEN l.cycle IS NULL THEN json_build_object('waitedMs', l.ended_at - l.arrived_at)
      ELSE json_build_object('waitedMs', l.ended_at - l.arrived_at, 'cycle', l.cycle) END);
END $$;

-- The record of a row as the store answers it: see src/stores/postgres/row-codec.ts for the order.
CREATE FUNCTION {s}.record_v1(l {s}.lease) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_array(l.id, l.name, CASE WHEN l.parts IS NULL THEN NULL ELSE {s}.parts_json_v1(l.parts) END, l.owner,
    l.epoch, l.status, l.reason, l.ttl_ms, l.acquired_at, l.renewed_at, l.expires_at, l.ended_at, l.renewals, l.max_renewals,
    l.skew_ms, l.operation_id, l.metadata)
$$;

-- Every reply: the clock, the incarnation, the version of the settings, the results, and whom to wake where that is known.
CREATE FUNCTION {s}.reply_v1(sp {s}.space, p_now bigint, p_body json) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object('now', p_now, 'incarnation', sp.incarnation, 'version', sp.version, 'body', p_body)::text
$$;
`;
