"""Ages as a person writes them: ``90m``, ``12h``, ``30d``, ``8w``."""

from __future__ import annotations

import re
import time
from typing import Final

from poolboard.engine.errors import UserMistake

UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
#: A hundred years: what is longer is a slip of the finger.
LONGEST_MS: Final = 100 * 365 * UNITS_MS["d"]
AGE: Final = re.compile(r"\s*([0-9]{1,6})\s*([smhdw])\s*", re.ASCII)


def age_ms(word: str, option: str) -> int:
    """Return an age in ms; raises UserMistake naming the option and what can be written."""
    found = AGE.fullmatch(word)
    if found is None or (age := int(found[1]) * UNITS_MS[found[2]]) > LONGEST_MS:
        raise UserMistake(f"{option} {word!r}: write a number and a unit, up to a hundred years: 90m, 12h, 30d or 8w")
    return age


def wall_ms() -> int:
    """Return the time of day, for ages on the screen; nothing is decided by it."""
    return time.time_ns() // 1_000_000
