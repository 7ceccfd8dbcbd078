"""Which machine we are on: whether a lease's holder still runs can be found out on its own machine only."""

from __future__ import annotations

import socket
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

MACHINE_ID: Final = Path("/etc/machine-id")


@cache
def this_host() -> str:
    """Return ``<id> <name>`` of this machine; the id tells machines apart, the name is for people."""
    name = socket.gethostname() or "unnamed"
    try:
        known = MACHINE_ID.read_text("ascii").strip()
    except (OSError, ValueError):
        known = ""
    # machine-id(5): the id itself is confidential; a hash of it under a purpose of one's own is not.
    return f"{sha256(f'poolboard {known or name}'.encode()).hexdigest()[:16]} {name}"


def is_same_host(one: str, other: str) -> bool:
    """Tell whether both are one machine, whatever its name was."""
    return one.partition(" ")[0] == other.partition(" ")[0]


def name_of(host: str) -> str:
    """Return a machine's name, for messages."""
    return host.partition(" ")[2]
