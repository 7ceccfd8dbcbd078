"""How a run is to be shown: what the flags say, else the settings."""

from __future__ import annotations

from dataclasses import dataclass

from poolboard.engine.config_loading import load


@dataclass(frozen=True, slots=True)
class Showing:
    """None where no flag was given. ``theme_source`` says who named the theme, for messages."""

    theme: str | None = None
    ascii: bool | None = None
    read_only: bool | None = None
    notify: bool | None = None
    quiet: bool | None = None
    theme_source: str = "--theme"

    def settled(self, *, screen: bool) -> Showing:
        """Return what is in force; where a screen is to open, its theme must exist. Raises UserMistake."""
        loaded = load()
        config = loaded.config
        settled = Showing(
            theme=self.theme or config.theme,
            ascii=config.ascii if self.ascii is None else self.ascii,
            read_only=config.read_only if self.read_only is None else self.read_only,
            notify=config.notify if self.notify is None else self.notify,
            quiet=config.quiet if self.quiet is None else self.quiet,
            theme_source=self.theme_source if self.theme else loaded.source("theme"),
        )
        if screen and settled.theme is not None:
            check_theme(settled.theme, settled.theme_source)
        return settled


def check_theme(name: str, source: str) -> None:
    """Raise UserMistake for a theme that does not exist, naming who named it."""
    from poolboard.tui.theme import choose_theme
    from poolboard.tui.user_themes import all_themes

    choose_theme(name, all_themes()[0], source)
