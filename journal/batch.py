"""The members of one shared commit, run on the writer's connection: one by one, together, or each in a savepoint.

Knows nothing of threads, and neither begins nor commits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from .driver import Connection, sqlite, translate
from .together import MOST_TOGETHER, Together
from .transaction import Transaction

Member = Callable[[Transaction], object]

#: Fewer calls of one verb in a row are cheaper one by one.
FEWEST_TOGETHER: Final = 3


class Request:
    """Members that came together, and the future that gets their outcomes (values or exceptions) after the commit."""

    __slots__ = ("alone", "future", "members", "outcomes")

    def __init__(self, future: asyncio.Future[Any], members: Sequence[Member], alone: bool) -> None:
        self.future, self.members, self.alone = future, members, alone
        self.outcomes: Sequence[object] = ()


class MustRunApart(Exception):
    """A member failed after it wrote: what is written must be undone, and every member run in its own savepoint."""


class BatchRunner:
    """Runs batches of requests and gives each its outcomes; ``together`` are the verbs that have a form for many."""

    def __init__(
        self, connection: Connection, where: str, together: Mapping[Callable[..., object], Together] | None = None
    ) -> None:
        self._connection, self._where = connection, where
        self._execute = connection.cursor().execute
        self._together = together or {}

    def run(self, tx: Transaction, batch: Sequence[Request]) -> int:
        """Run all members without savepoints and return how many succeeded; raises MustRunApart.

        A savepoint makes SQLite copy every page that its member touches, which costs as much as a quarter of the
        member. The pool's verbs refuse before they write, so a refusal leaves nothing to undo but cached values; only
        a member that fails after it wrote makes the whole batch start again.
        """
        members = [member for request in batch for member in request.members]
        outcomes: list[object] = []
        while (at := len(outcomes)) < len(members):
            end = self._end_of_stretch(members, at)
            if end - at >= FEWEST_TOGETHER and self._run_together(tx, members[at:end], outcomes):
                continue
            for member in members[at:end]:
                self._run_one(tx, member, outcomes)
        return _share_out(batch, outcomes)

    def _end_of_stretch(self, members: Sequence[Member], at: int) -> int:
        """Return where the calls of one verb that has a form for many end; at least one member further."""
        end = at + 1
        first = members[at]
        if type(first) is not partial or first.func not in self._together or first.args:
            return end
        verb, limit = first.func, min(len(members), at + MOST_TOGETHER)
        while end < limit:
            member = members[end]
            if type(member) is not partial or member.func is not verb or member.args:
                break
            end += 1
        return end

    def _run_together(self, tx: Transaction, members: Sequence[Any], outcomes: list[object]) -> bool:
        """Run calls of one verb at once; False if they must be run one by one."""
        mark, changes = tx.mark(), self._connection.total_changes
        try:
            found = self._together[members[0].func](tx, [member.keywords for member in members])
        except Exception:  # one of them would raise this, or something more to the point
            if not self._connection.in_transaction:
                raise
            found = None
        if found is not None:
            outcomes += found
            return True
        if self._connection.total_changes != changes:
            raise MustRunApart
        tx.restore(mark)
        return False

    def _run_one(self, tx: Transaction, member: Member, outcomes: list[object]) -> None:
        mark, changes = tx.mark(), self._connection.total_changes
        try:
            outcomes.append(member(tx))
        except Exception as error:
            if not self._connection.in_transaction:
                raise  # a full disk and the like end the whole transaction: nobody's writes are left
            if self._connection.total_changes != changes:
                raise MustRunApart from error
            tx.restore(mark)
            outcomes.append(self.outcome(error))

    def run_apart(self, tx: Transaction, batch: Sequence[Request]) -> int:
        """Run every member in its own savepoint and return how many succeeded."""
        members = [member for request in batch for member in request.members]
        return _share_out(batch, [self._guarded(tx, member) for member in members])

    def _guarded(self, tx: Transaction, member: Member) -> object:
        mark = tx.mark()
        self._execute("SAVEPOINT member")
        try:
            outcome = member(tx)
        except Exception as error:
            if not self._connection.in_transaction:
                raise
            self._execute("ROLLBACK TO member")
            tx.restore(mark)
            outcome = self.outcome(error)
        self._execute("RELEASE member")
        return outcome

    def outcome(self, error: Exception) -> Exception:
        """Return what a member's caller gets for its exception."""
        return translate(error, self._where) if isinstance(error, sqlite.Error) else error


def _share_out(batch: Sequence[Request], outcomes: list[object]) -> int:
    at = 0
    for request in batch:
        end = at + len(request.members)
        request.outcomes = outcomes[at:end]
        at = end
    return sum(not isinstance(outcome, Exception) for outcome in outcomes)
