"""What wakes a screen, where the system cannot watch."""

from __future__ import annotations

from pathlib import Path

from poolboard.engine.watch import FolderWatch


async def test_where_watching_fails_it_says_so_once_and_the_screen_goes_on_by_polling(tmp_path: Path) -> None:
    """B53: the watch raises what it raises without inotify instances, an OSError; nothing else of it is tried again."""
    watch = FolderWatch(tmp_path / "nothing")
    while watch.notice is None:
        assert not await watch.wait(0.01)
    said = watch.notice
    assert said.startswith("live watch unavailable, polling (")
    # Of an hour that it was asked to wait: without polling this test ends by its time limit.
    assert not await watch.wait(3600)
    assert watch.notice == said
    await watch.close()
