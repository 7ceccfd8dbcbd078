-- Version 1. Integer run numbers inside, text ids outside. Two numbers carry their run with them, so that one
-- b-tree is both order and key:  events.position = run * 2^40 + seq,  work.id = run * 2^40 + n  (n = 0 is the root).
CREATE TABLE journal_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE stamp (only INTEGER PRIMARY KEY CHECK (only = 1), value INTEGER NOT NULL);
INSERT INTO stamp VALUES (1, 0);

CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  cwd TEXT NOT NULL,
  header TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  started_at INTEGER,
  ended_at INTEGER,
  active_ms INTEGER NOT NULL DEFAULT 0,
  active_since INTEGER,
  ready INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_n INTEGER NOT NULL DEFAULT -1,
  result TEXT,
  error TEXT,
  changed INTEGER NOT NULL
);
CREATE INDEX runs_changed ON runs (changed);

CREATE TABLE leases (
  run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
  holder TEXT,
  epoch INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL
);

CREATE TABLE control (
  run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
  state TEXT NOT NULL DEFAULT 'running',
  revision INTEGER NOT NULL DEFAULT 1,
  who TEXT,
  why TEXT
);

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL,
  type TEXT NOT NULL,
  work INTEGER,               -- n, NULL for the run
  at INTEGER NOT NULL,
  payload TEXT NOT NULL
);

-- Every key is here and nowhere else: key = the first 16 bytes of sha256 of its text; work = n of the work item that
-- the key belongs to, -1 for keys of the run. request = digest of the request, for attempts.
CREATE TABLE operations (
  run INTEGER NOT NULL,
  work INTEGER NOT NULL,
  key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  generation INTEGER,
  request BLOB,
  child INTEGER,              -- n of the child that a boundary key made
  PRIMARY KEY (run, work, key)
) WITHOUT ROWID;

CREATE TABLE work (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  parent INTEGER,             -- n of the parent, NULL for the root
  boundary INTEGER NOT NULL,  -- seq of the event that holds its input
  workflow TEXT NOT NULL,
  label TEXT NOT NULL,
  depth INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  starts INTEGER NOT NULL DEFAULT 0,
  worker TEXT,
  epoch INTEGER NOT NULL,
  expires_at INTEGER,
  ready_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  stage TEXT,
  stages_done INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  changed INTEGER NOT NULL
);
CREATE INDEX work_changed ON work (run, changed);
CREATE INDEX work_parent ON work (run, parent);
-- Unsettled: ready, leased, waiting. A list of three states here would double the cost of an insert.
CREATE INDEX work_live ON work (run) WHERE ended_at IS NULL;
-- What a worker holds: renewing it must not walk over 100,000 ready rows.
CREATE INDEX work_held ON work (run, worker) WHERE state IN ('leased', 'waiting');

CREATE TABLE results (id INTEGER PRIMARY KEY, value TEXT NOT NULL);   -- id = work.id

CREATE TABLE stages (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  first_seq INTEGER NOT NULL, -- order of first appearance
  done INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  buckets TEXT NOT NULL,      -- JSON array of counts
  PRIMARY KEY (run, name)
) WITHOUT ROWID;

CREATE TABLE workers (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  worker TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  identity TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (run, worker)
) WITHOUT ROWID;
