"""What a user writes: ``@workflow`` and ``@stage``. The decorated names stay callable as plain functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .budget import checked

if TYPE_CHECKING:
    from .context import Context
    from .signature import Signature

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

#: How deep workflows may nest, the root included (SPEC 1.31).
MAX_DEPTH = 3
#: How many children of one map may be active at once unless it says otherwise (SPEC 1.31).
DEFAULT_CONCURRENCY = 1000


class Stage(Generic[P, R_co]):
    """A named step. Its result is recorded once per run and arguments, and never computed again."""

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        retries: int,
        backoff_s: float,
        timeout_s: float | None,
        name: str | None = None,
        needs: Mapping[str, int] | None = None,
    ) -> None:
        self.function, self.retries, self.backoff_s, self.timeout_s = function, retries, backoff_s, timeout_s
        #: The stage's name on the board: the function's unless another is given.
        self.name = name or function.__name__
        self.is_async = inspect.iscoroutinefunction(function)
        #: What a try of the stage takes of named limits, sorted by name.
        self.needs = amounts_of(needs or {}, f"@stage {self.name}")
        functools.update_wrapper(self, function)

    @functools.cached_property
    def signature(self) -> Signature:
        """The stage's parameters and result."""
        from .signature import Signature

        return Signature(self.function, skip_first=False)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        return self.function(*args, **kwargs)


class Workflow(Generic[P, R_co]):
    """An async function over a Context, run durably; ``name`` and its file's digest are its definition."""

    def __init__(
        self,
        function: Callable[Concatenate[Context, P], Awaitable[R_co]],
        *,
        name: str | None,
        max_depth: int,
        concurrency: int,
        limits: Mapping[str, int | str] | None = None,
        budget: Mapping[str, float] | None = None,
    ) -> None:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"@workflow {getattr(function, '__name__', function)!r} must be an async function (ctx, …)")
        if not inspect.signature(function).parameters:
            raise TypeError(f"@workflow {function.__name__!r} must take a Context as its first parameter")
        self.function, self.max_depth, self.concurrency = function, max_depth, concurrency
        self.name = name or function.__name__
        #: The limits that a run of it has unless it is started with others.
        self.limits = dict(limits or {})
        #: What a run of it may use, with all below it, unless it is started with another budget.
        self.budget = checked(budget or {}, f"@workflow {self.name}")
        functools.update_wrapper(self, function)

    @functools.cached_property
    def signature(self) -> Signature:
        """The workflow's parameters (without ``ctx``) and result."""
        from .signature import Signature

        return Signature(self.function, skip_first=True)

    def __call__(self, ctx: Context, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R_co]:
        return self.function(ctx, *args, **kwargs)


@overload
def stage(function: Callable[P, R], /) -> Stage[P, R]: ...
@overload
def stage(
    *,
    retries: int = 0,
    backoff_s: float = 1.0,
    timeout_s: float | None = None,
    needs: Mapping[str, int] | None = None,
) -> Callable[[Callable[P, R]], Stage[P, R]]: ...
def stage(
    function: Callable[P, R] | None = None,
    /,
    *,
    retries: int = 0,
    backoff_s: float = 1.0,
    timeout_s: float | None = None,
    needs: Mapping[str, int] | None = None,
) -> Stage[P, R] | Callable[[Callable[P, R]], Stage[P, R]]:
    """Mark a function, sync or async, as a stage.

    ``retries`` more attempts follow a failure, after ``backoff_s`` (doubled each time, with jitter); an attempt of an
    async function is cancelled after ``timeout_s``, one of a sync function is given up then. Each try takes what it
    ``needs`` of the run's named limits (``{"gpu": 1, "api": 1}``), all at once, and waits for it without a slot.
    """

    def mark(target: Callable[P, R]) -> Stage[P, R]:
        if retries < 0 or backoff_s < 0 or (timeout_s is not None and timeout_s <= 0):
            raise ValueError(f"@stage {target.__name__}: retries and backoff_s must be >= 0, timeout_s > 0")
        return Stage(target, retries=retries, backoff_s=backoff_s, timeout_s=timeout_s, needs=needs)

    return mark if function is None else mark(function)


@overload
def workflow(function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /) -> Workflow[P, R]: ...
@overload
def workflow(
    *,
    name: str | None = None,
    max_depth: int = MAX_DEPTH,
    concurrency: int = DEFAULT_CONCURRENCY,
    limits: Mapping[str, int | str] | None = None,
    budget: Mapping[str, float] | None = None,
) -> Callable[[Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]], Workflow[P, R]]: ...
def workflow(
    function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]] | None = None,
    /,
    *,
    name: str | None = None,
    max_depth: int = MAX_DEPTH,
    concurrency: int = DEFAULT_CONCURRENCY,
    limits: Mapping[str, int | str] | None = None,
    budget: Mapping[str, float] | None = None,
) -> Workflow[P, R] | Callable[[Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]], Workflow[P, R]]:
    """Mark an async function ``(ctx, …)`` as a workflow.

    ``limits`` are the named limits of its runs unless they are started with others: ``{"gpu": 2, "api": "60/min"}``.
    ``budget`` is what each of its runs may use, with all below it, unless it is given another: ``{"tokens": 1e6}``,
    also ``duration_s`` and ``failures``.
    """

    def mark(target: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]) -> Workflow[P, R]:
        if max_depth < 1 or concurrency < 1:
            raise ValueError(f"@workflow {target.__name__}: max_depth and concurrency must be >= 1")
        return Workflow(target, name=name, max_depth=max_depth, concurrency=concurrency, limits=limits, budget=budget)

    return mark if function is None else mark(function)


def amounts_of(needs: Mapping[str, int], what: str) -> tuple[tuple[str, int], ...]:
    """Return needs as pairs in order of their names; raises ValueError for an amount that is none."""
    for name, amount in needs.items():
        if type(amount) is not int or amount < 1:
            raise ValueError(f"{what}: of {name!r} it needs a whole number from 1, not {amount!r}")
    return tuple(sorted(needs.items()))
