"""One monitor for one command."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from poolboard.engine.monitor import Monitor


@asynccontextmanager
async def opened(journal: str | None) -> AsyncIterator[Monitor]:
    """Open the journal's monitor and close it afterwards; raises JournalUnusable."""
    monitor = await Monitor.open(journal)
    try:
        yield monitor
    finally:
        await monitor.close()


def person() -> str:
    """Return who asks, for the journal."""
    return os.environ.get("USER") or os.environ.get("LOGNAME") or f"uid {os.getuid()}"
