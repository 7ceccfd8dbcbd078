"""Where a run keeps what is not in the journal: socket, coordinator.json, logs. Folders 0700, files 0600."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from poolboard.journal.select import Configured, Selection, choose

from .errors import UserMistake
from .identity import ProcessIdentity

#: sun_path holds 108 bytes on Linux and 104 on macOS, with its closing NUL.
SOCKET_PATH_LIMIT_BYTES = 103
LAST_WORDS_BYTES = 4096


def state_folder() -> Path:
    """Return the user's state folder; XDG_STATE_HOME is obeyed everywhere."""
    home = os.environ.get("XDG_STATE_HOME")
    if home:
        return Path(home) / "poolboard"
    import platformdirs  # late: it looks for a folder of each kind

    return Path(platformdirs.user_state_dir("poolboard"))


def shared_limits_path() -> Path:
    """Return the file of the limits that all of the user's runs share."""
    return state_folder() / "limits.sqlite"


def chosen_journal(flag: str | None) -> Selection:
    """Return the journal in force: the one given, else POOLBOARD_JOURNAL's, a settings file's, the state folder's.

    Raises JournalUnusable for a word that names none, UserMistake for a settings file that is wrong.
    """
    return choose(flag, os.environ, state_folder() / "journal.sqlite", _configured_journal)


def _configured_journal() -> Configured | None:
    from .config_loading import load

    loaded = load()
    word, folder = loaded.config.journal, loaded.folders.get("journal")
    return None if word is None or folder is None else Configured(word, loaded.source("journal"), folder)


def make_private(folder: Path) -> Path:
    """Create the folder (0700, parents too) and refuse one that belongs to somebody else."""
    try:
        # mkdir(parents=True) would leave the parents at the umask's mode.
        for missing in reversed([parent for parent in (folder, *folder.parents) if not parent.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise UserMistake(f"cannot use folder {folder}: {error.strerror}") from None
    if status.st_uid != os.getuid():
        raise UserMistake(f"folder {folder} belongs to another user; set XDG_STATE_HOME to a folder of your own")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


@dataclass(frozen=True, slots=True)
class CoordinatorFile:
    """What coordinator.json says: who owns the run and where it listens."""

    identity: ProcessIdentity
    epoch: int
    socket: str


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The state folder of one root run."""

    path: Path

    @classmethod
    def of(cls, run_id: str) -> RunFolder:
        """Return the folder for a new run of this user."""
        return cls(state_folder() / "runs" / run_id)

    def create(self) -> None:
        """Make the folder and those inside it, all 0700."""
        for folder in (self.path, self.logs, self.workers):
            make_private(folder)

    @property
    def logs(self) -> Path:
        """Where the output of attempts goes."""
        return self.path / "logs"

    @property
    def workers(self) -> Path:
        """Where each worker's own output goes (what bypasses Python's stdout)."""
        return self.path / "workers"

    @property
    def coordinator_log(self) -> Path:
        """The coordinator's own output."""
        return self.path / "coordinator.log"

    def last_words(self) -> str | None:
        """Return why the last coordinator ended, if it could say so (it cannot after SIGKILL)."""
        try:
            with self.coordinator_log.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_WORDS_BYTES))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return None
        last = lines[-1] if lines else ""
        _, found, told = last.partition(" ERROR poolboard: ")
        return told if found else None

    def socket_path(self) -> str:
        """Return where the coordinator listens: in this folder, or under a short runtime folder if that is too long."""
        here = str(self.path / "coordinator.sock")
        if len(os.fsencode(here)) <= SOCKET_PATH_LIMIT_BYTES:
            return here
        base = os.environ.get("XDG_RUNTIME_DIR") or f"{tempfile.gettempdir()}/poolboard-{os.getuid()}"
        name = hashlib.sha256(os.fsencode(here)).hexdigest()[:20]
        for candidate in (base, f"/tmp/poolboard-{os.getuid()}"):
            short = f"{candidate}/{name}.sock"
            if len(os.fsencode(short)) <= SOCKET_PATH_LIMIT_BYTES:
                make_private(Path(candidate))
                return short
        raise UserMistake(
            f"socket path {here} has {len(os.fsencode(here))} bytes, the system allows {SOCKET_PATH_LIMIT_BYTES}; "
            "set XDG_STATE_HOME to a shorter folder"
        )

    def write_coordinator(self, found: CoordinatorFile) -> None:
        """Announce the coordinator: written beside and renamed, so that a reader never sees half of it."""
        text = json.dumps({"identity": str(found.identity), "epoch": found.epoch, "socket": found.socket})
        beside = self.path / f".coordinator.{os.getpid()}.json"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path / "coordinator.json")

    def read_coordinator(self) -> CoordinatorFile | None:
        """Return the last announcement; None if there is none or it is damaged (a hint, never the truth)."""
        try:
            told = json.loads((self.path / "coordinator.json").read_text())
            identity = ProcessIdentity.parse(str(told["identity"]))
            epoch, socket = int(told["epoch"]), str(told["socket"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if identity is None else CoordinatorFile(identity, epoch, socket)
