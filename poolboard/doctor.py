"""``poolboard doctor``: a look at everything that runs depend on, a line each, and safe mending on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from poolboard import exit_codes, leftovers, machine, premises, shapes
from poolboard.ailment import Ailment, fine, trouble
from poolboard.console import say, say_all
from poolboard.engine.config_file import user_path
from poolboard.engine.config_loading import load
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.journal.errors import JournalUnusable
from poolboard.terminal_check import terminal
from poolboard.words import shown

SIGNS = {"fine": "ok  ", "note": "note", "trouble": "BAD "}


def doctor(journal: str | None, *, fix: bool, as_json: bool) -> int:
    """Tell how everything stands; ends with 2 if something must be done that was not mended."""
    told = [_mended(ailment) if fix and ailment.mend is not None else (ailment, None) for ailment in _all(journal)]
    bad = any(ailment.level == "trouble" and result is not True for ailment, result in told)
    if as_json:
        say(shapes.line({"ok": not bad, "checks": [_shape(ailment, result) for ailment, result in told]}))
    else:
        say_all(line for ailment, result in told for line in _lines(ailment, result))
    return exit_codes.MISTAKE if bad else exit_codes.COMPLETED


def _all(journal: str | None) -> Iterator[Ailment]:
    yield machine.python()
    yield machine.sqlite()
    yield from premises.folders()
    yield _settings()
    path: Path | None = None
    try:
        path = chosen_journal(journal).pool_path()
    except UserMistake:
        pass  # told with the settings
    except JournalUnusable as error:
        yield trouble("journal", str(error), "give the path of a file")
    if path is not None:
        yield from premises.journal(path)
        yield from premises.disk(path)
    for ailment in (machine.open_files(), machine.processes(), machine.file_size(), machine.inotify()):
        if ailment is not None:
            yield ailment
    yield from terminal()
    yield from leftovers.sockets_and_announcements()
    yield leftovers.lost_processes()


def _settings() -> Ailment:
    try:
        files = load().files
    except UserMistake as mistake:
        return trouble("settings", str(mistake), "mend it with: poolboard config edit")
    if not files:
        return fine("settings", f"no file; yours would be {user_path()}")
    return fine("settings", ", ".join(str(file.path) for file in files))


def _mended(ailment: Ailment) -> tuple[Ailment, bool | str]:
    """Mend it and return whether that went well, or why not."""
    assert ailment.mend is not None
    try:
        ailment.mend()
    except OSError as error:
        return ailment, error.strerror or type(error).__name__
    return ailment, True


def _lines(ailment: Ailment, result: bool | str | None) -> Iterable[str]:
    yield f"{SIGNS[ailment.level]}  {ailment.about:<15} {shown(ailment.told)}"
    if result is True:
        yield f"{'':22}mended"
    elif ailment.advice is not None:
        failed = f" (mending failed: {shown(str(result))})" if result else ""
        yield f"{'':22}{shown(ailment.advice)}{failed}"


def _shape(ailment: Ailment, result: bool | str | None) -> dict[str, object]:
    shape: dict[str, object] = {"about": ailment.about, "level": ailment.level, "told": ailment.told}
    return shape | {"advice": ailment.advice, "can_fix": ailment.mend is not None, "fixed": result is True}
