"""What a check finds: a bounded list of one-line statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from .driver import primary_code, sqlite

#: ``file`` the pages themselves, ``order`` rows that belong to nothing, ``count`` a kept number that a recount does not
#: give, ``content`` a value that is not what was recorded.
Kind = Literal["file", "order", "count", "content"]

MOST_FINDINGS: Final = 100
LONGEST_FINDING: Final = 500
#: Examples that a finding names.
EXAMPLES: Final = 3
#: SQLite's primary codes for a file that does not hold what it should: IOERR (a short read), CORRUPT, FORMAT, NOTADB.
DAMAGE: Final = frozenset({10, 11, 24, 26})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. ``run_id`` is None where it concerns no single run."""

    kind: Kind
    what: str
    run_id: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}" if self.run_id is None else f"{self.kind}: run {self.run_id}: {self.what}"


def examples(found: Sequence[object]) -> str:
    """Return the first few of what was found, as a finding names them."""
    return ", ".join(map(str, found[:EXAMPLES])) + (", …" if len(found) > EXAMPLES else "")


class Findings:
    """Collects findings up to a limit, and knows whether it left some out."""

    def __init__(self, most: int = MOST_FINDINGS) -> None:
        self._most = most
        self._found: list[Finding] = []
        self.cut = False

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    @property
    def full(self) -> bool:
        """Whether looking further is of no use."""
        return self.cut

    def add(self, kind: Kind, what: str, run_id: str | None = None) -> None:
        """Keep a finding, or note that one more was left out."""
        if len(self._found) >= self._most:
            self.cut = True
            return
        self._found.append(Finding(kind, what[:LONGEST_FINDING], run_id))

    @contextmanager
    def reading(self, what: str, run_id: str | None = None) -> Iterator[None]:
        """Turn what SQLite says of damaged pages into a finding; every other error passes."""
        try:
            yield
        except sqlite.Error as error:
            if primary_code(error) not in DAMAGE:
                raise
            self.add("file", f"{what} cannot be read: {error}", run_id)
