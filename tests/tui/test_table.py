"""The table on a screen: what a person sees and does while rows move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from textual import events
from textual.app import App, ComposeResult

from poolboard.engine.views import EventView
from poolboard.tui import theme
from poolboard.tui.columns import Cell, Column, Look
from poolboard.tui.event_log import MAX_EVENTS, EventLog
from poolboard.tui.rows import Rows
from poolboard.tui.shape import Shape
from poolboard.tui.table import Table
from poolboard.tui.text_pane import PaneLine, TextPane

from .conftest import seen


class Item(NamedTuple):
    n: int
    name: str
    weight: int = 0


SHAPE: Shape[Item] = Shape(
    key=lambda row: row.n, text=lambda row: row.name, fields={}, kinds={}, live=lambda row: False
)
COLUMNS: tuple[Column[Item], ...] = (
    Column("n", "#", lambda row, _: Cell(str(row.n)), 5, align="right"),
    Column("name", "name", lambda row, _: Cell(row.name), 10, flex=1, sort=lambda row, _: row.name),
    Column("weight", "weight", lambda row, _: Cell(str(row.weight)), 8, sort=lambda row, _: row.weight, down=True),
)


class ListApp(App[int]):
    """A table and a pane of text, in our look."""

    CSS_PATH = Path(theme.__file__).with_name("poolboard.tcss")

    def __init__(self) -> None:
        self._look = theme.load_themes()[theme.DEFAULT_THEME]
        super().__init__()
        self.register_theme(self._look.to_textual())
        self.theme = self._look.name
        self.table = Table(Rows[Item](SHAPE), COLUMNS, id="list", empty=("", "Nothing here. Press n."))
        self.entered: list[int | str] = []
        self.pane = TextPane(id="pane")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._look.variables()

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.pane

    def on_mount(self) -> None:
        self.table.focus()

    def on_table_entered(self, message: Table.Entered) -> None:
        self.entered.append(message.key)

    def take(self, *items: Item) -> None:
        self.table.rows.upsert(items)
        self.table.settle(Look())


def _line_of(app: ListApp, text: str) -> int:
    return next(y for y, line in enumerate(seen(app)) if text in line)


async def test_an_empty_list_says_what_to_do() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert any("Nothing here. Press n." in line for line in seen(app))
        app.take(Item(1, "first"))
        await pilot.pause()
        assert not any("Nothing here" in line for line in seen(app))
        assert any("first" in line for line in seen(app))


async def test_the_keys_that_terminal_people_know_move_the_cursor() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.take(*(Item(n, f"item {n}") for n in range(1, 101)))
        await pilot.pause()
        for keys, expected in ((["j", "down", "k"], 2), (["G"], 100), (["g"], 1), (["pagedown"], 10), (["ctrl+u"], 6)):
            await pilot.press(*keys)
            assert app.table.rows.cursor == expected, keys
        await pilot.press("end")
        assert "item 100" in "\n".join(seen(app))


async def test_a_click_selects_a_second_click_opens_and_the_header_sorts() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.take(*(Item(n, f"item {n}", weight=n % 5) for n in range(1, 9)))
        await pilot.pause()
        await pilot.click("#list", offset=(12, 4))
        assert app.table.rows.cursor == 4
        assert app.entered == []
        await pilot.click("#list", offset=(12, 4), times=2)
        assert app.entered == [4]
        await pilot.click("#list", offset=(_column(app, "weight"), 0))
        assert (app.table.rows.sorted_by, app.table.rows.reverse) == ("weight", True)
        assert app.table.rows.get(app.table.rows.key_at(0)) == Item(4, "item 4", 4)
        assert app.table.rows.cursor == 4
        assert "weight▼" in seen(app)[0]


def _column(app: ListApp, title: str) -> int:
    return seen(app)[0].index(title)


async def test_what_a_person_looks_at_stays_where_it_is_when_rows_come_above() -> None:
    """B56, of a list."""
    app = ListApp()
    async with app.run_test(size=(60, 30)) as pilot:
        app.table.choose_order("name")
        app.take(*(Item(n, f"m{n:03}") for n in range(100)))
        await pilot.press(*["pagedown"] * 3)
        await pilot.pause()
        name = f"m{app.table.rows.cursor:03}"
        before = _line_of(app, name)
        app.take(*(Item(n, f"a{n:03}") for n in range(100, 140)))
        await pilot.pause()
        assert _line_of(app, name) == before
        app.take(*(Item(n, f"z{n:03}") for n in range(100, 140)))
        await pilot.pause()
        assert _line_of(app, name) == before


async def test_at_the_very_top_new_rows_come_into_sight() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.table.choose_order("name")
        app.take(*(Item(n, f"m{n:03}") for n in range(3)))
        await pilot.pause()
        app.take(Item(50, "a-new-one"))
        await pilot.pause()
        assert "a-new-one" in seen(app)[1]
        assert app.table.rows.cursor == 0


async def test_only_lines_that_changed_are_painted_again() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 30)) as pilot:
        app.take(*(Item(n, f"item {n}") for n in range(1, 1001)))
        await pilot.pause()
        painted: list[int] = []
        render_line = app.table.render_line

        def counting(y: int) -> object:
            painted.append(y)
            return render_line(y)

        app.table.render_line = counting  # type: ignore[method-assign, assignment]
        app.take(Item(900, "out of sight"))
        await pilot.pause()
        assert painted == []
        app.take(Item(3, "in sight"))
        await pilot.pause()
        assert set(painted) == {3}
        app.table.settle(Look())
        await pilot.pause()
        assert set(painted) == {3}


@pytest.mark.parametrize("count", [20, 10_000])
async def test_a_child_that_lives_and_ends_in_sight_takes_a_line_for_each_change(count: int) -> None:
    """No quiet regressions: painted lines per child, whatever the number of its siblings."""
    app = ListApp()
    async with app.run_test(size=(60, 30)) as pilot:
        app.take(*(Item(n, f"item {n}") for n in range(1, count + 1)))
        await pilot.pause()
        painted: list[int] = []
        render_line = app.table.render_line

        def counting(y: int) -> object:
            painted.append(y)
            return render_line(y)

        app.table.render_line = counting  # type: ignore[method-assign, assignment]
        for state in ("waits", "runs", "is done"):
            app.take(Item(3, state))
            await pilot.pause()
        assert painted == [3, 3, 3]


@pytest.mark.parametrize("size", [(20, 8), (40, 12), (80, 24), (160, 48)])
async def test_every_line_fits_the_terminal(size: tuple[int, int]) -> None:
    app = ListApp()
    async with app.run_test(size=size) as pilot:
        app.take(*(Item(n, f"数据 item number {n} with a long name " * 3) for n in range(1, 101)))
        await pilot.pause()
        for y in range(app.table.size.height):
            assert app.table.render_line(y).cell_length == app.table.size.width


async def test_a_pasted_text_does_nothing_outside_a_text_box() -> None:
    """B47, pasting."""
    app = ListApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.take(*(Item(n, f"item {n}") for n in range(1, 9)))
        await pilot.pause()
        app.screen.post_message(events.Paste("jjjjG"))
        await pilot.pause()
        assert app.table.rows.cursor == 1


def _log(*numbers: int) -> list[PaneLine]:
    return [PaneLine(f"log line {n}.") for n in numbers]


async def test_a_reader_at_the_end_follows_and_one_who_scrolled_up_is_left_alone() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.pane.append(_log(*range(100)))
        await pilot.pause()
        assert any("log line 99." in line for line in seen(app))
        app.pane.focus()
        await pilot.press("pageup", "pageup")
        top = app.pane.scroll_offset.y
        for n in range(100, 150):
            app.pane.append(_log(n))
        await pilot.pause()
        assert app.pane.scroll_offset.y == top
        assert app.pane.behind == 50
        await pilot.press("end")
        assert app.pane.behind == 0
        app.pane.append(_log(150))
        await pilot.pause()
        assert any("log line 150." in line for line in seen(app))


async def test_a_log_without_end_keeps_its_last_lines_and_the_readers_place() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.pane.append(_log(*range(5000)))
        await pilot.pause()
        app.pane.focus()
        await pilot.press("pageup", "pageup")
        first = app.pane.render_line(0).text
        app.pane.append(_log(*range(5000, 5100)))
        await pilot.pause()
        assert app.pane.render_line(0).text == first
        assert app.pane.dropped == 100


async def test_long_lines_wrap_and_nothing_is_lost() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 24)) as pilot:
        app.pane.set_lines([PaneLine("abcdefghij" * 10 + "[/]")])
        await pilot.pause()
        shown = "".join(app.pane.render_line(y).text.strip() for y in range(4))
        assert shown == "abcdefghij" * 10 + "[/]"


TELLING: Shape[Item] = Shape(
    key=lambda row: row.n,
    text=lambda row: row.name,
    fields={},
    kinds={},
    live=lambda row: False,
    tells={"name": lambda row: row.name, "weight": lambda row: row.weight or None},
)
TOLD_COLUMNS = (COLUMNS[0], replace(COLUMNS[1], told=2), replace(COLUMNS[2], told=1))


async def test_a_column_appears_once_it_has_something_to_tell() -> None:
    app = ListApp()
    app.table = Table(Rows[Item](TELLING), TOLD_COLUMNS, id="list")
    async with app.run_test(size=(60, 20)) as pilot:
        app.take(Item(1, "same"), Item(2, "same"))
        await pilot.pause()
        assert seen(app)[0].split() == ["#"]
        app.take(Item(3, "other"))
        await pilot.pause()
        assert seen(app)[0].split() == ["#", "name"]
        app.take(Item(2, "same", 7))
        await pilot.pause()
        assert seen(app)[0].split() == ["#", "name", "weight"]


def event(seq: int) -> EventView:
    return EventView(seq, 1000 + seq, "StageCompleted" if seq % 2 else "WorkFailed", seq, 1, f'{{"n": {seq}}}')


class EventsApp(ListApp):
    """The list of events alone."""

    def __init__(self) -> None:
        super().__init__()
        self.log_of_events = EventLog(id="journal", ascii=False)

    def compose(self) -> ComposeResult:
        yield self.log_of_events

    def on_mount(self) -> None:
        self.log_of_events.table.focus()

    def come(self, first: int, last: int) -> None:
        self.log_of_events.take([event(seq) for seq in range(first, last + 1)], last)
        self.log_of_events.settle(Look())


def told(app: EventsApp) -> str:
    return "  ".join(piece.text for piece in app.log_of_events.note())


async def test_events_follow_at_the_end_and_stay_put_for_a_reader_who_went_up() -> None:
    """B56, of the events."""
    app = EventsApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.come(1, 100)
        await pilot.pause()
        assert '{"n": 100}' in seen(app)[-1] and told(app) == "100 events  follow: on"
        await pilot.press("pageup", "pageup")
        before = [line[:70].rstrip() for line in seen(app)]  # without the scrollbar, which tells how much there is
        app.come(101, 150)
        await pilot.pause()
        assert [line[:70].rstrip() for line in seen(app)] == before
        assert told(app) == "150 events  50 new events: G follows"
        await pilot.press("G")
        assert '{"n": 150}' in seen(app)[-1] and told(app) == "150 events  follow: on"
        app.come(151, 160)
        await pilot.pause()
        assert '{"n": 160}' in seen(app)[-1]


async def test_more_events_than_are_kept_leave_the_oldest_out_and_say_so() -> None:
    app = EventsApp()
    async with app.run_test(size=(80, 20)) as pilot:
        for first in range(1, MAX_EVENTS + 1001, 500):
            app.come(first, first + 499)
        await pilot.pause()
        assert told(app).startswith("showing 5,000 of 6,000 events")
        await pilot.press("g")
        assert '{"n": 1001}' in seen(app)[1]
