-- What proves a complete walk: `verify --proof` gives it to the kernel of proof again (docs/proof.md, "Evidence").
-- Of the last complete full walk, of every complete walk since, and of one that may go on.
CREATE TABLE walk_evidence (
  walk_id INTEGER NOT NULL,       -- the walk
  number INTEGER NOT NULL,        -- from 1, in order
  lines TEXT NOT NULL,            -- JSON: what the kernel was told since the row before
  marked INTEGER NOT NULL,        -- tasks that the walk met with it for the first time
  ids INTEGER NOT NULL,           -- the hashes of their ids, added up modulo 2^52
  PRIMARY KEY (walk_id, number)
) STRICT, WITHOUT ROWID;

ALTER TABLE walks ADD COLUMN evidence_sha256 TEXT; -- of its evidence, hex (NULL unless it is complete, and for walks of version 0.1.0)
