"""The card of one question: what is asked, by whom, and how to answer. Hostile text is shown, never obeyed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import ClassVar, Final, Literal, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from poolboard.engine.views import PromptView

from .clock import Clock
from .columns import Cell, Column, Look
from .key_guard import KeyGuard
from .limit_list import person
from .line import Line, Piece, Sides
from .rows import Rows
from .shape import Shape
from .table import Table
from .text import lines, visible
from .units import age

#: ``answered``: go on to the next question; ``later``: leave it open.
Outcome = Literal["answered", "later"]
#: Sends an answer; raises what says that it does not fit.
Send = Callable[[str], Awaitable[object]]

_MOST_LINES: Final = 12
_MOST_REFUSAL: Final = 600


class Choice(NamedTuple):
    """One choice with its number."""

    number: int
    label: str


_SHAPE: Final[Shape[Choice]] = Shape(
    key=lambda row: row.number, text=lambda row: row.label, fields={}, kinds={}, live=lambda row: False
)
_COLUMNS: Final[tuple[Column[Choice], ...]] = (
    Column("number", "", lambda row, _: Cell(str(row.number), "quiet"), 3, align="right"),
    Column("label", "choice", lambda row, _: Cell(row.label), 12, flex=1),
)


class AnswerInput(Input):
    """Takes every letter; enter sends, esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.later", "later", show=False, id="answer.later")]


class PromptScreen(ModalScreen[Outcome]):
    """Asks. Until ``KeyGuard`` opens no key answers, whatever was held down when the card appeared."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm(True)", "yes", show=False, id="prompt.yes"),
        Binding("n", "confirm(False)", "no", show=False, id="prompt.no"),
        Binding("enter", "enter", "choose", show=False, id="prompt.enter"),
        Binding("escape", "later", "later", show=False, id="prompt.later"),
    ]

    def __init__(self, prompt: PromptView, short_id: str, send: Send, clock: Clock, *, ascii: bool) -> None:
        super().__init__()
        self.prompt: Final = prompt
        self._short_id, self._send_on, self._clock = short_id, send, clock
        self._guard: Final = KeyGuard(clock.steady_s())
        self._refusal = ""
        self._sending = False
        self._choices = Table(Rows[Choice](_SHAPE), _COLUMNS, id="choices", ascii=ascii, plain=True)

    def compose(self) -> ComposeResult:
        prompt = self.prompt
        with Vertical(classes="dialog"):
            yield Line(self._heading)
            yield Static(Content("\n".join(lines(prompt.message, _MOST_LINES))), markup=False, classes="dialog--name")
            if prompt.kind == "select":
                yield self._choices
            elif prompt.kind == "text":
                yield AnswerInput(value=str(self._default or ""), id="answer", compact=True, select_on_focus=True)
            yield Static("", markup=False, id="refusal", classes="dialog--danger")
            yield Line(self._answers, classes="dialog--answers", id="answers")

    def on_mount(self) -> None:
        if self.prompt.kind == "select":
            choices = [Choice(number, label) for number, label in enumerate(self.prompt.choices, 1)]
            self._choices.rows.replace(choices)
            if self._default in self.prompt.choices:
                self._choices.rows.cursor = self.prompt.choices.index(str(self._default)) + 1
            self._choices.settle(Look())
        self._watch_guard()

    # -- held keys

    def on_key(self, event: events.Key) -> None:
        self._guard.key(self._clock.steady_s())

    def _watch_guard(self) -> None:
        """Give the keys to the card once none has come for a moment."""
        now_s = self._clock.steady_s()
        if not self._guard.look(now_s):
            self.set_timer(max(0.01, self._guard.left_s(now_s)), self._watch_guard)
            return
        if self.prompt.kind == "select":
            self._choices.focus()
        elif self.prompt.kind == "text":
            self.query_one(AnswerInput).focus()
        self.refresh_bindings()
        self.query_one("#answers", Line).show(self._answers)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "confirm" and self.prompt.kind != "confirm":
            return False
        return self._guard.open or action not in ("confirm", "enter", "later")

    # -- what is shown

    @property
    def _default(self) -> object:
        return None if self.prompt.default is None else json.loads(self.prompt.default)

    def _heading(self, cells: int) -> Sides:
        prompt = self.prompt
        left = [
            Piece("?", "bold $state-asking", 9),
            Piece(f"{person(prompt.n)} asks", "bold", 9),
            Piece(prompt.label, "", 6, elastic=True),
            Piece(f"run {self._short_id}", "$quiet", 4),
        ]
        if prompt.stage:
            left.append(Piece(f"after {prompt.stage}", "$quiet", 3))
        return Sides(left, [Piece(age((self._clock.wall_ms() - prompt.asked_at) / 1000), "$quiet", 2)])

    def _answers(self, cells: int) -> Sides:
        if not self._guard.open:
            return Sides([Piece("…", "$quiet", 9)])
        if self._sending:
            return Sides([Piece("sending…", "$quiet", 9)])
        later = [Piece("esc", "bold $primary", 8, "later"), Piece(" later", "", 8, "later", glued=True)]
        if self.prompt.kind == "confirm":
            default = {True: " (enter)", False: ""}
            return Sides(
                [
                    Piece("y", "bold $primary", 9, "yes"),
                    Piece(f" yes{default[self._default is True]}", "", 9, "yes", glued=True),
                    Piece("n", "bold $primary", 9, "no"),
                    Piece(f" no{default[self._default is False]}", "", 9, "no", glued=True),
                    *later,
                ]
            )
        words = " choose" if self.prompt.kind == "select" else " send"
        return Sides([Piece("enter", "bold $primary", 9, "send"), Piece(words, "", 9, "send", glued=True), *later])

    # -- what the person does

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        if message.action == "later":
            self.dismiss("later")
        elif message.action == "send":
            self._send_current()
        else:
            self._answer(message.action)

    def action_later(self) -> None:
        self.dismiss("later")

    def action_confirm(self, yes: bool) -> None:
        self._answer("yes" if yes else "no")

    def action_enter(self) -> None:
        """Enter chooses, or takes the default of a yes-or-no question; one without a default wants a word."""
        if self.prompt.kind != "confirm":
            self._send_current()
        elif self._default is not None:
            self._answer("yes" if self._default else "no")

    def on_table_entered(self, message: Table.Entered) -> None:
        message.stop()
        self._send_current()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._send_current()

    def _send_current(self) -> None:
        if self.prompt.kind == "text":
            self._answer(self.query_one(AnswerInput).value)
        elif (row := self._choices.current()) is not None:
            self._answer(row.label)

    def _answer(self, text: str) -> None:
        if self._guard.open and not self._sending:
            self._sending = True
            self.query_one("#answers", Line).show(self._answers)
            self.run_worker(self._deliver(text), group="answer", exit_on_error=False)

    async def _deliver(self, text: str) -> None:
        try:
            await self._send_on(text)
        except Exception as error:  # whatever hinders it, the person is told and may try again
            self._sending = False
            refusal = visible(str(error) or type(error).__name__)[:_MOST_REFUSAL]
            self.query_one("#refusal", Static).update(Content(refusal))
            self.query_one("#answers", Line).show(self._answers)
        else:
            self.dismiss("answered")
