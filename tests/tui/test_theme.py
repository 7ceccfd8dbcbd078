"""Themes are data that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from poolboard.engine.errors import UserMistake
from poolboard.tui.app import PoolboardApp
from poolboard.tui.glyphs import RUN_MARKS, TONES, WORK_MARKS
from poolboard.tui.settings import Settings, config_folder, load_settings, save_settings
from poolboard.tui.theme import DEFAULT_THEME, States, choose_theme, load_themes, parse_theme
from poolboard.tui.user_themes import load_user_themes

from .conftest import says, until

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
    with pytest.raises(
        UserMistake, match="no theme named 'neon': there are colour-blind, high-contrast, midnight, paper, sixteen"
    ):
        choose_theme("neon", THEMES)


#: How somebody without the cones for green, or for red, sees linear light (Machado 2009).
BLINDNESS = {
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
}


@pytest.mark.parametrize("kind", sorted(BLINDNESS))
def test_running_completed_and_failed_differ_without_red_and_green(kind: str) -> None:
    states = THEMES["colour-blind"].states
    seen_as = []
    for colour in (states.running, states.completed, states.failed):
        linear = [value**2.2 for value in Color.parse(colour).normalized]
        mixed = [sum(part * value for part, value in zip(row, linear, strict=True)) for row in BLINDNESS[kind]]
        seen_as.append([max(0.0, min(1.0, value)) ** (1 / 2.2) for value in mixed])
    for index, one in enumerate(seen_as):
        for other in seen_as[index + 1 :]:
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.25


def test_the_sixteen_colours_are_those_of_the_terminal() -> None:
    ansi = {f"#{r}{g}{b}" for r in ("00", "cd") for g in ("00", "cd") for b in ("00", "cd")}
    ansi |= {f"#{r}{g}{b}" for r in ("00", "ff") for g in ("00", "ff") for b in ("00", "ff")}
    ansi |= {"#e5e5e5", "#7f7f7f", "#0000ee", "#5c5cff"}
    theme = THEMES["sixteen"]
    assert {*theme.colors.model_dump().values(), *theme.states.model_dump().values()} <= ansi


def own_theme(name: str, background: str = "#10141c") -> str:
    from importlib import resources

    text = resources.files("poolboard.themes").joinpath("midnight.toml").read_text("utf-8")
    return text.replace('"midnight"', f'"{name}"').replace('background = "#10141c"', f'background = "{background}"')


def test_own_themes_are_taken_and_wrong_ones_are_told_not_fatal(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(own_theme("mine"))
    (tmp_path / "bad.toml").write_text("name = 3")
    (tmp_path / "taken.toml").write_text(own_theme("paper"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    found, problems = load_user_themes(tmp_path, THEMES)
    assert list(found) == ["mine"]
    assert len(problems) == 3 and any("'paper' is taken" in problem for problem in problems)
    assert load_user_themes(tmp_path / "none", THEMES) == ({}, [])


def test_settings_come_back_and_damaged_ones_are_ignored_with_a_notice(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "poolboard"
    assert load_settings(folder) == (Settings(), None)
    save_settings(folder, Settings(theme="paper"))
    assert load_settings(folder) == (Settings(theme="paper"), None)
    assert [path.name for path in folder.iterdir()] == ["screen.json"]
    for damage in (b"{", b"[1]", b'{"theme": 3}', b"\xff"):
        (folder / "screen.json").write_bytes(damage)
        settings, told = load_settings(folder)
        assert settings == Settings() and told is not None and "damaged" in told


async def test_the_picker_shows_each_theme_at_once_and_esc_takes_it_back(tmp_path: Path) -> None:
    app = PoolboardApp(str(tmp_path / "none.sqlite"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, says(pilot, "poolboard demo"), "the first screen")
        await pilot.press("T")
        await until(pilot, says(pilot, "high-contrast"), "the picker")
        await pilot.press("j")
        await until(pilot, lambda: app.theme == "paper", "the preview")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == DEFAULT_THEME, "the theme of before")
        assert load_settings(config_folder())[0].theme is None
        await pilot.press("T", "j", "enter")
        await until(pilot, lambda: (config_folder() / "screen.json").exists(), "the choice to be remembered")
    assert PoolboardApp(str(tmp_path / "none.sqlite")).theme == "paper"


async def test_an_own_theme_changes_on_screen_when_it_is_saved(tmp_path: Path) -> None:
    folder = config_folder() / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(own_theme("mine"))
    app = PoolboardApp(str(tmp_path / "none.sqlite"), theme="mine")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, says(pilot, "poolboard demo"), "the first screen")

        def turned_blue() -> bool:
            (folder / "mine.toml").write_text(own_theme("mine", "#000044"))
            return app.current_theme.background == "#000044"

        await until(pilot, turned_blue, "the new background")
