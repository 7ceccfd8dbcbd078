"""A person's own themes: TOML files in the config folder, read again when one is saved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container
from pathlib import Path
from typing import Final

from watchfiles import awatch

from poolboard.engine.errors import UserMistake

from .settings import config_folder
from .theme import ThemeFile, load_themes, parse_theme

_MOST: Final = 100
_LIMIT_BYTES: Final = 65_536


def load_user_themes(folder: Path, taken: Container[str]) -> tuple[dict[str, ThemeFile], list[str]]:
    """Return the themes of a folder by name, and one sentence per file that is none; ``taken`` names are ours."""
    found: dict[str, ThemeFile] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.toml"))[:_MOST]:
        try:
            with path.open("rb") as file:
                theme = parse_theme(file.read(_LIMIT_BYTES).decode(), path.name)
        except UserMistake as mistake:
            problems.append(str(mistake))
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"theme {path.name}: {error}")
        else:
            if theme.name in taken:
                problems.append(f"theme {path.name}: the name {theme.name!r} is taken; give it another")
            else:
                found[theme.name] = theme
    return found, problems


def all_themes() -> tuple[dict[str, ThemeFile], list[str]]:
    """Return every theme by name, ours and the person's, and one sentence per file that is none."""
    ours = load_themes()
    theirs, problems = load_user_themes(config_folder() / "themes", ours)
    return ours | theirs, problems


async def saved(folder: Path) -> AsyncIterator[None]:
    """Yield whenever a file of the folder was written. Ends at once where there is no such folder."""
    if not folder.is_dir():
        return
    try:
        async for _ in awatch(folder, recursive=False):
            yield
    except (OSError, RuntimeError):
        # The system's watches are used up (watchfiles raises a RuntimeError): look every few seconds instead.
        async for _ in awatch(folder, recursive=False, force_polling=True, poll_delay_ms=3000):
            yield
