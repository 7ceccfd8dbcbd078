"""Inputs that are secrets (``SecretStr``): their values live in the environment of a run's processes and nowhere else.

What is recorded is ``{"$secret": "token"}``, the name of the root run's input; a worker looks the value up. Who resumes
a run gives the values again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

#: Before the name of an input whose value is given in the environment.
INPUT_PREFIX: Final = "POOLBOARD_INPUT_"
#: Before a run's id and the name of one of its secrets, from the process that started it to its workers.
RUN_PREFIX: Final = "POOLBOARD_SECRET_"
REFERENCE: Final = "$secret"
MASK: Final = "***"
#: Shorter values are not looked for in text: they would be found everywhere.
SHORTEST: Final = 4

#: This process's secrets by name: those of the one run that a worker or a probe works for.
_known: dict[str, str] = {}


def variable(run_id: str, name: str) -> str:
    """Return the variable that carries a secret of a run."""
    return f"{RUN_PREFIX}{run_id}_{name}"


def take(environ: MutableMapping[str, str], run_id: str = "") -> None:
    """Take the secrets out of an environment: what this process starts must not inherit them.

    Those that were given to this very run come before those that are just there.
    """
    for prefix in (INPUT_PREFIX, variable(run_id, "")):
        for key in [key for key in environ if key.startswith(prefix)]:
            _known[key.removeprefix(prefix)] = environ.pop(key)


def remember(name: str, value: str) -> None:
    """Know a secret in this process."""
    _known[name] = value


def value_of(name: str) -> str | None:
    """Return a secret's value, None if it was not given."""
    return _known.get(name)


def reference(value: str) -> dict[str, str | None]:
    """Return what is recorded for a value; without a name if it is none of the root's inputs."""
    return {REFERENCE: next((name for name, known in _known.items() if known == value), None)}


def named(plain: Any) -> str | None:
    """Return the name in a recorded reference; None for anything else."""
    name = plain.get(REFERENCE) if isinstance(plain, dict) and len(plain) == 1 else None
    return name if isinstance(name, str) else None


def masked(text: str) -> str:
    """Return text without the values that this process knows: exceptions and prints may hold them by accident."""
    for value in _known.values():
        if len(value) >= SHORTEST:
            text = text.replace(value, MASK)
    return text


def known() -> tuple[bytes, ...]:
    """Return the values that this process knows and that are long enough to be looked for."""
    return tuple(os.fsencode(value) for value in _known.values() if len(value) >= SHORTEST)


def without(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without secrets, for processes that have no use for them."""
    return {key: value for key, value in environ.items() if not key.startswith((INPUT_PREFIX, RUN_PREFIX))}
