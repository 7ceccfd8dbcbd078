"""How much is measured: little enough for ten minutes on two cores, or with ``FULL=1`` what the numbers deserve."""

from __future__ import annotations

import os


def is_full() -> bool:
    """Whether the environment asks for the large sizes."""
    return os.environ.get("FULL", "") not in ("", "0")
