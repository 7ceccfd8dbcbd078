"""Whether this process is a guest of user code: while it imports a workflow's file, and for good in a worker.

A script that starts a run and is that run's workflow file is imported by each worker. There it must not start another
run: its import ends at that call, with everything that was defined before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UserMistake

_importing: list[Path] = []
_in_worker = False


class ImportEnded(BaseException):
    """The file that is being imported asked for a run of its own. No ``except Exception`` of a user may catch it."""


@contextmanager
def importing(path: Path) -> Iterator[None]:
    """Be the import of a workflow's file."""
    _importing.append(path)
    try:
        yield
    finally:
        _importing.pop()


def enter_worker() -> None:
    """Say that this process is a worker, from now on."""
    global _in_worker
    _in_worker = True


def refuse_inside(verb: str) -> None:
    """Raise ImportEnded while a workflow's file is imported, UserMistake in a worker; elsewhere do nothing."""
    if _importing:
        raise ImportEnded(verb)
    if _in_worker:
        raise UserMistake(f"{verb} was called inside a run; its children are made by ctx.map and ctx.child")


def line_of(ended: ImportEnded, path: Path) -> int:
    """Return the line of the file at which its import ended, 0 if it ended elsewhere."""
    step = ended.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(path):
            return step.tb_lineno
        step = step.tb_next
    return 0
