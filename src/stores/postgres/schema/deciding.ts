// Q1 and S1 in SQL: which rows overlap, and what of it stands in the way of a request. The meaning is src/domain/conflict.ts and
// src/domain/decide.ts, word for word; the random programs compare the two.
//
// A lapsed lease whose row a caller's transaction has pinned (G1) still counts as held. Rows are never waited for: one that
// somebody else is just writing the same expiry into is over, whoever writes it down.
export const DECIDING = `
CREATE FUNCTION {s}.overlaps_v1(a {s}.part, b {s}.part) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (a).name = (b).name
    OR ((a).scope = 'subtree' AND starts_with((b).name, (a).name || '/'))
    OR ((b).scope = 'subtree' AND starts_with((a).name, (b).name || '/'))
$$;

CREATE FUNCTION {s}.parts_v1(p_name text, p_parts {s}.part[]) RETURNS {s}.part[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(p_parts, ARRAY[ROW(p_name, 'node', 'exclusive', NULL)::{s}.part])
$$;

CREATE FUNCTION {s}.plain_v1(p_parts {s}.part[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cardinality(p_parts) = 1 AND (p_parts[1]).mode = 'exclusive' AND (p_parts[1]).scope = 'node'
$$;

CREATE FUNCTION {s}.as_exclusive_v1(p_parts {s}.part[]) RETURNS {s}.part[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT array_agg(ROW(p.name, p.scope, 'exclusive', NULL)::{s}.part ORDER BY p.ord)
  FROM unnest(p_parts) WITH ORDINALITY p(name, scope, mode, lim, ord));
END $$;

CREATE FUNCTION {s}.parts_json_v1(p_parts {s}.part[]) RETURNS json LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT json_agg(json_strip_nulls(json_build_object('name', p.name, 'scope', p.scope, 'mode', p.mode, 'limit', p.lim))
    ORDER BY p.ord)
  FROM unnest(p_parts) WITH ORDINALITY p(name, scope, mode, lim, ord));
END $$;

-- What stands on a name that overlaps one of these parts: on the name itself; on one above it that is held as a subtree; and,
-- for a subtree, on anything below.
CREATE FUNCTION {s}.near_v1(p_ns integer, p_parts {s}.part[]) RETURNS SETOF {s}.lease LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_part {s}.part;
  v_names text[] := '{}';
  v_above text[] := '{}';
  v_ids text[];
BEGIN
  FOREACH v_part IN ARRAY p_parts LOOP
    v_names := v_names || v_part.name;
    v_above := v_above || {s}.above_v1(v_part.name);
  END LOOP;
  IF EXISTS (SELECT FROM {s}.lease_part) THEN
    v_ids := ARRAY(SELECT o.id FROM {s}.lease_part o WHERE o.ns = p_ns AND o.name = ANY (v_names)
      UNION ALL SELECT x.id FROM {s}.lease_part o JOIN {s}.lease x ON x.ns = o.ns AND x.id = o.id
        WHERE o.ns = p_ns AND o.name = ANY (v_above)
          AND EXISTS (SELECT FROM unnest(x.parts) p WHERE p.scope = 'subtree' AND p.name = o.name));
  END IF;
  FOREACH v_part IN ARRAY p_parts LOOP
    CONTINUE WHEN v_part.scope <> 'subtree';
    v_ids := v_ids
      || ARRAY(SELECT x.id FROM {s}.lease x WHERE x.ns = p_ns AND x.stands
        AND x.name >= v_part.name || '/' AND x.name < v_part.name || '0')
      || ARRAY(SELECT o.id FROM {s}.lease_part o WHERE o.ns = p_ns
        AND o.name >= v_part.name || '/' AND o.name < v_part.name || '0');
  END LOOP;
  RETURN QUERY SELECT r.* FROM unnest(v_names) n(name), LATERAL (
    SELECT x.* FROM {s}.lease x WHERE x.name = n.name AND x.ns = p_ns AND x.stands OFFSET 0) r;
  IF cardinality(v_above) > 0 THEN
    RETURN QUERY SELECT r.* FROM (SELECT DISTINCT a FROM unnest(v_above) a WHERE a <> ALL (v_names)) n(name), LATERAL (
        SELECT x.* FROM {s}.lease x WHERE x.name = n.name AND x.ns = p_ns AND x.stands OFFSET 0) r
      WHERE EXISTS (SELECT FROM unnest(r.parts) p WHERE p.scope = 'subtree' AND p.name = r.name);
  END IF;
  IF cardinality(v_ids) > 0 THEN
    -- Each row once: those found by their first name are there already.
    RETURN QUERY SELECT x.* FROM {s}.lease x WHERE x.ns = p_ns AND x.id = ANY (v_ids) AND x.stands
      AND NOT x.name = ANY (v_names) AND NOT (x.name = ANY (v_above)
        AND EXISTS (SELECT FROM unnest(x.parts) p WHERE p.scope = 'subtree' AND p.name = x.name));
  END IF;
END $$;

-- The names two leases have in common so that one may be what the other waits for: they conflict, or meet on a limited name.
CREATE FUNCTION {s}.may_wait_for_v1(p_ticket {s}.part[], p_lease {s}.part[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT EXISTS (SELECT FROM unnest(p_ticket) a, unnest(p_lease) b
    WHERE ((a.mode = 'exclusive' OR b.mode = 'exclusive') AND {s}.overlaps_v1(a, b))
      OR (a.name = b.name AND coalesce(a.lim, b.lim) IS NOT NULL)));
END $$;

CREATE TYPE {s}.obstacle AS (kind text, id text, by_limit boolean, until bigint, reason text);

-- p_standing: kind, id, until, reason and parts of everything that counts. What of it is in the way of p_parts?
CREATE TYPE {s}.standing AS (kind text, id text, until bigint, reason text, parts {s}.part[]);

CREATE FUNCTION {s}.in_the_way_v1(p_parts {s}.part[], p_standing {s}.standing[]) RETURNS SETOF {s}.obstacle
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN QUERY WITH standing AS (SELECT s.*, row_number() OVER () AS no FROM unnest(p_standing) s),
  piece AS (SELECT s.no, p AS part, (p).name, (p).mode, (p).lim FROM standing s, unnest(s.parts) p),
  direct AS (
    SELECT DISTINCT piece.no FROM piece, unnest(p_parts) r
    WHERE (piece.mode = 'exclusive' OR r.mode = 'exclusive') AND {s}.overlaps_v1(piece.part, r)),
  filled AS (
    SELECT r.name FROM unnest(p_parts) r, LATERAL (
      SELECT count(DISTINCT piece.no) AS holders, min(piece.lim) AS smallest
      FROM piece WHERE piece.name = r.name AND piece.mode = 'shared') h
    WHERE r.mode = 'shared' AND h.holders > 0 AND h.holders + 1 > least(r.lim, h.smallest)),
  by_limit AS (
    SELECT DISTINCT piece.no FROM piece JOIN filled USING (name) WHERE piece.mode = 'shared'
    EXCEPT SELECT no FROM direct)
  SELECT s.kind, s.id, w.limited, s.until, s.reason
  FROM (SELECT no, false AS limited FROM direct UNION ALL SELECT no, true FROM by_limit) w JOIN standing s USING (no);
END $$;

-- Blocks of this row at p_now against p_owner (Q6), an expiry nobody wrote down included.
CREATE FUNCTION {s}.blocks_v1(l {s}.lease, p_now bigint, p_owner text) RETURNS SETOF {s}.standing LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN QUERY SELECT 'block', l.id, b.until, CASE WHEN l.status = 2 THEN 'min_hold' ELSE 'lock_delay' END, {s}.parts_v1(l.name, l.parts)
  FROM (SELECT CASE WHEN l.status = 1 AND p_now >= l.expires_at
      THEN CASE WHEN l.lock_delay_ms = 0 THEN 0 ELSE l.expires_at + l.lock_delay_ms END
      ELSE l.blocked_until END AS until) b
  WHERE l.status <> 0 AND b.until > p_now AND (l.status <> 1 OR p_now >= l.expires_at)
  UNION ALL
  SELECT 'block', l.id, l.keep_out_until, 'lock_delay', {s}.as_exclusive_v1({s}.parts_v1(l.name, l.parts))
  WHERE l.keep_out_until > p_now AND l.owner = p_owner;
END $$;

-- A claim: id, owner, parts, place, the live leases it holds, and what it replaces. What is in its way among p_near? An exclusive
-- part conflicts with whatever overlaps it; only shared ones have to be compared.
CREATE FUNCTION {s}.obstacles_v1(
  p_near {s}.lease[], p_pinned text[], p_now bigint, p_id text, p_owner text, p_parts {s}.part[],
  p_rank bigint, p_arrival bigint, p_held {s}.lease[], p_replaces text
) RETURNS SETOF {s}.obstacle LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l {s}.lease;
  v_part {s}.part;
  v_standing {s}.standing[] := '{}';
BEGIN
  FOREACH l IN ARRAY p_near LOOP
    CONTINUE WHEN l.id = p_id OR l.id = p_replaces;
    IF l.status = 1 AND (p_now < l.expires_at OR l.id = ANY (p_pinned)) THEN
      v_standing := v_standing || ROW('lease', l.id, CASE WHEN p_now < l.expires_at THEN l.expires_at ELSE p_now + 100 END,
        CASE WHEN p_now < l.expires_at THEN '' ELSE 'pinned' END, {s}.parts_v1(l.name, l.parts))::{s}.standing;
    ELSIF l.status = 0 AND p_now < l.expires_at
      AND (l.arrived_at - l.priority * 30000, l.arrival) < (p_rank, p_arrival)
      AND (cardinality(p_held) = 0 OR NOT EXISTS (SELECT FROM unnest(p_held) h
        WHERE h.status = 1 AND p_now < h.expires_at AND l.upgrades IS DISTINCT FROM h.id
          AND {s}.may_wait_for_v1({s}.parts_v1(l.name, l.parts), {s}.parts_v1(h.name, h.parts)))) THEN
      v_standing := v_standing || ROW('ticket', l.id, l.expires_at, '', {s}.parts_v1(l.name, l.parts))::{s}.standing;
    ELSIF l.status <> 0 AND NOT (l.id = ANY (p_pinned)) AND (l.status = 1 OR l.stands) THEN
      v_standing := v_standing || ARRAY(SELECT b FROM {s}.blocks_v1(l, p_now, p_owner) b);
    END IF;
  END LOOP;
  IF cardinality(v_standing) = 0 THEN RETURN; END IF;
  FOREACH v_part IN ARRAY p_parts LOOP
    IF v_part.mode = 'shared' THEN
      RETURN QUERY SELECT * FROM {s}.in_the_way_v1(p_parts, v_standing);
      RETURN;
    END IF;
  END LOOP;
  RETURN QUERY SELECT o.kind, o.id, false, o.until, o.reason FROM unnest(v_standing) o;
END $$;
`;
