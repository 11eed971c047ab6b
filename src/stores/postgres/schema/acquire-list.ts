// acquire, a list of items: locks first, then the clock and the rows, then the items in order (S16, S21). Nearly every list is plain
// and is granted in one statement: that is what makes many callers quick.
import {
  ALIVE,
  ANY_NOT_PLAIN,
  ENTER_LATE,
  inTurn,
  lockEverything,
  marks,
  PLAN_QUICKLY,
  WRONG_ISOLATION,
} from './locking.js';
import { NEXT_PLACE, oneForAll, writeList } from './places.js';

/**
 * The items from v_next on that are granted together: k counts them, at is their place in the list. Only texts are unnested: a
 * column that is costs a row more than a look into an array of numbers.
 */
const GRANTED = `(SELECT u.id, u.name, u.owner, u.k, v_next - 1 + u.k AS at
          FROM unnest(p_ids[v_next:v_at - 1], p_names[v_next:v_at - 1], p_owners[v_next:v_at - 1]) WITH ORDINALITY u(id, name, owner, k))`;

/** Their rows in the log. */
const GRANTS_OF_A_LIST = writeList({
  first: 'v_next',
  last: 'v_at - 1',
  columns: 'type, to_status, at, wall_at, n3, e',
  values: '1, 1, v_now, nullif(v_wall, v_now), 0, v_es[v_at - v_next]',
  place: 'v_s',
  owner: 'v_owner',
  owners: 'p_owners',
  ids: 'p_ids',
  names: 'p_names',
  epochs: 'v_es[b.first - v_next + 1:b.last - v_next + 1]',
  n1: 'v_ttl',
  n1s: 'p_ttls',
});

