// Reading a stream (N3, N4): pages, the barrier, cursors, as src/stores/protocol/sequence/read.ts says it. A look that has nothing
// to write down takes no lock. One that seals locks the row of the stream first, as whoever fills a gap does, and looks again: so
// either the gap was filled before it is shown, or it is sealed before it is filled. One that begins to wait takes the watch of
// the stream alone, after which it sees everything that was settled by who did not know of it.
import { LIMITS } from '../../../domain/limits.js';
import { WATCH_MS } from './sequence-parts.js';

const MUST_WATCH = `p_watch AND h.next > 1 AND h.watched_until < v_now + ${WATCH_MS / 2}`;

/** Locks what is to be written and looks again; the clock is read after that. */
const LOCK_AND_LOOK = `sp := {s}.enter_v1(p_namespace);
    PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, false);
    IF v_watch THEN PERFORM pg_advisory_xact_lock(hashtextextended(p_stream, sp.seed + 2)); END IF;
    v_now := {s}.clock_v1();
    h := {s}.seq_head_v1(sp.ns, p_stream);`;

export const SEQUENCE_READ = `
CREATE FUNCTION {s}.seq_read_v1(
  p_namespace text, p_stream text, p_from bigint, p_limit integer, p_seal boolean, p_watch boolean
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  h {s}.head := {s}.seq_head_v1(sp.ns, p_stream);
  v_watch boolean := ${MUST_WATCH};
  v_locked boolean := false;
  v_from bigint;
  v_to bigint;
  v_operations text;
  v_items text;
  v_first bigint;
  v_bytes bigint;
  v_trimmed bigint;
BEGIN
  LOOP
    v_from := greatest(p_from, h.trimmed_before);
    v_to := least(h.watermark, v_from + p_limit - 1);
    IF NOT v_locked AND h.id > 0 AND (v_watch OR (p_seal AND v_to >= v_from AND v_to > h.seal)) THEN
      ${LOCK_AND_LOOK}
      v_locked := true;
      CONTINUE;
    END IF;
    EXIT WHEN v_to < v_from;
    SELECT y.first INTO v_first FROM {s}.span y WHERE y.stream = h.id AND y.first <= v_from ORDER BY y.first DESC LIMIT 1;
    -- S18: as many as fit into one page, at least one.
    SELECT sum(octet_length(y.operations)) INTO v_bytes FROM {s}.span y
      WHERE y.stream = h.id AND y.first >= v_first AND y.first <= v_to;
    IF v_bytes > ${LIMITS.operationsBytes} THEN
      SELECT max(q.last) INTO v_to FROM (SELECT least(y.first + y.count - 1, v_to) AS last, row_number() OVER w AS place,
          sum(octet_length(y.operations)) OVER w AS bytes FROM {s}.span y
          WHERE y.stream = h.id AND y.first >= v_first AND y.first <= v_to WINDOW w AS (ORDER BY y.first)) q
        WHERE q.place = 1 OR coalesce(q.bytes, 0) <= ${LIMITS.operationsBytes};
    END IF;
    -- Column by column, which costs a third of row by row; what few rows have comes beside it. Numbers are dense: only the first
    -- is told.
    SELECT string_agg(coalesce(y.operations, 'null'), ','), concat(json_agg(y.operation_id), ',', json_agg(y.kind), ',"',
          string_agg(y.state::text, ''), '",[', string_agg(
            CASE WHEN y.count > 1 OR y.moved_to IS NOT NULL OR y.moved_from IS NOT NULL THEN
              json_build_array(y.first, y.count, y.moved_to, CASE WHEN y.moved_from IS NOT NULL THEN
                json_build_array(y.moved_from, y.recovered_at, y.recovery) END)::text END, ','), ']'),
        (SELECT t.trimmed_before FROM {s}.stream t WHERE t.id = h.id)
      INTO v_operations, v_items, v_trimmed FROM (
        SELECT x.first, x.count, x.state, x.operation_id, x.kind, x.operations, x.moved_to, x.moved_from, x.recovered_at, x.recovery
          FROM {s}.span x WHERE x.stream = h.id AND x.first >= v_first AND x.first <= v_to ORDER BY x.first) y;
    EXIT WHEN v_trimmed <= v_from;
    h := {s}.seq_head_v1(sp.ns, p_stream); -- what was to be shown has been trimmed meanwhile
  END LOOP;
  IF v_locked AND ((p_seal AND v_to >= v_from AND v_to > h.seal) OR v_watch) THEN
    IF p_seal AND v_to >= v_from THEN h.seal := greatest(h.seal, v_to); END IF;
    UPDATE {s}.stream t SET seal = h.seal, watched_until = CASE WHEN v_watch THEN v_now + ${WATCH_MS} ELSE t.watched_until END
      WHERE t.id = h.id;
  END IF;
  -- As few copies as can be of what may be long.
  RETURN concat('{"now":', v_now, ',"incarnation":"', sp.incarnation, '","version":', sp.version, ',"body":[',
    {s}.seq_head_text_v1(h), ',', v_from, ',', v_to, ',', coalesce(v_first, 0),
    CASE WHEN v_operations IS NOT NULL THEN ',[' END, v_operations, CASE WHEN v_operations IS NOT NULL THEN '],' END, v_items, ']}');
END $$;

CREATE FUNCTION {s}.seq_barrier_v1(p_namespace text, p_stream text, p_number bigint, p_watch boolean) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.look_v1(p_namespace);
  v_now bigint := {s}.clock_v1();
  h {s}.head := {s}.seq_head_v1(sp.ns, p_stream);
  v_reached boolean := h.watermark >= p_number - 1;
  v_watch boolean := NOT v_reached AND ${MUST_WATCH};
BEGIN
  IF p_number - h.next > ${LIMITS.numbersAhead} THEN
    RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('ahead', h.next)::text);
  END IF;
  IF h.id > 0 AND (v_watch OR (v_reached AND h.seal < p_number - 1)) THEN
    ${LOCK_AND_LOOK}
    v_reached := h.watermark >= p_number - 1;
    v_watch := v_watch AND NOT v_reached;
    IF v_reached THEN h.seal := greatest(h.seal, p_number - 1); END IF;
    UPDATE {s}.stream t SET seal = h.seal, watched_until = CASE WHEN v_watch THEN v_now + ${WATCH_MS} ELSE t.watched_until END
      WHERE t.id = h.id;
  END IF;
  RETURN {s}.seq_reply_v1(sp, v_now, '[' || {s}.seq_head_text_v1(h) || ',' || v_reached::text || ']');
END $$;

-- Raises the seal to a number that is settled; harmless whatever becomes of who asked for it.
CREATE FUNCTION {s}.seq_seal_v1(p_namespace text, p_stream text, p_number bigint) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
BEGIN
  PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, false);
  UPDATE {s}.stream t SET seal = p_number WHERE t.ns = sp.ns AND t.name = p_stream AND t.seal < p_number
    AND p_number <= ({s}.seq_head_v1(sp.ns, p_stream)).watermark;
  RETURN {s}.seq_reply_v1(sp, {s}.clock_v1(), 'null');
END $$;

-- A name used by two processes: the later opener wins, and the earlier one's done is stale.
CREATE FUNCTION {s}.seq_open_v1(p_namespace text, p_stream text, p_reader text) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_now bigint;
  h {s}.head;
  r {s}.reader;
BEGIN
  PERFORM {s}.mark_v1(sp);
  PERFORM {s}.seq_make_v1(sp.ns, ARRAY[p_stream]);
  PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, false);
  v_now := {s}.clock_v1();
  h := {s}.seq_head_v1(sp.ns, p_stream);
  r := {s}.seq_reader_v1(h.id, p_stream, p_reader);
  IF r.name IS NULL THEN
    IF (SELECT count(*) FROM {s}.reader o WHERE o.stream = h.id) >= ${LIMITS.readersPerStream} THEN
      RETURN {s}.seq_reply_v1(sp, v_now, '["full"]');
    END IF;
    r := ROW(h.id, p_reader, h.trimmed_before - 1, {s}.seq_epoch_v1(sp), v_now);
    INSERT INTO {s}.reader SELECT r.*;
  ELSE
    r.epoch := {s}.seq_epoch_v1(sp);
    UPDATE {s}.reader o SET epoch = r.epoch WHERE o.stream = h.id AND o.name = p_reader;
  END IF;
  RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('opened', r.epoch, r.done)::text);
END $$;

-- Locked, without waiting while the stream is locked: a caller's transaction may have it.
CREATE FUNCTION {s}.seq_reader_v1(p_stream integer, p_name text, p_reader text) RETURNS {s}.reader
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r {s}.reader;
BEGIN
  SELECT o.* INTO r FROM {s}.reader o WHERE o.stream = p_stream AND o.name = p_reader FOR UPDATE SKIP LOCKED;
  IF NOT FOUND AND EXISTS (SELECT FROM {s}.reader o WHERE o.stream = p_stream AND o.name = p_reader) THEN
    RAISE EXCEPTION 'reader % of % is being moved by a transaction that is still open: try again when it has ended',
      p_reader, p_name USING ERRCODE = 'HF004';
  END IF;
  RETURN r;
END $$;

CREATE FUNCTION {s}.seq_forget_reader_v1(p_namespace text, p_stream text, p_reader text) RETURNS text
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.enter_v1(p_namespace);
  v_stream integer := (SELECT t.id FROM {s}.stream t WHERE t.ns = sp.ns AND t.name = p_stream);
  r {s}.reader := {s}.seq_reader_v1(v_stream, p_stream, p_reader);
BEGIN
  DELETE FROM {s}.reader o WHERE o.stream = v_stream AND o.name = p_reader;
  RETURN {s}.seq_reply_v1(sp, {s}.clock_v1(), CASE WHEN r.name IS NULL THEN '["unknown"]' ELSE '["forgotten"]' END);
END $$;

-- p_xact: NULL in a transaction of the store's own. In the caller's the row of the stream is not touched: where the seal is
-- below the number it answers that, and is asked again when the seal has been raised.
CREATE FUNCTION {s}.seq_done_v1(
  p_namespace text, p_stream text, p_reader text, p_number bigint, p_epoch bigint, p_xact text
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space;
  v_now bigint;
  h {s}.head;
  r {s}.reader;
BEGIN
  IF p_xact IS NULL THEN
    sp := {s}.enter_v1(p_namespace);
    h := {s}.seq_head_v1(sp.ns, p_stream);
    IF h.seal < p_number THEN
      PERFORM {s}.seq_lock_v1(sp.ns, ARRAY[p_stream], true, false);
      h := {s}.seq_head_v1(sp.ns, p_stream);
    END IF;
    r := {s}.seq_reader_v1(h.id, p_stream, p_reader);
  ELSE
    PERFORM {s}.seq_inside_v1(p_xact);
    sp := {s}.look_v1(p_namespace);
    h := {s}.seq_head_v1(sp.ns, p_stream);
    SELECT o.* INTO r FROM {s}.reader o WHERE o.stream = h.id AND o.name = p_reader FOR UPDATE;
  END IF;
  v_now := {s}.clock_v1();
  IF r.name IS NULL OR r.epoch <> p_epoch OR (p_number > r.done AND p_number > h.watermark) THEN
    IF p_xact IS NOT NULL THEN PERFORM {s}.seq_doubt_v1(); END IF;
    RETURN {s}.seq_reply_v1(sp, v_now, CASE WHEN r.name IS NULL THEN '["unknown"]'
      WHEN r.epoch <> p_epoch THEN json_build_array('stale', r.epoch)::text ELSE json_build_array('beyond', h.watermark)::text END);
  END IF;
  IF p_number > r.done THEN
    IF p_xact IS NOT NULL AND h.seal < p_number THEN RETURN {s}.seq_reply_v1(sp, v_now, '["unsealed"]'); END IF;
    UPDATE {s}.reader o SET done = p_number, moved_at = v_now WHERE o.stream = h.id AND o.name = p_reader;
    IF h.seal < p_number THEN UPDATE {s}.stream t SET seal = p_number WHERE t.id = h.id; END IF;
    r.done := p_number;
  END IF;
  RETURN {s}.seq_reply_v1(sp, v_now, json_build_array('moved', r.done)::text);
END $$;
`;
