"""``poolboard themes``: the list, the colours, and a theme of one's own."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes
from poolboard.tui.theme import load_themes, parse_theme
from tests.terminal import on_terminal

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]


def test_the_list_marks_the_theme_in_force_and_tells_what_is_wrong_with_a_file(
    poolboard: Poolboard, own_folders: Path
) -> None:
    folder = own_folders / "config_home" / "poolboard" / "themes"
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text("name = [\n")
    answer = poolboard("themes", "list", env={"POOLBOARD_THEME": "paper"})
    assert answer.code == 0 and answer.err.count("\n") == 1 and "broken.toml" in answer.err
    assert [line.split()[-2:] for line in answer.out.splitlines() if line.startswith("*")] == [["paper", "light"]]
    told = json.loads(poolboard("themes", "list", "--json").out)
    assert {theme["name"] for theme in told["themes"]} == set(load_themes())


@pytest.mark.parametrize("name", sorted(load_themes()))
def test_shown_into_a_file_a_theme_is_its_own_file(poolboard: Poolboard, name: str) -> None:
    answer = poolboard("themes", "show", name)
    assert answer.code == 0 and "\x1b" not in answer.out
    assert parse_theme(answer.out, "shown") == load_themes()[name]


def test_shown_on_a_terminal_a_theme_is_its_colours() -> None:
    paper = load_themes()["paper"]
    shown = on_terminal("themes", "show", "paper").text
    red, green, blue = (int(paper.states.failed[at : at + 2], 16) for at in (1, 3, 5))
    assert f"\x1b[48;2;{red};{green};{blue}m" in shown and paper.states.failed in shown
    assert "\x1b" not in on_terminal("themes", "show", "paper", env={"NO_COLOR": "1"}).text


@pytest.mark.slow
def test_a_new_theme_is_a_valid_file_of_the_persons_that_says_where_it_is(
    poolboard: Poolboard, own_folders: Path
) -> None:
    answer = poolboard("themes", "new", "dusk", "--from", "paper")
    assert answer.code == 0, answer.err
    path = own_folders / "config_home" / "poolboard" / "themes" / "dusk.toml"
    assert str(path) in answer.out and stat.S_IMODE(path.stat().st_mode) == 0o600
    dusk, paper = parse_theme(path.read_text(), "dusk.toml"), load_themes()["paper"]
    assert (dusk.name, dusk.colors, dusk.states, dusk.dark) == ("dusk", paper.colors, paper.states, paper.dark)
    assert parse_theme(poolboard("themes", "show", "dusk").out, "shown") == dusk
    again = poolboard("themes", "new", "dusk")
    assert again.code == exit_codes.MISTAKE and "already" in again.err
    grown = poolboard("themes", "new", "night", "--from", "dusk", "--json")
    assert json.loads(grown.out)["path"].endswith("night.toml")


@pytest.mark.parametrize(
    "words", [["show", "neon"], ["new", "../dusk"], ["new", "dusk", "--from", "neon"], ["new", "paper"]]
)
def test_what_is_no_theme_is_refused_and_nothing_is_written(
    poolboard: Poolboard, own_folders: Path, words: list[str]
) -> None:
    answer = poolboard("themes", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (exit_codes.MISTAKE, "", 1)
    assert not list(own_folders.rglob("*.toml"))
