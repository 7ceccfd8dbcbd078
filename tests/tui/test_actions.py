"""The registry of actions, and what hangs on it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.dom import DOMNode
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widget import Widget

from poolboard.engine.views import ControlView, Counts, HoldView, Part, RunView, ShownStatus
from poolboard.tui.action import Scope, Situation
from poolboard.tui.actions import ACTIONS, BY_ID, bindings, in_scope
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_header import BoardHeader
from poolboard.tui.board_lists import BoardLists
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.child_screen import ChildScreen
from poolboard.tui.confirm_screen import ConfirmScreen
from poolboard.tui.event_log import EventLog
from poolboard.tui.event_screen import EventScreen
from poolboard.tui.filter_bar import FilterBar, FilterInput
from poolboard.tui.held import is_held
from poolboard.tui.help_screen import HelpScreen
from poolboard.tui.line import Line
from poolboard.tui.log_pane import LogPane
from poolboard.tui.log_view import LogView
from poolboard.tui.prompt_screen import AnswerInput, PromptScreen
from poolboard.tui.questions import cancel_question, retry_question, stop_question
from poolboard.tui.quit_screen import QuitScreen
from poolboard.tui.runs_screen import RunsScreen
from poolboard.tui.screen import PoolScreen
from poolboard.tui.table import Table
from poolboard.tui.text_pane import TextPane
from poolboard.tui.theme_screen import ThemeScreen
from poolboard.tui.timeline_view import TimelineView
from poolboard.tui.value_screen import ValueScreen
from poolboard.tui.worker_wish import WISH_LIMIT_S, WorkerWish

SCREENS: tuple[type[PoolScreen], ...] = (RunsScreen, BoardScreen, ChildScreen)

RUN = RunView(
    run_id="abc",
    name="many_files",
    status="running",
    resumable=True,
    cwd="/",
    created_at=0,
    started_at=0,
    ended_at=None,
    elapsed_s=1.0,
    children=Counts(2, ready=1, leased=1),
    control=ControlView("running", 0),
    result=None,
    error=None,
)


def _reason(action: str, status: ShownStatus, *, read_only: bool = False, resumable: bool = True) -> str | None:
    run = replace(RUN, status=status, resumable=resumable)
    return BY_ID[action].reason(Situation(run, read_only=read_only))


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_of_a_screen_does_something(screen: type[PoolScreen]) -> None:
    for action in in_scope(screen.SCOPE):
        method = f"do_{action.id}" if not action.call else f"action_{action.call.partition('(')[0]}"
        assert hasattr(screen, method) or action.call.startswith("app."), action.id


@pytest.mark.parametrize("scope", ["runs", "board", "child"])
def test_no_key_means_two_things_on_one_screen(scope: Scope) -> None:
    keys = [key for one in (scope, "table") for binding in bindings(one) for key in binding.key.split(",")]
    assert len(keys) == len(set(keys))


def test_no_action_takes_a_key_that_a_terminal_cannot_tell_apart() -> None:
    keys = {key for action in ACTIONS for key in action.keys.split(",")}
    assert not keys & {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket"}
    assert not any(key.startswith("alt+") for key in keys)


def test_every_action_is_explained_in_one_line_of_the_help() -> None:
    for action in ACTIONS:
        assert action.help and len(action.help) <= 60, action.id


@pytest.mark.parametrize(
    ("status", "pause", "stop"),
    [
        ("running", None, None),
        ("waiting", None, None),
        ("pausing", None, None),
        ("paused", None, None),
        ("stopped", None, "the run is stopped"),
        ("crashed", None, "the run is crashed: nothing is running"),
        ("completed", "the run is completed", "the run is completed"),
        ("stopping", "the run is stopping", "the run is stopping"),
    ],
)
def test_a_key_that_cannot_be_used_says_why(status: ShownStatus, pause: str | None, stop: str | None) -> None:
    assert _reason("pause", status) == pause
    assert _reason("stop", status) == stop


def test_read_only_shows_the_keys_and_refuses_them() -> None:
    assert _reason("pause", "running", read_only=True) == "read-only"
    assert _reason("stop", "running", read_only=True) == "read-only"


def test_the_pause_key_is_named_for_what_it_does_now() -> None:
    pause = BY_ID["pause"]
    assert pause.label_now(Situation(RUN)) == "pause"
    assert pause.label_now(Situation(replace(RUN, status="paused"))) == "resume"
    assert pause.label_now(Situation(replace(RUN, status="crashed"))) == "resume"
    assert _reason("pause", "crashed", resumable=False) == "the run is crashed and cannot be resumed"


@pytest.mark.parametrize(
    ("status", "ended", "failed", "reason"),
    [
        ("completed", True, 3, None),
        ("failed", True, 0, None),
        ("stopped", False, 1, None),
        ("completed", True, 0, "nothing has failed"),
        ("running", False, 3, "the run is running: possible once it has ended or is stopped"),
        ("cancelled", True, 3, "the run is cancelled, which is final"),
    ],
)
def test_what_failed_can_be_retried_once_nothing_moves(
    status: ShownStatus, ended: bool, failed: int, reason: str | None
) -> None:
    run = replace(RUN, status=status, ended_at=9 if ended else None, children=Counts(9, failed=failed))
    assert BY_ID["retry"].reason(Situation(run)) == reason


@pytest.mark.parametrize("status", ["running", "paused", "stopping", "stopped", "crashed", "blocked"])
def test_a_message_is_taken_for_every_run_that_can_go_on(status: ShownStatus) -> None:
    assert _reason("send", status) is None


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "skipped"])
def test_no_message_is_taken_for_a_run_that_has_ended(status: ShownStatus) -> None:
    assert BY_ID["send"].reason(Situation(replace(RUN, status=status, ended_at=9))) == f"the run is {status}"


@pytest.mark.parametrize(("ended_at", "reason"), [(None, None), (9, "the run is completed")])
def test_only_a_run_that_has_not_ended_can_be_cancelled(ended_at: int | None, reason: str | None) -> None:
    status: ShownStatus = "completed" if ended_at else "stopped"
    assert BY_ID["cancel"].reason(Situation(replace(RUN, status=status, ended_at=ended_at))) == reason


def test_a_run_keeps_at_least_one_worker_and_an_ended_one_gets_none() -> None:
    assert BY_ID["fewer_workers"].reason(Situation(RUN, workers=2)) is None
    assert BY_ID["fewer_workers"].reason(Situation(RUN, workers=1)) == "one worker is the least"
    assert BY_ID["more_workers"].reason(Situation(RUN, workers=1024)) == "1024 is the most"
    ended = replace(RUN, status="completed", ended_at=9)
    assert BY_ID["more_workers"].reason(Situation(ended, workers=2)) == "the run is completed"
    assert BY_ID["more_workers"].reason(Situation(RUN, read_only=True, workers=2)) == "read-only"


def test_key_presses_add_up_while_the_workers_are_still_starting() -> None:
    wish = WorkerWish()
    assert [wish.step(1, 2, now_s=0.0), wish.step(1, 2, now_s=0.1), wish.step(1, 3, now_s=0.5)] == [3, 4, 5]
    assert wish.count(5, now_s=1.0) == 5
    assert wish.step(-1, 5, now_s=2.0) == 4
    wish.forget()
    assert wish.count(5, now_s=2.1) == 5
    wish.step(1, 5, now_s=3.0)
    assert wish.count(5, now_s=3.0 + WISH_LIMIT_S) == 5


def test_a_dangerous_question_says_what_cannot_be_taken_back() -> None:
    run = replace(RUN, children=Counts(1200, ready=1100, leased=8, completed=88, failed=4))
    question = cancel_question([run])
    assert "final" in question.danger and run.run_id in question.name
    assert "1,108 children will not end" in question.lines[0]
    assert stop_question([run]).danger == ""
    retry = retry_question([run])
    assert "4 failed children: exactly these" in retry.lines[0] and retry.yes == "retry 4 children"


OURS: tuple[type[DOMNode], ...] = (
    Table,
    TextPane,
    Line,
    BoardHeader,
    BoardLists,
    FilterBar,
    FilterInput,
    PoolScreen,
    *SCREENS,
    ConfirmScreen,
    QuitScreen,
    HelpScreen,
    ThemeScreen,
    EventScreen,
    EventLog,
    TimelineView,
    LogPane,
    LogView,
    PoolboardApp,
    PromptScreen,
    AnswerInput,
    ValueScreen,
)


@pytest.mark.parametrize("ours", OURS)
def test_no_private_name_of_textual_is_hidden_by_one_of_ours(ours: type[DOMNode]) -> None:
    """A method of ours that happens to be called like one of theirs would break them silently."""
    theirs: set[str] = set()
    for base in ours.__mro__[1:]:
        if base.__module__.startswith("textual"):
            theirs |= {name for name in vars(base) if name.startswith("_") and not name.startswith("__")}
    theirs |= {name for base in (Screen, ScrollView, Widget) for name in vars(base) if name.startswith("_")}
    generated = {"_merged_bindings", "_decorated_handlers", "_reactives", "_computes", "_css_type_names",
                 "_css_type_name", "_inherit_css", "_inherit_bindings", "_inherit_component_classes",
                 "_inherit_style_properties"}  # fmt: skip
    mine = {name for name in vars(ours) if name.startswith("_") and not name.startswith("__")} - generated
    assert not mine & theirs


def test_a_part_is_held_only_if_all_of_it_is() -> None:
    holds = [HoldView("child", "3", None, None, 0, 0), HoldView("stage", "fetch", None, None, 0, 0)]
    assert is_held(Part(children=((3, 3),)), holds)
    assert not is_held(Part(children=((3, 3), (4, 4))), holds)
    assert is_held(Part(stage="fetch"), holds)
    assert not is_held(Part(stage="store"), holds)
    assert not is_held(Part(worker=3), holds)
