-- Version 4. Messages to runs and their stages. What was said is in the event whose seq is the message's number; here is
-- where it stands, with one receipt for each run that it reached.
CREATE TABLE messages (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  sender INTEGER,             -- n, NULL: a person, or the pool itself
  target TEXT NOT NULL,       -- path or pattern, empty for the root run
  direct INTEGER,             -- n of its only recipient; NULL: a pattern, which stays open until the root ends
  stage TEXT,                 -- only for this stage of its recipients
  mode TEXT NOT NULL,         -- steer, follow_up, interrupt
  notice INTEGER,             -- it tells its recipient that this message of its own could not be delivered
  open INTEGER NOT NULL DEFAULT 1,
  delivered INTEGER NOT NULL DEFAULT 0,  -- kept counts of receipts, by state
  taken INTEGER NOT NULL DEFAULT 0,
  undeliverable INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX messages_open ON messages (run, number) WHERE open = 1;

CREATE TABLE receipts (
  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  message INTEGER NOT NULL,
  work INTEGER NOT NULL,      -- n of the recipient
  state TEXT NOT NULL,        -- delivered, taken, undeliverable
  at INTEGER NOT NULL,
  PRIMARY KEY (run, message, work)
) WITHOUT ROWID;
-- A list shows the newest few of each state: it must not sort what a broadcast to 100,000 runs left.
CREATE INDEX receipts_by_state ON receipts (run, message, state, at);
