"""The part of a run's record that only the engine understands, as JSON in ``runs.header``."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

import msgspec


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What one of our processes tells another, or records, as a JSON object; names that are not known are ignored.

    By msgspec, like the wire: pydantic would take 120 ms of CPU at the start of every coordinator.
    """

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return what was told; raises ValueError."""
        # Inputs are user data: Python's own json keeps integers of any size, and what stands for bytes of a path.
        return msgspec.convert(json.loads(text), cls)

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(msgspec.to_builtins(self), separators=(",", ":"))


class RunHeader(Told, frozen=True, kw_only=True):
    """How a run was started. Immutable but for what ``resume --accept-code`` records as an event."""

    path: str
    workflow: str
    digest: str
    inputs: dict[str, Any]
    workers: Annotated[int, msgspec.Meta(ge=1, le=1024)]
    slots: Annotated[int, msgspec.Meta(ge=1, le=4096)]
    folder: str
    max_depth: int
    concurrency: int
    #: Limits by name; ``duration_s`` and ``failures`` are kept by the engine, others are charged by ``ctx.usage``.
    budget: dict[str, float] = msgspec.field(default_factory=dict)
    #: Named limits as they were at the start, in the words of limit_spec; a setting of the run may have changed one.
    limits: dict[str, str] = msgspec.field(default_factory=dict)
    grace_s: float = 10.0
    adopt_grace_s: float = 10.0
    #: How long a worker may be silent before it is looked at as frozen; work leases last as long.
    lease_s: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    #: Shell commands for how the run may end: ``on_complete``, ``on_failure``, ``on_blocked``.
    hooks: dict[str, str] = msgspec.field(default_factory=dict)
    hook_limit_s: Annotated[float, msgspec.Meta(gt=0)] = 60.0


class WorkerSettings(Told, frozen=True, kw_only=True):
    """What the coordinator writes to a worker's stdin."""

    worker: str
    run_id: str
    number: int
    journal: str
    socket: str
    cwd: str
    epoch: int
    digest: str
    header: RunHeader
