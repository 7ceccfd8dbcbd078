"""The benchmark produces every number: tiny sizes, and of the numbers nothing is expected but that they are there."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import (
    attach,
    commands,
    demo,
    each,
    engine,
    executor,
    growth,
    journal,
    keys,
    limits,
    machine,
    messages,
    path,
    pool,
    report,
)
from tests.bench.figure import Figure, Section, Unmeasured, percentile
from tests.bench.peers import section as peers
from tests.bench.peers.catalog import EXECUTOR, OURS, Peer
from tests.bench.terminal import plain

#: One cursor row as the dashboard paints it: a mark, a glyph, the child's number, its label.
PAINTED = "\x1b[14;1H\x1b[1;38;2;213;219;230m\u258c \x1b[0m✗\x1b[0m  1,674\x1b[0m a/b.py\x1b[0m\x1b[1;2H"


#: Four runs and as many dashboards: a bound for a machine that does other things too.
LONG = (pytest.mark.timeout(400), pytest.mark.slow)


@pytest.mark.parametrize(
    "measure",
    [
        pytest.param(partial(pool.measure, children=60, rounds=1), id="pool"),
        pytest.param(
            partial(engine.measure, engine.Sizes(500, (5, 15), kills=1, slots=4, rest_s=0.05, questions=10)),
            id="engine",
            marks=LONG,
        ),
        pytest.param(partial(journal.measure, rounds=1, members=160), id="journal", marks=pytest.mark.slow),
        pytest.param(partial(demo.measure, limit=5, rounds=1), id="demo", marks=pytest.mark.slow),
        pytest.param(partial(attach.measure, children=30, rounds=1), id="attach", marks=pytest.mark.slow),
        pytest.param(partial(growth.measure, children=(20, 60), stages=((1, 20), (4, 5))), id="growth", marks=LONG),
        pytest.param(partial(path.measure, children=200), id="path", marks=pytest.mark.slow),
        pytest.param(partial(keys.measure, presses=3, idle_presses=3), id="keys", marks=pytest.mark.slow),
        pytest.param(partial(limits.measure, rounds=1), id="limits"),
        pytest.param(partial(each.measure, items=6, rounds=1, many=12, few=6), id="each", marks=pytest.mark.slow),
        pytest.param(partial(commands.measure, runs=20, rounds=1), id="commands", marks=pytest.mark.slow),
        pytest.param(
            partial(messages.measure, messages.Sizes((30,), 20, 40, 50, 3, talkers=4, rounds=2, repeats=1)),
            id="messages",
            marks=pytest.mark.slow,
        ),
    ],
)
async def test_a_section_produces_every_number(measure: Callable[[], Awaitable[Section]]) -> None:
    section = await measure()
    assert len({figure.name for figure in section.figures}) == len(section.figures)
    for figure in section.figures:
        # A slope may point either way.
        assert "slope" in figure.unit or all(value > 0 for value in figure.values), figure


@pytest.mark.slow
async def test_peers_do_the_same_work_and_one_that_is_not_here_is_told() -> None:
    absent = Peer("Nobody", "on_nobody", "nothing", "nothing", commands=("no-such-command-here",))
    sizes = {"noop": 30, "kill": 100}
    section = await peers.measure((OURS, EXECUTOR, absent), sizes, rounds=1)
    values = {figure.name: figure.median for figure in section.figures}
    for kind in sizes:
        assert values[f"Poolboard, {kind}, items"] > 0
        assert values[f"Poolboard, {kind}, lost"] == values[f"Poolboard, {kind}, done twice"] == 0
    # A pool of Python's own breaks with a worker: the harness must see that.
    assert values["ProcessPoolExecutor, kill, lost"] > 0
    assert "Nobody: not installed: there is no no-such-command-here here" in section.notes
    assert any(row[:2] == ("Nobody", "not measured") for grid in section.grids for row in grid.rows)


def test_the_executor_finishes_every_item_and_every_stage() -> None:
    per_s, cpu_s = executor.measure(20, 3)
    assert per_s > 0
    assert cpu_s > 0


def test_a_page_shows_median_and_spread_and_no_folder_of_this_machine() -> None:
    section = Section("pool", "no-ops", (Figure("children", "per second", (1200.0, 900.0, 1500.0)),), ("a note",))
    page = report.page(machine.observe(0.5), [section])
    assert "| children | 1,200 | 900 to 1,500 | per second |" in page
    assert "- a note" in page
    assert not any(str(folder) in page for folder in (Path.home(), Path.cwd(), tempfile.gettempdir()))
    told = json.loads(report.as_json(machine.observe(0.5), [section]))
    assert told["sections"]["pool"]["figures"]["children"]["values"] == [1200.0, 900.0, 1500.0]


def test_a_number_that_was_not_measured_is_an_error_that_names_it() -> None:
    with pytest.raises(Unmeasured, match="children per second"):
        Figure("children per second", "", ())


def test_a_section_that_does_not_exist_is_named_with_those_that_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["pol"]) == 2
    assert f"'pol'; there are {', '.join(bench.SECTIONS)}" in capsys.readouterr().err


@pytest.mark.slow
async def test_a_section_that_cannot_be_measured_is_named_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def refuse() -> Section:
        raise Unmeasured("start-up: no child has settled")

    monkeypatch.setitem(bench.SECTIONS, "demo", refuse)
    monkeypatch.setitem(bench.SECTIONS, "journal", partial(journal.measure, rounds=1, members=160))
    assert [section.name for section in await bench.run(["demo", "journal"])] == ["journal"]
    assert "bench: demo: not measured: Unmeasured: start-up: no child has settled" in capsys.readouterr().err


def test_the_child_under_the_cursor_is_read_from_what_was_painted() -> None:
    assert keys.under_cursor(plain(PAINTED.encode())) == "1,674"
    assert keys.under_cursor("  ✗  1,674 a/b.py") is None


def test_percentiles_lie_between_the_values() -> None:
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
    assert percentile([1.0, 2.0], 99) == pytest.approx(1.99)


def test_the_slope_of_a_number_tells_how_it_grows() -> None:
    assert growth.exponent([1, 10, 100], [5.0, 5.0, 5.0]) == pytest.approx(0)
    assert growth.exponent([100, 1_000, 10_000], [2.0, 20.0, 200.0]) == pytest.approx(1)
    assert growth.exponent([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2)
