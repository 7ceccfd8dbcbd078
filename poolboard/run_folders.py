"""The folders of runs in the state folder: which there are, and taking one away. Never any other folder.

A journal's word is not enough for deleting: it may have come from elsewhere, and name any folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from poolboard.engine.folder import RunFolder, state_folder

#: Ids as runs are given them, and names that cannot lead anywhere else.
RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}", re.ASCII)
#: The name of a socket that lies in a short folder because the run's own path is too long.
SHORT_SOCKET: Final = re.compile(r"[0-9a-f]{20}\.sock", re.ASCII)
#: Folders that are looked at; more of them are told as more.
MOST_FOLDERS: Final = 10_000


def all_folders() -> list[RunFolder]:
    """Return the folders of runs that are there and this user's, by name."""
    found: list[RunFolder] = []
    with suppress(OSError), os.scandir(state_folder() / "runs") as entries:
        for entry in entries:
            if len(found) == MOST_FOLDERS:
                break
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                    found.append(RunFolder(Path(entry.path)))
    return sorted(found, key=lambda folder: folder.path.name)


def sockets(folder: RunFolder) -> list[Path]:
    """Return where a coordinator of the run listens or listened, as far as there is a file."""
    places = [folder.path / "coordinator.sock"]
    told = folder.read_coordinator()
    if told is not None and SHORT_SOCKET.fullmatch(Path(told.socket).name):
        places.append(Path(told.socket))
    return [place for place in places if place.is_socket()]


def at_home(run_id: str, header: str) -> str:
    """Return the header of a run from elsewhere with its folder here; raises ValueError if it is none of the engine's.

    What the header names is not taken over in any case: the coordinator would write there, and run its hooks.
    """
    if not RUN_ID.fullmatch(run_id):
        raise ValueError(f"{run_id[:80]!r} is no id of a run")
    told = json.loads(header)
    if not isinstance(told, dict) or not isinstance(told.get("folder"), str):
        raise ValueError("its header names no folder: it is no run of this program")
    here: dict[str, object] = {"folder": str(RunFolder.of(run_id).path)}
    if told.get("hooks"):
        here["hooks"] = {}
    return header if told | here == told else json.dumps({**told, **here}, separators=(",", ":"))


def forget(run_id: str, header: str) -> str | None:
    """Take a forgotten run's folder away; return why it stays, None if it is gone or there was none."""
    try:
        named = Path(json.loads(header)["folder"])
    except (ValueError, KeyError, TypeError):
        return "its record names no folder"
    if not RUN_ID.fullmatch(run_id) or named != RunFolder.of(run_id).path:
        return f"its folder {named} is not in the state folder: take it away by hand"
    folder = RunFolder(named)
    if not named.is_dir() or named.is_symlink():
        return None
    told = folder.read_coordinator()
    if told is not None and told.identity.is_alive():
        return f"process {told.identity.pid} still uses its folder {named}"
    for socket in sockets(folder):
        with suppress(OSError):
            socket.unlink()
    try:
        shutil.rmtree(named)
    except OSError as error:
        return f"its folder {named} cannot be taken away: {error.strerror}"
    return None
