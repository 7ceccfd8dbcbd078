"""What a person does with the logs of a child: choose, merge, search, keep, hand to another program."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from poolboard.engine.views import ChildView, LogFile

from .line import Piece
from .log_chain import Link
from .log_lines import needle
from .log_view import LogView
from .outside import run_outside
from .path_screen import PathScreen
from .screen import PoolScreen
from .session import Session
from .units import clock_time, several, size

#: What a terminal takes over the wire for its clipboard.
_COPY_LIMIT: Final = 75_000


class ChildLogKeys(PoolScreen):
    """The child screen's actions on logs. What stands where on the screen is the child screen's own."""

    def __init__(self, session: Session, run_id: str, n: int, short_id: str) -> None:
        super().__init__(session)
        self.run_id: Final = run_id
        self.n: Final = n
        self.child: ChildView | None = None
        self._short_id: Final = short_id
        self._log_index = -1
        self._merged = False
        self._log_view: Final = LogView(session.monitor, session.clock.wall_ms, id="log")

    def _to_view(self, name: str) -> None:
        raise NotImplementedError

    # -- which files

    @property
    def _log(self) -> LogFile | None:
        logs = self.child.logs if self.child else ()
        return logs[self._log_index % len(logs)] if logs else None

    def _links(self) -> list[Link]:
        """Return the files to show: the chosen one, or all in the order in which they were begun."""
        chosen = self._log
        if chosen is None or self.child is None:
            return []
        logs = self.child.logs if self._merged else (chosen,)
        return [Link(log.path, log.size_bytes, self._words(log)) for log in logs]

    def _words(self, log: LogFile) -> str:
        """Say which file it is, and when its stage ran, if that was recorded."""
        words = f"{log.stage}, attempt {log.attempt}"
        for stage in self.child.stages if self.child else ():
            if (stage.name, stage.attempt) == (log.stage, log.attempt):
                begun, ended = (clock_time(at, stage.completed_at) for at in (stage.started_at, stage.completed_at))
                return f"{words}, {begun} to {ended}"
        return words

    def _new_files(self, before: ChildView | None) -> bool:
        """Say whether the log is to be opened (again): its first file came, or a merged one got another at its end."""
        if self.child is None or not self.child.logs:
            return False
        if before is None or not before.logs:
            return True
        return self._merged and [log.path for log in before.logs] != [log.path for log in self.child.logs]

    def _log_note(self) -> list[Piece]:
        """Return what the line over the log says of it."""
        log, child = self._log, self.child
        if log is None or child is None:
            return []
        pieces = [Piece("all files" if self._merged else f"{log.stage} attempt {log.attempt}", "$quiet", 6)]
        if len(child.logs) > 1:
            files = several(len(child.logs), "file")
            words = f"{files} merged" if self._merged else f"{child.logs.index(log) + 1} of {files}"
            pieces.append(Piece(words, "$quiet", 5))
        return [*pieces, *self._log_view.note()]

    def do_log(self) -> None:
        self._to_view("log")

    def do_next_log(self) -> None:
        self._log_index += 1
        self._merged = False
        self._to_view("log")

    def do_merge(self) -> None:
        self._merged = not self._merged
        self._to_view("log")

    # -- looking

    def do_search(self) -> None:
        self._log_view.search()

    def do_match_next(self) -> None:
        self._log_view.jump(needle(self._log_view.text), 1)

    def do_match_previous(self) -> None:
        self._log_view.jump(needle(self._log_view.text), -1)

    def do_error_next(self) -> None:
        self._log_view.jump_to_error(1)

    def do_error_previous(self) -> None:
        self._log_view.jump_to_error(-1)

    def do_only(self) -> None:
        self._log_view.turn_only()

    def do_times(self) -> None:
        self._log_view.turn_stamps()

    def do_wrap(self) -> None:
        self._log_view.pane.turn_wrap()
        self.post_message(LogView.Changed())

    # -- taking along

    def _copy_lines(self) -> None:
        text = self._log_view.copied()[:_COPY_LIMIT]
        self.app.copy_to_clipboard(text)
        self.say(f"copied {several(text.count(chr(10)) + 1, 'line')} of the log, as shown")

    def do_save(self) -> None:
        log = self._log
        if log is None:
            return
        which = "all" if self._merged else f"{log.stage}-{log.attempt}"
        proposed = f"poolboard-{self._short_id}-{self.n}-{which}.log".replace("/", "_")
        only = self._log_view.only and self._log_view.text
        title = "Save the lines that match to a new file" if only else "Save the log to a new file"
        self.app.push_screen(PathScreen(title, proposed), self._save)

    def _save(self, typed: str | None) -> None:
        if typed is not None:
            self.run_worker(self._write(Path(typed).expanduser()), group="save", exit_on_error=False)

    async def _write(self, path: Path) -> None:
        try:
            written = await self._log_view.write_to(path)
        except FileExistsError:
            self.say(f"save: {path} exists and is left as it is; choose another name", "warning")
        except OSError as error:
            self.say(f"save: {error}", "error")
        else:
            self.say(f"wrote {size(written)} to {path.absolute()}")

    def do_pager(self) -> None:
        self._outside("PAGER", "less")

    def do_edit(self) -> None:
        self._outside("EDITOR", "vi")

    def _outside(self, variable: str, otherwise: str) -> None:
        wrong = run_outside(self.app, variable, otherwise, [link.path for link in self._log_view.links])
        if wrong is not None:
            self.say(wrong, "warning")
