"""A journal of somebody else's making, and what its failures may say.

Whatever is not one of the journal's own errors becomes StorageUnavailable with the failure's class and code, without
its message: that may hold an address with a password. Optional parts are there if the journal inside has them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from .errors import JournalError, StorageUnavailable
from .model import AppendOutcome, Event, JournalEntry, Lease, LeaseState, NewRun, RunRow, RunVersion, SnapshotTail
from .protocol import BatchAppends, ChangeTracking, Journal, RunDeletion

T = TypeVar("T")

#: Attributes in which drivers keep a code, in the order in which they tell more.
CODES: Final = ("sqlstate", "pgcode", "sqlite_errorcode", "code", "errno", "status_code")
LONGEST_CODE: Final = 20


class GuardedJournal:
    """Passes every verb on; ``name`` is what the person chose it by."""

    def __init__(self, inner: Journal, name: str) -> None:
        self._inner, self._name = inner, name

    @property
    def descriptor(self) -> str:
        """What the journal inside says of itself, which holds no secrets by contract."""
        return self._inner.descriptor

    async def _guard(self, verb: Awaitable[T]) -> T:
        try:
            return await verb
        except JournalError:
            raise
        except Exception as error:
            failure = unavailable(error, self._name)
        # Outside of the handler: the failure must not hang on to what it hides.
        raise failure

    async def create_run(self, new: NewRun) -> RunRow:
        """See protocol.Journal."""
        return await self._guard(self._inner.create_run(new))

    async def get_run(self, run_id: str) -> RunRow:
        """See protocol.Journal."""
        return await self._guard(self._inner.get_run(run_id))

    async def list_runs(self) -> list[RunRow]:
        """See protocol.Journal."""
        return await self._guard(self._inner.list_runs())

    async def append(self, lease: Lease, event: Event, key: str | None = None) -> AppendOutcome:
        """See protocol.Journal."""
        return await self._guard(self._inner.append(lease, event, key))

    async def read(self, run_id: str, from_seq: int = 1) -> AsyncIterator[JournalEntry]:
        """See protocol.Journal."""
        entries = self._inner.read(run_id, from_seq)
        while (entry := await self._guard(anext(entries, None))) is not None:
            yield entry

    async def read_key(self, run_id: str, key: str) -> JournalEntry | None:
        """See protocol.Journal."""
        return await self._guard(self._inner.read_key(run_id, key))

    async def acquire_lease(self, run_id: str, holder: str, *, if_epoch: int | None = None) -> Lease:
        """See protocol.Journal."""
        return await self._guard(self._inner.acquire_lease(run_id, holder, if_epoch=if_epoch))

    async def renew_lease(self, lease: Lease) -> None:
        """See protocol.Journal."""
        await self._guard(self._inner.renew_lease(lease))

    async def release_lease(self, lease: Lease) -> None:
        """See protocol.Journal."""
        await self._guard(self._inner.release_lease(lease))

    async def lease_state(self, run_id: str) -> LeaseState:
        """See protocol.Journal."""
        return await self._guard(self._inner.lease_state(run_id))

    async def close(self) -> None:
        """See protocol.Journal."""
        await self._guard(self._inner.close())


class _Batches(GuardedJournal):
    async def append_many(
        self, lease: Lease, appends: Sequence[tuple[Event, str | None]]
    ) -> list[AppendOutcome | Exception]:
        outcomes = await self._guard(cast(BatchAppends, self._inner).append_many(lease, appends))
        return [
            unavailable(outcome, self._name)
            if isinstance(outcome, Exception) and not isinstance(outcome, JournalError)
            else outcome
            for outcome in outcomes
        ]


class _Changes(GuardedJournal):
    async def change_token(self) -> str:
        return await self._guard(cast(ChangeTracking, self._inner).change_token())

    async def run_versions(self) -> Mapping[str, RunVersion]:
        return await self._guard(cast(ChangeTracking, self._inner).run_versions())

    async def snapshot_tail(self, run_id: str) -> SnapshotTail | None:
        return await self._guard(cast(ChangeTracking, self._inner).snapshot_tail(run_id))


class _Deletions(GuardedJournal):
    async def delete_run(self, run_id: str) -> None:
        await self._guard(cast(RunDeletion, self._inner).delete_run(run_id))


OPTIONAL: Final[tuple[tuple[type[Any], type[GuardedJournal]], ...]] = (
    (BatchAppends, _Batches),
    (ChangeTracking, _Changes),
    (RunDeletion, _Deletions),
)


def guarded(inner: Journal, name: str) -> GuardedJournal:
    """Return the journal behind a guard that has exactly the optional parts that it has."""
    parts = [part for protocol, part in OPTIONAL if isinstance(inner, protocol)]
    kind = type("GuardedJournal", (*parts, GuardedJournal), {})
    return cast(GuardedJournal, kind(inner, name))


def unavailable(error: Exception, name: str) -> StorageUnavailable:
    """Return what a foreign failure becomes: its class and code, without its message."""
    code = _code(error)
    told = type(error).__qualname__ if code is None else f"{type(error).__qualname__} (code {code})"
    return StorageUnavailable("custom", name, told)


def _code(error: Exception) -> str | None:
    for attribute in CODES:
        value = getattr(error, attribute, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        # A word of letters and digits: anything longer or richer could be a message.
        if isinstance(value, str) and 0 < len(value) <= LONGEST_CODE and value.replace("_", "").isalnum():
            return value
    return None
