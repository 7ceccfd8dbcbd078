"""How our own modules are started as processes: by this Python, from this very copy of the package.

``-P`` keeps the folder a person stands in off the import path, which in a bare checkout would be the only way in: the
package's folder is then given in the environment, and taken out again before user code runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_FOLDER = Path(__file__).absolute().parent.parent
#: The folder that holds the package: the checkout itself where engine/ lies at its top, else what pip installed into.
_ROOT = str(_FOLDER if _FOLDER.name != "poolboard" else _FOLDER.parent)
_GIVEN = "POOLBOARD_IMPORT_ROOT"
#: Set in a worker's environment to its id, and so in that of everything it starts.
MARK = "POOLBOARD_WORKER"


def command(module: str, *words: str) -> list[str]:
    """Return the argv that runs ``poolboard.engine.<module>``."""
    return [sys.executable, "-P", "-m", f"poolboard.engine.{module}", *words]


def environment() -> dict[str, str]:
    """Return this process's environment, with the package's folder on its import path."""
    found = dict(os.environ)
    parts = [part for part in found.get("PYTHONPATH", "").split(os.pathsep) if part]
    if _ROOT not in parts and Path(_ROOT).name not in ("site-packages", "dist-packages"):
        found["PYTHONPATH"] = os.pathsep.join([_ROOT, *parts])
        found[_GIVEN] = _ROOT
    return found


def forget_import_root() -> None:
    """Take out of the environment what ``environment`` put in: the processes of user code are not ours."""
    given = os.environ.pop(_GIVEN, None)
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part not in ("", given)]
    if given is not None:
        os.environ.pop("PYTHONPATH", None)
        if parts:
            os.environ["PYTHONPATH"] = os.pathsep.join(parts)
