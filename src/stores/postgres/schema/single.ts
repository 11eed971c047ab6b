// acquire and end of one plain lease: the same as the lists say, in as few and as simple statements as there can be, because a
// caller that is alone waits for each of them. Whatever is out of the ordinary goes the way of a list of one: its locks are taken
// again, which costs nothing.
//
// A statement costs its start and its end, an expression of its own a microsecond, which is much when there are twenty: locks that
// are taken one after the other are therefore arguments of one call, which looks at none of them, and all that decides is looked at by
// the one statement after them (S16).
//
// What the plans need is set in the call that locks, before it looks at anything: as settings of the function it is twice as dear
// (docs/decisions/0031).
import {
  ALIVE,
  ANSWER_BEFORE_THE_DISK,
  ANY_NOT_PLAIN,
  ENTER_LATE,
  inTurn,
  marks,
  PLAN_QUICKLY,
  WALL,
  WRONG_ISOLATION,
} from './locking.js';
import { NEXT_PLACE } from './places.js';
import { RELEASABLE } from './releasing.js';

const SPACE = 'pg_advisory_xact_lock_shared(v_seed)';
const above = (name: string): string => `pg_advisory_xact_lock_shared(hashtextextended(${name}, v_seed))`;

/** From the top down: a shared lock on each name above, then the name. What is NULL is not locked. */
const lockName = (...more: readonly string[]): string => `IF p_above IS NOT NULL THEN
    ${inTurn(SPACE)}
    FOREACH v_upper IN ARRAY p_above LOOP
      ${inTurn(above('v_upper'))}
    END LOOP;
  END IF;
  ${inTurn(...PLAN_QUICKLY, SPACE, above('p_top'), 'pg_advisory_xact_lock(hashtextextended(p_name, v_seed))', ...more)}`;

const PLAIN_WISH = `ROW(p_id, p_content, p_born, p_owner, {s}.parts_v1(p_name, NULL), p_ttl, 0, p_join, NULL, NULL, NULL, false, -1,
        NULL, 0, 0, NULL, NULL, false, p_wall)::{s}.wish`;

