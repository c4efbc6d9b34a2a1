-- One chain per project. Everything but `snapshot` only ever grows: triggers refuse the rest.

-- Domains, because the server reads CHECK constraints of a table again for every statement that inserts.
CREATE DOMAIN baton.hash AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN baton.entry_bytes AS bytea CHECK (octet_length(VALUE) BETWEEN 1 AND 65535);
CREATE DOMAIN baton.filled_text AS text CHECK (VALUE <> '');

CREATE TABLE baton.project (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name baton.filled_text NOT NULL UNIQUE
);

-- The last entry of each commit has a `note`, the signed checkpoint, and a unique `commit_id`: a daemon that lost the
-- connection finds out by it whether its commit was recorded. A separate table would double the cost of a commit.
CREATE TABLE baton.entry (
  project integer NOT NULL,
  seq bigint NOT NULL,
  hash baton.hash NOT NULL,
  note text,
  commit_id uuid,
  bytes baton.entry_bytes NOT NULL,
  PRIMARY KEY (project, seq)
);
-- Entries are short and written once: compressing them costs more than it saves.
ALTER TABLE baton.entry ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE baton.tile (
  project integer NOT NULL,
  level integer NOT NULL CHECK (level > 0 AND level % 8 = 0),
  index bigint NOT NULL CHECK (index >= 0),
  hash baton.hash NOT NULL,
  PRIMARY KEY (project, level, index)
);

CREATE TABLE baton.blob (
  project integer NOT NULL,
  hash baton.hash NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (project, hash)
);

-- Derived data: may be deleted at any time.
CREATE TABLE baton.snapshot (
  project integer NOT NULL,
  name baton.filled_text NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  hash baton.hash NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (project, name)
);

CREATE FUNCTION baton.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % on %.% is refused', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.project
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.entry
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.tile
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.blob
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();

-- A session in the role of a replica skips ordinary triggers; these it cannot skip.
ALTER TABLE baton.project ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.entry ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.tile ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.blob ENABLE ALWAYS TRIGGER append_only;

-- One commit in one round trip. The primary key lets exactly one commit follow the head; a second one waits and gets the
-- real head as `size hash`. Null means that the commit is recorded; sent twice, it finds its own `commit_id`.
-- Needs READ COMMITTED, so that the answer after waiting is current.
CREATE FUNCTION baton.append(
  in_project integer, after_size bigint, after_hash bytea, in_commit uuid,
  hashes bytea[], entries bytea[], in_note text,
  tile_levels integer[] DEFAULT '{}', tile_indexes bigint[] DEFAULT '{}', tile_hashes bytea[] DEFAULT '{}'
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  count integer := cardinality(hashes);
BEGIN
  IF count < 1 OR cardinality(entries) <> count OR after_size < 0 THEN
    RAISE EXCEPTION 'a commit after % has % hashes and % entries', after_size, count, cardinality(entries)
      USING ERRCODE = 'check_violation';
  END IF;

  -- A setting of the transaction: whatever the session or a pooler has set, this commit waits for the disk.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  INSERT INTO baton.entry (project, seq, hash, note, commit_id, bytes)
    SELECT in_project, after_size + 1, hashes[1],
      CASE count WHEN 1 THEN in_note END, CASE count WHEN 1 THEN in_commit END, entries[1]
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
        CASE e.n WHEN count THEN in_note END, CASE e.n WHEN count THEN in_commit END, e.bytes
      FROM unnest(hashes, entries) WITH ORDINALITY AS e (hash, bytes, n) WHERE e.n > 1;
  END IF;
  IF cardinality(tile_levels) > 0 THEN
    INSERT INTO baton.tile (project, level, index, hash)
      SELECT in_project, t.level, t.index, t.hash
      FROM unnest(tile_levels, tile_indexes, tile_hashes) AS t (level, index, hash);
  END IF;
  RETURN NULL;
END $$;

-- The number of a project; a new project gets one.
CREATE FUNCTION baton.open_project(in_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  found_id integer;
BEGIN
  SELECT p.id INTO found_id FROM baton.project p WHERE p.name = in_name;
  IF found_id IS NULL THEN
    INSERT INTO baton.project (name) VALUES (in_name) ON CONFLICT DO NOTHING;
    SELECT p.id INTO STRICT found_id FROM baton.project p WHERE p.name = in_name;
  END IF;
  RETURN found_id;
END $$;
