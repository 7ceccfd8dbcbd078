"""Themes are data: one TOML file each, checked when it comes in, read from the installed package."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from textual.theme import Theme

from poolboard.engine.errors import UserMistake

DEFAULT_THEME: Final = "midnight"

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-fA-F]{6}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Palette(_Table):
    """The colours of the surfaces and accents."""

    background: Colour
    surface: Colour
    panel: Colour
    foreground: Colour
    quiet: Colour
    rule: Colour
    primary: Colour
    secondary: Colour
    accent: Colour
    success: Colour
    warning: Colour
    error: Colour
    cursor: Colour
    cursor_blurred: Colour
    marked: Colour


class States(_Table):
    """A colour for every tone of ``glyphs.TONES``."""

    pending: Colour
    running: Colour
    waiting: Colour
    asking: Colour
    paused: Colour
    stopped: Colour
    completed: Colour
    failed: Colour
    blocked: Colour
    cancelled: Colour


class ThemeFile(_Table):
    """A theme file: its name, whether it is dark, and its two tables of colours."""

    name: Name
    dark: bool
    colors: Palette
    states: States

    def to_textual(self) -> Theme:
        """Return the theme for Textual; what Textual has no word for becomes a variable."""
        colors = self.colors
        return Theme(
            name=self.name,
            dark=self.dark,
            primary=colors.primary,
            secondary=colors.secondary,
            accent=colors.accent,
            success=colors.success,
            warning=colors.warning,
            error=colors.error,
            foreground=colors.foreground,
            background=colors.background,
            surface=colors.surface,
            panel=colors.panel,
            variables=self.variables(),
        )

    def variables(self) -> dict[str, str]:
        """Return the style variables that are ours: ``$state-running``, ``$quiet``, ``$rule`` and so on."""
        own = {f"state-{tone}": colour for tone, colour in self.states.model_dump().items()}
        colors = self.colors
        return own | {
            "quiet": colors.quiet,
            "rule": colors.rule,
            "row-cursor": colors.cursor,
            "row-cursor-blurred": colors.cursor_blurred,
            "row-marked": colors.marked,
            "footer-background": colors.panel,
            "input-cursor-background": colors.foreground,
            "input-cursor-foreground": colors.background,
            "border": colors.rule,
            "scrollbar": colors.rule,
            "scrollbar-hover": colors.quiet,
            "scrollbar-active": colors.primary,
            "scrollbar-background": colors.background,
            "scrollbar-background-hover": colors.background,
            "scrollbar-background-active": colors.background,
            "scrollbar-corner-color": colors.background,
        }


def parse_theme(text: str, where: str) -> ThemeFile:
    """Read a theme file's text; raises UserMistake that names ``where`` and the key."""
    try:
        return ThemeFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserMistake(f"theme {where}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UserMistake(f"theme {where}: {key}: {first['msg']}") from None


def load_themes() -> dict[str, ThemeFile]:
    """Return the themes that come with Poolboard, by name."""
    found: dict[str, ThemeFile] = {}
    for entry in sorted(resources.files("poolboard.themes").iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".toml"):
            theme = parse_theme(entry.read_text(encoding="utf-8"), entry.name)
            found[theme.name] = theme
    return found


def choose_theme(wanted: str | None, themes: dict[str, ThemeFile], source: str = "") -> str:
    """Return the theme's name; raises UserMistake for one that does not exist, naming who wanted it."""
    if wanted is None:
        return DEFAULT_THEME
    if wanted not in themes:
        chosen_by = f" ({source})" if source else ""
        raise UserMistake(f"no theme named {wanted!r}{chosen_by}: there are {', '.join(sorted(themes))}")
    return wanted
