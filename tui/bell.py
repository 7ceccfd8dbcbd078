"""Ringing the terminal when a run comes to rest: its bell, and a notification (OSC 9) where it knows that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from poolboard.engine.views import RunView, ShownStatus

from .text import clip

if TYPE_CHECKING:
    from textual.app import App

#: Where a run stays until somebody does something, or for good.
AT_REST: Final[frozenset[ShownStatus]] = frozenset(
    {"paused", "stopped", "crashed", "completed", "failed", "blocked", "cancelled", "skipped", "awaiting_input"}
)
_CELLS: Final = 120


def comes_to_rest(before: ShownStatus | None, now: ShownStatus) -> bool:
    """Whether a run that was seen to move does not any more."""
    return before is not None and before not in AT_REST and now in AT_REST


def ringing(run: RunView) -> str:
    """Return what is written to a terminal: a terminal that does not know OSC 9 ignores it, the bell it knows."""
    # The text is made safe: a name of a run could end the sequence and begin another.
    told = clip(f"poolboard: {run.name} is {run.status.replace('_', ' ')}", _CELLS)
    return f"\x1b]9;{told}\x1b\\\x07"


def ring(app: App[int], run: RunView) -> None:
    """Ring the terminal that a screen is on, as Textual's own ``bell`` does."""
    if app._driver is not None:
        app._driver.write(ringing(run))
