"""What the dashboard remembers of a person: theme, lists, hints. A damaged file is ignored, told, never in the way."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .columns import Arrangement

_LIMIT_BYTES: Final = 65_536


class Settings(BaseModel):
    """The remembered choices; None where none was made."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    theme: str | None = None
    lists: dict[str, Arrangement] = Field(default_factory=dict, max_length=100)
    hints: tuple[str, ...] = Field(default=(), max_length=100)


def config_folder() -> Path:
    """Return where Poolboard's own settings and themes lie; it need not exist."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return Path(home) / "poolboard" if home else Path(platformdirs.user_config_dir("poolboard"))


def load_settings(folder: Path) -> tuple[Settings, str | None]:
    """Return the settings, and one sentence if the file could not be used."""
    path = folder / "screen.json"
    try:
        with path.open("rb") as file:
            return Settings.model_validate_json(file.read(_LIMIT_BYTES)), None
    except FileNotFoundError:
        return Settings(), None
    except (OSError, ValidationError):
        return Settings(), f"the settings in {path} are damaged and are ignored; the next choice replaces them"


def save_settings(folder: Path, settings: Settings) -> None:
    """Replace the file in one step: a crash leaves the old one or the new one. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".screen-", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(settings.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(folder / "screen.json")
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
