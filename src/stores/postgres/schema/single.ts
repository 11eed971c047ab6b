// acquire and end of one plain lease: the same as the lists say, in as few and as simple statements as there can be, because a
// caller that is alone waits for each of them. Whatever is out of the ordinary goes the way of a list of one: its locks are taken
// again, which costs nothing.
import { ANY_NOT_PLAIN, ENTER_QUICKLY } from './locking.js';

/** Assignments are evaluated without the executor; `pg_advisory_xact_lock` answers nothing. */
const LOCK_ABOVE = `v_at := strpos(v_name, '/');
  WHILE v_at > 0 LOOP
    v_none := pg_advisory_xact_lock_shared(hashtextextended(left(v_name, v_at - 1), v_seed));
    v_more := strpos(substr(v_name, v_at + 1), '/');
    v_at := CASE WHEN v_more > 0 THEN v_at + v_more ELSE 0 END;
  END LOOP;
  v_none := pg_advisory_xact_lock(hashtextextended(v_name, v_seed));`;

const PLAIN_WISH = `ROW(p_id, p_content, p_born, p_owner, {s}.parts_v1(p_name, NULL), p_ttl, 0, p_join, NULL, NULL, NULL, false, -1,
        NULL, 0, 0, NULL, NULL, false, p_wall)::{s}.wish`;

export const SINGLE = `
CREATE FUNCTION {s}.acquire_one_v1(
  p_namespace text, p_id text, p_name text, p_owner text, p_ttl bigint, p_content bigint, p_born bigint,
  p_wall double precision, p_join boolean
) RETURNS text LANGUAGE plpgsql VOLATILE {quick} AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_name text := p_name;
  sp {s}.space;
  v_none text;
  v_at integer;
  v_more integer;
  v_wall bigint;
  v_e bigint;
  v_s bigint;
  v_line json;
BEGIN
  v_none := pg_advisory_xact_lock_shared(v_seed);
  ${LOCK_ABOVE}
  v_none := pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1));
  ${ENTER_QUICKLY}
  v_wall := floor(date_part('epoch', clock_timestamp()) * 1000);
  v_e := pg_sequence_last_value(sp.epochs);
  IF abs(v_wall - p_born) > 60000 OR v_e >= 9007199254740991
    OR EXISTS (SELECT FROM {s}.lease x WHERE x.id = p_id AND x.ns = sp.ns)
    OR EXISTS (SELECT FROM {s}.lease x WHERE x.name = p_name AND x.ns = sp.ns AND x.stands)
    OR ${ANY_NOT_PLAIN} THEN
    IF NOT ${ANY_NOT_PLAIN} THEN
      v_line := (SELECT l.result FROM {s}.line_v1(sp, ${PLAIN_WISH}, v_wall, v_wall, NULL) l);
      IF v_line IS NOT NULL THEN RETURN {s}.reply_v1(sp, v_wall, json_build_array(v_wall, json_build_array(v_line))); END IF;
    END IF;
    RETURN {s}.acquire_plain_v1(p_namespace, ARRAY[p_name], {s}.above_v1(p_name), ARRAY[p_id], ARRAY[p_owner], ARRAY[p_ttl],
      ARRAY[p_content], ARRAY[p_born], ARRAY[p_wall], ARRAY[p_join]);
  END IF;
  v_e := nextval(sp.epochs);
  v_s := nextval('{s}.log_row');
  INSERT INTO {s}.lease (ns, status, stands, content, epoch, grant_epoch, ttl_ms, acquired_at, renewed_at, expires_at,
      check_at, skew_ms, arrival, arrived_at, id, name, owner)
    VALUES (sp.ns, 1, true, p_content, v_e, v_e, p_ttl, v_wall, v_wall, v_wall + p_ttl, v_wall + p_ttl,
      floor(p_wall - v_wall + 0.5), v_s, v_wall, p_id, p_name, p_owner);
  IF sp.keep_history THEN
    INSERT INTO {s}.log (ns, type, to_status, e, s, at, epoch, n1, n2, n3, name, id, owner)
      VALUES (sp.ns, 1, 1, v_e, v_s, v_wall, v_e, p_ttl, v_wall + p_ttl, 0, p_name, p_id, p_owner);
  END IF;
  RETURN '{"now":' || v_wall || ',"incarnation":"' || sp.incarnation || '","version":' || sp.version || ',"body":['
    || v_wall || ',"' || v_e || '"]}';
END $$;

CREATE FUNCTION {s}.end_one_v1(p_namespace text, p_id text, p_epoch bigint, p_request text, p_why text) RETURNS text
LANGUAGE plpgsql VOLATILE {quick} AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_name text;
  sp {s}.space;
  v_none text;
  v_at integer;
  v_more integer;
  v_wall bigint;
  v_e bigint;
  v_owner text;
  v_acquired bigint;
BEGIN
  SELECT x.name INTO v_name FROM {s}.namespace n, {s}.lease x
    WHERE n.name = p_namespace AND x.id = p_id AND x.ns = n.id AND x.parts IS NULL AND x.min_hold_ms = 0;
  IF NOT FOUND THEN RETURN {s}.end_v1(p_namespace, ARRAY[p_id], ARRAY[p_epoch], ARRAY[p_request], ARRAY[p_why]); END IF;
  v_none := pg_advisory_xact_lock_shared(v_seed);
  ${LOCK_ABOVE}
  ${ENTER_QUICKLY}
  v_wall := floor(date_part('epoch', clock_timestamp()) * 1000);
  v_e := pg_sequence_last_value(sp.epochs);
  -- The row is locked unless a caller has pinned it (G1); then nothing is found, and the list says why.
  UPDATE {s}.lease x SET status = 2, stands = false, ended_at = v_wall, last_request = p_request, reason = NULL, block_epoch = v_e
    WHERE x.ctid = (SELECT y.ctid FROM {s}.lease y
      WHERE y.id = p_id AND y.ns = sp.ns AND y.epoch = p_epoch AND y.status::integer = 1 AND y.expires_at > v_wall
        AND y.renewed_at <= v_wall AND sp.keep_history
      FOR UPDATE SKIP LOCKED)
    RETURNING x.owner, x.acquired_at INTO v_owner, v_acquired;
  IF NOT FOUND THEN RETURN {s}.end_v1(p_namespace, ARRAY[p_id], ARRAY[p_epoch], ARRAY[p_request], ARRAY[p_why]); END IF;
  INSERT INTO {s}.log (ns, type, from_status, to_status, e, s, at, epoch, n1, name, id, owner)
    VALUES (sp.ns, 3, 1, 2, v_e, nextval('{s}.log_row'), v_wall, p_epoch, v_wall - v_acquired, v_name, p_id, v_owner);
  IF EXISTS (SELECT FROM {s}.lease x WHERE x.ns = sp.ns AND x.status = 0) THEN
    PERFORM {s}.wake_v1(sp, v_wall, {s}.parts_v1(v_name, NULL), '{}');
  END IF;
  RETURN '{"now":' || v_wall || ',"incarnation":"' || sp.incarnation || '","version":' || sp.version || ',"body":"0"}';
END $$;
`;
