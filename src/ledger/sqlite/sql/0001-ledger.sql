-- One file is one chain. Everything but `snapshot` only ever grows: triggers refuse the rest.

-- `note` is the signed checkpoint of the tree that ends here: the last entry of each commit has one. In a table of its
-- own it would make every commit write another page. It stands before `bytes`, which may go on in other pages.
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  note TEXT CHECK (note <> ''),
  bytes BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 65535)
) STRICT;

CREATE TABLE tile (
  level INTEGER NOT NULL CHECK (level > 0 AND level % 8 = 0),
  "index" INTEGER NOT NULL CHECK ("index" >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, "index")
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  bytes BLOB NOT NULL
) STRICT;

-- Derived data: may be deleted at any time.
CREATE TABLE snapshot (
  name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
  size INTEGER NOT NULL CHECK (size >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  bytes BLOB NOT NULL
) STRICT;

CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
BEGIN SELECT raise(ABORT, 'the ledger is append-only: UPDATE on entry is refused'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
BEGIN SELECT raise(ABORT, 'the ledger is append-only: DELETE on entry is refused'); END;
CREATE TRIGGER tile_no_update BEFORE UPDATE ON tile
BEGIN SELECT raise(ABORT, 'the ledger is append-only: UPDATE on tile is refused'); END;
CREATE TRIGGER tile_no_delete BEFORE DELETE ON tile
BEGIN SELECT raise(ABORT, 'the ledger is append-only: DELETE on tile is refused'); END;
CREATE TRIGGER blob_no_update BEFORE UPDATE ON blob
BEGIN SELECT raise(ABORT, 'the ledger is append-only: UPDATE on blob is refused'); END;
CREATE TRIGGER blob_no_delete BEFORE DELETE ON blob
BEGIN SELECT raise(ABORT, 'the ledger is append-only: DELETE on blob is refused'); END;

-- INSERT OR REPLACE deletes without firing the triggers above, unless recursive_triggers is on, as in every connection
-- of Baton. Where it costs nothing the tables are guarded against it here, too; on entries it would cost a third of an
-- insert.
CREATE TRIGGER tile_only_once BEFORE INSERT ON tile
WHEN EXISTS (SELECT 1 FROM tile WHERE level = NEW.level AND "index" = NEW."index")
BEGIN SELECT raise(ABORT, 'the ledger is append-only: a tile is only added once'); END;
CREATE TRIGGER blob_only_once BEFORE INSERT ON blob
WHEN EXISTS (SELECT 1 FROM blob WHERE hash = NEW.hash)
BEGIN SELECT raise(IGNORE); END;
