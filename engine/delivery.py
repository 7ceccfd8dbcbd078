"""Which message goes to which run now. Pure: who is there and what was said come in, what to hand over comes out.

A message for one run waits under its number, also before that run exists; a pattern stays until the root ends. A step
touches what it changes: a run that starts looks its own path up, a receipt its own message.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

from poolboard.journal.message_model import OpenMessage, ReceiptState

from .address import Address, is_pattern, parse
from .patterns import Path, Patterns, means

#: A stage does not wait longer than that for messages that do not come nearer (SPEC 1.34).
PATIENCE_S: Final = 60.0


@dataclass(slots=True)
class Patience:
    """How long a stage still waits for what is to be there before it starts; progress begins the time anew."""

    until_s: float
    limit_s: float = PATIENCE_S

    @classmethod
    def begin(cls, now_s: float, limit_s: float = PATIENCE_S) -> Patience:
        """Start to wait."""
        return cls(now_s + limit_s, limit_s)

    def progress(self, now_s: float) -> None:
        """Something came."""
        self.until_s = now_s + self.limit_s

    def left_s(self, now_s: float) -> float:
        """Return how long to wait on; 0 when it is enough."""
        return max(0.0, self.until_s - now_s)


class Delivery:
    """The open messages of one run, and how each stands with the recipients that go on.

    ``reads`` counts the messages looked at by receipts; ``checks`` those by patterns.
    """

    __slots__ = ("_direct", "_live", "_open", "_patterns", "_receipts", "reads")

    def __init__(self) -> None:
        self._open: dict[int, tuple[OpenMessage, Address]] = {}
        self._direct: dict[int, dict[int, None]] = {}
        self._patterns = Patterns()
        self._live: dict[int, Path] = {}
        self._receipts: dict[int, dict[int, ReceiptState]] = {}
        self.reads = 0

    @property
    def checks(self) -> int:
        """How many parts of patterns were compared so far."""
        return self._patterns.checks

    def __len__(self) -> int:
        return len(self._open)

    def known(self, receipts: Iterable[tuple[int, ReceiptState, list[int]]], live: Container[int]) -> None:
        """Take in the receipts (message, state, recipients) that the journal holds, of runs that go on."""
        for number, state, recipients in receipts:
            for n in recipients:
                if n in live:
                    self._receipts.setdefault(n, {})[number] = state

    def accept(self, message: OpenMessage) -> list[int]:
        """Take in a message that is recorded; return the runs that are there to get it."""
        if message.number in self._open:
            return []
        address = parse(message.target)
        self._open[message.number] = (message, address)
        if message.direct is not None:
            self._direct.setdefault(message.direct, {})[message.number] = None
            path = self._live.get(message.direct)
            return [message.direct] if path is not None and _leads(address, path) else []
        self._patterns.add(message.number, address.segments)
        return [n for n, path in self._live.items() if means(address.segments, path)]

    def start(self, n: int, path: Path) -> list[OpenMessage]:
        """A run begins, or begins again, or is taken over: return all that it has not taken yet, in order.

        What is for a pattern of its stages comes again even so: its replay tells which of them have had it.
        """
        self._live[n] = path
        numbers = sorted({*self._direct.get(n, ()), *self._patterns.matching(path)})
        receipts = self._receipts.get(n, {})
        found = []
        for number in numbers:
            message, address = self._open[number]
            if receipts.get(number) == "taken" and not is_pattern(message.stage):
                continue
            if message.direct is None or _leads(address, path):
                found.append(message)
        return found

    def deliver(self, n: int, numbers: Iterable[int]) -> list[int]:
        """A run says that it has messages; return those of which there is no receipt yet."""
        receipts = self._receipts.setdefault(n, {})
        fresh = []
        for number in numbers:
            self.reads += 1
            if number in self._open and number not in receipts:
                receipts[number] = "delivered"
                fresh.append(number)
        return fresh

    def take(self, n: int, numbers: Iterable[int]) -> None:
        """A run's program has messages, and that is recorded."""
        receipts = self._receipts.setdefault(n, {})
        for number in numbers:
            self.reads += 1
            receipts[number] = "taken"
            self._close(n, number)

    def end(self, n: int) -> list[int]:
        """A run has ended; return what was for it alone and was not taken."""
        self._live.pop(n, None)
        self._receipts.pop(n, None)
        left = sorted(self._direct.get(n, ()))
        for number in left:
            self._close(n, number)
        return left

    def get(self, number: int) -> OpenMessage | None:
        """Return an open message."""
        found = self._open.get(number)
        return None if found is None else found[0]

    def _close(self, n: int, number: int) -> None:
        """Let go of a message that was for one run alone."""
        waiting = self._direct.get(n)
        if waiting is not None and number in waiting:
            del waiting[number], self._open[number]
            if not waiting:
                del self._direct[n]


def _leads(address: Address, path: Path) -> bool:
    """Say whether a direct address means the run at the path: a lone number is enough, a longer path must be right."""
    return len(address.segments) <= 1 or address.segments == path