export const ACQUIRE_LIST = `
-- S13: the newest time in the rows a call touches. The clock is read after the locks; where it was stepped back it stands still.
CREATE FUNCTION {s}.floor_v1(p_ns integer, p_names text[], p_ids text[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN greatest(
    (SELECT max(x.newest) FROM unnest(p_ids) i(id), LATERAL (
      SELECT greatest(y.acquired_at, y.renewed_at, CASE WHEN y.status IN (2, 4) THEN y.ended_at END) AS newest
      FROM {s}.lease y WHERE y.id = i.id AND y.ns = p_ns OFFSET 0) x),
    (SELECT max(x.newest) FROM unnest(p_names) n(name), LATERAL (
      SELECT greatest(y.acquired_at, y.renewed_at, CASE WHEN y.status IN (2, 4) THEN y.ended_at END) AS newest
      FROM {s}.lease y WHERE y.name = n.name AND y.ns = p_ns AND y.stands OFFSET 0) x));
END $$;

CREATE FUNCTION {s}.acquire_v1(
  p_namespace text, p_whole boolean, p_names text[], p_above text[], p_ids text[], p_items json
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace, p_whole);
  w {s}.wish;
  v_now bigint;
  v_wall bigint;
  v_freed {s}.part[] := '{}';
  v_tickets integer;
  v_result json;
  v_results json[] := '{}';
BEGIN
  -- The names of what the requester says it holds are shared: nobody ends one of those leases between this look and this grant,
  -- or the log would show a ticket passed over for a lease that was over (Q1).
  IF NOT p_whole THEN
    PERFORM {s}.lock_names_v1(sp.seed, p_names, p_above || ARRAY(
      SELECT n FROM json_populate_recordset(NULL::{s}.wish, p_items) i, unnest(i.holding) h
        JOIN {s}.lease x ON x.ns = sp.ns AND x.id = h, unnest({s}.names_v1(x.name, x.parts)) n), p_ids);
  END IF;
  PERFORM {s}.mark_v1(sp);
  v_wall := {s}.clock_v1();
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, p_names || p_above, p_ids));
  FOR w IN SELECT * FROM json_populate_recordset(NULL::{s}.wish, p_items) LOOP
    SELECT * INTO v_freed, v_tickets, v_result FROM {s}.acquire_item_v1(sp, w, v_now, v_wall, v_freed, v_tickets);
    v_results := v_results || v_result;
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, array_to_json(v_results));
END $$;

-- The form nearly every acquire has: one exclusive node, nothing held, nothing replaced, no terms out of the ordinary, and no two
-- of a list on names that overlap. What finds its name free and its id new is granted in one statement; in between, in order,
-- whatever does not goes the way of every other item. Of owners, ttls and joins there may be one for all.
CREATE FUNCTION {s}.acquire_plain_v1(
  p_namespace text, p_names text[], p_above text[], p_ids text[], p_owners text[], p_ttls bigint[], p_contents bigint[],
  p_borns bigint[], p_walls double precision[], p_joins boolean[], p_known boolean DEFAULT false
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  sp {s}.space;
  w {s}.wish;
  v_all integer := cardinality(p_ids);
  v_now bigint;
  v_wall bigint;
  v_over text[] := '{}';
  v_is_over boolean;
  v_is_met boolean;
  v_done integer;
  v_ns integer;
  v_epochs regclass;
  v_logs boolean;
  v_version bigint;
  v_incarnation text;
  v_dirty integer[] := '{}';
  v_next integer := 1;
  v_at integer;
  v_freed {s}.part[] := '{}';
  v_tickets integer;
  v_result json;
  v_es bigint[];
  v_s bigint;
  v_owner text := ${oneForAll('p_owners')};
  v_ttl bigint := ${oneForAll('p_ttls')};
  v_results json[] := '{}';
BEGIN
  ${inTurn(...PLAN_QUICKLY)}
  ${lockEverything('v_seed', 'p_names', 'p_above', 'p_ids')}
  v_wall := {s}.clock_v1();
  -- Nearly always nothing is found: then nothing has to be told apart. Ids are not looked for: one that is known on a name that is free is
  -- refused by the primary key, and the caller asks again and says that one is known (docs/decisions/0033).
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation,
      EXISTS (SELECT FROM {s}.lease x WHERE x.ns = n.id AND x.stands AND x.parts IS NOT NULL OFFSET 0),
      EXISTS (SELECT FROM unnest(p_names) i, LATERAL (
          SELECT FROM {s}.lease x WHERE x.name = i AND x.ns = n.id AND x.stands OFFSET 0) r OFFSET 0)
        OR EXISTS (SELECT FROM unnest(p_borns) b WHERE abs(v_wall - b) > 60000)
    INTO v_ns, v_epochs, v_logs, v_version, v_incarnation, v_is_over, v_is_met
    FROM {s}.namespace n, {s}.life f WHERE n.name = p_namespace AND ${ALIVE};
  IF v_ns IS NULL OR v_is_over OR v_is_met OR p_known OR ${WRONG_ISOLATION} THEN
    ${ENTER_LATE}
    IF sp.ns IS NULL THEN RETURN NULL; END IF;
    v_ns := sp.ns;
    v_epochs := sp.epochs;
    v_logs := sp.keep_history;
    v_is_over := ${ANY_NOT_PLAIN}; -- where a life or a namespace began since that look, nothing has been looked at yet
    SELECT array_agg(i.ord) FILTER (WHERE known.there IS NOT NULL OR held.there IS NOT NULL OR abs(v_wall - i.born) > 60000)
      INTO v_dirty
      FROM unnest(p_ids, p_names, p_borns) WITH ORDINALITY i(id, name, born, ord)
      LEFT JOIN LATERAL (SELECT 1 AS there FROM {s}.lease x WHERE x.id = i.id AND x.ns = sp.ns LIMIT 1) known ON true
      LEFT JOIN LATERAL (SELECT 1 AS there FROM {s}.lease x WHERE x.name = i.name AND x.ns = sp.ns AND x.stands LIMIT 1) held ON true;
  END IF;
  ${inTurn(...marks('v_seed', 'pg_sequence_last_value(v_epochs)'))}
  IF v_is_over THEN
    v_over := ARRAY(SELECT a FROM unnest(p_names || p_above) a, LATERAL (
        SELECT FROM {s}.lease_part y WHERE y.name = a AND y.ns = sp.ns LIMIT 1) o
      UNION SELECT a FROM unnest(p_above) a, LATERAL (
        SELECT FROM {s}.lease x WHERE x.name = a AND x.ns = sp.ns AND x.stands AND x.parts IS NOT NULL LIMIT 1) o);
    v_dirty := v_dirty || ARRAY(SELECT i.ord::integer FROM unnest(p_names) WITH ORDINALITY i(name, ord)
      WHERE EXISTS (SELECT FROM unnest(v_over) a WHERE i.name = a OR starts_with(i.name, a || '/')));
  END IF;
  IF pg_sequence_last_value(v_epochs) + v_all > 9007199254740991 THEN
    sp := {s}.enter_v1(p_namespace);
    v_dirty := ARRAY(SELECT generate_series(1, v_all));
  END IF;
  v_now := v_wall;
  IF cardinality(v_dirty) > 0 THEN
    v_dirty := ARRAY(SELECT DISTINCT d FROM unnest(v_dirty) d ORDER BY d);
    v_now := greatest(v_wall, {s}.floor_v1(sp.ns, p_names || p_above, p_ids));
  END IF;
  FOREACH v_at IN ARRAY v_dirty || (v_all + 1) LOOP
    IF v_at > v_next THEN
      SELECT array_agg(nextval(v_epochs)) INTO v_es FROM generate_series(v_next, v_at - 1);
      v_s := ${NEXT_PLACE};
      INSERT INTO {s}.lease (ns, status, stands, content, epoch, grant_epoch, ttl_ms, acquired_at, renewed_at, expires_at,
          check_at, skew_ms, arrival, arrived_at, id, name, owner)
        SELECT v_ns, 1, true, p_contents[i.at], v_es[i.k], v_es[i.k], coalesce(v_ttl, p_ttls[i.at]), v_now, v_now,
          v_now + coalesce(v_ttl, p_ttls[i.at]), v_now + coalesce(v_ttl, p_ttls[i.at]),
          floor(p_walls[i.at] - v_wall + 0.5), v_s + i.k - 1, v_now, i.id, i.name, coalesce(v_owner, i.owner) FROM ${GRANTED} i;
      IF v_logs THEN
        ${GRANTS_OF_A_LIST}
      END IF;
      IF sp.ns IS NULL THEN
        RETURN '{"now":' || v_now || ',"incarnation":"' || v_incarnation || '","version":' || v_version || ',"body":['
          || v_wall || ',"' || array_to_string(v_es, ',') || '"]}';
      END IF;
      v_results := v_results || ARRAY(SELECT to_json(e) FROM unnest(v_es) e);
    END IF;
    EXIT WHEN v_at > v_all;
    w := ROW(p_ids[v_at], p_contents[v_at], p_borns[v_at], coalesce(v_owner, p_owners[v_at]),
      ARRAY[ROW(p_names[v_at], 'node', 'exclusive', NULL)::{s}.part], coalesce(v_ttl, p_ttls[v_at]), 0,
      coalesce(p_joins[v_at], p_joins[1]), NULL, NULL, NULL, false, -1,
      NULL, 0, 0, NULL, NULL, false, p_walls[v_at])::{s}.wish;
    SELECT * INTO v_freed, v_tickets, v_result FROM {s}.acquire_item_v1(sp, w, v_now, v_wall, v_freed, v_tickets);
    v_results := v_results || v_result;
    v_next := v_at + 1;
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, json_build_array(v_wall, array_to_json(v_results)));
END $$;
`;
