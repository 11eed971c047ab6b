// The locks of S16 and the step every call begins with.
//
// enter: refuses any isolation but READ COMMITTED, locks the namespace (shared; exclusive for what needs all of it), reads its
// row, and begins a new incarnation where the server's life is another than the one written down (S2). The locks for that come before
// names: once names are locked, what is not open is answered NULL, and the call begins anew when it has been opened.
// lock_names: in one sorted statement, exclusive on names and ids, shared on the names above.
// mark: says, in two locks that conflict with nobody, from where in the log this transaction may still write (H1).
import { QUICK_SETTINGS } from '../quote.js';

/** Rows of level, key and own, to be locked: names, alone or shared, by how many names are above them. */
const toLock = (names: string, seed: string, own: boolean): string =>
  `SELECT length(n) - length(replace(n, '/', '')) AS level, hashtextextended(n, ${seed}) AS key, ${own} AS own FROM unnest(${names}) n`;

/** After every name. */
const idsToLock = (ids: string, seed: string): string =>
  `SELECT 2147483647, hashtextextended(n, ${seed} + 1), true FROM unnest(${ids}) n`;

/**
 * The namespace first (shared), then names from the top down, those of one depth by their hash, then ids by theirs. Everybody
 * locks in this one order, so no two calls wait for each other. Where a name is wanted both ways, alone comes first.
 */
export function lockEverything(seed: string, names: string, above: string, ids?: string): string {
  const wanted = [
    toLock(names, seed, true),
    toLock(above, seed, false),
    ...(ids === undefined ? [] : [idsToLock(ids, seed)]),
  ];
  return `${inTurn(`pg_advisory_xact_lock_shared(${seed})`)}
  PERFORM CASE WHEN k.own THEN pg_advisory_xact_lock(k.key) ELSE pg_advisory_xact_lock_shared(k.key) END
  FROM (SELECT u.key, u.own FROM (${wanted.join('\n    UNION ALL ')}) u ORDER BY u.level, u.key, u.own DESC) k;`;
}

/**
 * Calls, one after the other: an assignment starts no statement, and one for all costs less than one each. What they answer is not
 * looked at. (PostgreSQL evaluates arguments from left to right, without promising to. In another order two calls could come to wait
 * for each other, which it finds out; nothing would be decided otherwise.)
 */
export function inTurn(...calls: readonly string[]): string {
  return `v_done := num_nulls(${calls.join(',\n    ')});`;
}

/**
 * What settings of a function do, until the end of the transaction instead of the function's: the same for a call, which is a transaction,
 * and half as dear. To be called in turn, before the first statement that looks at a table.
 */
export const PLAN_QUICKLY = Object.entries(QUICK_SETTINGS).map(
  ([name, value]) => `set_config('${name}', '${value}', true)`,
);

/** mark_v1, to be called in turn. The epoch may be one of before, never one of after (H1). */
export function marks(seed: string, epoch: string): readonly string[] {
  return [
    `pg_advisory_xact_lock_shared((${seed} & 2147483646)::integer, (${epoch} & 2147483647)::integer)`,
    `pg_advisory_xact_lock_shared(((${seed} & 2147483646) + 1)::integer,
      (pg_sequence_last_value('{s}.log_row'::regclass) & 2147483647)::integer)`,
  ];
}

/**
 * A release may be answered before it is on the disk (docs/decisions/0025): a crash that undoes it leaves the lease to its deadline,
 * and a grant to somebody else is on the disk only together with it. Whoever set anything but the default is left with that. To be
 * called in turn.
 */
export const ANSWER_BEFORE_THE_DISK =
  "CASE WHEN current_setting('synchronous_commit') = 'on' THEN set_config('synchronous_commit', 'off', true) END";

/** The server's clock, in milliseconds. */
export const WALL = "floor(date_part('epoch', clock_timestamp()) * 1000)::bigint";

/**
 * S2: the row f of life is of this very life. A row that was put back has the xmin of who did that, and freezing leaves xmin as it is;
 * a copy of the whole database has another number. A session never leaves its database: its plans have that number as a constant.
 */
export const ALIVE =
  'f.one AND f.started = pg_postmaster_start_time() AND f.born = f.xmin AND f.database = {s}.database_v1()';

export const WRONG_ISOLATION = `current_setting('transaction_isolation') <> 'read committed'`;

/** enter, for who has locked names already: NULL where it would have to open something, which might wait for who waits for these names. */
export const ENTER_LATE = 'sp := {s}.enter_v1(p_namespace, false, true);';

/** What enter does after its lock, for the calls that must be quick; nothing out of the ordinary happens in most of them. */
const enterQuickly = (otherwise: string): string => `SELECT n.id, n.name, n.epochs, n.keep_history, n.history_renewals,
      n.settings_version, f.incarnation, v_seed
    INTO sp FROM {s}.namespace n, {s}.life f
    WHERE n.name = p_namespace AND ${ALIVE};
  IF NOT FOUND OR ${WRONG_ISOLATION} THEN
    ${otherwise}
  END IF;
  ${inTurn(...marks('v_seed', 'pg_sequence_last_value(sp.epochs)'))}`;
