"""Keeps the garbage collector from being felt as stutter: what lives as long as the screen is not looked at again."""

from __future__ import annotations

import gc
import sys
from typing import Final

#: Rows are tuples of strings and numbers, in no cycles: the young are collected less often, the old hardly ever. A full
#: collection over 100,000 rows takes 50 to 200 ms, in which no key is heard.
_THRESHOLDS: Final = (5_000, 20, 1_000)
#: Threads (the journal's reader, the terminal's writer) hold the interpreter for 5 ms at a time by default.
_SWITCH_S: Final = 0.001


def begin() -> None:
    """Take what the imports made out of sight, and let nothing be collected while the first screen is made."""
    gc.disable()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_S)


def settle() -> None:
    """Take a first load out of sight; from now on collect again, in small pieces.

    Nothing is collected first: that would hold the first keys for 150 ms, and there is next to nothing to find.
    """
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
