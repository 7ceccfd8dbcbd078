"""The files of an item of ``each``: what its command wrote (``stdout``), and what it complained of (``command``)."""

from __future__ import annotations

import re
from pathlib import Path

from poolboard.engine.logs import child_folder

_NAME = re.compile(r"(\d+)-(\d+)-(.+)\.log")


def output_path(run_folder: Path, n: int, attempt: int) -> Path:
    """Return where an attempt's output goes; named like a log, so that screens show it as one."""
    return child_folder(run_folder / "logs", n) / f"{attempt}-1-stdout.log"


def newest(run_folder: Path, n: int, kind: str) -> Path | None:
    """Return the file of a kind of the last attempt that made one."""
    found: tuple[int, int, Path] | None = None
    try:
        listed = list(child_folder(run_folder / "logs", n).iterdir())
    except FileNotFoundError:
        return None
    for path in listed:
        match = _NAME.fullmatch(path.name)
        if match and match[3] == kind and (found is None or (int(match[1]), int(match[2])) > found[:2]):
            found = (int(match[1]), int(match[2]), path)
    return None if found is None else found[2]
