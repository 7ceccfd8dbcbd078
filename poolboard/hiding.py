"""Values that must not stay on the command line: the arguments of a process are everybody's to read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def begin_anew_without(option: str, settings: Sequence[str]) -> None:
    """Start this program again with ``NAME`` where the line says ``NAME=VALUE`` behind an option.

    The caller has put the values in the environment. Returns if there is nothing to hide.
    """
    line, secrets = list(sys.orig_argv), [setting for setting in settings if "=" in setting]
    at = 0
    while secrets and at < len(line):
        if line[at] == secrets[0] and line[at - 1] == option:
            line[at] = secrets.pop(0).partition("=")[0]
        elif line[at] == f"{option}={secrets[0]}":
            line[at] = f"{option}={secrets.pop(0).partition('=')[0]}"
        at += 1
    if line != sys.orig_argv and not secrets:
        os.execv(sys.executable, [sys.executable, *line[1:]])
