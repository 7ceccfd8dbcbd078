"""The limits that all runs of a user share: one small SQLite file in the state folder.

Who holds something is a worker process, known by identity and boot: what the dead held is free. Times are those of the
monotonic clock, which a boot starts anew, so that no change of the wall clock lets anybody in or keeps anybody out.
Blocking: to be called from a thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from poolboard.journal.driver import Connection, connect, sqlite

from .admission_events import ClaimId, Needs
from .admission_reason import NAMED, person, seconds
from .bucket import Bucket
from .folder import make_private
from .identity import ProcessIdentity, boot_id
from .limit_spec import LimitSpec, parse_limit

VERSION: Final = 1
#: A run that has not asked again for so long does not wait any more; it may hang.
STALE_S: Final = 3.0
CHECKPOINT_PAGES: Final = 200
SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS limits (name TEXT PRIMARY KEY, text TEXT NOT NULL, boot TEXT NOT NULL, "
    "left REAL NOT NULL, at REAL NOT NULL, slow_until REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS held (run TEXT, n INTEGER, generation INTEGER, number INTEGER, name TEXT, "
    "amount INTEGER NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (name, run, n, generation, number)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS waiting (ticket INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, "
    "name TEXT NOT NULL, seen REAL NOT NULL, boot TEXT NOT NULL, UNIQUE (name, run))",
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One claim on shared limits; ``holder`` is the identity of the worker process that would hold them."""

    claim: ClaimId
    needs: Needs
    holder: str


@dataclass(frozen=True, slots=True)
class SharedHold:
    """What one claim holds of one limit."""

    run_id: str
    n: int
    amount: int


