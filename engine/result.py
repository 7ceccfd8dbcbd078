"""The outcome of a child, as ``ctx.map(…, on_error="collect")`` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Result(Generic[R_co]):
    """The outcome of one child of ``ctx.map(…, on_error="collect")``: ``value`` if ``ok``, else ``error``."""

    ok: bool
    n: int
    value: R_co | None = None
    error: str | None = None
