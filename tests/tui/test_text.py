"""What comes from outside is shown, never obeyed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.tui.text import clip, clip_middle, fit, lines, visible, width, wrap

#: Brackets that a markup parser would eat or choke on.
BRACKETS = ("[/", "[/tmp/x]", "[red]", "[b + x", "[00] x", "a[b]c", "[link=x]", "[@click=app.quit]x[/]")
#: What drives a terminal: clipboard, title, link, clear, query, device string, reset, C1, lone CR, BS, unfinished.
ESCAPES = (
    "\x1b]52;c;UFdO\x07",
    "\x1b]52;c;UFdO\x1b\\",
    "\x1b]0;PWN\x07",
    "\x1b]0;PWN\x1b\\",
    "\x1b]8;;http://x\x1b\\",
    "\x1b[2J",
    "\x1b[6n",
    "\x1bPq\x1b\\",
    "\x1bc",
    "\x9b2J",
    "\x9d0;PWN\x9c",
    "a\rb",
    "a\bb",
    "\x1b]",
)


@pytest.mark.parametrize("text", BRACKETS)
def test_brackets_are_shown_character_for_character(text: str) -> None:
    """B38: each of its strings."""
    assert visible(text) == text


@pytest.mark.parametrize("text", ESCAPES)
def test_an_escape_sequence_is_shown_and_nothing_after_it_is_lost(text: str) -> None:
    """B64: a visible form of each."""
    shown = visible(f"before{text}after")
    assert shown.startswith("before") and shown.endswith("after")
    assert not any(unicodedata.category(character) == "Cc" for character in shown)


def test_every_kind_has_its_visible_form() -> None:
    assert visible("a\nb\tc\x1b\x7f\x9b\u202e\ud800") == "a⏎b   c^[^?\\x9b<U+202E>\ufffd"


def test_a_picture_selector_leaves_its_character() -> None:
    assert visible("\u2764\ufe0f") == "\u2764"


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs", "Cc", "Cf", "Cs", "Co"])))
def test_nothing_that_is_shown_can_drive_or_reorder_a_terminal(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    hostile = {"Cc", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in hostile for character in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200d\u200e\u200f\ufeff")


@given(st.text(), st.integers(0, 40))
def test_a_cell_is_exactly_as_wide_as_its_column(text: str, cells: int) -> None:
    assert width(fit(text, cells)) == cells
    assert width(fit(text, cells, "right")) == cells
    assert width(fit(text, cells, middle=True)) == cells


def test_wide_characters_are_cut_by_cells_and_not_by_count() -> None:
    assert clip("数据数据数据", 7) == "数据数…"
    assert fit("数据", 6) == "数据  "


def test_a_long_text_says_that_it_was_cut() -> None:
    assert clip("x" * 1_000_000, 10) == "xxxxxxxxx…"
    assert clip("1234567890", 10) == "1234567890"


def test_a_path_keeps_both_ends() -> None:
    assert clip_middle("/home/ann/project/src/deep/module.py", 20) == "/hom…/deep/module.py"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(2, 30))
def test_wrapping_loses_nothing(text: str, cells: int) -> None:
    shown = visible(text)
    pieces = wrap(shown, cells)
    assert "".join(pieces) == shown
    assert all(width(piece) <= cells for piece in pieces)


def test_too_many_lines_end_with_how_many_are_missing() -> None:
    assert list(lines("1\n2\r\n3\n4\n", limit=2)) == ["1", "2", "… 2 more lines not shown"]
