// A step of a plain line: everybody in the namespace wants one name whole and alone, and on this name nothing blocks or has lapsed. To
// claim as the first, to join and to ask again are then decided by a few figures, which one statement counts, instead of by
// comparing every row of the line (docs/decisions/0020).
//
// In words: a ticket with no lease and no ticket before it becomes the lease (Q1). Otherwise it lives on, or is made, or the
// request is refused; what stands before it is the lease, and every live ticket ahead. NULL says that this is no plain line, and
// nothing has been written: then acquire_item_v1 looks at each row.
import { ANY_NOT_PLAIN } from './locking.js';

export const LINE = `
CREATE FUNCTION {s}.line_v1(
  sp {s}.space, w {s}.wish, p_now bigint, p_wall bigint, INOUT tickets integer, OUT result json
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_name text := (w.parts[1]).name;
  v_row {s}.lease;
  v_waited boolean;
  v_rank bigint := 9223372036854775807;
  v_arrival bigint := 9223372036854775807;
  v_ahead integer;
  v_holders integer;
  v_holder text;
  v_oddest integer;
  v_until bigint;
  v_newest bigint;
  v_reason text;
  v_refusal json;
BEGIN
  SELECT * INTO v_row FROM {s}.lease x WHERE x.id = w.id AND x.ns = sp.ns;
  v_waited := FOUND;
  IF v_waited THEN
    IF v_row.status <> 0 OR v_row.content <> w.content OR p_now >= v_row.expires_at THEN RETURN; END IF;
    v_rank := v_row.arrived_at - v_row.priority * 30000;
    v_arrival := v_row.arrival;
  ELSIF abs(p_now - w.born_at) > 60000 THEN
    RETURN;
  END IF;
  -- What is before it: whoever holds the name or blocks it, and the live tickets ahead. And what a clock that was ahead has written.
  SELECT count(*) FILTER (WHERE x.status = 0), count(*) FILTER (WHERE x.status = 1), max(x.id) FILTER (WHERE x.status = 1),
      max(x.status), min(x.expires_at), max(x.renewed_at)
    INTO v_ahead, v_holders, v_holder, v_oddest, v_until, v_newest
    FROM {s}.lease x WHERE x.name = v_name AND x.ns = sp.ns AND x.stands AND (x.status <> 0 OR x.renewed_at > p_now
      OR (p_now < x.expires_at AND (x.arrived_at - x.priority * 30000, x.arrival) < (v_rank, v_arrival)));
  -- A block, a lease that lapsed, or a time that is still to come (S13): no plain line.
  IF v_oddest > 1 OR v_holders > 1 OR v_until <= p_now OR v_newest > p_now THEN RETURN; END IF;
  IF v_holders + v_ahead = 0 THEN
    IF NOT v_waited OR pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN RETURN; END IF;
    tickets := tickets - 1;
    result := {s}.grant_v1(sp, w, p_now, p_wall, v_row);
    RETURN;
  END IF;

  IF NOT v_waited AND w.joins THEN
    tickets := coalesce(tickets, {s}.tickets_v1(sp.ns));
    IF tickets >= 10000 THEN RETURN; END IF;
  END IF;
  v_reason := CASE WHEN v_holders > 0 THEN 'held' ELSE 'queue' END;
  SELECT json_build_array(v_reason, coalesce(json_agg({s}.record_v1(x)), '[]'), v_holders, v_ahead, greatest(1, v_until - p_now))
    INTO v_refusal FROM {s}.lease x WHERE x.id = v_holder AND x.ns = sp.ns;
  IF NOT v_waited AND NOT w.joins THEN
    result := json_build_array('refused', v_refusal);
    RETURN;
  END IF;
  IF v_waited THEN
    UPDATE {s}.lease x SET renewed_at = p_now, expires_at = p_now + 10000 WHERE x.id = w.id AND x.ns = sp.ns;
  ELSE
    v_row := {s}.new_row_v1(sp, w, p_now, p_wall);
    v_row.expires_at := p_now + 10000;
    v_row.check_at := v_row.expires_at;
    tickets := tickets + 1;
    PERFORM {s}.add_v1(v_row);
    PERFORM {s}.write_log_v1(sp, p_now, p_wall, v_row, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL,
      json_build_object('place', v_ahead + 1, 'priority', v_row.priority, 'because', v_reason));
  END IF;
  result := json_build_array('queued', v_ahead + 1, 10000, v_refusal);
END $$;

-- Whether this is a wish a plain line can answer, as far as it can be told without looking at the line.
CREATE FUNCTION {s}.lines_up_v1(sp {s}.space, w {s}.wish) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN w.upgrades IS NULL AND NOT w.reclaim AND coalesce(cardinality(w.holding), 0) = 0 AND {s}.plain_v1(w.parts)
    AND NOT ${ANY_NOT_PLAIN};
END $$;
`;
