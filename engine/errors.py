"""The engine's errors: one type per different reaction, named by whose fault it is."""

from __future__ import annotations


class EngineError(Exception):
    """Base of everything that the engine raises on purpose."""


class UserMistake(EngineError):
    """Input, configuration or usage is wrong: one clear line, exit code 2, nothing was created or changed."""


class UnknownRun(UserMistake):
    """No run matches the id or prefix."""


class AmbiguousRun(UserMistake):
    """Several runs match the prefix; the message lists them."""


class ChangedCode(UserMistake):
    """The workflow's file is not the one that the run was started with."""


class RunElsewhere(EngineError):
    """Another live coordinator has the run; the message names pid and epoch."""


class CoordinatorGone(EngineError):
    """The coordinator did not answer, or went away while asked. The run is resumable."""


class StageError(Exception):
    """A stage failed for good. Live and on replay the same: ``type`` and ``message`` of the original exception."""

    def __init__(self, stage: str, type: str, message: str, traceback: str = "") -> None:
        super().__init__(f"stage {stage}: {type}: {message}" if message else f"stage {stage}: {type}")
        self.stage, self.type, self.message, self.traceback = stage, type, message, traceback


class StageInterrupted(StageError):
    """A message cancelled the stage call. Live and on replay the same; ``number`` is the message's."""

    def __init__(self, stage: str, number: int) -> None:
        super().__init__(stage, "StageInterrupted", f"interrupted by message {number}")
        self.number = number


class ChildError(Exception):
    """A child run failed; ``n`` is its number inside the root run."""

    def __init__(self, workflow: str, n: int, reason: str) -> None:
        super().__init__(f"{workflow} #{n}: {reason}")
        self.workflow, self.n, self.reason = workflow, n, reason


class LimitError(Exception):
    """A run asked for what a named limit can never give it; the message names the limit."""


class AskTimeout(Exception):
    """Nobody answered a question in time, and it has no default."""


class Abandoned(BaseException):
    """This attempt is not wanted any more (stopped, cancelled, fenced). User code must not swallow it."""


class Blocked(BaseException):
    """The run cannot go on without a person: ``recorded X, found Y`` and the like."""
