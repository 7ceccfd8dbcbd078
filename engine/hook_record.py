"""What a run's folder says of its hooks: one file for each that was started, rewritten when it has ended."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from .identity import ProcessIdentity

FOLDER: Final = "hooks"
#: Records that are looked at; a run has few ends.
MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class HookRecord:
    """One start of a hook. ``owner`` is the process that runs it; ``ended`` is how it ended, None before."""

    hook: str
    epoch: int
    owner: str
    ended: str | None = None
    ok: bool = False

    def path(self, folder: Path, kind: str) -> Path:
        """Return the record (``json``) or the output (``log``) in a run's folder."""
        return folder / FOLDER / f"{self.hook}.{self.epoch}.{kind}"

    def write(self, folder: Path) -> None:
        """Replace the record in one step."""
        path = self.path(folder, "json")
        beside = path.with_name(f".{path.name}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(asdict(self), file)
        beside.replace(path)


def trouble(folder: Path) -> str | None:
    """Return what is wrong with the newest hook of a run, in one sentence; None if all is well or it still runs."""
    record = _newest(folder)
    if record is None or record.ok:
        return None
    if record.ended is None:
        owner = ProcessIdentity.parse(record.owner)
        if owner is not None and owner.is_alive():
            return None
        return f"the hook {record.hook} was cut off; it is not started again"
    return f"the hook {record.hook} failed: {record.ended}; what it wrote: {record.path(folder, 'log')}"


def _newest(folder: Path) -> HookRecord | None:
    found: HookRecord | None = None
    with suppress(OSError), os.scandir(folder / FOLDER) as entries:
        for _, entry in zip(range(MOST), entries, strict=False):
            if entry.name.endswith(".json") and not entry.name.startswith("."):
                record = _read(Path(entry.path))
                if record is not None and (found is None or record.epoch > found.epoch):
                    found = record
    return found


def _read(path: Path) -> HookRecord | None:
    try:
        told = json.loads(path.read_bytes())
        return HookRecord(str(told["hook"]), int(told["epoch"]), str(told["owner"]), told["ended"], bool(told["ok"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
