-- Version 5. Holds that are more than a pause: what still runs there after the grace is cut off, by a successor if need be.
CREATE TABLE cuts (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (run, scope, name)
) WITHOUT ROWID;
