"""The part of a run's record that only the engine understands, as JSON in ``runs.header``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class RunHeader(BaseModel):
    """How a run was started. Immutable but for what ``resume --accept-code`` records as an event."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    path: str
    workflow: str
    digest: str
    inputs: dict[str, Any]
    workers: int = Field(ge=1, le=1024)
    slots: int = Field(ge=1, le=4096)
    folder: str
    max_depth: int
    concurrency: int
    #: Limits by name; ``duration_s`` and ``failures`` are kept by the engine, others are charged by ``ctx.usage``.
    budget: dict[str, float] = Field(default_factory=dict)
    #: Named limits as they were at the start, in the words of limit_spec; a setting of the run may have changed one.
    limits: dict[str, str] = Field(default_factory=dict)
    grace_s: float = 10.0
    adopt_grace_s: float = 10.0
    #: How long a worker may be silent before it is looked at as frozen; work leases last as long.
    lease_s: float = Field(default=30.0, gt=0)
    #: Shell commands for how the run may end: ``on_complete``, ``on_failure``, ``on_blocked``.
    hooks: dict[str, str] = Field(default_factory=dict)
    hook_limit_s: float = Field(default=60.0, gt=0)


class WorkerSettings(BaseModel):
    """What the coordinator writes to a worker's stdin."""

    worker: str
    run_id: str
    number: int
    journal: str
    socket: str
    epoch: int
    digest: str
    header: RunHeader
