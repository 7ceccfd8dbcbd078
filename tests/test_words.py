"""What the command line says of a run, from values: plain lines for people, JSON shapes for scripts."""

from __future__ import annotations

import json
from dataclasses import replace

from poolboard import shapes, words
from poolboard.engine.views import (
    ControlView,
    CoordinatorView,
    Counts,
    PromptView,
    RunView,
    StageView,
    Summary,
    WorkerView,
)
from poolboard.headless import Pace

HALF_DONE = RunView(
    run_id="0f3c",
    name="survey",
    status="running",
    resumable=False,
    cwd="/tmp",
    created_at=1_735_689_600_000,
    started_at=1_735_689_600_250,
    ended_at=None,
    elapsed_s=12.3456,
    children=Counts(total=10, ready=2, leased=3, completed=4, failed=1),
    control=ControlView("running", 0),
    result=None,
    error=None,
)
SUMMARY = Summary(
    run=HALF_DONE,
    stages=(StageView("parse", 2, 3, 4, 1, 1.5, 20.0, 2.5),),
    workers=(WorkerView("w1", 4711, 4, 3, 50_000_000, 99.0, 1, 0.2),),
    active=(),
    coordinator=CoordinatorView(4710, 2, True),
    rate_per_s=2.5,
    eta_s=(2.0, 4.0),
    parked=0,
    in_flight=3,
    alerts=("the journal is slow",),
    stamp=7,
)


def test_progress_is_one_line_that_says_what_every_number_counts() -> None:
    assert words.progress(SUMMARY) == "5 of 10 children done, 1 failed, 3 active, 2.5/s, 2s to 4s left"


def test_a_run_that_does_not_move_says_so_first_and_promises_no_end() -> None:
    paused = replace(SUMMARY, run=replace(HALF_DONE, status="paused"), rate_per_s=0.0)
    assert words.progress(paused) == "paused, 5 of 10 children done, 1 failed, 3 active"


def test_the_end_says_what_to_do_next() -> None:
    control = ControlView("stopped", 3, "ann", "lunch\x1b[2J")
    run = replace(HALF_DONE, status="stopped", resumable=True, control=control)
    assert list(words.ended(run)) == [
        "stopped after 12.3s: 10 children, 1 child failed",
        "why: lunch^[[2J",
        "to go on: poolboard resume 0f3c",
    ]


def test_a_result_is_shown_as_json_that_cannot_drive_the_terminal() -> None:
    run = replace(HALF_DONE, status="completed", result=json.dumps({"name": "caf\xe9\x9b2J"}))
    assert list(words.result(run)) == ['result: {"name": "café\\x9b2J"}']


def test_a_status_names_processes_stages_and_alerts() -> None:
    told = "\n".join(words.status(SUMMARY))
    assert "coordinator  pid 4710, epoch 2, alive" in told
    assert "worker       w1: pid 4711, 3 of 4 slots in use, 50.0 MB, 1 restart" in told
    assert "parse  2        3       4     1" in told
    assert "alert        the journal is slow" in told


def test_times_are_utc_with_a_z() -> None:
    assert shapes.instant(1_735_689_600_250) == "2025-01-01T00:00:00.250Z"
    assert shapes.instant(None) is None


def test_the_status_shape_holds_everything_that_is_promised() -> None:
    shape = json.loads(shapes.line(shapes.of_summary(SUMMARY)))
    assert shape["started_at"] == "2025-01-01T00:00:00.250Z"
    assert (shape["ended_at"], shape["result"], shape["error"]) == (None, None, None)
    assert shape["children"] == {
        "total": 10, "ready": 2, "leased": 3, "waiting": 0, "completed": 4, "failed": 1, "cancelled": 0,
    }  # fmt: skip
    assert shape["stages"] == [
        {
            "name": "parse",
            "waiting": 2,
            "active": 3,
            "done": 4,
            "failed": 1,
            "p50_ms": 1.5,
            "p95_ms": 20.0,
            "paused": False,
        }
    ]
    assert shape["workers"] == [
        {"id": "w1", "pid": 4711, "slots": 4, "active": 3, "rss_bytes": 50_000_000, "restarts": 1}
    ]
    assert shape["coordinator"] == {"pid": 4710, "epoch": 2, "alive": True}
    assert shape["control"] == {"state": "running", "revision": 0, "by": None, "why": None}


def test_json_is_one_line_of_ascii_whatever_the_data_holds() -> None:
    text = shapes.line({"name": "a\n\x1b\ud800é"})
    assert text.isascii() and text.isprintable()
    assert json.loads(text) == {"name": "a\n\x1b\ud800é"}


def test_progress_is_said_when_it_is_new_and_not_too_often() -> None:
    pace = Pace(every_s=2.0)
    assert pace.admits("1 of 3", now=0.0)
    assert not pace.admits("2 of 3", now=1.9)
    assert pace.admits("2 of 3", now=2.0)
    assert not pace.admits("2 of 3", now=9.0)


def test_a_long_result_is_cut_and_says_where_all_of_it_is() -> None:
    assert list(words.result(replace(HALF_DONE, result='"short"'))) == ['result: "short"']
    (told,) = words.result(replace(HALF_DONE, result=json.dumps("x" * 100_000)))
    assert len(told) < 2_200
    assert told.endswith("x… (100002 characters; all of it: poolboard status 0f3c --json)")


def test_a_question_in_json_carries_the_number_of_its_shape() -> None:
    asked = PromptView(7, "0f3c", 2, "b", None, "confirm", "Go?", (), "true", 1_735_689_600_000, None)
    told = shapes.of_prompt(asked)
    assert (told["shape"], told["id"], told["default"]) == (shapes.VERSION, 7, True)
