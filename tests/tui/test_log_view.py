"""The log on screen: what a reader sees of a file of any size, while it grows."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from poolboard.engine.monitor import Monitor
from poolboard.tui import theme
from poolboard.tui.filter_bar import FilterInput
from poolboard.tui.line import Line, Sides
from poolboard.tui.log_chain import Link
from poolboard.tui.log_lines import needle
from poolboard.tui.log_view import LogView
from poolboard.tui.text_pane import MAX_LINES
from poolboard.tui.units import clock_time

from .conftest import says, seen, until


class CountingMonitor(Monitor):
    """The real monitor, which also counts the bytes that it was asked for."""

    read_bytes = 0

    async def read_log(self, path: str, offset: int = 0, limit: int = 262_144) -> bytes:
        data = await super().read_log(path, offset, limit)
        self.read_bytes += len(data)
        return data


class LogApp(App[int]):
    """A log under the line that tells of it."""

    CSS_PATH = Path(theme.__file__).with_name("poolboard.tcss")

    def __init__(self, path: Path) -> None:
        self._look = theme.load_themes()[theme.DEFAULT_THEME]
        super().__init__()
        self.register_theme(self._look.to_textual())
        self.theme = self._look.name
        self.path = path
        self.monitor = CountingMonitor(path.parent / "none.sqlite", None)
        self.log_view = LogView(self.monitor, lambda: self.now_ms, id="log")
        self.said: list[str] = []
        self.now_ms = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._look.variables()

    def compose(self) -> ComposeResult:
        yield Line(id="note")
        yield self.log_view

    def on_mount(self) -> None:
        self.log_view.open([Link(str(self.path), self.path.stat().st_size, "log")])
        self.log_view.pane.focus()

    def on_log_view_changed(self, message: LogView.Changed) -> None:
        for line in self.query("#note").results(Line):
            line.show(lambda cells: Sides(self.log_view.note()))

    def on_log_view_said(self, message: LogView.Said) -> None:
        self.said.append(message.text)

    async def on_unmount(self) -> None:
        await self.monitor.close()

    def write(self, text: str) -> None:
        with self.path.open("a") as file:
            file.write(text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.log"


def lines_of(app: LogApp) -> list[str]:
    return [line.strip() for line in seen(app)[1:] if line.strip()]


async def typed(pilot: Pilot[int], text: str) -> None:
    app = pilot.app
    assert isinstance(app, LogApp)
    app.log_view.search()
    await pilot.press(*text, "enter")


async def test_a_huge_file_opens_at_its_end_and_reads_a_small_part_of_it(path: Path) -> None:
    with path.open("wb") as file:
        for block in range(30):
            file.write(b"".join(b"line %d of block %d, some words\n" % (n, block) for n in range(30_000)))
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "line 29999 of block 29"), "the last line")
        assert app.monitor.read_bytes < 3_000_000 < path.stat().st_size // 8
        await pilot.press("g")
        await until(pilot, lambda: "line 29999 of block 29" not in "".join(seen(app)), "earlier lines")
        assert len(app.log_view.pane._lines) <= MAX_LINES
        await pilot.press("G")
        await until(pilot, says(pilot, "line 29999 of block 29"), "the last line again")


async def test_a_line_of_five_megabytes_is_cut_and_the_next_one_is_there(path: Path) -> None:
    path.write_bytes(b"before\n" + b"x" * 5_000_000 + b"\nafter\n")
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "after"), "the last line")
        app.log_view.pane.turn_wrap()
        await until(pilot, says(pilot, "before"), "the first line")
        app.log_view.pane.turn_wrap()
        await until(pilot, says(pilot, "5.0 MB in this line"), "how long it is")


async def test_a_progress_bar_without_a_line_end_is_seen_as_it_stands(path: Path) -> None:
    path.write_bytes(b"start\n" + b"\r".join(b"%d%%" % n for n in range(100_000)))
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "99999%  (99,999 overwritten)"), "its last state")
        app.write("\rdone\nnext\n")
        await until(pilot, says(pilot, "next"), "the next line")
        assert any("done  (100,000 overwritten)" in line for line in seen(app))


async def test_a_reader_who_scrolled_up_stays_there_and_is_told_what_came(path: Path) -> None:
    """B56, of a log."""
    path.write_text("".join(f"line {n}\n" for n in range(200)))
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "line 199"), "the end")
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        top = seen(app)[1]
        app.write("".join(f"new {n}\n" for n in range(50)))
        await until(pilot, says(pilot, "50 new lines: G follows"), "the notice")
        assert seen(app)[1] == top
        await pilot.press("end")
        await until(pilot, says(pilot, "new 49"), "the end")
        await until(pilot, says(pilot, "follow: on"), "to follow again")
        app.write("one more\n")
        await until(pilot, says(pilot, "one more"), "the newest line")


async def test_the_filter_holds_over_every_toggle_and_takes_in_new_lines(path: Path) -> None:
    """B55, in one log."""
    path.write_text("".join(f"err {n // 80}\n" if n % 80 == 7 else f"fine {n}\n" for n in range(960)))
    app = LogApp(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await until(pilot, says(pilot, "fine 959"), "the end")
        await typed(pilot, "err")
        app.log_view.turn_only()
        await until(pilot, says(pilot, "12 matching lines"), "the count")
        expected = [f"err {n}" for n in range(12)]
        assert lines_of(app)[:12] == expected
        for toggle in (app.log_view.pane.turn_wrap, app.log_view.pane.turn_wrap, app.log_view.pane.action_top):
            toggle()
            await pilot.pause()
            assert lines_of(app)[:12] == expected
        app.write("fine\nERR 12\n")
        await until(pilot, says(pilot, "13 matching lines"), "the new line")
        assert lines_of(app)[:13] == [*expected, "ERR 12"]
        app.log_view.turn_only()
        await until(pilot, says(pilot, "fine 959"), "everything again")
        app.log_view.turn_only()
        await until(pilot, says(pilot, "13 matching lines"), "the same filter")
        assert app.query_one(FilterInput).value == "err"


async def test_n_goes_from_match_to_match_through_the_whole_file(path: Path) -> None:
    filler = "".join(f"nothing {n}\n" for n in range(9000))
    path.write_text(filler + "needle one\n" + filler + "needle two\n" + filler)
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "nothing 8999"), "the end")
        await typed(pilot, "needle")
        await until(pilot, says(pilot, "needle two"), "the last match first: the reader is at the end")
        app.log_view.jump(needle("needle"), -1)
        await until(pilot, says(pilot, "needle one"), "the one before")
        app.log_view.jump(needle("needle"), 1)
        await until(pilot, says(pilot, "needle two"), "the next")
        app.log_view.jump(needle("needle"), 1)
        await until(pilot, says(pilot, "needle one"), "the first, round the end")
        assert app.said == ["found from the other end on"]
        app.log_view.jump(needle("not there"), 1)
        await until(pilot, lambda: app.said[-1] == "nothing found in this log", "the notice")


async def test_the_next_error_is_one_key_away(path: Path) -> None:
    filler = "".join(f"nothing {n}\n" for n in range(300))
    path.write_text(filler + "ValueError: bad\n" + filler)
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "nothing 299"), "the end")
        app.log_view.jump_to_error(-1)
        await until(pilot, says(pilot, "ValueError: bad"), "the error")


async def test_a_log_that_is_gone_is_an_empty_one(path: Path) -> None:
    path.write_text("here\n")
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "here"), "the line")
        path.unlink()
        app.log_view.open([Link(str(path), 5, "log")])
        await until(pilot, lambda: lines_of(app) == [], "nothing")


async def test_two_attempts_are_read_as_one_with_a_line_before_each_and_only_ours_is_a_title(tmp_path: Path) -> None:
    first, second = tmp_path / "1.log", tmp_path / "2.log"
    first.write_text("one\n── weigh, attempt 9 ──\nno end")
    second.write_text("two\n")
    app = LogApp(second)
    async with app.run_test(size=(80, 20)) as pilot:
        links = [Link(str(path), path.stat().st_size, f"weigh, attempt {path.stem}") for path in (first, second)]
        app.log_view.open(links)
        await until(pilot, says(pilot, "── weigh, attempt 2 ──"), "the second attempt")
        shown = [line.text for line in app.log_view.pane._lines]
        assert shown == [
            "── weigh, attempt 1 ──",
            "one",
            "── weigh, attempt 9 ──",
            "no end",
            "── weigh, attempt 2 ──",
            "two",
        ]
        tones = [line.tone for line in app.log_view.pane._lines]
        assert tones == ["title", "", "", "", "title", ""]
        app.write("three\n")
        await until(pilot, says(pilot, "three"), "what comes to the last one")


async def test_a_line_that_comes_has_the_time_when_it_was_seen_and_an_older_one_none(tmp_path: Path) -> None:
    """B55: what is filtered by stays in force while times and wrapping are turned on and off."""
    path = tmp_path / "a.log"
    path.write_text("old err 1\nold fine\n")
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "old fine"), "the file")
        app.now_ms = 1_800_000_000_000
        app.write("new err 2\n")
        await until(pilot, says(pilot, "new err 2"), "the new line")
        app.log_view.turn_stamps()
        await until(pilot, says(pilot, "times: when seen here"), "what the times are")
        lines = seen(app)
        stamp = clock_time(app.now_ms, app.now_ms)
        assert any(f"{stamp}  new err 2" in line for line in lines)
        assert any(line.startswith("           old err 1") for line in lines)
        app.log_view.search()
        await pilot.press(*"err", "enter")
        app.log_view.turn_only()
        await until(pilot, says(pilot, "2 matching lines"), "the matches")
        for turn in (app.log_view.turn_stamps, app.log_view.pane.turn_wrap, app.log_view.turn_stamps):
            turn()
            await pilot.pause()
            assert [line.text[-5:] for line in app.log_view.pane._lines] == ["err 1", "err 2"]
        app.write("new err 3\n")
        await until(pilot, says(pilot, "3 matching lines"), "the third match")
        assert says(pilot, "only err")()


async def test_a_log_is_saved_as_it_came_or_what_matches_and_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    raw = b"one err\x1b[2J\r\ntwo\nthree err\n\xff no end"
    path.write_bytes(raw)
    app = LogApp(path)
    async with app.run_test(size=(80, 20)) as pilot:
        await until(pilot, says(pilot, "three err"), "the file")
        await until(pilot, says(pilot, "no end"), "the unfinished line")
        assert await app.log_view.write_to(tmp_path / "copy.log") == len(raw)
        assert (tmp_path / "copy.log").read_bytes() == raw
        with pytest.raises(FileExistsError):
            await app.log_view.write_to(tmp_path / "copy.log")
        app.log_view.text, app.log_view.only = "err", True
        await app.log_view.write_to(tmp_path / "matches.log")
        assert (tmp_path / "matches.log").read_bytes() == b"one err\x1b[2J\r\nthree err\n"
        assert "\x1b" not in app.log_view.copied()
