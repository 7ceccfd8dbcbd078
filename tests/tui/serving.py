"""``poolboard serve`` in a process of its own, for the tests that look through its door."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .conftest import ROOT, Recorded


@dataclass(frozen=True)
class Served:
    """A server and the address that it told."""

    process: subprocess.Popen[str]
    url: str

    @property
    def outside(self) -> str:
        """The address without its token."""
        return self.url.removesuffix("/").rpartition("/")[0]

    @property
    def token(self) -> str:
        """What the address ends with."""
        return self.url.removesuffix("/").rpartition("/")[2]


@contextmanager
def serving(recorded: Recorded, *words: str) -> Iterator[Served]:
    """Serve the recorded journal until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "poolboard", "serve", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "POOLBOARD_JOURNAL": str(recorded.journal)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().strip()
        assert url, process.stderr.read()
        yield Served(process, url)
    finally:
        process.terminate()
        process.communicate(timeout=60)
