"""The one registry of actions: it feeds the bindings, the key bar, the help, the palette and the confirmations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.binding import Binding

from .action import Action, Scope
from .reasons import (
    no_answer,
    no_cancel,
    no_cell,
    no_fewer_workers,
    no_file,
    no_hold,
    no_limit,
    no_log,
    no_more_workers,
    no_pause,
    no_retry,
    no_row,
    no_search,
    no_send,
    no_shell,
    no_stop,
    wants_resume,
)

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
        reason=no_pause,
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
        reason=no_stop,
    ),
    Action(
        "retry",
        "r",
        "retry failed",
        "try again exactly what has failed (asks first)",
        _LISTS,
        rank=11,
        confirm=True,
        reason=no_retry,
    ),
    Action("cancel", "X", "cancel", "end the run for good (asks first)", _LISTS, confirm=True, reason=no_cancel),
    Action(
        "hold",
        "h",
        "hold",
        "hold children, a stage or a worker back, or let go",
        ("board",),
        reason=no_hold,
    ),
    Action(
        "stop_part",
        "S",
        "stop part",
        "stop the marked children, a stage or a worker (asks first)",
        ("board",),
        confirm=True,
        reason=no_hold,
    ),
    Action(
        "cancel_child",
        "H",
        "cancel child",
        "end the child or the marked ones for good (asks first)",
        ("board",),
        confirm=True,
        reason=no_hold,
    ),
    Action("more_workers", "plus", "more workers", "one worker more", ("board",), reason=no_more_workers),
    Action("fewer_workers", "minus", "fewer workers", "one worker less", ("board",), reason=no_fewer_workers),
    Action(
        "send", "m", "send", "write a message to the child under the cursor, or to the run", ("board",), reason=no_send
    ),
    Action("enter", "enter", "open", "open what the cursor is on", _LISTS, rank=1, reason=no_row, call="enter"),
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
        "copy",
        "y",
        "copy id",
        "copy the id under the cursor or of the marks; or a report",
        _ALL,
        rank=9,
        label_of=lambda now: {"failures": "copy report", "log": "copy lines"}.get(now.view, "copy id"),
    ),
    Action("copy_cell", "Y", "copy…", "copy the row under the cursor, or one cell of it", _ALL, reason=no_cell),
    Action("columns", "C", "columns", "choose which columns are shown, and their order", _ALL),
    Action("view_1", "1", "children", "show the children", ("board",), call="view(1)"),
    Action("view_2", "2", "failures", "show what failed, grouped by its error", ("board",), call="view(2)"),
    Action("view_3", "3", "workers", "show the workers", ("board",), call="view(3)"),
    Action("view_4", "4", "slots", "show what every slot is doing", ("board",), call="view(4)"),
    Action("view_5", "5", "timeline", "show the newest children as bars over time", ("board",), call="view(5)"),
    Action("view_6", "6", "journal", "show the journal's events as they come", ("board",), call="view(6)"),
    Action("view_7", "7", "limits", "show the limits, who has them and who waits", ("board",), call="view(7)"),
    Action("view_8", "8", "prompts", "show the questions that wait for a person", ("board",), call="view(8)"),
    Action("view_9", "9", "messages", "show messages, and what became of them", ("board",), call="view(9)"),
    Action("answer", "a", "answer", "answer what the run asks", _LISTS, rank=0, reason=no_answer),
    Action(
        "change_limit",
        "e",
        "change limit",
        "Limits tab: make the limit under the cursor another one",
        ("board",),
        reason=no_limit,
    ),
    Action(
        "timeline_by",
        "t",
        "by worker",
        "timeline: a line per child, or per slot of each worker",
        ("board",),
        reason=lambda now: None if now.view == "timeline" else "only in the timeline",
    ),
    Action("view_next", "right_square_bracket", "next view", "show the next tab", ("board", "child")),
    Action("view_previous", "left_square_bracket", "previous view", "show the tab before", ("board", "child")),
    Action("log", "l", "log", "show the log of the child and follow it", ("child",), rank=2),
    Action("next_log", "L", "next log", "show the next log file of the child", ("child",), rank=4),
    Action("search", "slash", "search", "look for a text in the log", ("child",), rank=3, reason=no_log),
    Action("match_next", "n", "next", "go to the next line that holds it", ("child",), reason=no_search),
    Action("match_previous", "N", "previous", "go to the line before that holds it", ("child",), reason=no_search),
    Action("only", "f", "only matches", "show only lines that hold it, or all", ("child",), reason=no_search),
    Action("error_next", "right_curly_bracket", "next error", "go to the next error", ("child",), reason=no_log),
    Action("error_previous", "left_curly_bracket", "last error", "go to the error before", ("child",), reason=no_log),
    Action("merge", "M", "merge", "all log files of the child as one, or one by one", ("child",), reason=no_log),
    Action("times", "t", "times", "show when each line was seen to come", ("child",), reason=no_log),
    Action("save", "S", "save", "write the log (or only what matches) to a file", ("child",), reason=no_file),
    Action("pager", "vertical_line", "pager", "open the log in $PAGER", ("child",), reason=no_file),
    Action("edit", "e", "editor", "open the log in $EDITOR", ("child",), reason=no_file),
    Action("wrap", "w", "wrap", "wrap long lines of the log, or cut them", ("child",), reason=no_log),
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
    Action("theme", "T", "theme", "choose how the screen looks", _ALL),
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
    Action("interrupt", "ctrl+c", "leave", "leave the dashboard, asking first", _ALL, bound=False),
    Action(
        "suspend",
        "ctrl+z",
        "to the shell",
        "go back to the shell (fg comes back); runs go on meanwhile",
        _ALL,
        reason=no_shell,
        call="app.suspend_process",
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
    Action("fold", "z", "fold", "show groups with counts, or single rows again", ("table",), call="fold"),
    Action("mark", "space", "mark", "mark what the cursor is on, or take its mark away", ("table",), call="mark"),
    Action(
        "range", "v", "mark range", "mark from here to where the cursor goes; again: done", ("table",), call="range"
    ),
    Action("extend_down", "shift+down", "mark down", "mark this row and the next", ("table",), call="extend(1)"),
    Action("extend_up", "shift+up", "mark up", "mark this row and the one before", ("table",), call="extend(-1)"),
    Action(
        "mark_all", "asterisk", "mark all", "mark all rows that the filter shows, or none", ("table",), call="mark_all"
    ),
    Action("unmark", "U", "clear marks", "take all marks away", ("table",), call="unmark"),
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
        if action.bound
    ]


def for_bar(actions: Iterable[Action]) -> list[Action]:
    """Return the actions that the key bar shows, the most important first."""
    return sorted((action for action in actions if action.rank is not None), key=lambda action: action.rank or 0)
