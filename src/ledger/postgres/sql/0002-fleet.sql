-- oldest reader: 1
-- What hosts share beside the ledger. Nothing here is history: the ledger alone says what happened.

-- Which server this is: its cluster, timeline and start, the database in it, and the file of the entries, which a
-- restored dump replaces. The timeline comes from the name of the WAL file, because the control file shows a new one
-- only after the first checkpoint.
CREATE FUNCTION baton.server_generation() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT concat_ws('/', s.system_identifier, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    extract(epoch FROM pg_postmaster_start_time()), d.oid, pg_relation_filenode('baton.entry'))
  FROM pg_control_system() AS s, pg_database d WHERE d.datname = current_database()
$$;

-- The server on which the chain was last compared with the replicas of the hosts. Nobody appends on another one.
CREATE TABLE baton.generation (
  project integer PRIMARY KEY,
  generation baton.filled_text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What each host found when it compared its replica with the chain of this server.
CREATE TABLE baton.replica_report (
  project integer NOT NULL,
  host baton.filled_text NOT NULL,
  generation baton.filled_text NOT NULL,
  size bigint NOT NULL,
  hash baton.hash NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('contained', 'longer', 'forked')),
  since timestamptz NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project, host)
);

-- A project that is new is open on the server where it begins. One that a replica remembers was lost with its database.
CREATE FUNCTION baton.find_generation(in_project integer, is_new boolean, OUT server text, OUT opened text)
LANGUAGE plpgsql AS $$
BEGIN
  server := baton.server_generation();
  SELECT g.generation INTO opened FROM baton.generation g WHERE g.project = in_project;
  IF opened IS NULL THEN
    INSERT INTO baton.generation (project, generation)
      VALUES (in_project, CASE WHEN is_new THEN server ELSE 'lost' END) ON CONFLICT DO NOTHING;
    SELECT g.generation INTO STRICT opened FROM baton.generation g WHERE g.project = in_project;
  END IF;
END $$;

-- Opens the chain on this server if nobody did before, and none of these hosts still misses entries in it. Null: all hosts.
CREATE FUNCTION baton.open_generation(in_project integer, old text, new text, in_hosts jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  UPDATE baton.generation g SET generation = new, at = clock_timestamp()
    WHERE g.project = in_project AND g.generation = old AND new = baton.server_generation()
      AND NOT EXISTS (
        SELECT FROM baton.replica_report r
        WHERE r.project = in_project AND r.generation = new AND (in_hosts IS NULL OR in_hosts ? r.host)
          AND (r.verdict = 'forked' OR r.verdict = 'longer' AND r.at > clock_timestamp() - interval '10 s'));
  RETURN FOUND;
END $$;

-- One row a host and project. Rows are updated in place, so half of each page stays free for the next version.
CREATE TABLE baton.host (
  project integer NOT NULL,
  host baton.filled_text NOT NULL,
  key baton.filled_text NOT NULL,
  version text NOT NULL,
  level integer NOT NULL,
  size bigint NOT NULL,
  hash baton.hash NOT NULL,
  offset_ms double precision NOT NULL,
  waiting integer NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project, host)
) WITH (fillfactor = 50);

-- `quiet_until`: no claim expires before, because its host may not have had the time to renew it.
CREATE TABLE baton.caretaker (
  project integer PRIMARY KEY,
  host baton.filled_text NOT NULL,
  term bigint NOT NULL,
  until timestamptz NOT NULL,
  quiet_until timestamptz NOT NULL,
  generation text NOT NULL
) WITH (fillfactor = 50);

-- `ended`: the caretaker was told to expire the claim, so its host can no longer renew it.
CREATE TABLE baton.lease (
  project integer NOT NULL,
  task text NOT NULL,
  epoch bigint NOT NULL,
  host text NOT NULL,
  until timestamptz NOT NULL,
  ended boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project, task, epoch)
) WITH (fillfactor = 50);

CREATE TABLE baton.join_request (
  project integer NOT NULL,
  host baton.filled_text NOT NULL,
  public_key baton.filled_text NOT NULL,
  labels jsonb NOT NULL,
  agents integer NOT NULL,
  root_commit text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, host)
);

