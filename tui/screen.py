"""What every screen does: runs registered actions under a guard, says things, keeps its key bar true."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import ClassVar, Final, Literal

from textual.app import ComposeResult
from textual.screen import Screen

from .action import Action, Scope, Situation
from .actions import BY_ID, for_bar, in_scope
from .copy_screen import Copy, CopyScreen
from .help_screen import HelpScreen
from .line import Line, Piece, Sides
from .messages import ThemeChosen
from .pick_screen import PickScreen
from .session import Session
from .table import Table
from .text import clip
from .theme_screen import ThemeScreen

Severity = Literal["information", "warning", "error"]

_TOAST_CELLS: Final = 400
#: Said once, when a person sees a screen for the first time: keys and what they do.
HINTS: Final[dict[Scope, tuple[tuple[str, str], ...]]] = {
    "runs": (("enter", "opens a run"), ("/", "filters"), ("?", "lists every key"), ("q", "leaves, what runs goes on")),
    "board": (
        ("p", "pauses the run"),
        ("Z", "only the screen"),
        ("2", "what fails and why"),
        ("enter", "opens a child"),
    ),
    "child": (("l", "shows the log"), ("{ }", "go from error to error"), ("M", "puts all attempts into one")),
}
_HINT_S: Final = 20.0


class PoolScreen(Screen[None]):
    """A screen with a scope of actions. An action ``x`` is done by the method ``do_x``."""

    SCOPE: ClassVar[Scope]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session: Final = session

    def on_mount(self) -> None:
        """Bring the lists into the order that the person left them in."""
        for table in self.query(Table):
            remembered = self.session.preferences.of_list(table.id or "")
            if remembered is not None:
                table.restore(remembered)
        self.call_after_refresh(self._hint)

    def _hint(self) -> None:
        """Tell a newcomer what matters on this screen, once, and only when it is really looked at."""
        if not (self.is_current and self.session.hints) or self.size.width < 60 or self.size.height < 18:
            return  # a small terminal has no line to spare
        if self.SCOPE in HINTS and self.session.preferences.first_time(self.SCOPE):
            line = self.query_one("#hint", Line)
            line.add_class("-shown")
            self.set_timer(_HINT_S, lambda: line.remove_class("-shown"))

    def _hint_line(self, cells: int) -> Sides:
        pieces = [Piece("first time here:", "$quiet", 1)]
        for place, (key, words) in enumerate(HINTS.get(self.SCOPE, ())):
            pieces += [Piece(key, "bold $accent", 9 - place), Piece(" " + words, "$accent", 9 - place, glued=True)]
        return Sides(pieces)

    def key_bar(self) -> ComposeResult:
        """Compose the key bar, always the last line, and the one over it for a newcomer."""
        yield Line(self._hint_line, id="hint")
        yield Line(self._keys, id="keys", gap=2)

    def situation(self) -> Situation:
        """Return what the person is looking at now."""
        return Situation(read_only=self.session.read_only)

    def reason_now(self, action: Action) -> str | None:
        """Return why an action cannot be used now, None if it can."""
        return action.reason(self.situation())

    def list_in_front(self) -> Table[object] | None:
        """Return the list that has the keys, else the first one that is shown."""
        if isinstance(self.focused, Table):
            return self.focused
        return next((table for table in self.query(Table) if table.display), None)

    def copy_id(self) -> str:
        """Return the id of what the cursor is on; empty if it has none."""
        return ""

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a toast. The text may come from anywhere: it is made visible and never parsed."""
        self.app.notify(clip(text, _TOAST_CELLS), severity=severity, markup=False, timeout=4)

    def keys_changed(self) -> None:
        """Draw the key bar again if the situation changed what it says."""
        for line in self.query("#keys").results(Line):
            line.show(self._keys)

    def _keys(self, cells: int) -> Sides:
        situation = self.situation()
        pieces: list[Piece] = []
        for place, action in enumerate(for_bar(in_scope(self.SCOPE))):
            if self.reason_now(action) is not None:
                continue  # the bar says what can be done now; the help says why the rest cannot
            pieces.append(Piece(action.key, "bold $primary", 50 - place, action.id))
            pieces.append(Piece(" " + action.label_now(situation), "$foreground", 50 - place, action.id, glued=True))
        return Sides(pieces)

    # -- actions

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.perform(message.action)

    async def action_act(self, action_id: str) -> None:
        self.perform(action_id)

    def perform(self, action_id: str) -> None:
        """Do a registered action, or say why not; whatever goes wrong in it, the screen goes on."""
        action = BY_ID[action_id]
        situation = self.situation()
        reason = self.reason_now(action)
        if reason is not None:
            self.say(f"{action.label_now(situation)}: {reason}", "warning")
            return
        if action.call:
            target = self.list_in_front() if action.scopes == ("table",) else self
            if target is not None:
                self.call_later(target.run_action, action.call)
            return
        do: Callable[[], None] = getattr(self, f"do_{action_id}")
        try:
            do()
        except Exception as error:
            self.failed(action, error)

    def failed(self, action: Action, error: Exception) -> None:
        """Tell that an action failed; the traceback goes to the developer's log."""
        self.log.error(traceback.format_exc())
        self.say(f"{action.label}: {error}" if str(error) else f"{action.label}: {type(error).__name__}", "error")

    # -- what all screens can do

    def do_help(self) -> None:
        self.app.push_screen(HelpScreen(self.SCOPE, self.reason_now))

    def do_columns(self) -> None:
        table = self.list_in_front()
        if table is None:
            return

        def kept(yes: bool | None) -> None:
            if yes:
                table.post_message(Table.Arranged(table))

        self.app.push_screen(PickScreen(table, self.session.ascii), kept)

    def do_copy_cell(self) -> None:
        table = self.list_in_front()
        offered = table.copies() if table is not None else []
        if self.copy_id():
            offered.insert(0, ("id", self.copy_id()))

        def chosen(copy: Copy | None) -> None:
            if copy is not None:
                self.app.copy_to_clipboard(copy.text)
                self.say(f"copied {copy.what}: {copy.text}")

        self.app.push_screen(CopyScreen(offered, self.session.ascii), chosen)

    def do_interrupt(self) -> None:
        """Leaving is asked by the screen that knows which runs go on; a child's is below it."""
        for screen in reversed(self.app.screen_stack):
            if isinstance(screen, PoolScreen) and screen.ask_to_quit():
                return

    def ask_to_quit(self) -> bool:
        """Ask what becomes of the runs that go on, if this screen knows them; say whether it does."""
        return False

    def do_redraw(self) -> None:
        self.app.refresh(layout=True)
        self.refresh(layout=True)

    def do_theme(self) -> None:
        themes = self.app.available_themes
        names = sorted(name for name in themes if "state-running" in themes[name].variables)

        def chosen(name: str | None) -> None:
            if name is not None:
                self.post_message(ThemeChosen(name))

        self.app.push_screen(ThemeScreen(names, self.session.ascii), chosen)
