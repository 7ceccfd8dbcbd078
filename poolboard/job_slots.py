"""The numbered places of ``each -j N``, for ``{%}``: a lock file each, which a killed worker gives back."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

#: A place is free as soon as a pool slot is, but for the moment in which an earlier holder goes away.
POLL_S: Final = 0.02


@asynccontextmanager
async def job_slot(folder: Path, jobs: int) -> AsyncIterator[int]:
    """Hold the lowest free place, from 1 to ``jobs``."""
    folder.mkdir(mode=0o700, exist_ok=True)
    while (held := _take(folder, jobs)) is None:
        await asyncio.sleep(POLL_S)
    descriptor, number = held
    try:
        yield number
    finally:
        os.close(descriptor)


def _take(folder: Path, jobs: int) -> tuple[int, int] | None:
    for number in range(1, jobs + 1):
        descriptor = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        return descriptor, number
    return None
