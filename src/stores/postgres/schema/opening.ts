// What is made once: a namespace with its counter, and a new life of the server (S2). Both with the rights of the schema's owner, since
// who works with leases need not be allowed to make sequences; and only for who may write anyway.
import { ALIVE } from './locking.js';
import { NEXT_PLACE } from './places.js';

export const OPENING = `
-- Inside such a function the current user is the owner. Who called is the role that was set, or else the one that logged in.
CREATE FUNCTION {s}.check_writer_v1() RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user), '{s}.log_row', 'USAGE, UPDATE') THEN
    RAISE EXCEPTION 'permission denied for sequence log_row' USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$;

CREATE FUNCTION {s}.open_namespace_v1(p_namespace text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_id integer;
  v_grantee oid;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended({l}, 7421));
  PERFORM FROM {s}.namespace n WHERE n.name = p_namespace;
  IF FOUND THEN RETURN; END IF;
  PERFORM {s}.check_writer_v1();
  IF p_namespace !~ '^[A-Za-z0-9._-]{1,64}$' THEN
    RAISE EXCEPTION 'a namespace is 1 to 64 characters out of A-Z a-z 0-9 . _ -' USING ERRCODE = 'HF002';
  END IF;
  INSERT INTO {s}.namespace (name) VALUES (p_namespace) RETURNING id INTO v_id;
  EXECUTE 'CREATE SEQUENCE ' || '{s}.epoch_' || v_id || ' AS bigint MINVALUE 0 MAXVALUE 9007199254740991 CACHE 1 START '
    || greatest({s}.clock_v1() * 1000, floor(date_part('epoch', pg_postmaster_start_time()))::bigint * 1000000);
  UPDATE {s}.namespace n SET epochs = ('{s}.epoch_' || v_id)::regclass WHERE n.id = v_id;
  PERFORM nextval(('{s}.epoch_' || v_id)::regclass);
  -- Who may count in the log may count here.
  FOR v_grantee IN
    SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid = '{s}.log_row'::regclass AND a.grantee <> c.relowner AND a.privilege_type IN ('USAGE', 'UPDATE')
  LOOP
    EXECUTE 'GRANT USAGE, SELECT ON SEQUENCE ' || '{s}.epoch_' || v_id || ' TO '
      || CASE WHEN v_grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(v_grantee)) END;
  END LOOP;
END $$;

-- S2: a new life. Every counter is lifted to the wall time in microseconds, at least by one.
CREATE FUNCTION {s}.begin_life_v1() RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_incarnation text;
  v_row record;
  v_timeline text := substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended({l}, 7422));
  SELECT f.incarnation INTO v_incarnation FROM {s}.life f WHERE ${ALIVE} AND f.timeline = v_timeline;
  IF FOUND THEN RETURN v_incarnation; END IF;
  PERFORM {s}.check_writer_v1();
  FOR v_row IN SELECT n.id, n.keep_history, n.epochs FROM {s}.namespace n LOOP
    PERFORM setval(v_row.epochs, least(9007199254740991,
      greatest(pg_sequence_last_value(v_row.epochs) + 1, {s}.clock_v1() * 1000)));
    CONTINUE WHEN NOT v_row.keep_history;
    INSERT INTO {s}.log (ns, type, e, s, at, reason, data)
      VALUES (v_row.id, 23, pg_sequence_last_value(v_row.epochs), ${NEXT_PLACE}, {s}.clock_v1(),
        'the server was started, restored or promoted', '{}');
  END LOOP;
  DELETE FROM {s}.life;
  INSERT INTO {s}.life (started, timeline, database, incarnation)
    VALUES (pg_postmaster_start_time(), v_timeline, {s}.database_v1(), replace(gen_random_uuid()::text, '-', ''));
  -- Written twice by one transaction, or one part of one: so the number it is given is also that of the row it is in.
  UPDATE {s}.life f SET born = f.xmin RETURNING f.incarnation INTO v_incarnation;
  RETURN v_incarnation;
END $$;
`;
