"""What an action is: a key, words, and a function that says why it cannot be used now. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from poolboard.engine.views import RunView

Scope = Literal["app", "runs", "board", "child", "table"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the person is looking at: ``run`` is the run that an action would act on, None if there is none.

    ``root``: this is the first screen, leaving it ends the dashboard. ``workers``: how many the run has or is to get.
    ``view``: the tab in front. ``searched``: something is looked for in the log.
    ``ranging``: moving the cursor marks. ``guest``: they sit at a browser, not at this machine.
    ``reading``: there is a run, but nothing of it has been read yet.
    """

    run: RunView | None = None
    read_only: bool = False
    has_row: bool = False
    frozen: bool = False
    root: bool = False
    workers: int = 0
    view: str = ""
    searched: bool = False
    ranging: bool = False
    guest: bool = False
    reading: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do. ``reason`` says in a few words why not now, None if it can be done.

    ``call`` is the Textual action (of the list in front for the scope ``table``); ``bound`` is False for a key that
    Textual itself hands on; ``label_of`` overrides the label where a key toggles. ``rank`` orders the key bar
    (lower stays longer); None keeps it out of the bar, not out of the help.
    """

    id: str
    keys: str
    label: str
    help: str
    scopes: tuple[Scope, ...]
    call: str = ""
    rank: int | None = None
    confirm: bool = False
    bound: bool = True
    reason: Callable[[Situation], str | None] = lambda situation: None
    label_of: Callable[[Situation], str] | None = None

    @property
    def key(self) -> str:
        """The key that the bar and the help name first."""
        return key_name(self.keys.split(",")[0])

    @property
    def all_keys(self) -> str:
        """Every key, as the help lists them."""
        return " ".join(key_name(key) for key in self.keys.split(","))

    def label_now(self, situation: Situation) -> str:
        """Return what the key does in this situation."""
        return self.label_of(situation) if self.label_of else self.label


_KEY_NAMES: Final = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "escape": "esc",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "down": "↓",
    "up": "↑",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "plus": "+",
    "minus": "-",
    "asterisk": "*",
    "vertical_line": "|",
    "shift+down": "⇧↓",
    "shift+up": "⇧↑",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}


def key_name(key: str) -> str:
    """Return how a key is written on screen: ``?``, ``esc``, ``^p``."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _KEY_NAMES.get(key, key)
