"""What is looked at and does not move costs nothing."""

from __future__ import annotations

import pytest

from poolboard.tui.app import PoolboardApp
from poolboard.tui.table import Table

from .conftest import NAMES, Recorded, says, until


async def test_a_finished_run_on_screen_paints_nothing_and_writes_nothing(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B43, counted: the CPU of a minute is the benchmark's."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id, read_only=True, hints=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.pause()
        before = {path: path.stat().st_mtime_ns for path in recorded.journal.parent.glob(f"{recorded.journal.name}*")}
        painted: list[int] = []
        render_line = Table.render_line

        def counting(table: Table[object], y: int) -> object:
            painted.append(y)
            return render_line(table, y)

        monkeypatch.setattr(Table, "render_line", counting)
        for _ in range(20):
            await pilot.pause()
        assert painted == []
        await pilot.press("down")
        await pilot.pause()
        assert painted, "what is counted is what paints"
        after = {path: path.stat().st_mtime_ns for path in before}
        assert after == before
