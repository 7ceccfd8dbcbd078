"""The filter's text box: live while typing; enter keeps it, esc clears it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from .query import Query, parse
from .text import visible


class FilterInput(Input):
    """Takes every letter; only esc and enter leave it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", "clear", show=False, id="filter.drop")]

    @dataclass
    class Dropped(Message):
        """The person does not want to filter any more."""

    def action_drop(self) -> None:
        self.post_message(self.Dropped())


class FilterBar(Horizontal):
    """Hidden until it is opened. Tells the screen about every change of what is asked for."""

    @dataclass
    class Changed(Message):
        """The filter asks for other rows now."""

        query: Query
        text: str

    @dataclass
    class Left(Message):
        """The text box was left; the list should have the focus again."""

    def __init__(self, kinds: Mapping[str, str], *, id: str) -> None:
        super().__init__(id=id)
        self._kinds: Final = kinds

    def compose(self) -> ComposeResult:
        yield Static(Content("/"), classes="filter--sign", markup=False)
        yield FilterInput(compact=True, max_length=500, select_on_focus=False)
        yield Static("", classes="filter--problem", markup=False)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.query_one(FilterInput).value

    @property
    def typing(self) -> bool:
        """Say whether keys go into the text box."""
        return self.query_one(FilterInput).has_focus

    def open(self) -> None:
        """Show the bar and type into it."""
        self.add_class("-open")
        self.query_one(FilterInput).focus()

    def ask(self, text: str) -> None:
        """Filter by this text, as if it had been typed and left with enter."""
        self.add_class("-open")
        self.query_one(FilterInput).value = text

    def drop(self) -> None:
        """Forget the filter and hide the bar."""
        self.query_one(FilterInput).value = ""
        self.remove_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        query = parse(event.value, self._kinds)
        problem = visible("; ".join(query.problems))
        self.query_one(".filter--problem", Static).update(Content(problem))
        self.post_message(self.Changed(query, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value:
            self.remove_class("-open")
        self.post_message(self.Left())

    def on_filter_input_dropped(self, message: FilterInput.Dropped) -> None:
        message.stop()
        self.drop()
        self.post_message(self.Left())
