"""A rig for every test of the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.rig import Rig


@pytest.fixture
async def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    """Return a rig in a folder of its own; its processes carry the folder's name in their environment."""
    monkeypatch.setenv("POOLBOARD_TEST_RIG", str(tmp_path))
    found = Rig(tmp_path)
    yield found
    await found.close()
