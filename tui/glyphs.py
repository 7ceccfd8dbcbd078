"""How a state looks: a glyph, an ASCII form, a word and the name of its colour. Never the colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from poolboard.engine.views import ShownStatus
from poolboard.journal.states import WorkState


@dataclass(frozen=True, slots=True)
class Mark:
    """One state: ``glyph`` is one cell wide, so is ``ascii``; ``tone`` names the theme's colour ``state-<tone>``."""

    glyph: str
    ascii: str
    word: str
    tone: str

    def sign(self, ascii: bool) -> str:
        """Return the glyph in the form that the terminal can show."""
        return self.ascii if ascii else self.glyph


#: Every tone that a theme must give a colour.
TONES: Final = (
    "pending",
    "running",
    "waiting",
    "asking",
    "paused",
    "stopped",
    "completed",
    "failed",
    "blocked",
    "cancelled",
)

RUN_MARKS: Final[dict[ShownStatus, Mark]] = {
    "pending": Mark("○", "o", "pending", "pending"),
    "running": Mark("●", "*", "running", "running"),
    "waiting": Mark("◌", "~", "waiting", "waiting"),
    "awaiting_input": Mark("?", "?", "awaiting input", "asking"),
    "pausing": Mark("‖", "=", "pausing", "paused"),
    "paused": Mark("‖", "=", "paused", "paused"),
    "stopping": Mark("■", "#", "stopping", "stopped"),
    "stopped": Mark("■", "#", "stopped", "stopped"),
    "completed": Mark("✓", "+", "completed", "completed"),
    "failed": Mark("✗", "x", "failed", "failed"),
    "blocked": Mark("↑", "^", "blocked", "blocked"),
    "cancelled": Mark("⊘", "-", "cancelled", "cancelled"),
    "skipped": Mark("⊘", "-", "skipped", "cancelled"),
    "crashed": Mark("!", "!", "crashed", "failed"),
}

WORK_MARKS: Final[dict[WorkState, Mark]] = {
    "ready": Mark("○", "o", "ready", "pending"),
    "leased": Mark("●", "*", "leased", "running"),
    "waiting": Mark("◌", "~", "waiting", "waiting"),
    "completed": Mark("✓", "+", "completed", "completed"),
    "failed": Mark("✗", "x", "failed", "failed"),
    "cancelled": Mark("⊘", "-", "cancelled", "cancelled"),
}

#: Statuses in which something is going on under a coordinator: their clocks tick.
ACTIVE: Final[frozenset[ShownStatus]] = frozenset(
    {"pending", "running", "waiting", "awaiting_input", "pausing", "stopping"}
)