class SharedBook:
    """The file, as one run sees it. ``alive`` says whether a process identity still runs."""

    def __init__(
        self, path: Path, run_id: str, *, alive: Callable[[str], bool] | None = None, boot: str | None = None
    ) -> None:
        self._path, self._run_id = path, run_id
        self._alive = alive or _is_alive
        self._boot = boot or boot_id()
        self._connection: Connection | None = None

    def declare(self, specs: Iterable[LimitSpec], now_s: float) -> None:
        """Make these limits known, or another size: whoever says it last, says it for all runs."""
        with self._transaction() as db:
            for spec in specs:
                before = self._limit(db, spec.name, now_s)
                left = float(spec.most) if before is None else min(before.bucket.left, float(spec.most))
                slow = 0.0 if before is None else before.slow_until_s
                db.execute(
                    "INSERT OR REPLACE INTO limits VALUES (?, ?, ?, ?, ?, ?)",
                    (spec.name, str(spec), self._boot, left, now_s, slow),
                )

    def take(self, asks: Sequence[Ask], now_s: float) -> list[str | None]:
        """Take what each asks for, all of it or nothing: None where it was given, else why not, in a few words."""
        with self._transaction() as db:
            return [self._take(db, ask, now_s) for ask in asks]

    def give_back(self, claims: Iterable[ClaimId]) -> None:
        """These claims of this run hold nothing any more."""
        with self._transaction() as db:
            for claim in claims:
                db.execute(
                    "DELETE FROM held WHERE run = ? AND n = ? AND generation = ? AND number = ?",
                    (self._run_id, *claim),
                )

    def keep(self, holder: str, claims: Iterable[ClaimId]) -> None:
        """A worker that came back holds these, and nothing else."""
        kept = set(claims)
        with self._transaction() as db:
            rows = db.execute(
                "SELECT n, generation, number FROM held WHERE run = ? AND holder = ?", (self._run_id, holder)
            ).fetchall()
            gone = [ClaimId(*row) for row in rows if ClaimId(*row) not in kept]
        if gone:
            self.give_back(gone)

    def withdraw(self) -> None:
        """This run waits for nothing for now: others need not let it go first."""
        with self._transaction() as db:
            db.execute("DELETE FROM waiting WHERE run = ?", (self._run_id,))

    def leave(self) -> None:
        """The run has ended and its workers are gone."""
        with self._transaction() as db:
            db.execute("DELETE FROM waiting WHERE run = ?", (self._run_id,))
            db.execute("DELETE FROM held WHERE run = ?", (self._run_id,))

    def slow_down(self, name: str, until_s: float, now_s: float) -> None:
        """A service asked to be left alone until then."""
        with self._transaction() as db:
            if self._limit(db, name, now_s) is not None:
                db.execute("UPDATE limits SET slow_until = max(slow_until, ?) WHERE name = ?", (until_s, name))

    def others(self, names: Sequence[str], now_s: float) -> tuple[list[LimitSpec], dict[str, list[SharedHold]]]:
        """Return the limits as they are now, and what living workers of other runs hold of each."""
        with self._transaction() as db:
            found = [limit.spec for name in names if (limit := self._limit(db, name, now_s)) is not None]
            for name in names:
                self._bury(db, name)
            holds = {name: [hold for hold in self._holds(db, name) if hold.run_id != self._run_id] for name in names}
        return found, holds

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # --- inside a transaction --------------------------------------------------------------------------------------

    def _take(self, db: Connection, ask: Ask, now_s: float) -> str | None:
        limits = [(self._limit(db, name, now_s), name, amount) for name, amount in ask.needs]
        for limit, name, amount in limits:
            if limit is None:
                why: str | None = f"{name} is not known to the file that runs share"
            else:
                why = self._why_not(db, limit, amount, now_s)
            if why is not None:
                self._queue_up(db, ask.needs, now_s)
                return why
        for limit, name, amount in limits:
            assert limit is not None
            if limit.spec.is_rate:
                limit.bucket.take(amount, now_s)
                db.execute("UPDATE limits SET left = ?, at = ? WHERE name = ?", (limit.bucket.left, now_s, name))
            else:
                values = (self._run_id, *ask.claim, name, amount, ask.holder)
                db.execute("INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            db.execute("DELETE FROM waiting WHERE name = ? AND run = ?", (name, self._run_id))
        return None

    def _why_not(self, db: Connection, limit: _Limit, amount: int, now_s: float) -> str | None:
        name, most = limit.spec.name, limit.spec.most
        if limit.slow_until_s > now_s:
            return f"{name} is to be left alone for {seconds(limit.slow_until_s - now_s)} more, as a service said"
        if limit.spec.is_rate:
            if not limit.bucket.has(amount, now_s):
                return f"{limit.spec.text}, shared by all runs, is used up"
        elif self._in_use(db, name) + amount > most:
            self._bury(db, name)
            holds = self._holds(db, name)
            in_use = sum(hold.amount for hold in holds)
            if in_use + amount > most:
                return f"{in_use} of {most}, shared by all runs, in use by {self._people(holds)}"
        first = self._first_waiting(db, name, now_s)
        return None if first is None or first == self._run_id else f"run {first[:8]} asked for {name} first"

    def _queue_up(self, db: Connection, needs: Needs, now_s: float) -> None:
        for name, _ in needs:
            values = (self._run_id, name, now_s, self._boot)
            db.execute(
                "INSERT INTO waiting (run, name, seen, boot) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET seen = excluded.seen, boot = excluded.boot",
                values,
            )

    def _first_waiting(self, db: Connection, name: str, now_s: float) -> str | None:
        db.execute(
            "DELETE FROM waiting WHERE name = ? AND (boot <> ? OR seen < ?)", (name, self._boot, now_s - STALE_S)
        )
        row = db.execute("SELECT run FROM waiting WHERE name = ? ORDER BY ticket LIMIT 1", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _in_use(self, db: Connection, name: str) -> int:
        row = db.execute("SELECT coalesce(sum(amount), 0) FROM held WHERE name = ?", (name,)).fetchone()
        return int(row[0])

    def _holds(self, db: Connection, name: str) -> list[SharedHold]:
        rows = db.execute("SELECT run, n, amount FROM held WHERE name = ? ORDER BY run, n", (name,))
        return [SharedHold(*row) for row in rows]

    def _bury(self, db: Connection, name: str) -> None:
        """Take back what processes held that are gone."""
        for (holder,) in db.execute("SELECT DISTINCT holder FROM held WHERE name = ?", (name,)).fetchall():
            if not self._alive(holder):
                db.execute("DELETE FROM held WHERE holder = ?", (holder,))

    def _people(self, holds: Sequence[SharedHold]) -> str:
        told = [
            person(hold.n) + ("" if hold.run_id == self._run_id else f" of run {hold.run_id[:8]}")
            for hold in holds[:NAMED]
        ]
        if len(holds) > NAMED:
            told.append(f"{len(holds) - NAMED} more")
        return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)

    def _limit(self, db: Connection, name: str, now_s: float) -> _Limit | None:
        row: Any = db.execute("SELECT text, boot, left, at, slow_until FROM limits WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        text, boot, left, at_s, slow_until_s = row
        spec = parse_limit(name, text)
        if boot != self._boot:  # another boot's times mean nothing now
            left, at_s, slow_until_s = float(spec.most), now_s, 0.0
            db.execute(
                "UPDATE limits SET boot = ?, left = ?, at = ?, slow_until = 0 WHERE name = ?",
                (self._boot, left, at_s, name),
            )
        bucket = Bucket(spec.per_s or 0.0, spec.most, left, at_s)
        bucket.fill(now_s)
        return _Limit(spec, bucket, slow_until_s)

    # --- the file --------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        db = self._opened()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _opened(self) -> Connection:
        if self._connection is None:
            make_private(self._path.parent)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            # What is lost with the power is who held what, and those are gone too.
            connection = connect(self._path, readonly=False, synchronous="NORMAL")
            try:
                connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version > VERSION:
                    raise sqlite.DatabaseError(f"it has version {version}, this Poolboard knows {VERSION}")
                connection.execute("BEGIN IMMEDIATE")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


@dataclass(slots=True)
class _Limit:
    spec: LimitSpec
    bucket: Bucket
    slow_until_s: float


def _is_alive(holder: str) -> bool:
    identity = ProcessIdentity.parse(holder)
    return identity is not None and identity.is_alive()
