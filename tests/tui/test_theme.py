"""Themes are data that is checked."""

from __future__ import annotations

import pytest
from textual.color import Color

from poolboard.engine.errors import UserMistake
from poolboard.tui.glyphs import RUN_MARKS, TONES, WORK_MARKS
from poolboard.tui.theme import DEFAULT_THEME, States, choose_theme, load_themes, parse_theme

THEMES = load_themes()


def test_the_package_brings_a_dark_and_a_light_theme() -> None:
    assert {theme.dark for theme in THEMES.values()} == {True, False}
    assert DEFAULT_THEME in THEMES


@pytest.mark.parametrize("name", sorted(THEMES))
def test_every_text_can_be_read_on_its_background(name: str) -> None:
    theme = THEMES[name]
    grounds = [theme.colors.background, theme.colors.panel, theme.colors.cursor, theme.colors.marked]
    colours = [theme.colors.foreground, *theme.states.model_dump().values()]
    for ground in grounds:
        for colour in colours:
            assert _contrast(colour, ground) >= 3.0, (colour, ground)
    assert _contrast(theme.colors.foreground, theme.colors.background) >= 7.0


def _contrast(one: str, other: str) -> float:
    """Return the WCAG contrast of two colours."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in Color.parse(colour).normalized
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_state_has_a_colour_a_glyph_a_letter_and_a_word() -> None:
    assert set(TONES) == set(States.model_fields)
    for mark in (*RUN_MARKS.values(), *WORK_MARKS.values()):
        assert mark.tone in TONES
        assert len(mark.glyph) == len(mark.ascii) == 1
        assert mark.ascii.isascii() and mark.word


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[states]", "[states]\nsparkling = '#ffffff'"), "states.sparkling"),
        (("dark = true", "dark = 'maybe'"), "dark"),
        (('running = "#6cb2ff"', 'running = "red"'), "states.running"),
        (('running = "#6cb2ff"', ""), "states.running"),
        (("[colors]", "[colors"), "not TOML"),
    ],
)
def test_a_wrong_theme_file_is_refused_and_the_key_is_named(change: tuple[str, str], told: str) -> None:
    from importlib import resources

    text = resources.files("poolboard.themes").joinpath("midnight.toml").read_text("utf-8")
    assert change[0] in text
    with pytest.raises(UserMistake, match=r"theme mine\.toml") as caught:
        parse_theme(text.replace(*change), "mine.toml")
    assert told in str(caught.value)


def test_an_unknown_theme_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(UserMistake, match="no theme named 'neon': there are midnight, paper"):
        choose_theme("neon", THEMES)
