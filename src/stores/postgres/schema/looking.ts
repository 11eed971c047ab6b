// Reads: they take no lock, write nothing and create nothing, so that they also work for a role that may only look. And the log
// (H1), which is read up to the oldest place where a running transaction may still write, and no further.
import { ALIVE, WRONG_ISOLATION } from './locking.js';
import { beginOf, endOf, lastPlaceOf, LIST_ROW } from './places.js';

/** So many rows of the log are looked at by a call that filters (S18): some 5 ms of one process of the server, or 200 to 400 where each is a
 *  list of which nothing matches. */
const STRETCH = 10_000;

/** What a query asks, by parameters that may be NULL: what all events of a row answer alike, and what each answers for itself. */
const ROW_MATCHES = `(p_type IS NULL OR g.type = p_type) AND (p_since IS NULL OR g.at >= p_since) AND (p_until IS NULL OR g.at < p_until)`;
const eventMatches = (v: string, names: string, owner: string): string =>
  `(p_resource IS NULL OR ${v}.name = p_resource OR p_resource = ANY (${names}))
          AND (p_lease IS NULL OR ${v}.id = p_lease) AND (p_owner IS NULL OR ${owner} = p_owner)
          AND (p_prefix IS NULL OR ${v}.name = p_prefix OR starts_with(${v}.name, p_prefix || '/') OR ${names} IS NOT NULL
            AND EXISTS (SELECT FROM unnest(${names}) n WHERE n = p_prefix OR starts_with(n, p_prefix || '/')))`;

/**
 * The log in one direction from (v_e, v_s): events that match, up to one more than was asked for, and, where that is not more, where the
 * stretch ends. Rows are looked at as they are stored; one that holds many events is taken apart only where one of them matches. What is
 * pruned meanwhile is either still read, or known to be gone: one statement sees it all.
 */
function scan(backward: boolean): string {
  const [order, beyond, end] = backward ? ['DESC', '<', 'k.s'] : ['ASC', '>', endOf('k')];
  const from = backward ? '' : `AND (k.e, k.s) >= (v_e, ${beginOf('v_s')})`;
  const pruned = (column: 'e' | 's'): string =>
    `coalesce((SELECT n.pruned_${column} FROM {s}.namespace n WHERE n.id = sp.ns), 0)`;
  const stretch = (columns: string): string =>
    `SELECT ${columns} FROM {s}.log k WHERE k.ns = sp.ns ${from} AND (k.e, ${end}) ${beyond} (v_e, v_s)
              AND (k.e, k.s) <= (v_bound_e, v_bound_s) ORDER BY k.e ${order}, k.s ${order}`;
  const matching = `
          SELECT g.e, g.s, coalesce(g.list_count, 1) AS count FROM (
            ${stretch('k.e, k.s, k.type, k.at, k.name, k.names, k.id, k.owner, k.list_count, k.list_ids, k.list_names, k.list_owners')}
            LIMIT v_stretch) g
          WHERE ${ROW_MATCHES} AND CASE WHEN v_any_event THEN true WHEN g.list_count IS NULL THEN ${eventMatches('g', 'g.names', 'g.owner')}
            ELSE (p_resource IS NULL OR p_resource = ANY (g.list_names)) AND (p_lease IS NULL OR p_lease = ANY (g.list_ids))
              AND EXISTS (SELECT FROM unnest(g.list_ids, g.list_names, g.list_owners) WITH ORDINALITY v(id, name, owner, place)
                WHERE (g.e, g.s + v.place - 1) ${beyond} (v_e, v_s) AND ${eventMatches('v', 'g.names', 'coalesce(v.owner, g.owner)')}) END
          ORDER BY g.e ${order}, g.s ${order} LIMIT p_limit + 1`;
  return `
    SELECT m.events, CASE WHEN m.count <= p_limit THEN ARRAY(
        SELECT unnest(ARRAY[z.e, z.s]) FROM (${stretch(`k.e, ${end} AS s`)} LIMIT 1 OFFSET v_stretch - 1) z) END,
        ${pruned('e')}, ${pruned('s')}
      INTO v_rows, v_last, v_pruned_e, v_pruned_s FROM (
      SELECT array_agg(y.event ORDER BY (y.event).e ${order}, (y.event).s ${order}) AS events, count(*) AS count FROM (
        SELECT v AS event FROM (
          SELECT f.e, f.s, sum(f.count) OVER (ORDER BY f.e ${order}, f.s ${order}) - f.count AS before FROM (${matching}) f) found,
          LATERAL (SELECT k AS row FROM {s}.log k WHERE k.ns = sp.ns AND k.e = found.e AND k.s = found.s OFFSET 0) r,
          LATERAL {s}.log_events_v1(r.row) v
        WHERE (NOT v_any_event OR found.before <= p_limit + ${LIST_ROW}) AND (v.e, v.s) ${beyond} (v_e, v_s)
          AND ${eventMatches('v', 'v.names', 'v.owner')}
        ORDER BY v.e ${order}, v.s ${order} LIMIT p_limit + 1) y) m;`;
}

