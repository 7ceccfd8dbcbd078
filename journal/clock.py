"""The store's clock, as an SQL expression: ms since 1970 UTC. Needs SQLite 3.42, which every fixed one is beyond."""

from __future__ import annotations

from typing import Final

NOW_MS: Final = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