export const SINGLE = `
-- A request for one exclusive node that finds something: its line, or the way every other goes.
CREATE FUNCTION {s}.acquire_not_free_v1(
  p_namespace text, p_id text, p_name text, p_owner text, p_ttl bigint, p_content bigint, p_born bigint,
  p_wall double precision, p_join boolean
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  sp {s}.space;
  v_wall bigint;
  v_line json;
BEGIN
  ${ENTER_LATE}
  IF sp.ns IS NULL THEN RETURN NULL; END IF;
  PERFORM {s}.mark_v1(sp);
  v_wall := {s}.clock_v1();
  IF NOT ${ANY_NOT_PLAIN} THEN
    v_line := (SELECT l.result FROM {s}.line_v1(sp, ${PLAIN_WISH}, v_wall, v_wall, NULL) l);
    IF v_line IS NOT NULL THEN RETURN {s}.reply_v1(sp, v_wall, json_build_array(v_wall, json_build_array(v_line))); END IF;
  END IF;
  RETURN {s}.acquire_plain_v1(p_namespace, ARRAY[p_name], {s}.above_v1(p_name), ARRAY[p_id], ARRAY[p_owner], ARRAY[p_ttl],
    ARRAY[p_content], ARRAY[p_born], ARRAY[p_wall], ARRAY[p_join]);
END $$;

-- p_top: the topmost name above, if there is one. p_above: all of them, if there are more.
CREATE FUNCTION {s}.acquire_one_v1(
  p_namespace text, p_id text, p_name text, p_top text, p_above text[], p_owner text, p_ttl bigint, p_content bigint, p_born bigint,
  p_wall double precision, p_join boolean
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_upper text;
  v_done integer;
  v_ns integer;
  v_epochs regclass;
  v_logs boolean;
  v_version bigint;
  v_incarnation text;
  v_wall bigint;
  v_last bigint;
  v_e bigint;
  v_s bigint;
BEGIN
  ${lockName('pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1))')}
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation, ${WALL}, pg_sequence_last_value(n.epochs)
    INTO v_ns, v_epochs, v_logs, v_version, v_incarnation, v_wall, v_last
    FROM {s}.namespace n, {s}.life f
    WHERE n.name = p_namespace AND ${ALIVE}
      AND NOT EXISTS (SELECT FROM {s}.lease x WHERE x.name = p_name AND x.ns = n.id AND x.stands OFFSET 0)
      AND NOT EXISTS (SELECT FROM {s}.lease x WHERE x.ns = n.id AND x.stands AND x.parts IS NOT NULL OFFSET 0);
  IF v_ns IS NULL OR abs(v_wall - p_born) > 60000 OR v_last >= 9007199254740991 OR ${WRONG_ISOLATION} THEN
    RETURN {s}.acquire_not_free_v1(p_namespace, p_id, p_name, p_owner, p_ttl, p_content, p_born, p_wall, p_join);
  END IF;
  ${inTurn(...marks('v_seed', 'v_last'))}
  v_e := nextval(v_epochs);
  v_s := ${NEXT_PLACE};
  WITH granted AS (
    INSERT INTO {s}.lease (ns, status, stands, content, epoch, grant_epoch, ttl_ms, acquired_at, renewed_at, expires_at,
        check_at, skew_ms, arrival, arrived_at, id, name, owner)
      VALUES (v_ns, 1, true, p_content, v_e, v_e, p_ttl, v_wall, v_wall, v_wall + p_ttl, v_wall + p_ttl,
        floor(p_wall - v_wall + 0.5), v_s, v_wall, p_id, p_name, p_owner))
    INSERT INTO {s}.log (ns, type, to_status, e, s, at, epoch, n1, n2, n3, name, id, owner)
      SELECT v_ns, 1, 1, v_e, v_s, v_wall, v_e, p_ttl, v_wall + p_ttl, 0, p_name, p_id, p_owner WHERE v_logs;
  RETURN '{"now":' || v_wall || ',"incarnation":"' || v_incarnation || '","version":' || v_version || ',"body":['
    || v_wall || ',"' || v_e || '"]}';
END $$;

-- For who remembers the lease's name; p_top and p_above are as above.
CREATE FUNCTION {s}.end_one_v1(
  p_namespace text, p_id text, p_epoch bigint, p_request text, p_why text, p_name text, p_top text, p_above text[]
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_upper text;
  v_done integer;
  v_ns integer;
  v_epochs regclass;
  v_tid tid;
  v_version bigint;
  v_incarnation text;
  v_owner text;
  v_acquired bigint;
  v_waits boolean;
  v_wall bigint;
  v_e bigint;
BEGIN
  ${lockName()}
  v_wall := ${WALL};
  -- It is locked unless a caller has pinned it (G1). Where nothing is found, the list says why.
  SELECT n.id, n.epochs, n.settings_version, f.incarnation, x.ctid, x.owner, x.acquired_at,
      EXISTS (SELECT FROM {s}.lease w WHERE w.ns = n.id AND w.status = 0 OFFSET 0)
    INTO v_ns, v_epochs, v_version, v_incarnation, v_tid, v_owner, v_acquired, v_waits
    FROM {s}.namespace n, {s}.life f, {s}.lease x
    WHERE n.name = p_namespace AND n.keep_history AND ${ALIVE}
      AND x.id = p_id AND x.ns = n.id AND ${RELEASABLE} AND x.name = p_name AND x.epoch = p_epoch
    FOR UPDATE OF x SKIP LOCKED;
  IF NOT FOUND OR ${WRONG_ISOLATION} THEN
    RETURN {s}.end_any_v1(p_namespace, ARRAY[p_id], ARRAY[p_epoch], ARRAY[p_request], ARRAY[p_why]);
  END IF;
  ${inTurn(ANSWER_BEFORE_THE_DISK, ...marks('v_seed', 'pg_sequence_last_value(v_epochs)'))}
  v_e := pg_sequence_last_value(v_epochs);
  WITH released AS (
    UPDATE {s}.lease x SET status = 2, stands = false, ended_at = v_wall, last_request = p_request, reason = NULL, block_epoch = v_e
      WHERE x.ctid = v_tid)
    INSERT INTO {s}.log (ns, type, from_status, to_status, e, s, at, epoch, n1, name, id, owner)
      VALUES (v_ns, 3, 1, 2, v_e, ${NEXT_PLACE}, v_wall, p_epoch, v_wall - v_acquired, p_name, p_id, v_owner);
  IF v_waits THEN PERFORM {s}.wake_v1({s}.enter_v1(p_namespace), v_wall, {s}.parts_v1(p_name, NULL), '{}'); END IF;
  RETURN '{"now":' || v_wall || ',"incarnation":"' || v_incarnation || '","version":' || v_version || ',"body":"0"}';
END $$;
`;
