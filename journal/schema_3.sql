-- Version 3. The machine of each lease's holder: its processes can be looked for there only.
ALTER TABLE leases ADD COLUMN host TEXT;
