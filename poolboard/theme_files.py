"""What ``poolboard themes …`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Final

from poolboard import exit_codes, shapes
from poolboard.console import complain_of, has_colour, say, say_all
from poolboard.engine.config_loading import load
from poolboard.engine.errors import UserMistake
from poolboard.tui.settings import config_folder, load_settings
from poolboard.tui.theme import DEFAULT_THEME, ThemeFile, choose_theme, load_themes, parse_theme
from poolboard.tui.user_themes import all_themes
from poolboard.words import shown

#: Cells of a swatch.
SWATCH: Final = 8


def list_themes(*, as_json: bool) -> int:
    """Tell every theme; what is wrong with a file of one's own goes to standard error."""
    themes, problems = all_themes()
    ours, chosen = load_themes(), _in_force()
    if as_json:
        told = [
            {"name": name, "dark": theme.dark, "yours": name not in ours, "in_force": name == chosen}
            for name, theme in sorted(themes.items())
        ]
        say(shapes.line({"themes": told, "problems": problems}))
        return exit_codes.COMPLETED
    width = max(map(len, themes))
    for name, theme in sorted(themes.items()):
        kind = f"{'dark ' if theme.dark else 'light'}{'' if name in ours else '  yours'}"
        say(f"{'*' if name == chosen else ' '} {name:<{width}}  {kind}")
    for problem in problems:
        complain_of(shown(problem))
    return exit_codes.COMPLETED


def _in_force() -> str:
    """Return the theme that a screen would open with."""
    return load().config.theme or load_settings(config_folder())[0].theme or DEFAULT_THEME


def show(name: str, *, as_json: bool) -> int:
    """Show one theme."""
    themes, _ = all_themes()
    theme = themes[choose_theme(name, themes)]
    if as_json:
        say(shapes.line(theme.model_dump()))
    elif has_colour(sys.stdout):
        say_all(_swatches(theme))
    else:
        say_all(_text_of(name).splitlines())
    return exit_codes.COMPLETED


def _swatches(theme: ThemeFile) -> Iterator[str]:
    ground = theme.colors.background
    yield f"{theme.name}, {'dark' if theme.dark else 'light'}"
    for title, table in (("colors", theme.colors), ("states", theme.states)):
        yield f"[{title}]"
        for key, colour in table.model_dump().items():
            block, text = _sgr(48, colour), _sgr(48, ground) + _sgr(38, colour)
            yield f"{block}{'':{SWATCH}}\x1b[0m {text} {key:<16} \x1b[0m {colour}"


def _sgr(kind: int, colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"\x1b[{kind};2;{red};{green};{blue}m"


def _text_of(name: str) -> str:
    """Return the text of a theme's file, ours or the person's; the names in the files are the themes'."""
    for entry in resources.files("poolboard.themes").iterdir():
        if entry.name.endswith(".toml"):
            text = entry.read_text(encoding="utf-8")
            if parse_theme(text, entry.name).name == name:
                return text
    for path in sorted(_folder().glob("*.toml")):
        try:
            text = path.read_text(encoding="utf-8")
            if parse_theme(text, path.name).name == name:
                return text
        except (OSError, UnicodeDecodeError, UserMistake):
            continue
    raise UserMistake(f"the file of the theme {name!r} has gone")


def _folder() -> Path:
    return config_folder() / "themes"


def new(name: str, start: str | None, *, as_json: bool) -> int:
    """Write a theme file of the person's own and say where; nothing is overwritten."""
    themes, _ = all_themes()
    source = choose_theme(start or DEFAULT_THEME, themes)
    if name in themes:
        raise UserMistake(f"there is a theme {name!r} already; give another name")
    lines = [line for line in _text_of(source).splitlines() if not line.startswith("#")]
    text = "".join(f'name = "{name}"\n' if line.partition("=")[0].strip() == "name" else f"{line}\n" for line in lines)
    parse_theme(text, f"{name}.toml")
    path = _folder() / f"{name}.toml"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f"# Begun from {source}. Open screens show it as you save it.\n{text}")
    except FileExistsError:
        raise UserMistake(f"there is a file {path} already") from None
    except OSError as error:
        raise UserMistake(f"cannot write {path}: {error.strerror}") from None
    if as_json:
        say(shapes.line({"name": name, "path": str(path)}))
    else:
        say(f"theme {name} begun from {source}: {shown(str(path))}")
        say(f"to see it: poolboard --theme {name}")
    return exit_codes.COMPLETED
