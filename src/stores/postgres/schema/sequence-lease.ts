// Leasing numbers (N1), as src/stores/protocol/sequence/hold.ts says it. The row of stream_next is locked first, so numbers are
// dense and an operation id is leased once; clock and rows are read after that (S16). Nearly always every operation of a list is
// new: then they are one statement. Everything else goes item by item.
import { LIMITS } from '../../../domain/limits.js';
import { ENTER_QUICKLY } from './locking.js';
import { NEXT_PLACE } from './places.js';
import { BUSY_MS } from './sequence-parts.js';

export const SEQUENCE_LEASE = `
-- p_plain: no operation is named twice.
CREATE FUNCTION {s}.seq_lease_v1(
  p_namespace text, p_streams text[], p_operations text[], p_kinds text[], p_ttls bigint[], p_counts integer[], p_owners text[],
  p_plain boolean
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  sp {s}.space;
  v_done integer;
  v_names text[] := ARRAY(SELECT DISTINCT n FROM unnest(p_streams) n);
  v_now bigint;
  v_known boolean;
  v_fits boolean;
  v_ids integer[];
  v_totals bigint[];
  v_bottoms bigint[];
  v_fast text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(v_seed);
  ${ENTER_QUICKLY}
  IF {s}.seq_lock_v1(sp.ns, v_names, false, true) < cardinality(v_names) THEN
    PERFORM {s}.seq_make_v1(sp.ns, v_names);
    PERFORM {s}.seq_lock_v1(sp.ns, v_names, false, true);
  END IF;
  v_now := {s}.clock_v1();
  IF p_plain THEN
    SELECT bool_or(EXISTS (SELECT FROM {s}.span x WHERE x.operation_id = i.operation AND x.stream = t.id AND x.moved_from IS NULL))
      INTO v_known FROM unnest(p_streams, p_operations) i(stream, operation), LATERAL (
        SELECT y.id FROM {s}.stream y WHERE y.ns = sp.ns AND y.name = i.stream OFFSET 0) t;
    SELECT bool_and(h.next - h.lowest + h.total <= ${LIMITS.openNumbersPerStream} AND h.next + h.total <= 9007199254740991),
        array_agg(h.id), array_agg(h.total), array_agg(h.lowest - 1) INTO v_fits, v_ids, v_totals, v_bottoms
      FROM (SELECT g.id, g.total, n.next, coalesce((SELECT x.first FROM {s}.span x
            WHERE x.stream + 0 = g.id AND x.state < 2 AND x.first > n.bottom ORDER BY x.first LIMIT 1), n.next) AS lowest
        FROM (SELECT t.id, sum(i.count) AS total FROM unnest(p_streams, p_counts) i(stream, count), LATERAL (
            SELECT y.id FROM {s}.stream y WHERE y.ns = sp.ns AND y.name = i.stream OFFSET 0) t GROUP BY t.id) g
          JOIN {s}.stream_next n ON n.stream = g.id) h;
    IF v_fits AND NOT v_known AND pg_sequence_last_value(sp.epochs) <= 9007199254740991 - cardinality(p_streams) THEN
      WITH item AS MATERIALIZED (
        SELECT o.*, nextval(sp.epochs) AS epoch, ${NEXT_PLACE} AS s FROM (
          SELECT i.*, t.id, n.next + sum(i.count) OVER (PARTITION BY t.id ORDER BY i.ord) - i.count AS first
            FROM unnest(p_streams, p_operations, p_kinds, p_ttls, p_counts, p_owners)
                WITH ORDINALITY i(stream, operation, kind, ttl, count, owner, ord),
              LATERAL (SELECT y.id FROM {s}.stream y WHERE y.ns = sp.ns AND y.name = i.stream OFFSET 0) t,
              LATERAL (SELECT y.next FROM {s}.stream_next y WHERE y.stream = t.id OFFSET 0) n
            ORDER BY i.ord OFFSET 0) o),
      added AS (
        INSERT INTO {s}.span (stream, first, count, operation_id, kind, state, owner, epoch, leased_at, expires_at, ttl_ms)
          SELECT i.id, i.first, i.count, i.operation, i.kind, 0, i.owner, i.epoch, v_now, v_now + i.ttl, i.ttl FROM item i),
      logged AS (
        INSERT INTO {s}.log (ns, type, e, s, at, epoch, name, owner, data)
          SELECT sp.ns, 11, i.epoch, i.s, v_now, i.epoch, i.stream, i.owner,
            {s}.seq_data_v1(i.first::bigint, i.count, i.operation, i.kind) || ',"expiresAt":' || v_now + i.ttl || '}'
          FROM item i WHERE sp.keep_history),
      taken AS (
        UPDATE {s}.stream_next n SET next = n.next + g.total, bottom = g.bottom
          FROM unnest(v_ids, v_totals, v_bottoms) g(id, total, bottom) WHERE n.stream = g.id)
      SELECT string_agg(i.first || ' ' || i.epoch, ',' ORDER BY i.ord) INTO v_fast FROM item i;
      RETURN {s}.seq_reply_v1(sp, v_now, '"' || v_fast || '"');
    END IF;
  END IF;
  RETURN {s}.seq_reply_v1(sp, v_now, (SELECT '[' || coalesce(string_agg(
      {s}.seq_lease_one_v1(sp, v_now, i.stream, i.operation, i.kind, i.ttl, i.count, i.owner), ','), '') || ']'
    FROM (SELECT * FROM unnest(p_streams, p_operations, p_kinds, p_ttls, p_counts, p_owners)
      WITH ORDINALITY i(stream, operation, kind, ttl, count, owner, ord) ORDER BY i.ord OFFSET 0) i));
END $$;

CREATE FUNCTION {s}.seq_lease_one_v1(
  sp {s}.space, p_now bigint, p_name text, p_operation text, p_kind text, p_ttl bigint, p_count integer, p_owner text
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_next {s}.stream_next;
  v_locked boolean := true;
  x {s}.span;
  v_lowest bigint;
  v_open bigint;
BEGIN
  SELECT n.* INTO v_next FROM {s}.stream t JOIN {s}.stream_next n ON n.stream = t.id WHERE t.ns = sp.ns AND t.name = p_name;
  SELECT y.* INTO x FROM {s}.span y WHERE y.operation_id = p_operation AND y.stream = v_next.stream AND y.moved_from IS NULL
    FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    v_locked := false;
    SELECT y.* INTO x FROM {s}.span y WHERE y.operation_id = p_operation AND y.stream = v_next.stream AND y.moved_from IS NULL;
  END IF;
  IF FOUND THEN
    IF x.kind <> p_kind OR x.count <> p_count THEN RETURN '["mismatch"]'; END IF;
    IF x.state > 1 THEN RETURN '["settled",' || {s}.seq_shown_v1(x) || ']'; END IF;
    IF x.state = 1 OR p_now >= x.expires_at OR x.lapsed THEN
      IF p_now < x.claim_until THEN RETURN json_build_array('recovering', x.claim_until - p_now)::text; END IF;
      -- A caller's own transaction has it: what it comes to will be known when that ends.
      IF NOT v_locked THEN RETURN '["recovering",${BUSY_MS}]'; END IF;
      IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN RETURN '["failed","epochs"]'; END IF;
      x.state := 0;
      x.epoch := nextval(sp.epochs);
      x.owner := p_owner;
      x.leased_at := p_now;
      x.expires_at := p_now + p_ttl;
      UPDATE {s}.span y SET state = 0, lapsed = false, epoch = x.epoch, owner = p_owner, leased_at = p_now, expires_at = x.expires_at,
          ttl_ms = p_ttl, claim_epoch = NULL, claim_until = NULL, claim_owner = NULL, retry_at = NULL
        WHERE y.stream = x.stream AND y.first = x.first;
      PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 11, ',"expiresAt":' || x.expires_at || ',"again":true');
    END IF;
    RETURN json_build_array('leased', x.first, x.epoch, x.leased_at, x.expires_at, true, x.owner)::text;
  END IF;
  -- S18: somebody leases and never commits. What is open is what every look at the watermark pays for.
  SELECT coalesce((SELECT y.first FROM {s}.span y WHERE y.stream + 0 = v_next.stream AND y.state < 2 AND y.first > v_next.bottom
    ORDER BY y.first LIMIT 1), v_next.next) INTO v_lowest;
  IF v_next.next - v_lowest + p_count > ${LIMITS.openNumbersPerStream} THEN
    SELECT coalesce(sum(y.count), 0) INTO v_open FROM {s}.span y WHERE y.stream + 0 = v_next.stream AND y.state < 2;
    IF v_open + p_count > ${LIMITS.openNumbersPerStream} THEN RETURN json_build_array('failed', 'open', v_open)::text; END IF;
  END IF;
  IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN RETURN '["failed","epochs"]'; END IF;
  x := {s}.seq_add_v1(sp, p_now, v_next.stream, p_name, p_operation, p_kind, p_ttl, p_count, p_owner);
  RETURN json_build_array('leased', x.first, x.epoch, x.leased_at, x.expires_at, false, x.owner)::text;
END $$;

-- A new lease of numbers. The caller has the row of stream_next, and there is an epoch left.
CREATE FUNCTION {s}.seq_add_v1(
  sp {s}.space, p_now bigint, p_stream integer, p_name text, p_operation text, p_kind text, p_ttl bigint, p_count integer,
  p_owner text
) RETURNS {s}.span LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  x {s}.span;
BEGIN
  INSERT INTO {s}.span (stream, first, count, operation_id, kind, state, owner, epoch, leased_at, expires_at, ttl_ms)
    VALUES (p_stream, {s}.seq_reserve_v1(p_stream, p_name, p_count), p_count, p_operation, p_kind, 0, p_owner,
      nextval(sp.epochs), p_now, p_now + p_ttl, p_ttl)
    RETURNING * INTO x;
  PERFORM {s}.seq_log_v1(sp, p_now, p_name, x, 11, ',"expiresAt":' || x.expires_at);
  RETURN x;
END $$;

-- What a page shows of a span: see src/stores/postgres/sequence-codec.ts for the order.
CREATE FUNCTION {s}.seq_shown_v1(x {s}.span) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '[' || (x).first || ',' || (x).count || ',' || (x).state || ',' || to_json((x).operation_id)::text || ','
    || to_json((x).kind)::text || ',' || coalesce((x).moved_to::text, 'null') || ','
    || CASE WHEN (x).moved_from IS NULL THEN 'null'
      ELSE json_build_array((x).moved_from, (x).recovered_at, (x).recovery)::text END
    || ',' || coalesce((x).operations, 'null') || ']'
$$;
`;
