-- Version 2. What is held back inside a run, and what its work has used.
CREATE TABLE holds (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  scope TEXT NOT NULL,        -- child, stage, worker
  name TEXT NOT NULL,         -- the child's n, the stage's name, the worker's place
  who TEXT,
  why TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (run, scope, name)
) WITHOUT ROWID;

-- Kept totals of what was charged: a work item's amount is its own and that of everything below it, so the root's is
-- the run's. The charges themselves are events.
CREATE TABLE usage (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  work INTEGER NOT NULL,      -- n
  name TEXT NOT NULL,
  amount NUMERIC NOT NULL,
  PRIMARY KEY (run, work, name)
) WITHOUT ROWID;
