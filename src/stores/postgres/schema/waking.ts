// Q3: whom to wake when parts became free, as src/domain/wake-order.ts says: for each part the first waiters in order that no
// longer conflict there, at least one, at most 64. NOTIFY takes a lock of the whole cluster at commit, so it is sent only when
// somebody waits; its payload is bounded at 8,000 bytes, so ids go in pieces of 100.
import { ANY_NOT_PLAIN } from './locking.js';

export const WAKING = `
CREATE FUNCTION {s}.anybody_waits_v1(p_ns integer) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM {s}.lease x WHERE x.ns = p_ns AND x.status = 0);
END $$;

CREATE FUNCTION {s}.wake_v1(sp {s}.space, p_now bigint, p_freed {s}.part[], p_ids text[]) RETURNS void
LANGUAGE plpgsql VOLATILE {tuned} AS $$
DECLARE
  v_woken text[] := p_ids;
  v_part {s}.part;
  v_near {s}.lease[];
  v_standing {s}.standing[];
  v_ticket {s}.lease;
  v_count integer;
  v_misses integer;
BEGIN
  IF cardinality(p_freed) > 0 AND NOT ${ANY_NOT_PLAIN} AND NOT EXISTS (SELECT FROM unnest(p_freed) p WHERE p.scope <> 'node') THEN
    -- Everybody wants a name whole and alone: the first in line is all who can have it.
    v_woken := v_woken || ARRAY(SELECT first.id FROM (SELECT DISTINCT p.name FROM unnest(p_freed) p) f, LATERAL (
      SELECT x.id FROM {s}.lease x
      WHERE x.name = f.name AND x.ns = sp.ns AND x.stands AND x.status::integer = 0 AND p_now < x.expires_at
      ORDER BY x.arrived_at - x.priority * 30000, x.arrival LIMIT 1) first);
  ELSIF cardinality(p_freed) > 0 AND {s}.anybody_waits_v1(sp.ns) THEN
    FOR v_part IN SELECT DISTINCT p.name, p.scope, p.mode, p.lim FROM unnest(p_freed) p LOOP
      v_near := ARRAY(SELECT l FROM {s}.near_v1(sp.ns, ARRAY[v_part]) l WHERE l.status < 2 AND p_now < l.expires_at);
      v_standing := ARRAY(SELECT ROW('lease', l.id, 0, '', {s}.parts_v1(l.name, l.parts))::{s}.standing
        FROM unnest(v_near) l WHERE l.status = 1);
      v_count := 0;
      v_misses := 0;
      FOR v_ticket IN SELECT l.* FROM unnest(v_near) l WHERE l.status = 0
        ORDER BY l.arrived_at - l.priority * 30000, l.arrival
      LOOP
        IF v_count > 0 AND EXISTS (SELECT FROM {s}.in_the_way_v1({s}.parts_v1(v_ticket.name, v_ticket.parts),
            ARRAY(SELECT o FROM unnest(v_standing) o WHERE o.id IS DISTINCT FROM v_ticket.upgrades))) THEN
          v_misses := v_misses + 1;
          EXIT WHEN v_part.scope = 'node' OR v_misses >= 64;
        ELSE
          v_woken := v_woken || v_ticket.id;
          v_count := v_count + 1;
          EXIT WHEN v_count >= 64;
        END IF;
        v_standing := v_standing || ROW('ticket', v_ticket.id, 0, '', {s}.parts_v1(v_ticket.name, v_ticket.parts))::{s}.standing;
      END LOOP;
    END LOOP;
  END IF;
  PERFORM pg_notify({s}.channel_v1(), json_build_object('n', sp.name, 'w', w.ids)::text)
    FROM (SELECT array_agg(DISTINCT i.id) AS ids FROM unnest(v_woken) WITH ORDINALITY i(id, ord) GROUP BY (i.ord - 1) / 100) w;
END $$;

-- One channel a schema; names of channels are bounded.
CREATE FUNCTION {s}.channel_v1() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'holdfast_' || md5({l})
$$;
`;
