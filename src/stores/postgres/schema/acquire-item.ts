// acquire, one item: try, join, refresh, claim, reclaim and upgrade in one step, as src/stores/protocol/acquire.ts says it.
//
// In words: an id the store knows is answered by its present state (S8). Otherwise, and for a ticket still alive, the one rule
// of the queue decides (Q1). Free: expiries on these names are written down (S3), the next epoch is drawn, the row becomes
// active. Not free: a request that joins gets or refreshes its ticket, another is refused with the facts. A wait that could
// never end (for a lease one holds, for a rival upgrade) is refused in this same step (Q4).
export const ACQUIRE_ITEM = `
-- One item. What fails alone answers a word that src/stores/postgres/item-errors.ts has the sentence for.
CREATE FUNCTION {s}.acquire_item_v1(
  sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint, INOUT freed {s}.part[], INOUT tickets integer, OUT result json
) LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  v_known {s}.lease;
  v_upgraded {s}.lease;
  v_reclaimed {s}.lease;
  v_row {s}.lease;
  v_near {s}.lease[];
  v_held {s}.lease[] := '{}';
  v_pinned text[] := '{}';
  v_locked text[] := '{}';
  v_lapsed text[];
  v_ways {s}.obstacle[];
  v_replaces text;
  v_rank bigint := 9223372036854775807;
  v_arrival bigint := 9223372036854775807;
  v_own boolean;
  v_cycle json;
  v_refusal json;
  v_queue integer;
BEGIN
  IF {s}.lines_up_v1(sp, w) THEN
    SELECT * INTO tickets, result FROM {s}.line_v1(sp, w, p_now, p_wall, tickets);
    IF result IS NOT NULL THEN RETURN; END IF;
  END IF;
  SELECT * INTO v_known FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = w.id;
  IF FOUND THEN
    IF v_known.status <> 0 OR p_now >= v_known.expires_at OR v_known.content <> w.content THEN
      SELECT * INTO freed, result FROM {s}.answer_known_v1(sp, w, p_now, p_wall, v_known, freed);
      RETURN;
    END IF;
    v_rank := v_known.arrived_at - v_known.priority * 30000;
    v_arrival := v_known.arrival;
  ELSIF abs(p_now - w.born_at) > 60000 THEN
    result := json_build_array('tooOld');
    RETURN;
  END IF;

  IF w.upgrades IS NOT NULL THEN
    SELECT * INTO v_upgraded FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = w.upgrades;
    IF FOUND AND v_upgraded.epoch = w.upgrades_epoch AND v_upgraded.status = 1 THEN
      IF p_now >= v_upgraded.expires_at THEN
        -- Its names are locked only if they are those of this request.
        IF {s}.as_exclusive_v1({s}.parts_v1(v_upgraded.name, v_upgraded.parts)) = w.parts THEN
          PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_upgraded.id FOR UPDATE SKIP LOCKED;
          IF FOUND THEN
            freed := freed || {s}.parts_v1(v_upgraded.name, v_upgraded.parts);
            v_upgraded := {s}.expire_v1(sp, p_now, p_wall, v_upgraded);
          END IF;
        END IF;
        v_upgraded := NULL;
      ELSIF {s}.as_exclusive_v1({s}.parts_v1(v_upgraded.name, v_upgraded.parts)) <> w.parts THEN
        result := json_build_array('failed', 'upgrade_parts');
        RETURN;
      ELSIF NOT EXISTS (SELECT FROM unnest({s}.parts_v1(v_upgraded.name, v_upgraded.parts)) p WHERE p.mode <> 'exclusive') THEN
        result := json_build_array('failed', 'upgrade_exclusive');
        RETURN;
      END IF;
    ELSE
      v_upgraded := NULL;
    END IF;
    IF v_upgraded.id IS NULL THEN
      IF v_known.id IS NOT NULL THEN
        freed := freed || {s}.parts_v1(v_known.name, v_known.parts);
        v_known := {s}.fail_v1(sp, p_now, p_wall, 'lease_lost', NULL, v_known);
      END IF;
      result := json_build_array('ended', 5, 'lease_lost');
      RETURN;
    END IF;
    v_replaces := v_upgraded.id;
  END IF;

  -- A place under a limit, and nothing but others like it: counted, not compared.
  IF v_known.id IS NULL AND w.upgrades IS NULL AND NOT w.reclaim AND cardinality(w.parts) = 1
    AND (w.parts[1]).mode = 'shared' AND (w.parts[1]).scope = 'node' AND coalesce(cardinality(w.holding), 0) = 0
    AND {s}.has_room_v1(sp.ns, p_now, w.parts[1]) THEN
    v_near := '{}';
  ELSE
    v_near := ARRAY(SELECT l FROM {s}.near_v1(sp.ns, w.parts) l);
  END IF;

  -- Lapsed leases whose rows cannot be had: pinned by a caller (G1), or just being written by somebody else. Those are over, but for
  -- the time they keep others out.
  v_lapsed := ARRAY(SELECT l.id FROM unnest(v_near) l WHERE l.status = 1 AND p_now >= l.expires_at);
  IF cardinality(v_lapsed) > 0 THEN
    v_locked := ARRAY(SELECT x.id FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_lapsed) AND x.status::integer = 1
      FOR UPDATE SKIP LOCKED);
    v_pinned := ARRAY(SELECT x.id FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (v_lapsed) AND x.status::integer = 1
      AND x.id <> ALL (v_locked) FOR KEY SHARE SKIP LOCKED);
    v_near := ARRAY(SELECT l FROM unnest(v_near) l
      WHERE l.id <> ALL (v_lapsed) OR l.id = ANY (v_locked) OR l.id = ANY (v_pinned) OR l.lock_delay_ms > 0);
  END IF;

  IF w.reclaim THEN
    SELECT l.* INTO v_reclaimed FROM unnest(v_near) l
      WHERE l.id <> w.id AND l.owner = w.owner AND l.status <> 0 AND l.keep_out_until <= p_now AND l.id <> ALL (v_pinned)
        AND {s}.parts_v1(l.name, l.parts) = w.parts
        AND ((l.status = 1 AND p_now < l.expires_at)
          OR EXISTS (SELECT FROM {s}.blocks_v1(l, p_now, w.owner)))
      ORDER BY NOT (l.status = 1 AND p_now < l.expires_at), l.epoch LIMIT 1;
    IF FOUND THEN
      v_replaces := v_reclaimed.id;
      v_rank := -9223372036854775808;
    END IF;
  END IF;

  IF cardinality(w.holding) > 0 OR v_upgraded.id IS NOT NULL THEN
    v_held := ARRAY(SELECT x FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (w.holding || v_upgraded.id));
  END IF;
  v_ways := '{}';
  IF cardinality(v_near) > 0 THEN
    v_ways := ARRAY(SELECT o FROM {s}.obstacles_v1(v_near, v_pinned, p_now, w.id, w.owner, w.parts, v_rank, v_arrival,
      v_held, v_replaces) o);
  END IF;
  -- What is to be replaced may be pinned although it is live: then it stays as it is for now.
  IF cardinality(v_ways) = 0 AND (v_upgraded.id IS NOT NULL OR (v_reclaimed.status = 1 AND p_now < v_reclaimed.expires_at)) THEN
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_replaces FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      v_pinned := v_pinned || v_replaces;
      v_ways := ARRAY[ROW('lease', v_replaces, false, p_now + 100, 'pinned')::{s}.obstacle];
    END IF;
  END IF;

  IF cardinality(v_ways) > 0 THEN
    v_own := cardinality(v_held) > 0 AND EXISTS (SELECT FROM {s}.in_the_way_v1(w.parts, ARRAY(
      SELECT ROW('lease', h.id, 0, '', {s}.parts_v1(h.name, h.parts))::{s}.standing FROM unnest(v_held) h
      WHERE h.id IS DISTINCT FROM v_replaces AND h.status = 1 AND p_now < h.expires_at)));
    v_refusal := {s}.refusal_v1(v_near, v_ways, v_own, p_now);
    v_queue := v_refusal ->> 3;
    IF v_upgraded.id IS NOT NULL THEN v_cycle := {s}.rival_v1(w, v_upgraded, v_near, v_ways, p_now); END IF;
    IF v_own OR (v_cycle IS NOT NULL AND (w.joins OR v_known.id IS NOT NULL)) THEN
      IF v_known.id IS NOT NULL THEN
        freed := freed || {s}.parts_v1(v_known.name, v_known.parts);
        v_known := {s}.fail_v1(sp, p_now, p_wall, 'deadlock', v_cycle, v_known);
      END IF;
      result := CASE WHEN v_own OR v_cycle IS NULL THEN json_build_array('refused', v_refusal)
        ELSE json_build_array('deadlock', v_cycle) END;
      RETURN;
    END IF;
    IF v_known.id IS NULL AND NOT w.joins THEN
      result := json_build_array('refused', v_refusal);
      RETURN;
    END IF;
    IF v_known.id IS NULL THEN
      tickets := coalesce(tickets, {s}.tickets_v1(sp.ns));
      IF tickets >= 10000 THEN
        freed := freed || ARRAY(SELECT p FROM {s}.bury_v1(sp, p_now, p_wall) d, unnest(d) p);
        tickets := {s}.tickets_v1(sp.ns);
      END IF;
      IF tickets >= 10000 THEN
        result := json_build_array('failed', 'tickets', tickets);
        RETURN;
      END IF;
    END IF;
    IF cardinality(v_near) > 0 THEN
      freed := freed || {s}.expire_all_v1(sp, p_now, p_wall, w.parts, v_near, v_locked);
    END IF;
    IF v_known.id IS NOT NULL THEN
      UPDATE {s}.lease x SET renewed_at = p_now, expires_at = p_now + 10000 WHERE x.ns = sp.ns AND x.id = w.id;
    ELSE
      v_row := {s}.new_row_v1(sp, w, p_now, p_wall);
      v_row.renewed_at := p_now;
      v_row.expires_at := p_now + 10000;
      v_row.check_at := v_row.expires_at;
      tickets := tickets + 1;
      PERFORM {s}.add_v1(v_row);
      PERFORM {s}.write_log_v1(sp, p_now, p_wall, v_row, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL,
        json_strip_nulls(json_build_object('place', v_queue + 1, 'priority', v_row.priority, 'because', v_refusal ->> 0,
          'parts', CASE WHEN v_row.parts IS NOT NULL THEN {s}.parts_json_v1(v_row.parts) END)));
    END IF;
    result := json_build_array('queued', v_queue + 1, 10000, v_refusal);
    RETURN;
  END IF;

  IF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN
    result := json_build_array('failed', 'epochs');
    RETURN;
  END IF;
  IF cardinality(v_near) > 0 THEN
    freed := freed || {s}.expire_all_v1(sp, p_now, p_wall, w.parts, v_near, v_locked);
  END IF;
  IF v_reclaimed.id IS NOT NULL THEN
    SELECT * INTO v_reclaimed FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_reclaimed.id;
    IF v_reclaimed.status = 1 THEN
      freed := freed || {s}.parts_v1(v_reclaimed.name, v_reclaimed.parts);
      v_reclaimed := {s}.release_v1(sp, p_now, p_wall, 'reclaimed', v_reclaimed);
    ELSE
      v_reclaimed.blocked_until := 0;
      PERFORM {s}.save_v1(v_reclaimed);
      PERFORM {s}.write_log_v1(sp, p_now, p_wall, v_reclaimed, 5, v_reclaimed.status, v_reclaimed.status, NULL,
        v_reclaimed.owner, 'reclaimed', NULL, NULL, NULL, json_build_object('lifted', true));
    END IF;
  END IF;
  IF v_known.id IS NOT NULL THEN tickets := tickets - 1; END IF;
  IF v_upgraded.id IS NULL THEN
    result := {s}.grant_v1(sp, w, p_now, p_wall, v_known);
  ELSE
    IF v_known.id IS NOT NULL THEN freed := freed || {s}.parts_v1(v_known.name, v_known.parts); END IF;
    result := {s}.grant_upgrade_v1(sp, w, p_now, p_wall, v_known, v_upgraded);
  END IF;
END $$;
`;
