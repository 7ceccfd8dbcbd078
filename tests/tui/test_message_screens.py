"""Messages on the board: writing one, the list of them, one in full; of a real run, or of bounded views."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from poolboard.engine.views import MessagesView, MessageView, RecipientView
from poolboard.tui.app import PoolboardApp
from poolboard.tui.columns import Look
from poolboard.tui.message_board import MessageBoard
from poolboard.tui.message_list import MESSAGE_SHAPE, recipients, sender, state, target
from poolboard.tui.message_screen import MessageScreen
from poolboard.tui.pace import Pace
from poolboard.tui.query import parse

from .conftest import says, seen, until

LISTENING = """
from poolboard import Context, workflow


@workflow
async def one(ctx: Context, name: str) -> list[object]:
    async for message in ctx.messages():
        return [name, message.value]
    return []


@workflow
async def several(ctx: Context) -> list[list[object]]:
    return await ctx.map(one, ["[red]a", "b"])
"""


@pytest.fixture
def listening(poolboard: Callable[..., object], tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "listening.py").write_text(LISTENING)
    journal = tmp_path / "journal.sqlite"
    words = ("--workers", "1", "--detach", "--json", "--journal", str(journal))
    answer = poolboard("run", "listening.py:several", *words, cwd=tmp_path)
    assert getattr(answer, "code", None) == 0, answer
    return journal, json.loads(getattr(answer, "out", ""))["run_id"]


def both_wait(pilot: Pilot[int]) -> Callable[[], bool]:
    return lambda: sum("◌" in line for line in seen(pilot.app)) == 2


async def write(pilot: Pilot[int], text: str, *before: str) -> None:
    await pilot.press("m")
    await until(pilot, says(pilot, "Send a message in"), "the question")
    await pilot.press(*before, *("space" if letter == " " else letter for letter in text), "enter")


@pytest.mark.slow
async def test_a_message_is_written_sent_and_seen_with_what_became_of_it(listening: tuple[Path, str]) -> None:
    journal, run_id = listening
    app = PoolboardApp(str(journal), run_id, pace=Pace(lists_s=0.0))
    async with app.run_test(size=(130, 30), notifications=True) as pilot:
        await until(pilot, both_wait(pilot), "children that wait for messages")
        await pilot.press("9")
        await until(pilot, says(pilot, "No messages yet"), "an empty list")
        await write(pilot, "hello", "up", *"child-1*", "down", "tab")
        await until(pilot, says(pilot, "to child-1*: 1 there now"), "the answer")
        await until(pilot, says(pilot, "1 taken"), "the child to take it")
        assert any("child-1*" in line and "follow up" in line and '"hello"' in line for line in seen(app))
        await pilot.press("enter")
        await until(pilot, says(pilot, "child #1: taken at"), "the message in full")
        await pilot.press("escape", "1")
        await until(pilot, says(pilot, "1 of 2"), "one child done")
        await write(pilot, "x", "up", *(["backspace"] * 8), *"2", "down")
        await until(pilot, says(pilot, "✓ completed"), "the end")
        await pilot.press("m")
        await until(pilot, says(pilot, "the run is completed"), "why not")


@pytest.mark.slow
async def test_leaving_the_question_sends_nothing(listening: tuple[Path, str]) -> None:
    journal, run_id = listening
    app = PoolboardApp(str(journal), run_id, pace=Pace(lists_s=0.0))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, both_wait(pilot), "children that wait for messages")
        await pilot.press("m")
        await until(pilot, says(pilot, "Send a message in"), "the question")
        await pilot.press("enter", *"no", "escape", "9")
        await until(pilot, says(pilot, "No messages yet"), "an empty list")
        await pilot.press("slash", *"to:a", "enter")
        await until(pilot, says(pilot, "No message matches the filter"), "the filter of this list")
        await pilot.press("escape")
        await until(pilot, says(pilot, "No messages yet"), "an empty list again")


def message(number: int, **changed: object) -> MessageView:
    values: dict[str, object] = {
        "number": number,
        "sent_at": 1_700_000_000_000,
        "sender": None,
        "by": "ann",
        "target": "child-*/**",
        "stage": None,
        "mode": "steer",
        "open": True,
        "delivered": 0,
        "taken": 0,
        "undeliverable": 0,
        "recipients": (),
        "value": '"[red]\\u202e"',
    }
    return MessageView(**{**values, **changed})  # type: ignore[arg-type]


def test_m17_a_row_names_five_recipients_and_counts_the_others() -> None:
    five = tuple(RecipientView(n, "delivered", 1) for n in range(1, 6))
    row = message(1, delivered=160, recipients=five)
    assert recipients(row).endswith("#5 delivered, 155 more")
    assert (state(row), sender(row), target(row)) == ("open", "ann", "child-*/**")


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (message(1), "waits"),
        (message(1, undeliverable=1, taken=3), "undeliverable"),
        (message(1, open=False, taken=3), "taken"),
        (message(1, open=False), "ended"),
    ],
)
def test_a_message_says_in_a_word_how_it_stands(row: MessageView, word: str) -> None:
    assert state(row) == word


def test_m17_of_8000_messages_a_hundred_are_listed_and_all_are_counted() -> None:
    board = MessageBoard(id="messages", ascii=False)
    board.take(MessagesView(tuple(message(n) for n in range(100)), 8_000, 12, 7, 9, 3))
    words = [piece.text for piece in board.note()]
    assert words == ["showing 100 of 8,000 messages", "3 undeliverable", "12 open", "7 unread", "9 taken"]


def test_who_sent_is_a_run_the_root_a_person_or_the_pool() -> None:
    rows = [message(1, sender=4), message(2, sender=0), message(3), message(4, by=None, undeliverable_of=1)]
    assert [sender(row) for row in rows] == ["#4", "root", "ann", "the pool"]


async def test_a_value_of_hostile_text_is_shown_and_never_obeyed(listening: tuple[Path, str]) -> None:
    journal, run_id = listening
    app = PoolboardApp(str(journal), run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        app.push_screen(MessageScreen(message(1, target="[@click=app.quit]x[/]", value='"\\u001b]0;PWN\\u0007[red]"')))
        await until(pilot, says(pilot, "[@click=app.quit]x[/]"), "the target as it is")
        assert says(pilot, "[red]")()


class Listed(App[None]):
    """The list of messages alone."""

    def __init__(self) -> None:
        super().__init__()
        self.board = MessageBoard(id="messages", ascii=False)

    def compose(self) -> ComposeResult:
        yield self.board


async def test_the_list_of_messages_is_filtered_by_field_and_says_so() -> None:
    app, look = Listed(), Look()
    async with app.run_test(size=(120, 20)):
        rows = (message(1, open=False, taken=1), message(2, sender=4), message(3, target="child-7"))
        app.board.take(MessagesView(rows, 3, 2, 0, 1, 0))
        for text, numbers in (
            ("from:#4", [2]),
            ("to:child-7", [3]),
            ("state:taken", [1]),
            ("nobody", []),
            ("", [3, 2, 1]),
        ):
            app.board.filter_by(parse(text, MESSAGE_SHAPE.kinds), text, look)
            assert app.board.table.rows.keys(0, 9) == numbers, text
            words = [piece.text for piece in app.board.note()]
            assert (f"filter {text}" in words) == bool(text)
            assert (f"showing {len(numbers)} of 3 messages" in words) == bool(text)
