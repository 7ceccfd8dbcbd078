"""The dashboard as an application: themes, screens, and a clean way in and out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Final

# Textual reads it at import: on terminals without the Kitty protocol, esc alone waits this long (ms).
os.environ.setdefault("ESCDELAY", "25")
# Likewise: a key waits for the next frame, at 60 a second 8 ms on average. Over SSH each frame costs more than that.
if "SSH_CONNECTION" not in os.environ:
    os.environ.setdefault("TEXTUAL_FPS", "120")

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.widgets import Input

from poolboard.engine.errors import EngineError
from poolboard.engine.monitor import Monitor
from poolboard.journal.errors import JournalError

from . import memory
from .board_screen import BoardScreen
from .clock import Clock
from .messages import ThemeChosen
from .pace import Pace, pace_for
from .palette import ActionCommands
from .preferences import Preferences
from .quit_screen import QuitScreen
from .runs_screen import RunsScreen
from .screen import PoolScreen
from .session import Session
from .settings import config_folder
from .source import Source
from .table import Table
from .terminal import leave_on_hangup, leave_on_signals, measure_itself, restore, wants_ascii
from .text import clip
from .theme import DEFAULT_THEME, choose_theme, load_themes
from .user_themes import load_user_themes, saved

#: A toast each; more would hide the screen.
_MOST_NOTICES: Final = 3


class PoolboardApp(App[int]):
    """Shows the runs of one journal; ``run_id`` opens that run's board. Never writes, never runs user code.

    ``clock``, ``pace``, ``ascii`` and ``source`` are for pictures drawn from a recording; else they are found out.
    Without ``hints`` nothing is said to a newcomer. A ``guest`` sits at a browser: nothing is written here for them.
    """

    CSS_PATH = Path(__file__).with_name("poolboard.tcss")
    TITLE = "Poolboard"
    COMMANDS: ClassVar = {ActionCommands}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    # Before everything: a dialog would else not hear it, and a text box keep it.
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", show=False, priority=True, id="interrupt")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 - declared so by Textual

    def __init__(
        self,
        journal: str | None = None,
        run_id: str | None = None,
        *,
        theme: str | None = None,
        read_only: bool = False,
        clock: Clock | None = None,
        pace: Pace | None = None,
        ascii: bool | None = None,
        source: Source | None = None,
        hints: bool = True,
        notify: bool = False,
        guest: bool = False,
    ) -> None:
        self._folder: Final = config_folder()
        ours = load_themes()
        theirs, problems = load_user_themes(self._folder / "themes", ours)
        self._themes = ours | theirs
        self._ours: Final = frozenset(ours)
        self.preferences: Final = Preferences(self._folder, self._tell, lasting=not guest)
        damage = self.preferences.damage
        self._notices = [*([damage] if damage else []), *problems]
        remembered = self.preferences.theme if self.preferences.theme in self._themes else None
        chosen = choose_theme(theme or remembered, self._themes)
        super().__init__()
        self._journal: Final = journal
        self._run_id: Final = run_id
        self._read_only: Final = read_only
        self._notify: Final = notify
        self._guest: Final = guest
        self._clock: Final = clock or Clock()
        self._pace: Final = pace or pace_for()
        self._ascii: Final = wants_ascii() if ascii is None else ascii
        self._source: Source | None = source
        self._hints: Final = hints
        self.refusal: EngineError | JournalError | None = None
        for one in self._themes.values():
            self.register_theme(one.to_textual())
        self.theme = chosen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._themes[DEFAULT_THEME].variables()

    async def on_mount(self) -> None:
        leave_on_signals(self._leave)
        leave_on_hangup(self._leave)
        try:
            source: Source = self._source or await Monitor.open(self._journal)
            self._source = source
            home = None if self._run_id is None else await source.resolve(self._run_id)
        except (EngineError, JournalError) as error:
            self.refusal = error  # for the command line to tell in one line, once the terminal is given back
            self.exit(2, return_code=2)
            return
        person = os.environ.get("USER") or os.environ.get("LOGNAME") or f"uid {os.getuid()}"
        session = Session(
            source,
            self._clock,
            self._pace,
            self._ascii,
            self._read_only,
            self.preferences,
            person,
            home,
            self._hints,
            self._notify,
            self._guest,
        )
        await self.push_screen(RunsScreen(session))
        if home is not None:
            await self.push_screen(BoardScreen(session, home))

        for notice in self._notices[:_MOST_NOTICES]:
            self._tell(notice)
        self.run_worker(self._reload_themes(), group="themes", exit_on_error=False)

    def _leave(self, code: int) -> None:
        self.exit(code, return_code=code)

    def _tell(self, text: str) -> None:
        self.notify(clip(text, 400), severity="warning", markup=False, timeout=8)

    async def _reload_themes(self) -> None:
        """Take in a theme of the person's own as it is saved, and show it if it is the one in use."""
        async for _ in saved(self._folder / "themes"):
            theirs, problems = load_user_themes(self._folder / "themes", self._ours)
            for one in theirs.values():
                self.register_theme(one.to_textual())
            if self.theme in theirs:
                name, self.theme = self.theme, DEFAULT_THEME
                self.theme = name  # the same name again would change nothing
            for problem in problems[:_MOST_NOTICES]:
                self._tell(problem)

    def on_theme_chosen(self, message: ThemeChosen) -> None:
        self.preferences.keep_theme(message.name)

    def on_table_arranged(self, message: Table.Arranged) -> None:
        if message.table.id is not None:
            self.preferences.keep_list(message.table.id, message.table.arrangement())

    def action_interrupt(self) -> None:
        """Copy what is selected; else leave a dialog, or ask on the way out: Textual would only name another key."""
        screen, focused = self.screen, self.focused
        selected = screen.get_selected_text() or (focused.selected_text if isinstance(focused, Input) else "")
        if selected:
            self.copy_to_clipboard(selected)
        elif isinstance(screen, PoolScreen):
            screen.perform("interrupt")
        elif isinstance(screen, QuitScreen):
            self.exit(0)
        else:
            screen.dismiss(None)

    async def on_event(self, event: events.Event) -> None:
        # A key typed behind the one that leaves would open a screen on an app that is being taken down.
        if not (self._exit and isinstance(event, events.Key)):
            await super().on_event(event)

    async def on_unmount(self) -> None:
        if self._source is not None:
            await self._source.close()


def run_dashboard(
    journal: str | None = None,
    run_id: str | None = None,
    read_only: bool = False,
    *,
    theme: str | None = None,
    ascii: bool | None = None,
    notify: bool = False,
    guest: bool = False,
) -> int:
    """Show the dashboard until the person leaves; returns the exit code.

    ``theme`` None is the one that was chosen last, ``ascii`` None is as the locale says.

    0: left or detached; 143, 129, 131: ended by SIGTERM, SIGHUP, SIGQUIT; 1: a fault in the dashboard, its traceback
    on stderr after the terminal was given back. Raises UserMistake, JournalUnusable, StorageUnavailable.
    """
    memory.begin()
    measure_itself()
    app = PoolboardApp(journal, run_id, theme=theme, read_only=read_only, ascii=ascii, notify=notify, guest=guest)
    try:
        app.run()
    finally:
        restore()
    if app.refusal is not None:
        raise app.refusal
    return app.return_code or 0
