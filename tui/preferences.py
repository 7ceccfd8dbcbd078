"""A person's choices as the screens use them: asked for at any time, saved as they are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from .columns import Arrangement
from .settings import Settings, load_settings, save_settings


class Preferences:
    """The remembered choices of one person. ``tell`` says what could not be read or kept.

    Unless they are ``lasting`` they hold for this sitting and are not saved.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None], *, lasting: bool = True) -> None:
        self._folder: Final = folder
        self._tell: Final = tell
        self._lasting: Final = lasting
        self._settings, self.damage = load_settings(folder)

    @property
    def theme(self) -> str | None:
        """The theme that was chosen last."""
        return self._settings.theme

    def keep_theme(self, name: str) -> None:
        """Remember a theme."""
        self._keep(self._settings.model_copy(update={"theme": name}))

    def of_list(self, id: str) -> Arrangement | None:
        """Return how the person wants a list; None if nothing was ever chosen."""
        return self._settings.lists.get(id)

    def keep_list(self, id: str, arrangement: Arrangement) -> None:
        """Remember how the person wants a list."""
        self._keep(self._settings.model_copy(update={"lists": {**self._settings.lists, id: arrangement}}))

    def first_time(self, hint: str) -> bool:
        """Say whether a hint was never shown; from now on it was."""
        if hint in self._settings.hints:
            return False
        self._keep(self._settings.model_copy(update={"hints": (*self._settings.hints, hint)}))
        return True

    def _keep(self, settings: Settings) -> None:
        self._settings = settings
        if not self._lasting:
            return
        try:
            save_settings(self._folder, settings)
        except OSError as error:
            self._tell(f"your choice holds for now, but could not be saved: {error}")