export const LOOKING = `
-- The namespace as it is; one that nobody has written to yet has no rows (ns 0) and the settings every new one has.
CREATE FUNCTION {s}.look_v1(p_namespace text) RETURNS {s}.space LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  sp {s}.space;
BEGIN
  SELECT n.id, n.name, n.epochs, n.keep_history, n.history_renewals, n.settings_version, NULL,
      {s}.seed_v1(p_namespace)
    INTO sp FROM {s}.namespace n WHERE n.name = p_namespace;
  IF NOT FOUND THEN sp := ROW(0, p_namespace, NULL, true, false, 1, NULL, {s}.seed_v1(p_namespace)); END IF;
  -- A life nobody has written in yet has no name of its own so far. What it is called here is nobody's position.
  sp.incarnation := coalesce((SELECT f.incarnation FROM {s}.life f WHERE ${ALIVE}), 'unwritten');
  RETURN sp;
END $$;

CREATE FUNCTION {s}.epoch_v1(sp {s}.space) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN (sp).ns = 0 THEN floor(date_part('epoch', pg_postmaster_start_time()))::bigint * 1000000 ELSE pg_sequence_last_value((sp).epochs) END
$$;

CREATE FUNCTION {s}.time_v1(p_namespace text) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
BEGIN
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), to_json({s}.epoch_v1(sp)));
END $$;

CREATE FUNCTION {s}.get_v1(p_namespace text, p_ids text[]) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_rows json;
  v_newest bigint;
BEGIN
  SELECT json_agg({s}.record_v1(x)), max(greatest(x.acquired_at, x.renewed_at)) INTO v_rows, v_newest
    FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = ANY (p_ids) AND x.content <> 0;
  RETURN {s}.reply_v1(sp, greatest({s}.clock_v1(), v_newest), v_rows);
END $$;

CREATE FUNCTION {s}.list_v1(
  p_namespace text, p_after_name text, p_after_id text, p_name text, p_below boolean, p_within text, p_owner text,
  p_status integer, p_older bigint, p_limit integer
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_rows json;
BEGIN
  IF p_name IS NULL THEN
    SELECT json_agg({s}.record_v1(r.row)) INTO v_rows FROM (
      SELECT x AS row FROM {s}.lease x WHERE x.ns = sp.ns AND x.stands AND x.status < 2 AND x.expires_at > v_now
        AND x.name >= p_after_name AND (x.name > p_after_name OR x.id > p_after_id)
        AND (p_owner IS NULL OR x.owner = p_owner) AND (p_status IS NULL OR x.status = p_status)
        AND (p_older IS NULL OR v_now - x.acquired_at >= p_older)
      ORDER BY x.name, x.id LIMIT p_limit) r;
  ELSE
    SELECT json_agg({s}.record_v1(r.row)) INTO v_rows FROM (
      SELECT x AS row FROM {s}.lease x WHERE x.ns = sp.ns AND x.stands AND x.status < 2 AND x.expires_at > v_now
        AND x.id IN (
          SELECT y.id FROM {s}.lease y WHERE y.ns = sp.ns AND y.stands AND y.name = p_name
          UNION ALL SELECT o.id FROM {s}.lease_part o WHERE o.ns = sp.ns AND o.name = p_name
          UNION ALL SELECT y.id FROM {s}.lease y WHERE p_below AND y.ns = sp.ns AND y.stands
            AND y.name >= p_name || '/' AND y.name < p_name || '0'
          UNION ALL SELECT o.id FROM {s}.lease_part o WHERE p_below AND o.ns = sp.ns
            AND o.name >= p_name || '/' AND o.name < p_name || '0')
        AND (p_within IS NULL OR x.name = p_within OR starts_with(x.name, p_within || '/')
          OR EXISTS (SELECT FROM {s}.lease_part o WHERE o.ns = sp.ns AND o.id = x.id
            AND (o.name = p_within OR starts_with(o.name, p_within || '/'))))
        AND (x.name, x.id) > (p_after_name, p_after_id)
        AND (p_owner IS NULL OR x.owner = p_owner) AND (p_status IS NULL OR x.status = p_status)
        AND (p_older IS NULL OR v_now - x.acquired_at >= p_older)
      ORDER BY x.name, x.id LIMIT p_limit) r;
  END IF;
  RETURN {s}.reply_v1(sp, v_now, v_rows);
END $$;

CREATE FUNCTION {s}.show_v1(p_namespace text, p_name text) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_rows json;
BEGIN
  SELECT json_agg({s}.waiting_json_v1(l)) INTO v_rows
    FROM {s}.near_v1(sp.ns, ARRAY[ROW(p_name, 'node', 'exclusive', NULL)::{s}.part]) l;
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), v_rows);
END $$;

CREATE FUNCTION {s}.wait_graph_v1(p_namespace text, p_cycle text[]) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  v_body json;
BEGIN
  SELECT json_build_array(g.tickets, g.around, g.mark) INTO v_body FROM {s}.graph_v1(sp.ns, v_now, p_cycle) g;
  RETURN {s}.reply_v1(sp, v_now, v_body);
END $$;

-- H1: up to where nothing can appear any more. First the counters, then the locks of those who may still write: who is not
-- among them draws later than this, and so beyond it. So does who came in between: its lock is ahead of the counters. Of
-- both a lock has the lower 31 bits; the half of that circle before a counter is behind it, the other half ahead.
CREATE FUNCTION {s}.horizon_v1(sp {s}.space, OUT e bigint, OUT s bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_class bigint := (sp).seed & 2147483646;
  v_e bigint := {s}.epoch_v1(sp);
  v_s bigint := pg_sequence_last_value('{s}.log_row'::regclass);
BEGIN
  -- In a snapshot of before, rows of those who have ended meanwhile are not seen, and would be passed over for good.
  IF ${WRONG_ISOLATION} THEN
    RAISE EXCEPTION 'this transaction is %, not READ COMMITTED', current_setting('transaction_isolation') USING ERRCODE = 'HF001';
  END IF;
  IF sp.ns = 0 THEN
    e := 0;
    s := 0;
    RETURN;
  END IF;
  SELECT least_e, ${lastPlaceOf('least_s')} INTO e, s FROM (
    SELECT v_e AS least_e, v_s AS least_s
    UNION ALL
    SELECT v_e - CASE WHEN d.e < 1073741824 THEN d.e ELSE 0 END, v_s - CASE WHEN d.s < 1073741824 THEN d.s ELSE 0 END
    FROM pg_locks a JOIN pg_locks b ON b.virtualtransaction = a.virtualtransaction,
      LATERAL (SELECT (v_e - a.objid::bigint) & 2147483647 AS e, (v_s - b.objid::bigint) & 2147483647 AS s) d
    WHERE a.locktype = 'advisory' AND a.objsubid = 2 AND a.classid::bigint = v_class
      AND a.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND b.locktype = 'advisory' AND b.objsubid = 2 AND b.classid::bigint = v_class + 1 AND b.database = a.database
  ) bounds ORDER BY least_e, least_s LIMIT 1;
END $$;

-- The events of a row. What is not named here stays as it is, so that a column more is no event less.
CREATE FUNCTION {s}.log_events_v1(k {s}.log) RETURNS SETOF {s}.log LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_event {s}.log := k;
  v_item record;
BEGIN
  IF k.list_count IS NULL THEN
    RETURN NEXT k;
    RETURN;
  END IF;
  v_event.list_count := NULL;
  v_event.list_ids := NULL;
  v_event.list_names := NULL;
  v_event.list_owners := NULL;
  v_event.list_epochs := NULL;
  v_event.list_n1 := NULL;
  FOR v_item IN SELECT * FROM unnest(k.list_ids, k.list_names, k.list_owners, k.list_epochs, k.list_n1)
    WITH ORDINALITY i(id, name, owner, epoch, n1, place)
  LOOP
    v_event.s := k.s + v_item.place - 1;
    v_event.id := v_item.id;
    v_event.name := v_item.name;
    v_event.owner := coalesce(v_item.owner, k.owner);
    v_event.epoch := v_item.epoch;
    v_event.n1 := coalesce(v_item.n1, k.n1);
    v_event.n2 := CASE WHEN k.type = 1 THEN k.at + v_event.n1 END;
    RETURN NEXT v_event;
  END LOOP;
END $$;

-- An event as the store answers it: see src/stores/postgres/log-codec.ts for the order.
CREATE FUNCTION {s}.log_json_v1(l {s}.log) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_array(l.e, l.s, l.type, l.from_status, l.to_status, l.at, l.wall_at, l.epoch, l.n1, l.n2, l.n3, l.name,
    l.id, l.owner, l.actor, l.reason, l.names, l.data::json)
$$;

CREATE FUNCTION {s}.events_v1(
  p_namespace text, p_has_from boolean, p_incarnation text, p_e bigint, p_s bigint, p_backward boolean, p_limit integer,
  p_resource text, p_prefix text, p_lease text, p_owner text, p_type integer, p_since bigint, p_until bigint
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_pruned_e bigint := 0;
  v_pruned_s bigint := 0;
  v_bound_e bigint;
  v_bound_s bigint;
  v_e bigint;
  v_s bigint;
  v_rows {s}.log[];
  v_last bigint[];
  v_stretch integer;
  v_any_event boolean := num_nulls(p_resource, p_prefix, p_lease, p_owner) = 4;
  v_more boolean;
BEGIN
  SELECT h.e, h.s INTO v_bound_e, v_bound_s FROM {s}.horizon_v1(sp) h;
  SELECT n.pruned_e, n.pruned_s INTO v_pruned_e, v_pruned_s FROM {s}.namespace n WHERE n.id = sp.ns;
  v_pruned_e := coalesce(v_pruned_e, 0);
  v_pruned_s := coalesce(v_pruned_s, 0);
  IF p_has_from AND (p_incarnation IS DISTINCT FROM sp.incarnation OR p_e > {s}.epoch_v1(sp)
      OR p_s > ${lastPlaceOf("pg_sequence_last_value('{s}.log_row'::regclass)")}
      OR (NOT p_backward AND (p_e, p_s) < (v_pruned_e, v_pruned_s))) THEN
    RETURN {s}.reply_v1(sp, {s}.clock_v1(), json_build_array('lost', v_pruned_e, v_pruned_s));
  END IF;
  v_stretch := CASE WHEN v_any_event AND num_nulls(p_type, p_since, p_until) = 3 THEN p_limit + 1 ELSE ${STRETCH} END;
  IF p_backward THEN
    v_e := CASE WHEN p_has_from THEN p_e ELSE 9223372036854775807 END;
    v_s := CASE WHEN p_has_from THEN p_s ELSE 0 END;
    ${scan(true)}
  ELSE
    v_e := CASE WHEN p_has_from THEN p_e ELSE v_pruned_e END;
    v_s := CASE WHEN p_has_from THEN p_s ELSE v_pruned_s END;
    ${scan(false)}
    IF p_has_from AND (p_e, p_s) < (v_pruned_e, v_pruned_s) THEN
      RETURN {s}.reply_v1(sp, {s}.clock_v1(), json_build_array('lost', v_pruned_e, v_pruned_s));
    END IF;
  END IF;
  -- Where a reader goes on: after the last row it was given, the last one looked at, or, when it saw all there is to see,
  -- at that end of the log, whatever its filter let through.
  v_more := v_last IS NULL OR cardinality(v_last) > 0;
  IF v_last IS NULL THEN
    v_last := ARRAY[(v_rows[p_limit]).e, (v_rows[p_limit]).s];
  ELSIF NOT v_more AND p_backward THEN
    v_last := ARRAY[v_pruned_e, v_pruned_s];
  ELSIF NOT v_more THEN
    v_last := CASE WHEN (v_bound_e, v_bound_s) < (v_e, v_s) THEN ARRAY[v_e, v_s] ELSE ARRAY[v_bound_e, v_bound_s] END;
  END IF;
  RETURN {s}.reply_v1(sp, {s}.clock_v1(), json_build_array('rows', array_to_json(ARRAY(
    SELECT {s}.log_json_v1(g) FROM unnest(v_rows[1:p_limit]) g)), v_last[1], v_last[2], v_more));
END $$;
`;
