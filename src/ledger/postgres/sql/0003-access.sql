-- oldest reader: 3
-- Who may do what. Daemons add to the ledger only through functions of the owner, which check what they add. Before, the
-- daemons' role had INSERT, so one row that nobody had signed stopped every host.

-- A role that may use every project: the one that all hosts shared before each had a login of its own.
CREATE TABLE baton.shared_role (role name PRIMARY KEY);

-- One group role a project. Its members are the logins of the project's hosts.
CREATE TABLE baton.project_role (
  project integer PRIMARY KEY,
  role name NOT NULL UNIQUE
);

-- `disabled_at`: the host was removed. Its open sessions can do nothing either, whatever the server still lets it do.
CREATE TABLE baton.login (
  project integer NOT NULL,
  host baton.filled_text NOT NULL,
  role name NOT NULL UNIQUE,
  disabled_at timestamptz,
  PRIMARY KEY (project, host)
);

-- Rows that `baton store repair` took out of a ledger, as they were.
CREATE TABLE baton.quarantine (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  by name NOT NULL DEFAULT session_user,
  project integer NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  note text,
  commit_id uuid,
  bytes bytea NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.quarantine
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
ALTER TABLE baton.quarantine ENABLE ALWAYS TRIGGER append_only;

-- A function of the owner is called by others, so it finds every name where it was written to be.
CREATE FUNCTION baton.my_projects() RETURNS SETOF integer LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  WITH everything AS (
    SELECT pg_has_role(session_user, n.nspowner, 'MEMBER') OR EXISTS (
      SELECT FROM baton.shared_role s JOIN pg_roles r ON r.rolname = s.role
      WHERE pg_has_role(session_user, r.oid, 'MEMBER')) AS is_mine
    FROM pg_namespace n WHERE n.nspname = 'baton'
  )
  SELECT p.id FROM baton.project p, everything WHERE everything.is_mine
  UNION
  SELECT g.project FROM baton.project_role g JOIN pg_roles r ON r.rolname = g.role
    WHERE pg_has_role(session_user, r.oid, 'MEMBER') AND NOT EXISTS (
      SELECT FROM baton.login l WHERE l.role = session_user AND l.project = g.project AND l.disabled_at IS NOT NULL)
$$;

-- Called by functions of the owner, for each commit: the cheapest question first.
CREATE FUNCTION baton.require_access(in_project integer) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (
      SELECT FROM baton.login l JOIN baton.project_role g ON g.project = l.project
      WHERE l.role = session_user AND l.project = in_project AND l.disabled_at IS NULL
        AND pg_has_role(session_user, to_regrole(quote_ident(g.role)), 'MEMBER'))
    OR EXISTS (
      SELECT FROM baton.shared_role s WHERE pg_has_role(session_user, to_regrole(quote_ident(s.role)), 'MEMBER'))
    OR pg_has_role(session_user, (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'baton'), 'MEMBER') THEN
    RETURN;
  END IF;
  IF in_project NOT IN (SELECT baton.my_projects()) THEN
    RAISE EXCEPTION 'the role % may not use this project', session_user USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$;

-- Everything about a commit that the database can know: numbers, links, hashes and sizes. Readers check signatures, and
-- the rest of the text. Called by functions of the owner.
CREATE FUNCTION baton.check_commit(in_project integer, after_size bigint, after_hash bytea, hashes bytea[],
  entries bytea[]) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
  count integer := cardinality(hashes);
  before bytea := after_hash;
  number bigint;
  bytes bytea;
BEGIN
  IF count < 1 OR cardinality(entries) <> count OR after_size < 0 THEN
    RAISE EXCEPTION 'a commit after % has % hashes and % entries', after_size, count, cardinality(entries)
      USING ERRCODE = 'check_violation';
  END IF;
  -- The answer after waiting for another commit must be current.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a commit needs READ COMMITTED' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM baton.require_access(in_project);
  FOR n IN 1..count LOOP
    number := after_size + n;
    bytes := entries[n];
    IF octet_length(bytes) NOT BETWEEN 1 AND 65535 THEN
      RAISE EXCEPTION 'entry % has % bytes', number, octet_length(bytes) USING ERRCODE = 'check_violation';
    END IF;
    IF hashes[n] IS DISTINCT FROM sha256('\x00'::bytea || bytes) THEN
      RAISE EXCEPTION 'the hash of entry % is not that of its bytes', number USING ERRCODE = 'check_violation';
    END IF;
    -- As canonical JSON writes them. Parsing it would cost more than the insert, and refuse an escaped NUL.
    IF position(convert_to(concat(',"prev":"', encode(before, 'hex'), '","project":"'), 'UTF8') IN bytes) = 0
      OR position(convert_to(concat('","seq":', number, ',"t'), 'UTF8') IN bytes) = 0 THEN
      RAISE EXCEPTION 'the bytes of entry % do not follow entry %', number, number - 1
        USING ERRCODE = 'check_violation';
    END IF;
    before := hashes[n];
  END LOOP;
END $$;

-- As in the first migration, but as the owner and with checks. `notes`: for a copy of several commits at once, one note
-- an entry; otherwise only `in_note`, for the last one.
DROP FUNCTION baton.append(integer, bigint, bytea, uuid, bytea[], bytea[], text, integer[], bigint[], bytea[]);
CREATE FUNCTION baton.append(
  in_project integer, after_size bigint, after_hash bytea, in_commit uuid,
  hashes bytea[], entries bytea[], in_note text,
  tile_levels integer[] DEFAULT '{}', tile_indexes bigint[] DEFAULT '{}', tile_hashes bytea[] DEFAULT '{}',
  notes text[] DEFAULT NULL
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  count integer := cardinality(hashes);
BEGIN
  PERFORM baton.check_commit(in_project, after_size, after_hash, hashes, entries);
  -- A setting of the transaction: whatever the session or a pooler has set, this commit waits for the disk.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  INSERT INTO baton.entry (project, seq, hash, note, commit_id, bytes)
    SELECT in_project, after_size + 1, hashes[1],
      CASE count WHEN 1 THEN in_note ELSE notes[1] END, CASE count WHEN 1 THEN in_commit END, entries[1]
    WHERE CASE after_size
      WHEN 0 THEN after_hash = '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea
      ELSE EXISTS (
        SELECT FROM baton.entry e WHERE e.project = in_project AND e.seq = after_size AND e.hash = after_hash)
      END
    ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    PERFORM FROM baton.entry e
      WHERE e.project = in_project AND e.seq = after_size + count AND e.commit_id = in_commit;
    IF FOUND THEN
      RETURN NULL;
    END IF;
    RETURN coalesce(
      (SELECT e.seq || ' ' || encode(e.hash, 'hex') FROM baton.entry e WHERE e.project = in_project
        ORDER BY e.seq DESC LIMIT 1),
      '0 ' || repeat('00', 32));
  END IF;

  IF count > 1 THEN
    INSERT INTO baton.entry (project, seq, hash, note, commit_id, bytes)
      SELECT in_project, after_size + e.n, e.hash,
        CASE e.n WHEN count THEN in_note ELSE notes[e.n] END, CASE e.n WHEN count THEN in_commit END, e.bytes
      FROM unnest(hashes, entries) WITH ORDINALITY AS e (hash, bytes, n) WHERE e.n > 1;
  END IF;
  IF cardinality(tile_levels) > 0 THEN
    INSERT INTO baton.tile (project, level, index, hash)
      SELECT in_project, t.level, t.index, t.hash
      FROM unnest(tile_levels, tile_indexes, tile_hashes) AS t (level, index, hash);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION baton.put_blob(in_project integer, in_hash bytea, in_bytes bytea) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM baton.require_access(in_project);
  IF in_hash IS DISTINCT FROM sha256(in_bytes) OR octet_length(in_bytes) > 64 * 1024 * 1024 THEN
    RAISE EXCEPTION 'a blob is named by the hash of its bytes, and has at most 64 MiB' USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO baton.blob (project, hash, bytes) VALUES (in_project, in_hash, in_bytes) ON CONFLICT DO NOTHING;
END $$;

-- A project begins under the owner or a shared role. The login of one project's host makes no other.
CREATE OR REPLACE FUNCTION baton.open_project(in_name text) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  found_id integer;
  made integer;
BEGIN
  SELECT p.id INTO found_id FROM baton.project p WHERE p.name = in_name;
  IF found_id IS NULL THEN
    INSERT INTO baton.project (name) VALUES (in_name) ON CONFLICT DO NOTHING RETURNING id INTO made;
    SELECT p.id INTO STRICT found_id FROM baton.project p WHERE p.name = in_name;
  END IF;
  -- Refusing here takes a project that was just made back with the transaction.
  PERFORM baton.require_access(found_id);
  RETURN found_id;
END $$;

-- Ends what the login of a removed host can do. The table alone ends it at once; closing the login and its sessions
-- needs rights over the role that the owner may lack.
CREATE FUNCTION baton.disable_login(in_project integer, in_host text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  gone name;
BEGIN
  PERFORM baton.require_access(in_project);
  UPDATE baton.login l SET disabled_at = coalesce(l.disabled_at, clock_timestamp())
    WHERE l.project = in_project AND l.host = in_host RETURNING l.role INTO gone;
  IF gone IS NULL THEN
    RETURN;
  END IF;
  BEGIN
    EXECUTE format('ALTER ROLE %I NOLOGIN', gone);
  EXCEPTION WHEN insufficient_privilege OR undefined_object THEN NULL;
  END;
  BEGIN
    PERFORM pg_terminate_backend(a.pid) FROM pg_stat_activity a
      WHERE a.usename = gone AND a.pid <> pg_backend_pid();
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END;
END $$;

CREATE OR REPLACE FUNCTION baton.forget_host(in_project integer, in_host text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM baton.host h WHERE h.project = in_project AND h.host = in_host;
  DELETE FROM baton.replica_report r WHERE r.project = in_project AND r.host = in_host;
  DELETE FROM baton.join_request j WHERE j.project = in_project AND j.host = in_host;
  UPDATE baton.caretaker c SET until = clock_timestamp()
    WHERE c.project = in_project AND c.host = in_host AND c.until > clock_timestamp();
  PERFORM baton.disable_login(in_project, in_host);
END $$;

-- Moves the rows after an entry, which nobody has signed, out of the ledger. Only the owner can: for a moment the
-- triggers are off, and other sessions wait. Returns how many rows it moved.
CREATE FUNCTION baton.quarantine_after(in_project integer, in_size bigint, in_hash bytea) RETURNS bigint
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moved bigint;
BEGIN
  ALTER TABLE baton.entry DISABLE TRIGGER append_only;
  ALTER TABLE baton.tile DISABLE TRIGGER append_only;
  IF in_size > 0 AND NOT EXISTS (
    SELECT FROM baton.entry e WHERE e.project = in_project AND e.seq = in_size AND e.hash = in_hash) THEN
    RAISE EXCEPTION 'entry % is another one now', in_size USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO baton.quarantine (project, seq, hash, note, commit_id, bytes)
    SELECT e.project, e.seq, e.hash, e.note, e.commit_id, e.bytes FROM baton.entry e
    WHERE e.project = in_project AND (e.seq > in_size OR e.seq < 1) ORDER BY e.seq;
  DELETE FROM baton.entry e WHERE e.project = in_project AND (e.seq > in_size OR e.seq < 1);
  GET DIAGNOSTICS moved = ROW_COUNT;
  DELETE FROM baton.tile t WHERE t.project = in_project
    AND (t.index < 0 OR (t.index + 1)::numeric * power(2::numeric, t.level) > in_size);
  ALTER TABLE baton.entry ENABLE ALWAYS TRIGGER append_only;
  ALTER TABLE baton.tile ENABLE ALWAYS TRIGGER append_only;
  RETURN moved;
END $$;

-- Whether the database can tell the caller from the other hosts: `own` login, `shared` role, or the `owner`, who can do
-- everything.
CREATE FUNCTION baton.my_rights() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN pg_has_role(session_user, n.nspowner, 'MEMBER') THEN 'owner'
    WHEN EXISTS (SELECT FROM baton.login l WHERE l.role = session_user) THEN 'own'
    ELSE 'shared' END
  FROM pg_namespace n WHERE n.nspname = 'baton'
$$;

-- Rows of other projects do not exist for the login of a host. The owner sees all.
DO $$
DECLARE
  tab text;
BEGIN
  FOREACH tab IN ARRAY '{entry,tile,blob,snapshot,host,caretaker,lease,join_request,generation,replica_report,quarantine}'::text[]
  LOOP
    EXECUTE format('ALTER TABLE baton.%I ENABLE ROW LEVEL SECURITY', tab);
    EXECUTE format('CREATE POLICY own_projects ON baton.%I USING (project IN (SELECT baton.my_projects()))', tab);
  END LOOP;
END $$;
ALTER TABLE baton.project ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_projects ON baton.project USING (id IN (SELECT baton.my_projects()));

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA baton FROM PUBLIC;
