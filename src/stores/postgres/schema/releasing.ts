// end, the list nearly every one is: live leases on one name each, without a time to be held at least, released by who holds them. Who
// was granted them remembers their names (own-names.ts); else they are looked up, to know what to lock. Under the locks the rows are
// looked for by id and name. Any list in which one is not found goes the way of end_any_v1: its locks are taken again, which costs
// nothing.
import {
  ALIVE,
  ANSWER_BEFORE_THE_DISK,
  inTurn,
  lockEverything,
  marks,
  PLAN_QUICKLY,
  WRONG_ISOLATION,
} from './locking.js';
import { NEXT_PLACE, oneForAll, writeList } from './places.js';

/** A plain lease that is live and leaves no block. */
export const RELEASABLE = `x.parts IS NULL AND x.min_hold_ms = 0 AND x.status::integer = 1 AND x.expires_at > v_wall
      AND x.renewed_at <= v_wall`;

const RELEASES_OF_A_LIST = writeList({
  first: '1',
  last: 'v_count',
  columns: 'type, from_status, to_status, at, e',
  values: '3, 1, 2, v_wall, v_epoch',
  place: 'v_s',
  owner: 'v_owner',
  owners: 'v_owners',
  ids: 'p_ids',
  names: 'v_names',
  epochs: 'p_epochs[b.first:b.last]',
  n1: 'NULL::bigint',
  n1s: 'v_held',
});

export const RELEASING = `
-- p_names, p_above: the leases' names and all above them, where the caller remembers them.
CREATE FUNCTION {s}.end_v1(
  p_namespace text, p_ids text[], p_epochs bigint[], p_requests text[], p_whys text[], p_names text[], p_above text[]
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seed bigint := {s}.seed_v1(p_namespace);
  v_done integer;
  v_ns integer;
  v_epochs regclass;
  v_version bigint;
  v_incarnation text;
  v_wall bigint;
  v_epoch bigint;
  v_names text[] := p_names;
  v_above text[] := p_above;
  v_count integer := cardinality(p_names);
  v_tids tid[];
  v_owner text;
  v_owners text[];
  v_held bigint[];
  v_s bigint;
  v_waits boolean;
BEGIN
  ${inTurn(...PLAN_QUICKLY)}
  IF v_names IS NULL THEN
    SELECT array_agg(r.name ORDER BY i.k), count(DISTINCT r.id) INTO v_names, v_count
      FROM {s}.namespace n, unnest(p_ids) WITH ORDINALITY i(id, k), LATERAL (
        SELECT x.id, x.name FROM {s}.lease x WHERE x.id = i.id AND x.ns = n.id AND x.parts IS NULL OFFSET 0) r
      WHERE n.name = p_namespace;
    v_above := {s}.all_above_v1(v_names);
  END IF;
  IF v_count > 0 AND v_count = cardinality(p_ids) AND v_count + cardinality(v_above) <= 2000 AND NOT ${WRONG_ISOLATION} THEN
    ${lockEverything('v_seed', 'v_names', 'v_above')}
    v_wall := {s}.clock_v1();
    -- In the order of the list: LATERAL leaves no other way to look. What a caller has pinned (G1) is passed over.
    SELECT n.id, n.epochs, n.settings_version, f.incarnation, held.tids, held.owners, held.times, held.count,
        EXISTS (SELECT FROM {s}.lease x WHERE x.ns = n.id AND x.status = 0 OFFSET 0)
      INTO v_ns, v_epochs, v_version, v_incarnation, v_tids, v_owners, v_held, v_count, v_waits
      FROM {s}.namespace n, {s}.life f, LATERAL (
        SELECT array_agg(r.ctid) AS tids, array_agg(r.owner) AS owners, array_agg(v_wall - r.acquired_at) AS times, count(*) AS count
        FROM unnest(p_ids, v_names) WITH ORDINALITY i(id, name, k), LATERAL (
          SELECT x.ctid, x.owner, x.acquired_at FROM {s}.lease x
          WHERE x.id = i.id AND x.ns = n.id AND ${RELEASABLE} AND x.name = i.name AND x.epoch = p_epochs[i.k]
          FOR UPDATE SKIP LOCKED) r) held
      WHERE n.name = p_namespace AND n.keep_history AND ${ALIVE};
    IF v_count = cardinality(p_ids) THEN
      ${inTurn(ANSWER_BEFORE_THE_DISK, ...marks('v_seed', 'pg_sequence_last_value(v_epochs)'))}
      v_epoch := pg_sequence_last_value(v_epochs);
      UPDATE {s}.lease x SET status = 2, stands = false, ended_at = v_wall, last_request = i.request, reason = NULL,
          block_epoch = v_epoch
        FROM unnest(p_requests) WITH ORDINALITY i(request, k) WHERE x.ctid = v_tids[i.k];
      v_owner := ${oneForAll('v_owners')};
      v_s := ${NEXT_PLACE};
      ${RELEASES_OF_A_LIST}
      IF v_waits THEN
        PERFORM {s}.wake_v1({s}.enter_v1(p_namespace), v_wall,
          ARRAY(SELECT p FROM unnest(v_names) n, unnest({s}.parts_v1(n, NULL)) p), '{}');
      END IF;
      RETURN '{"now":' || v_wall || ',"incarnation":"' || v_incarnation || '","version":' || v_version || ',"body":"'
        || rtrim(repeat('0,', v_count), ',') || '"}';
    END IF;
  END IF;
  RETURN {s}.end_any_v1(p_namespace, p_ids, p_epochs, p_requests, p_whys);
END $$;
`;
