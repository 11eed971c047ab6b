// change: delegation and its resumption draw an epoch (S2); a downgrade keeps it, never waits, and wakes (Q5).
export const CHANGING = `
-- Delegation and its resumption draw an epoch (S2); a downgrade keeps it, never waits, and wakes (Q5).
CREATE FUNCTION {s}.change_v1(
  p_namespace text, p_ids text[], p_epochs bigint[], p_requests text[], p_kinds text[], p_owners text[],
  p_walls double precision[]
) RETURNS text LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  sp {s}.space := {s}.lock_ids_v1(p_namespace, p_ids);
  v_now bigint;
  v_wall bigint;
  l {s}.lease;
  v_before {s}.lease;
  v_item record;
  v_freed {s}.part[] := '{}';
  v_result json;
  v_results json[] := '{}';
BEGIN
  IF sp.ns IS NULL THEN RETURN NULL; END IF;
  v_wall := {s}.clock_v1();
  v_now := greatest(v_wall, {s}.floor_v1(sp.ns, NULL, p_ids));
  FOR v_item IN SELECT * FROM unnest(p_ids, p_epochs, p_requests, p_kinds, p_owners, p_walls)
      i(id, epoch, request, kind, owner, wall) LOOP
    SELECT * INTO l FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = v_item.id;
    IF FOUND AND l.status = 1 AND v_now < l.expires_at AND l.last_request = v_item.request THEN
      v_results := v_results || json_build_array('changed', {s}.record_v1(l), l.expires_at - v_now, true);
      CONTINUE;
    END IF;
    IF l.id IS NULL OR l.epoch <> v_item.epoch OR l.status <> 1 OR v_now >= l.expires_at THEN
      SELECT * INTO v_freed, v_result FROM {s}.not_held_v1(sp, v_now, v_wall, l, v_item.epoch, v_freed);
      v_results := v_results || v_result;
      CONTINUE;
    END IF;
    v_before := l;
    IF v_item.kind = 'downgrade' THEN
      IF NOT EXISTS (SELECT FROM unnest({s}.parts_v1(l.name, l.parts)) p WHERE p.mode = 'exclusive') THEN
        v_results := v_results || json_build_array('changed', {s}.record_v1(l), l.expires_at - v_now, true);
        CONTINUE;
      END IF;
      l.parts := (SELECT array_agg(ROW(p.name, p.scope, 'shared', p.lim)::{s}.part ORDER BY p.ord)
        FROM unnest({s}.parts_v1(l.name, l.parts)) WITH ORDINALITY p(name, scope, mode, lim, ord));
    ELSIF pg_sequence_last_value(sp.epochs) >= 9007199254740991 THEN
      v_results := v_results || json_build_array('failed', 'epochs');
      CONTINUE;
    END IF;
    PERFORM FROM {s}.lease x WHERE x.ns = sp.ns AND x.id = l.id FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      v_results := v_results || json_build_array('pinned');
      CONTINUE;
    END IF;
    l.last_request := v_item.request;
    IF v_item.kind = 'downgrade' THEN
      PERFORM {s}.save_v1(l);
      PERFORM {s}.write_log_v1(sp, v_now, v_wall, l, 9, 1, 1, NULL, NULL, l.reason, NULL, NULL, NULL,
        json_build_object('parts', {s}.parts_json_v1(l.parts)));
      v_freed := v_freed || l.parts;
    ELSE
      l.epoch := nextval(sp.epochs);
      l.owner := v_item.owner;
      IF v_item.kind = 'resume' THEN l.skew_ms := floor(v_item.wall - v_wall + 0.5); END IF;
      PERFORM {s}.save_v1(l);
      PERFORM {s}.write_log_v1(sp, v_now, v_wall, l, 7, 1, 1, l.epoch, v_before.owner, l.reason, NULL, NULL, NULL,
        json_build_object('fromOwner', v_before.owner, 'fromEpoch', v_before.epoch, 'resumed', v_item.kind = 'resume'));
    END IF;
    v_results := v_results || json_build_array('changed', {s}.record_v1(l), l.expires_at - v_now, false);
  END LOOP;
  PERFORM {s}.wake_v1(sp, v_now, v_freed, '{}');
  RETURN {s}.reply_v1(sp, v_now, array_to_json(v_results));
END $$;
`;