export const ENTER_QUICKLY = enterQuickly('sp := {s}.enter_v1(p_namespace);');
export const ENTER_QUICKLY_LATE = enterQuickly(ENTER_LATE);

/** Nearly always false: then nothing but what stands on the very name can be in the way of a request for one exclusive node. */
export const ANY_NOT_PLAIN = 'EXISTS (SELECT FROM {s}.lease x WHERE x.ns = sp.ns AND x.stands AND x.parts IS NOT NULL)';

export const LOCKING = `
CREATE TYPE {s}.space AS (
  ns integer, name text, epochs regclass, keep_history boolean, history_renewals boolean,
  version bigint, incarnation text, seed bigint
);

CREATE FUNCTION {s}.seed_v1(p_namespace text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended({l} || '/' || p_namespace, 7420)
$$;

CREATE FUNCTION {s}.clock_v1() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT ${WALL}
$$;

-- Not immutable for all the world, but for a session, which is as long as a plan is kept.
CREATE FUNCTION {s}.database_v1() RETURNS oid LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database());
END $$;

CREATE FUNCTION {s}.above_v1(p_name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  v_pieces text[];
  v_upper text;
  v_above text[] := '{}';
BEGIN
  IF strpos(p_name, '/') = 0 THEN RETURN v_above; END IF;
  v_pieces := string_to_array(p_name, '/');
  v_upper := v_pieces[1];
  v_above := ARRAY[v_upper];
  FOR i IN 2 .. cardinality(v_pieces) - 1 LOOP
    v_upper := v_upper || '/' || v_pieces[i];
    v_above := v_above || v_upper;
  END LOOP;
  RETURN v_above;
END $$;

-- The names above these, each once.
CREATE FUNCTION {s}.all_above_v1(p_names text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN ARRAY(SELECT DISTINCT u.upper FROM (
      SELECT DISTINCT left(n, length(n) - strpos(reverse(n), '/')) AS parent FROM unnest(p_names) n WHERE strpos(n, '/') > 0) d,
    LATERAL (SELECT d.parent AS upper UNION ALL SELECT unnest({s}.above_v1(d.parent))) u);
END $$;

CREATE FUNCTION {s}.names_v1(p_name text, p_parts {s}.part[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF p_parts IS NULL THEN RETURN ARRAY[p_name]; END IF;
  RETURN ARRAY(SELECT p.name FROM unnest(p_parts) p);
END $$;

CREATE FUNCTION {s}.enter_v1(p_namespace text, p_whole boolean DEFAULT false, p_late boolean DEFAULT false) RETURNS {s}.space
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  sp {s}.space;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'this transaction is %, not READ COMMITTED', current_setting('transaction_isolation')
      USING ERRCODE = 'HF001';
  END IF;
  sp.seed := {s}.seed_v1(p_namespace);
  IF p_whole THEN PERFORM pg_advisory_xact_lock(sp.seed);
  ELSE PERFORM pg_advisory_xact_lock_shared(sp.seed);
  END IF;
  SELECT n.id, n.name, n.epochs, n.keep_history, n.history_renewals, n.settings_version,
      (SELECT f.incarnation FROM {s}.life f WHERE ${ALIVE}), sp.seed
    INTO sp FROM {s}.namespace n WHERE n.name = p_namespace;
  IF FOUND AND sp.incarnation IS NOT NULL THEN RETURN sp; END IF;
  IF p_late THEN RETURN NULL; END IF;
  PERFORM {s}.begin_life_v1();
  PERFORM {s}.open_namespace_v1(p_namespace);
  SELECT n.id, n.name, n.epochs, n.keep_history, n.history_renewals, n.settings_version,
      (SELECT f.incarnation FROM {s}.life f WHERE f.one), {s}.seed_v1(p_namespace)
    INTO sp FROM {s}.namespace n WHERE n.name = p_namespace;
  RETURN sp;
END $$;

CREATE FUNCTION {s}.lock_names_v1(p_seed bigint, p_names text[], p_above text[], p_ids text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_done integer;
BEGIN
  ${lockEverything('p_seed', 'p_names', 'p_above', 'p_ids')}
END $$;

-- How many locks that is: each name, and those above it.
CREATE FUNCTION {s}.locks_v1(p_names text[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sum(1 + length(n) - length(replace(n, '/', ''))) FROM unnest(p_names) n
$$;

-- Never waits: true when every name of the row could be locked.
CREATE FUNCTION {s}.try_lock_names_v1(p_seed bigint, p_names text[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT (SELECT bool_and(pg_try_advisory_xact_lock(hashtextextended(n, p_seed))) FROM unnest(p_names) n)
    AND coalesce((SELECT bool_and(pg_try_advisory_xact_lock_shared(hashtextextended(a, p_seed)))
      FROM unnest(p_names) n, unnest({s}.above_v1(n)) a), true));
END $$;

CREATE FUNCTION {s}.mark_v1(sp {s}.space) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_done integer;
BEGIN
  ${inTurn(...marks('sp.seed', 'pg_sequence_last_value(sp.epochs)'))}
END $$;
`;
