"""The journal's errors: one type per different reaction, named by whose fault it is."""

from __future__ import annotations


class JournalError(Exception):
    """Base of everything that the journal raises on purpose."""


class StorageUnavailable(JournalError):
    """The store did not answer: ``Storage unavailable: <adapter> at <where>: <reason>``. Trying again may help."""

    def __init__(self, adapter: str, where: str, reason: str) -> None:
        super().__init__(f"Storage unavailable: {adapter} at {where}: {reason}")
        self.adapter, self.where, self.reason = adapter, where, reason

    def __reduce__(self) -> tuple[type[StorageUnavailable], tuple[str, str, str]]:
        # Exceptions are pickled by their one argument, the message; the cause must survive the way to another process.
        return type(self), (self.adapter, self.where, self.reason)


class JournalUnusable(JournalError):
    """The file is not a journal, is damaged, or is of a newer version; it was not touched. The user must act."""


class RunNotFound(JournalError):
    """No run of that id is in this journal."""


class StaleLease(JournalError):
    """The root lease is no longer the caller's: another holder or a newer epoch has it. Stop writing."""

    def __init__(self, run_id: str, given_epoch: int, actual_epoch: int) -> None:
        super().__init__(f"Stale lease on run {run_id}: given epoch {given_epoch}, actual epoch {actual_epoch}")
        self.run_id, self.given_epoch, self.actual_epoch = run_id, given_epoch, actual_epoch

    def __reduce__(self) -> tuple[type[StaleLease], tuple[str, int, int]]:
        return type(self), (self.run_id, self.given_epoch, self.actual_epoch)


class LeaseHeld(JournalError):
    """Another live holder has the run; the message names it."""


class Refused(JournalError):
    """A write was refused by a rule of the queue; nothing was written. Base of the four below."""


class StaleWorkLease(Refused):
    """Stale work lease"""


class RootNotRunning(Refused):
    """Pool root is not running"""


class IdentityConflict(Refused):
    """The same identity came with another content; what was recorded first is kept."""


class BadPayload(Refused):
    """A value cannot be recorded: not JSON, too large, or stamped in the future."""