-- Asked again, a machine may change its request; another machine may not take over its name.
CREATE FUNCTION baton.request_join(in_project integer, in_host text, in_key text, in_labels jsonb, in_agents integer,
  in_root text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO baton.join_request AS j (project, host, public_key, labels, agents, root_commit)
    VALUES (in_project, in_host, in_key, in_labels, in_agents, in_root)
    ON CONFLICT (project, host) DO UPDATE SET labels = excluded.labels, agents = excluded.agents,
      root_commit = excluded.root_commit, at = excluded.at
      WHERE j.public_key = excluded.public_key;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another machine asks to join as %', in_host USING ERRCODE = 'BT001';
  END IF;
END $$;

CREATE FUNCTION baton.forget_host(in_project integer, in_host text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM baton.host h WHERE h.project = in_project AND h.host = in_host;
  DELETE FROM baton.replica_report r WHERE r.project = in_project AND r.host = in_host;
  DELETE FROM baton.join_request j WHERE j.project = in_project AND j.host = in_host;
  UPDATE baton.caretaker c SET until = clock_timestamp()
    WHERE c.project = in_project AND c.host = in_host AND c.until > clock_timestamp();
END $$;

-- Everything of one beat in one round trip. Times are read by clock_timestamp(), so that a wait for a lock counts.
CREATE FUNCTION baton.beat(
  in_project integer, in_host text, in_key text, in_version text, in_level integer, in_size bigint, in_hash bytea,
  in_offset_ms double precision, in_waiting integer, may_care boolean, care_ms double precision, grace_ms double precision,
  known_term bigint, in_leases jsonb, in_claims jsonb,
  OUT now_ms double precision, OUT server text, OUT care_host text, OUT care_term bigint,
  OUT hosts jsonb, OUT expired jsonb, OUT refused jsonb, OUT joining bigint, OUT forked boolean
) LANGUAGE plpgsql AS $$
DECLARE
  care baton.caretaker;
  old_term bigint;
BEGIN
  server := baton.server_generation();

  INSERT INTO baton.host AS h (project, host, key, version, level, size, hash, offset_ms, waiting, at)
    VALUES (in_project, in_host, in_key, in_version, in_level, in_size, in_hash, in_offset_ms, in_waiting,
      clock_timestamp())
    ON CONFLICT (project, host) DO UPDATE SET version = excluded.version, level = excluded.level,
      size = excluded.size, hash = excluded.hash, offset_ms = excluded.offset_ms, waiting = excluded.waiting,
      at = excluded.at
      WHERE h.key = excluded.key;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another machine of this project is called %', in_host USING ERRCODE = 'BT001';
  END IF;

  -- The term grows unless this host held the lease all the time. A restored database may know an older term than the
  -- ledger. A host that may not care hands the lease over at once.
  SELECT c.term INTO old_term FROM baton.caretaker c WHERE c.project = in_project;
  IF NOT may_care THEN
    UPDATE baton.caretaker c SET until = clock_timestamp()
      WHERE c.project = in_project AND c.host = in_host AND c.until > clock_timestamp();
  ELSIF old_term IS NULL THEN
    INSERT INTO baton.caretaker (project, host, term, until, quiet_until, generation)
      VALUES (in_project, in_host, known_term + 1, clock_timestamp() + care_ms * interval '1 ms',
        clock_timestamp() + grace_ms * interval '1 ms', server)
      ON CONFLICT DO NOTHING;
  ELSE
    UPDATE baton.caretaker c SET host = in_host, until = clock_timestamp() + care_ms * interval '1 ms',
        term = CASE WHEN c.host = in_host AND c.until >= clock_timestamp() AND c.term >= known_term
          THEN c.term ELSE greatest(c.term, known_term) + 1 END,
        quiet_until = CASE WHEN c.host = in_host AND c.until >= clock_timestamp() AND c.term >= known_term
            AND c.generation = server
          THEN c.quiet_until ELSE clock_timestamp() + grace_ms * interval '1 ms' END,
        generation = server
      WHERE c.project = in_project AND (c.host = in_host OR c.until < clock_timestamp());
  END IF;
  SELECT * INTO care FROM baton.caretaker c WHERE c.project = in_project AND c.until >= clock_timestamp();
  care_host := care.host;
  care_term := care.term;
  -- Beats need not wait for the disk: a crash is followed by a grace. Two hosts with one term would be wrong.
  IF care.host = in_host AND care.term IS DISTINCT FROM old_term THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  WITH given AS (
    SELECT * FROM jsonb_to_recordset(in_leases) AS g (task text, epoch bigint, ms double precision)
  ), renewed AS (
    UPDATE baton.lease l SET until = greatest(l.until, clock_timestamp() + g.ms * interval '1 ms')
      FROM given g
      WHERE l.project = in_project AND l.task = g.task AND l.epoch = g.epoch AND l.host = in_host AND NOT l.ended
      RETURNING l.task, l.epoch
  )
  SELECT coalesce(jsonb_agg(jsonb_build_object('task', g.task, 'epoch', g.epoch)), '[]') INTO refused
    FROM given g
    WHERE NOT EXISTS (SELECT FROM renewed r WHERE r.task = g.task AND r.epoch = g.epoch);

  expired := '[]';
  IF care.host = in_host AND in_claims IS NOT NULL THEN
    -- Rows that their host is renewing right now are skipped: the next beat finds them.
    DELETE FROM baton.lease l USING (
        SELECT d.task, d.epoch FROM baton.lease d
        WHERE d.project = in_project AND NOT EXISTS (
          SELECT FROM jsonb_to_recordset(in_claims) AS c (task text, epoch bigint)
          WHERE c.task = d.task AND c.epoch = d.epoch)
        FOR UPDATE OF d SKIP LOCKED
      ) AS gone
      WHERE l.project = in_project AND l.task = gone.task AND l.epoch = gone.epoch;
    INSERT INTO baton.lease (project, task, epoch, host, until)
      SELECT in_project, c.task, c.epoch, c.host, clock_timestamp() + c.ms * interval '1 ms'
      FROM jsonb_to_recordset(in_claims) AS c (task text, epoch bigint, host text, ms double precision)
      WHERE NOT EXISTS (
        SELECT FROM baton.lease l WHERE l.project = in_project AND l.task = c.task AND l.epoch = c.epoch)
      ON CONFLICT DO NOTHING;
    IF care.quiet_until <= clock_timestamp() THEN
      UPDATE baton.lease l SET ended = true FROM (
          SELECT e.task, e.epoch FROM baton.lease e
          WHERE e.project = in_project AND e.until < clock_timestamp() AND NOT e.ended
          FOR UPDATE SKIP LOCKED
        ) AS over
        WHERE l.project = in_project AND l.task = over.task AND l.epoch = over.epoch;
    END IF;
    SELECT coalesce(jsonb_agg(jsonb_build_object('task', l.task, 'epoch', l.epoch)), '[]') INTO expired
      FROM baton.lease l WHERE l.project = in_project AND l.ended;
  END IF;

  SELECT coalesce(jsonb_agg(jsonb_build_object('host', h.host, 'key', h.key, 'version', h.version, 'level', h.level,
      'size', h.size, 'offset_ms', h.offset_ms, 'waiting', h.waiting,
      'silent_ms', greatest(0, extract(epoch FROM clock_timestamp() - h.at) * 1000)) ORDER BY h.host), '[]')
    INTO hosts FROM baton.host h WHERE h.project = in_project;
  forked := EXISTS (SELECT FROM baton.replica_report r
    WHERE r.project = in_project AND r.verdict = 'forked' AND r.generation = server);
  SELECT count(*) INTO joining FROM baton.join_request j WHERE j.project = in_project;
  now_ms := extract(epoch FROM clock_timestamp()) * 1000;
END $$;

-- Where this host's replica stands in the chain of this server: what it needs to give its verdict. `forked`: the hosts
-- that found a fork.
CREATE FUNCTION baton.look_at_chain(in_project integer, in_size bigint,
  OUT server text, OUT opened text, OUT size bigint, OUT hash bytea, OUT hash_at bytea, OUT forked jsonb
) LANGUAGE plpgsql AS $$
BEGIN
  SELECT f.server, f.opened INTO server, opened FROM baton.find_generation(in_project, in_size = 0) AS f;
  SELECT e.seq, e.hash INTO size, hash FROM baton.entry e WHERE e.project = in_project ORDER BY e.seq DESC LIMIT 1;
  size := coalesce(size, 0);
  SELECT e.hash INTO hash_at FROM baton.entry e WHERE e.project = in_project AND e.seq = in_size;
  SELECT coalesce(jsonb_agg(r.host), '[]') INTO forked FROM baton.replica_report r
    WHERE r.project = in_project AND r.verdict = 'forked' AND r.generation = server;
END $$;

-- Reports a verdict, and returns those of all hosts about the same server.
CREATE FUNCTION baton.report_replica(in_project integer, in_host text, in_generation text, in_size bigint,
  in_hash bytea, in_verdict text, OUT reports jsonb, OUT hosts jsonb
) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO baton.replica_report AS r (project, host, generation, size, hash, verdict, since, at)
    VALUES (in_project, in_host, in_generation, in_size, in_hash, in_verdict, clock_timestamp(), clock_timestamp())
    ON CONFLICT (project, host) DO UPDATE SET generation = excluded.generation, size = excluded.size,
      hash = excluded.hash, verdict = excluded.verdict, at = excluded.at,
      since = CASE WHEN r.generation = excluded.generation THEN r.since ELSE excluded.since END;
  SELECT coalesce(jsonb_agg(jsonb_build_object('host', r.host, 'size', r.size, 'hash', encode(r.hash, 'hex'),
      'verdict', r.verdict, 'since_ms', extract(epoch FROM clock_timestamp() - r.since) * 1000,
      'silent_ms', extract(epoch FROM clock_timestamp() - r.at) * 1000) ORDER BY r.host), '[]')
    INTO reports FROM baton.replica_report r WHERE r.project = in_project AND r.generation = in_generation;
  SELECT coalesce(jsonb_agg(h.host), '[]') INTO hosts FROM baton.host h WHERE h.project = in_project;
END $$;
