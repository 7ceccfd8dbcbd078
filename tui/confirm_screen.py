"""The question before something that cannot be taken back lightly. The default is No."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from .line import Line, Piece, Sides
from .text import visible


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``name`` names the thing itself (several by lines), ``yes`` and ``no`` what each answer does.

    ``danger`` says what cannot be taken back, empty where everything can.
    """

    title: str
    name: str
    lines: tuple[str, ...]
    yes: str
    no: str
    danger: str = ""


class ConfirmScreen(ModalScreen[bool]):
    """Asks; only ``y`` (or a click on it) says yes. Enter, ``n`` and esc say no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False, id="confirm.yes"),
        Binding("n,escape,enter,q", "answer(False)", "no", show=False, id="confirm.no"),
    ]

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question: Final = question

    def compose(self) -> ComposeResult:
        question = self.question
        with Vertical(classes="dialog"):
            yield Static(Content.assemble((question.title, "bold")), markup=False)
            names = "\n".join(map(visible, question.name.split("\n")))
            yield Static(Content(names), markup=False, classes="dialog--name")
            for line in question.lines:
                yield Static(Content(visible(line)), markup=False)
            if question.danger:
                danger = Content.assemble(("Danger", "bold $error"), f"  {visible(question.danger)}")
                yield Static(danger, markup=False, classes="dialog--danger")
            yield Line(self._answers, classes="dialog--answers")

    def _answers(self, cells: int) -> Sides:
        question = self.question
        return Sides(
            [
                Piece("y", "bold $error", 9, "yes"),
                Piece(f" {question.yes}", "", 9, "yes", glued=True),
                Piece("n", "bold $primary", 9, "no"),
                Piece(f" {question.no} (enter)", "", 9, "no", glued=True),
            ]
        )

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.dismiss(message.action == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
