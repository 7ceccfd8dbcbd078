"""What dead processes of Poolboard left: sockets nobody listens on, announcements, processes without an owner."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import psutil

from poolboard import run_folders
from poolboard.ailment import Ailment, fine, note
from poolboard.engine.folder import RunFolder
from poolboard.engine.strays import MARK
from poolboard.tui.units import several

CONNECT_LIMIT_S: Final = 1.0
#: Names that one line gives.
NAMED: Final = 5
COORDINATOR, WORKER = "poolboard.engine.coordinate", "poolboard.engine.worker"


def sockets_and_announcements() -> Iterator[Ailment]:
    """Yield what is left in the folders of runs whose coordinator is gone; taking it away is safe at any time."""
    stale: list[tuple[RunFolder, Path]] = []
    announced: list[RunFolder] = []
    for folder in run_folders.all_folders():
        told = folder.read_coordinator()
        if told is not None and told.identity.is_alive():
            continue
        stale += [(folder, place) for place in run_folders.sockets(folder) if not _answers(place)]
        if told is not None:
            announced.append(folder)
    if stale:
        names = _named([str(place) for _, place in stale])
        yield note(
            "sockets",
            f"nobody listens on {several(len(stale), 'socket')}: {names}",
            "poolboard doctor --fix removes them",
            _remove_sockets(stale),
        )
    else:
        yield fine("sockets", "none left behind")
    if announced:
        yield note(
            "coordinators",
            f"{several(len(announced), 'announcement')} of dead ones: {_named([f.path.name for f in announced])}",
            "poolboard doctor --fix removes them; the runs stay as they are",
            _remove_announcements(announced),
        )


def _answers(place: Path) -> bool:
    """Tell whether somebody listens there; also True if that cannot be found out."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(CONNECT_LIMIT_S)
        try:
            probe.connect(str(place))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True


def _is_dead(folder: RunFolder) -> bool:
    told = folder.read_coordinator()
    return told is None or not told.identity.is_alive()


def _remove_sockets(stale: list[tuple[RunFolder, Path]]) -> Callable[[], None]:
    def mend() -> None:
        for folder, place in stale:
            # Once more: a coordinator may have come meanwhile. It announces itself after it listens.
            if _is_dead(folder) and not _answers(place):
                place.unlink(missing_ok=True)

    return mend


def _remove_announcements(announced: list[RunFolder]) -> Callable[[], None]:
    def mend() -> None:
        for folder in announced:
            if _is_dead(folder):
                (folder.path / "coordinator.json").unlink(missing_ok=True)

    return mend


def lost_processes() -> Ailment:
    """Tell of processes that a worker started and that outlived it; they are named, never signalled."""
    workers: set[str] = set()
    marked: list[tuple[int, str, str]] = []
    for process in psutil.process_iter():
        try:
            if process.pid == os.getpid() or process.uids().real != os.getuid():
                continue
            mark = process.environ().get(MARK)
            if mark is None:
                continue
            words = process.cmdline()
            if WORKER in words:
                workers.add(mark)
            else:
                marked.append((process.pid, process.name(), mark))
        except psutil.Error:
            continue
    lost = [f"{pid} ({name})" for pid, name, mark in marked if mark not in workers]
    if not lost:
        return fine("processes left", "none")
    numbers = " ".join(told.split()[0] for told in lost[:NAMED])
    return note(
        "processes left",
        f"{several(len(lost), 'process', 'processes')} of dead workers: {_named(lost)}",
        f"resuming the run ends them; or: kill {numbers}",
    )


def _named(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
