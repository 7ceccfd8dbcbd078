"""Asking before something is done to runs that nobody has named one by one, or that cannot be taken back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from poolboard.console import complain
from poolboard.engine.errors import UserMistake
from poolboard.tui.units import several
from poolboard.words import shown

if TYPE_CHECKING:
    from poolboard.engine.views import RunView

#: Runs that are listed in a question.
LISTED: Final = 20


def confirm(verb: str, runs: Sequence[RunView], *, yes: bool) -> bool:
    """Return whether to go on: by ``--yes``, or asked of the person. Raises UserMistake where nobody can answer."""
    if yes:
        return True
    question = f"{verb} {several(len(runs), 'run')}"
    if sys.stdin is None or not sys.stdin.isatty():
        raise UserMistake(f"to {question} without a terminal, say --yes")
    for run in runs[:LISTED]:
        complain(f"  {run.run_id}  {run.status:<10} {shown(run.name)}")
    if len(runs) > LISTED:
        complain(f"  … and {len(runs) - LISTED} more")
    sys.stderr.write(f"{question}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
