"""All keys of the screen below, what they do, and why some cannot be used now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from .action import Action, Scope
from .actions import in_scope
from .line import Line, Piece, Sides
from .text import wrap_words
from .text_pane import PaneLine, TextPane

#: Where the words begin: behind the keys.
_INDENT: Final = 15
_FILTER_HELP: Final = (
    "word         rows whose text holds it; all words must match",
    '"two words"  the words together',
    "state:failed by state; also stage: worker: error: workflow:",
    "took>5s      by duration (<, >); also starts>1 stages<3 n:17",
    "!word        the other way round, also !state:ready",
)


class HelpScreen(ModalScreen[None]):
    """Built from the registry, so that it cannot tell another story than the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", "close", show=False, id="help.close"),
    ]

    def __init__(self, scope: Scope, reason_now: Callable[[Action], str | None]) -> None:
        super().__init__()
        self._scope_name: Final = scope
        self._reasons: Final = {
            action.id: reason for action in (*in_scope(scope), *in_scope("table")) if (reason := reason_now(action))
        }

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Line(lambda cells: Sides([Piece("Keys", "bold")], [Piece("esc closes", "$quiet", 3, "close")]))
            yield TextPane(id="help-text")

    def on_mount(self) -> None:
        self.query_one(TextPane).focus()

    def on_resize(self) -> None:
        """The words are wrapped for the width, which is known only now."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        pane = self.query_one(TextPane)
        pane.set_lines(_wrapped(self.lines(), pane.size.width - 2))

    def lines(self) -> list[PaneLine]:
        """Return the help text for the scope that it was opened in."""
        lines = [PaneLine("On this screen", "title")]
        for action in in_scope(self._scope_name):
            lines += self._lines_of(action)
        lines += [PaneLine(""), PaneLine("In every list", "title")]
        for action in in_scope("table"):
            lines += self._lines_of(action)
        lines.append(PaneLine("  click        select, twice to open; on a column's title: sort by it"))
        lines += [PaneLine(""), PaneLine("Filter", "title")]
        lines += [PaneLine(f"  {line}") for line in _FILTER_HELP]
        lines += [PaneLine(""), PaneLine("Hold shift to select text with the mouse.", "quiet")]
        return lines

    def _lines_of(self, action: Action) -> list[PaneLine]:
        reason = self._reasons.get(action.id)
        line = PaneLine(f"  {action.all_keys:<12} {action.help}", "quiet" if reason else "")
        return [line, PaneLine(f"  {'':<12} (not now: {reason})", "quiet")] if reason else [line]

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.action_close()

    def action_close(self) -> None:
        self.dismiss(None)


def _wrapped(lines: Sequence[PaneLine], cells: int) -> list[PaneLine]:
    """Wrap between words, below the words and not below the keys."""
    return [line._replace(text=text) for line in lines for text in wrap_words(line.text, cells, _INDENT)]
