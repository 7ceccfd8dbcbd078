"""Poolboard: thousands of durable child runs on a pool of worker processes, live on one screen.

The names below load when they are first used: ``import poolboard`` alone brings in neither Textual nor pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolboard.engine.authoring import stage, workflow
    from poolboard.engine.context import Context
    from poolboard.engine.errors import AskTimeout, ChildError, LimitError, StageError, StageInterrupted
    from poolboard.engine.limit_calls import observe
    from poolboard.engine.message import Message
    from poolboard.engine.result import Result
    from poolboard.engine.running import inbox
    from poolboard.engine.views import RunView
    from poolboard.handle import Handle, RunFailed
    from poolboard.pool import Pool, map, run

__version__ = "0.1.0"

__all__ = [
    "AskTimeout",
    "ChildError",
    "Context",
    "Handle",
    "LimitError",
    "Message",
    "Pool",
    "Result",
    "RunFailed",
    "RunView",
    "StageError",
    "StageInterrupted",
    "__version__",
    "inbox",
    "map",
    "observe",
    "run",
    "stage",
    "workflow",
]

_HOMES = {
    "AskTimeout": "poolboard.engine.errors",
    "ChildError": "poolboard.engine.errors",
    "Context": "poolboard.engine.context",
    "LimitError": "poolboard.engine.errors",
    "Handle": "poolboard.handle",
    "Message": "poolboard.engine.message",
    "Pool": "poolboard.pool",
    "Result": "poolboard.engine.result",
    "RunFailed": "poolboard.handle",
    "RunView": "poolboard.engine.views",
    "StageError": "poolboard.engine.errors",
    "StageInterrupted": "poolboard.engine.errors",
    "inbox": "poolboard.engine.running",
    "observe": "poolboard.engine.limit_calls",
    "map": "poolboard.pool",
    "run": "poolboard.pool",
    "stage": "poolboard.engine.authoring",
    "workflow": "poolboard.engine.authoring",
}


# Hidden from type checkers: with a module __getattr__ they would let every misspelt name pass.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'poolboard' has no attribute {name!r}")
        value: object = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
