"""Named fault points: where crash tests kill a real process.

Armed by ``POOLBOARD_FAULT=<process>:<point>[:<nth>]`` (process: coordinator or worker). They sit after a commit and
before the reply, where a death hurts most. Off, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal

_armed: str | None = None
_countdown = 0


def arm(process: str) -> None:
    """Read the environment once, at the start of a process of the named kind."""
    global _armed, _countdown
    kind, _, rest = os.environ.get("POOLBOARD_FAULT", "").partition(":")
    if kind != process or not rest:
        return
    point, _, nth = rest.partition(":")
    _armed, _countdown = point, int(nth or 1)


def fault(point: str) -> None:
    """Die here by SIGKILL if this point is armed and its turn has come."""
    if _armed is None or point != _armed:
        return
    global _countdown
    _countdown -= 1
    if _countdown <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
