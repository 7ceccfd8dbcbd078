"""The one registry of actions: it feeds the bindings, the key bar, the help, the palette and the confirmations.

Knows no widget: an action is a key, words, and a function that says why it cannot be used now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from textual.binding import Binding

from poolboard.engine.views import RunView, ShownStatus

Scope = Literal["app", "runs", "board", "child", "table"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the person is looking at: ``run`` is the run that an action would act on, None if there is none.

    ``root``: this is the first screen, leaving it ends the dashboard.
    """

    run: RunView | None = None
    read_only: bool = False
    has_row: bool = False
    frozen: bool = False
    root: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do. ``reason`` says in a few words why not now, None if it can be done.

    ``call`` is the Textual action; ``label_of`` overrides the label where a key toggles. ``rank`` orders the key bar
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
}


def key_name(key: str) -> str:
    """Return how a key is written on screen: ``?``, ``esc``, ``^p``."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _KEY_NAMES.get(key, key)


_PAUSABLE: Final[frozenset[ShownStatus]] = frozenset({"pending", "running", "waiting", "awaiting_input"})
_STOPPABLE: Final[frozenset[ShownStatus]] = _PAUSABLE | {"pausing", "paused", "blocked"}
_RESUMABLE: Final[frozenset[ShownStatus]] = frozenset({"pausing", "paused", "stopped", "crashed"})


def _needs_run(situation: Situation) -> str | None:
    if situation.read_only:
        return "read-only"
    return None if situation.run is not None else "no run is selected"


def wants_resume(situation: Situation) -> bool:
    """Say whether the pause key resumes now."""
    run = situation.run
    return run is not None and (run.status in _RESUMABLE or (run.status == "blocked" and run.resumable))


def _no_pause(situation: Situation) -> str | None:
    run = situation.run
    if run is None or situation.read_only:
        return _needs_run(situation)
    if run.status in _PAUSABLE or run.status in ("pausing", "paused"):
        return None
    if wants_resume(situation):
        return None if run.resumable else f"the run is {run.status} and cannot be resumed"
    return f"the run is {run.status}"


def _no_stop(situation: Situation) -> str | None:
    run = situation.run
    if run is None or situation.read_only:
        return _needs_run(situation)
    if run.status in _STOPPABLE:
        return None
    return f"the run is {run.status}" + (": nothing is running" if run.status == "crashed" else "")


def _no_row(situation: Situation) -> str | None:
    return None if situation.has_row else "the list is empty"


_ALL: Final[tuple[Scope, ...]] = ("runs", "board", "child")
_LISTS: Final[tuple[Scope, ...]] = ("runs", "board")

ACTIONS: Final[tuple[Action, ...]] = (
    Action(
        "pause",
        "p",
        "pause",
        "pause the run at the next stage boundaries, or resume it",
        _LISTS,
        rank=2,
        reason=_no_pause,
        label_of=lambda now: "resume" if wants_resume(now) else "pause",
    ),
    Action(
        "stop",
        "x",
        "stop",
        "stop the run (asks first); it can be resumed later",
        _LISTS,
        rank=3,
        confirm=True,
        reason=_no_stop,
    ),
    Action("enter", "enter", "open", "open what the cursor is on", _LISTS, rank=1, reason=_no_row, call="enter"),
    Action(
        "back",
        "escape",
        "back",
        "clear the filter, then the marks, then go back; never quits",
        _ALL,
        rank=6,
        call="back",
    ),
    Action("filter", "slash", "filter", "filter the list: words, state:failed, took>5s, !word", _LISTS, rank=4),
    Action(
        "mark",
        "space",
        "mark",
        "mark the row under the cursor, or take its mark away",
        _LISTS,
        reason=_no_row,
    ),
    Action("unmark", "U", "clear marks", "take all marks away", _LISTS),
    Action(
        "copy",
        "y",
        "copy id",
        "copy the id under the cursor, or those of the marked rows",
        _ALL,
        rank=9,
    ),
    Action("view_1", "1", "children", "show the children", ("board",)),
    Action("view_2", "2", "workers", "show the workers", ("board",)),
    Action("view_3", "3", "slots", "show what every slot is doing", ("board",)),
    Action("view_next", "right_square_bracket", "next view", "show the next tab", ("board", "child")),
    Action("view_previous", "left_square_bracket", "previous view", "show the tab before", ("board", "child")),
    Action("log", "l", "log", "show the log of the child and follow it", ("child",), rank=2),
    Action("next_log", "n", "next log", "show the next log file of the child", ("child",), rank=3),
    Action(
        "freeze",
        "Z",
        "freeze",
        "hold the display still; the run goes on",
        _ALL,
        rank=8,
        label_of=lambda now: "unfreeze" if now.frozen else "freeze",
    ),
    Action("refresh", "ctrl+r", "refresh", "read everything again", _ALL),
    Action("redraw", "ctrl+l", "redraw", "draw the whole screen again", _ALL),
    Action("theme", "T", "theme", "switch to the next theme", _ALL),
    Action(
        "palette",
        "colon,ctrl+p",
        "commands",
        "find any action by name",
        _ALL,
        rank=10,
        call="app.command_palette",
    ),
    Action("help", "question_mark,f1", "help", "list all keys, and why some cannot be used now", _ALL, rank=5),
    Action(
        "leave",
        "q",
        "quit",
        "go back one level; on the first screen quit, asking first",
        _ALL,
        rank=7,
        label_of=lambda now: "quit" if now.root else "back",
    ),
    Action("quit", "ctrl+q", "quit now", "leave at once; runs go on without the screen", _ALL, call="app.quit"),
    Action("down", "down,j", "down", "one row down", ("table",), call="move(1)"),
    Action("up", "up,k", "up", "one row up", ("table",), call="move(-1)"),
    Action("first", "home,g", "first", "go to the first row", ("table",), call="first"),
    Action("last", "end,G", "last", "go to the last row", ("table",), call="last"),
    Action("page_down", "pagedown", "page down", "one page down", ("table",), call="page(1.0)"),
    Action("page_up", "pageup", "page up", "one page up", ("table",), call="page(-1.0)"),
    Action("half_down", "ctrl+d", "half down", "half a page down", ("table",), call="page(0.5)"),
    Action("half_up", "ctrl+u", "half up", "half a page up", ("table",), call="page(-0.5)"),
    Action(
        "sort_left",
        "less_than_sign",
        "sort left",
        "sort by the column to the left",
        ("table",),
        call="sort(-1)",
    ),
    Action(
        "sort_right",
        "greater_than_sign",
        "sort right",
        "sort by the column to the right",
        ("table",),
        call="sort(1)",
    ),
    Action("reverse", "O", "reverse", "turn the order around", ("table",), call="reverse"),
)

BY_ID: Final[dict[str, Action]] = {action.id: action for action in ACTIONS}


def in_scope(scope: Scope) -> list[Action]:
    """Return the actions of a screen (or of every table), in registry order."""
    return [action for action in ACTIONS if scope in action.scopes]


def bindings(scope: Scope) -> list[Binding]:
    """Return the Textual bindings of a scope. Each carries its id, so a keymap can move it."""
    return [
        Binding(
            action.keys,
            action.call or f"act('{action.id}')",
            action.label,
            show=False,
            id=action.id,
            tooltip=action.help,
            priority=action.id == "quit",
        )
        for action in in_scope(scope)
    ]


def for_bar(actions: Iterable[Action]) -> list[Action]:
    """Return the actions that the key bar shows, the most important first."""
    return sorted((action for action in actions if action.rank is not None), key=lambda action: action.rank or 0)
