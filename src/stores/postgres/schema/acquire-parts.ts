// What an acquire is made of: the wish, the row it becomes, and what it writes down on the way (S3, S18).
import { NEXT_PLACE, numberOf } from './places.js';

export const ACQUIRE_PARTS = `
CREATE TYPE {s}.wish AS (
  id text, content bigint, born_at bigint, owner text, parts {s}.part[], ttl_ms bigint, priority smallint, joins boolean,
  holding text[], upgrades text, upgrades_epoch bigint, reclaim boolean, max_renewals bigint, max_hold_ms bigint,
  min_hold_ms bigint, lock_delay_ms bigint, operation_id text, metadata text, remote boolean, caller_wall double precision
);

CREATE FUNCTION {s}.granted_v1(l {s}.lease, p_now bigint, p_again boolean) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_array('granted', {s}.record_v1(l), l.expires_at - p_now, p_again)
$$;

CREATE FUNCTION {s}.new_row_v1(sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint) RETURNS {s}.lease
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l {s}.lease;
BEGIN
  l.ns := sp.ns;
  l.id := w.id;
  l.content := w.content;
  l.owner := w.owner;
  l.name := coalesce((w.parts[1]).name, '');
  l.parts := CASE WHEN {s}.plain_v1(w.parts) OR w.parts IS NULL THEN NULL ELSE w.parts END;
  l.status := 0;
  l.epoch := 0;
  l.grant_epoch := 0;
  l.ttl_ms := w.ttl_ms;
  l.acquired_at := p_now;
  l.renewed_at := p_now;
  l.expires_at := p_now;
  l.check_at := p_now;
  l.renewals := 0;
  l.max_renewals := w.max_renewals;
  l.skew_ms := floor(w.caller_wall - p_wall + 0.5);
  l.operation_id := w.operation_id;
  l.metadata := w.metadata;
  l.arrival := ${NEXT_PLACE};
  l.arrived_at := p_now;
  l.joined_epoch := pg_sequence_last_value(sp.epochs);
  l.priority := w.priority;
  l.max_hold_ms := w.max_hold_ms;
  l.min_hold_ms := w.min_hold_ms;
  l.lock_delay_ms := w.lock_delay_ms;
  l.holding := w.holding;
  l.upgrades := w.upgrades;
  l.remote := w.remote;
  l.blocked_until := 0;
  l.keep_out_until := 0;
  l.block_epoch := 0;
  RETURN l;
END $$;

-- False is no answer: whoever stands there has to be looked at one by one.
CREATE FUNCTION {s}.has_room_v1(p_ns integer, p_now bigint, p_part {s}.part) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_above text[] := {s}.above_v1(p_part.name);
BEGIN
  IF EXISTS (SELECT FROM {s}.lease_part) THEN RETURN false; END IF;
  IF EXISTS (SELECT FROM unnest(v_above) a, LATERAL (
    SELECT FROM {s}.lease x WHERE x.name = a AND x.ns = p_ns AND x.stands AND x.parts IS NOT NULL LIMIT 1) o) THEN
    RETURN false;
  END IF;
  RETURN (SELECT count(*) FILTER (WHERE NOT (x.status = 1 AND p_now < x.expires_at AND x.parts IS NOT NULL
        AND cardinality(x.parts) = 1 AND (x.parts[1]).mode = 'shared')) = 0
      AND count(*) < coalesce(least(p_part.lim, min((x.parts[1]).lim)), 9223372036854775807)
    FROM {s}.lease x WHERE x.name = p_part.name AND x.ns = p_ns AND x.stands);
END $$;

-- Not below the number of tickets, and exact where it comes near the limit. No more can be waiting than numbers were drawn since
-- the oldest of them was given its own, so where nobody has waited for long they are not counted.
CREATE FUNCTION {s}.tickets_v1(p_ns integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_drawn bigint := (SELECT pg_sequence_last_value('{s}.log_row'::regclass) - ${numberOf('x.arrival')} + 1 FROM {s}.lease x
    WHERE x.ns = p_ns AND x.status = 0 ORDER BY x.arrival LIMIT 1);
BEGIN
  IF v_drawn < 9000 THEN RETURN v_drawn; END IF;
  RETURN (SELECT count(*)::integer FROM (SELECT FROM {s}.lease x WHERE x.ns = p_ns AND x.status = 0 LIMIT 10001) t);
END $$;

-- Writes down, at most 1,000 at a time, the lapsed leases that overlap these parts and whose rows are ours to write.
CREATE FUNCTION {s}.expire_all_v1(
  sp {s}.space, p_now bigint, p_wall bigint, p_parts {s}.part[], p_near {s}.lease[], p_locked text[]
) RETURNS {s}.part[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_row {s}.lease;
  v_id text;
  v_over text[];
  v_freed {s}.part[] := '{}';
BEGIN
  -- Blocks that are over stop standing.
  v_over := ARRAY(SELECT r.id FROM unnest(p_near) l, LATERAL (
      SELECT x.id FROM {s}.lease x WHERE x.id = l.id AND x.ns = sp.ns AND x.stands FOR UPDATE SKIP LOCKED) r
    WHERE l.status > 1 AND l.blocked_until <= p_now AND l.keep_out_until <= p_now LIMIT 1000);
  FOREACH v_id IN ARRAY v_over LOOP
    UPDATE {s}.lease x SET stands = false WHERE x.id = v_id AND x.ns = sp.ns RETURNING * INTO v_row;
    IF cardinality(v_row.parts) > 1 THEN
      DELETE FROM {s}.lease_part o WHERE o.ns = sp.ns AND o.id = v_id AND o.name = ANY ({s}.names_v1(v_row.name, v_row.parts));
    END IF;
  END LOOP;
  IF cardinality(p_locked) = 0 THEN RETURN v_freed; END IF;
  FOR v_row IN SELECT l.* FROM unnest(p_near) l WHERE l.id = ANY (p_locked) ORDER BY l.expires_at, l.epoch LIMIT 1000 LOOP
    v_freed := v_freed || {s}.parts_v1(v_row.name, v_row.parts);
    PERFORM {s}.expire_v1(sp, p_now, p_wall, v_row);
  END LOOP;
  RETURN v_freed;
END $$;

-- S18: dead tickets make room before anybody is turned away. Never waits for a name.
CREATE FUNCTION {s}.bury_v1(sp {s}.space, p_now bigint, p_wall bigint) RETURNS SETOF {s}.part[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_id text;
  v_row {s}.lease;
  v_locks bigint := 0;
BEGIN
  FOR v_id IN SELECT x.id FROM {s}.lease x WHERE x.ns = sp.ns AND x.status = 0 AND x.expires_at <= p_now
    ORDER BY x.expires_at LIMIT 1000
  LOOP
    SELECT * INTO v_row FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_id;
    EXIT WHEN v_locks >= 3000; -- the rest another time: a server has room for so many
    v_locks := v_locks + {s}.locks_v1({s}.names_v1(v_row.name, v_row.parts));
    CONTINUE WHEN NOT {s}.try_lock_names_v1(sp.seed, {s}.names_v1(v_row.name, v_row.parts));
    SELECT * INTO v_row FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_id AND x.status::integer = 0 AND x.expires_at <= p_now;
    CONTINUE WHEN NOT FOUND;
    PERFORM {s}.fail_v1(sp, p_now, p_wall, 'died', NULL, v_row);
    RETURN NEXT {s}.parts_v1(v_row.name, v_row.parts);
  END LOOP;
END $$;
`;
