-- One chain per project. Everything but `head`, `snapshot` and `migration` only ever grows: triggers refuse the rest.

CREATE TABLE baton.project (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> '')
);

-- The end of each chain, and the row that appends compare and swap. Room on the page keeps its updates off the index.
CREATE TABLE baton.head (
  project integer PRIMARY KEY REFERENCES baton.project,
  size bigint NOT NULL CHECK (size >= 0),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32)
) WITH (fillfactor = 10);

CREATE TABLE baton.entry (
  project integer NOT NULL,
  seq bigint NOT NULL CHECK (seq >= 1),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  bytes bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 65535),
  PRIMARY KEY (project, seq)
);
-- Entries are short and written once: compressing them costs more than it saves.
ALTER TABLE baton.entry ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE baton.tile (
  project integer NOT NULL,
  level integer NOT NULL CHECK (level > 0 AND level % 8 = 0),
  index bigint NOT NULL CHECK (index >= 0),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (project, level, index)
);

-- `commit_id` is made anew for every commit. Whoever lost the connection asks by it whether its own commit landed:
-- entries alone do not tell, since two daemons may have made the same ones.
CREATE TABLE baton.checkpoint (
  project integer NOT NULL,
  size bigint NOT NULL CHECK (size >= 1),
  note text NOT NULL CHECK (note <> ''),
  commit_id uuid NOT NULL,
  PRIMARY KEY (project, size)
);

CREATE TABLE baton.blob (
  project integer NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  bytes bytea NOT NULL,
  PRIMARY KEY (project, hash)
);

-- Derived data: may be deleted at any time.
CREATE TABLE baton.snapshot (
  project integer NOT NULL,
  name text NOT NULL CHECK (name <> ''),
  size bigint NOT NULL CHECK (size >= 0),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  bytes bytea NOT NULL,
  PRIMARY KEY (project, name)
);

CREATE FUNCTION baton.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % on %.% is refused', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION baton.refuse_smaller_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: the head of project % cannot go from % to %', OLD.project, OLD.size, NEW.size
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.project
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON baton.head
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER only_grows BEFORE UPDATE ON baton.head
  FOR EACH ROW WHEN (NEW.project <> OLD.project OR NEW.size <= OLD.size)
  EXECUTE FUNCTION baton.refuse_smaller_head();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.entry
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.tile
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.checkpoint
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON baton.blob
  FOR EACH STATEMENT EXECUTE FUNCTION baton.refuse();

-- A session in the role of a replica skips ordinary triggers; these it cannot skip.
ALTER TABLE baton.project ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.head ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.head ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE baton.entry ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.tile ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.checkpoint ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE baton.blob ENABLE ALWAYS TRIGGER append_only;

-- One commit in one round trip. The update of the head waits for whoever is ahead and then finds the head moved
-- (READ COMMITTED reads it again): that is a conflict, answered with the real head. Sending the same commit twice is
-- harmless: the second one finds its own `commit_id` and gets the first one's answer.
CREATE FUNCTION baton.append(
  in_project integer, after_size bigint, after_hash bytea, in_commit uuid,
  seqs bigint[], hashes bytea[], entries bytea[],
  tile_levels integer[], tile_indexes bigint[], tile_hashes bytea[],
  in_note text,
  OUT landed boolean, OUT size bigint, OUT hash bytea
) LANGUAGE plpgsql AS $$
DECLARE
  count integer := cardinality(seqs);
BEGIN
  IF count < 1 OR cardinality(hashes) <> count OR cardinality(entries) <> count
    OR seqs[1] <> after_size + 1 OR seqs[count] <> after_size + count
    OR (count > 2 AND EXISTS (SELECT FROM unnest(seqs) WITH ORDINALITY AS s (seq, n) WHERE s.seq <> after_size + s.n))
  THEN
    RAISE EXCEPTION 'the entries of a commit after % are not numbered without a gap', after_size
      USING ERRCODE = 'check_violation';
  END IF;

  -- A setting of the transaction: whatever the session or a pooler has set, this commit waits for the disk.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  UPDATE baton.head AS h SET size = after_size + count, hash = hashes[count]
    WHERE h.project = in_project AND h.size = after_size AND h.hash = after_hash;
  IF NOT FOUND THEN
    landed := EXISTS (
      SELECT FROM baton.checkpoint c
      WHERE c.project = in_project AND c.size = after_size + count AND c.commit_id = in_commit
    );
    IF landed THEN
      size := after_size + count;
      hash := hashes[count];
    ELSE
      SELECT h.size, h.hash INTO STRICT size, hash FROM baton.head h WHERE h.project = in_project;
    END IF;
    RETURN;
  END IF;

  IF after_size > 0 AND NOT EXISTS (
    SELECT FROM baton.entry e WHERE e.project = in_project AND e.seq = after_size AND e.hash = after_hash
  ) THEN
    RAISE EXCEPTION 'entry % is not the one that the head names', after_size USING ERRCODE = 'data_corrupted';
  END IF;

  IF count = 1 THEN
    INSERT INTO baton.entry (project, seq, hash, bytes) VALUES (in_project, seqs[1], hashes[1], entries[1]);
  ELSE
    INSERT INTO baton.entry (project, seq, hash, bytes)
      SELECT in_project, e.seq, e.hash, e.bytes FROM unnest(seqs, hashes, entries) AS e (seq, hash, bytes);
  END IF;
  IF cardinality(tile_levels) > 0 THEN
    INSERT INTO baton.tile (project, level, index, hash)
      SELECT in_project, t.level, t.index, t.hash
      FROM unnest(tile_levels, tile_indexes, tile_hashes) AS t (level, index, hash);
  END IF;
  INSERT INTO baton.checkpoint (project, size, note, commit_id)
    VALUES (in_project, after_size + count, in_note, in_commit);
  landed := true;
  size := after_size + count;
  hash := hashes[count];
END $$;

-- The number of a project, made with an empty chain where it is new.
CREATE FUNCTION baton.open_project(in_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  found_id integer;
BEGIN
  SELECT p.id INTO found_id FROM baton.project p WHERE p.name = in_name;
  IF found_id IS NULL THEN
    INSERT INTO baton.project (name) VALUES (in_name) ON CONFLICT (name) DO NOTHING;
    SELECT p.id INTO STRICT found_id FROM baton.project p WHERE p.name = in_name;
    INSERT INTO baton.head (project, size, hash) VALUES (found_id, 0, decode(repeat('00', 32), 'hex'))
      ON CONFLICT (project) DO NOTHING;
  END IF;
  RETURN found_id;
END $$;
