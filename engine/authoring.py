"""What a user writes: ``@workflow`` and ``@stage``. The decorated names stay callable as plain functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

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
    ) -> None:
        self.function, self.retries, self.backoff_s, self.timeout_s = function, retries, backoff_s, timeout_s
        #: The stage's name on the board: the function's unless another is given.
        self.name = name or function.__name__
        self.is_async = inspect.iscoroutinefunction(function)
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
    ) -> None:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"@workflow {getattr(function, '__name__', function)!r} must be an async function (ctx, …)")
        if not inspect.signature(function).parameters:
            raise TypeError(f"@workflow {function.__name__!r} must take a Context as its first parameter")
        self.function, self.max_depth, self.concurrency = function, max_depth, concurrency
        self.name = name or function.__name__
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
    *, retries: int = 0, backoff_s: float = 1.0, timeout_s: float | None = None
) -> Callable[[Callable[P, R]], Stage[P, R]]: ...
def stage(
    function: Callable[P, R] | None = None,
    /,
    *,
    retries: int = 0,
    backoff_s: float = 1.0,
    timeout_s: float | None = None,
) -> Stage[P, R] | Callable[[Callable[P, R]], Stage[P, R]]:
    """Mark a function, sync or async, as a stage.

    ``retries`` more attempts follow a failure, after ``backoff_s`` (doubled each time, with jitter); an attempt of an
    async function is cancelled after ``timeout_s``, one of a sync function is given up then.
    """

    def mark(target: Callable[P, R]) -> Stage[P, R]:
        if retries < 0 or backoff_s < 0 or (timeout_s is not None and timeout_s <= 0):
            raise ValueError(f"@stage {target.__name__}: retries and backoff_s must be >= 0, timeout_s > 0")
        return Stage(target, retries=retries, backoff_s=backoff_s, timeout_s=timeout_s)

    return mark if function is None else mark(function)


@overload
def workflow(function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /) -> Workflow[P, R]: ...
@overload
def workflow(
    *, name: str | None = None, max_depth: int = MAX_DEPTH, concurrency: int = DEFAULT_CONCURRENCY
) -> Callable[[Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]], Workflow[P, R]]: ...
def workflow(
    function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]] | None = None,
    /,
    *,
    name: str | None = None,
    max_depth: int = MAX_DEPTH,
    concurrency: int = DEFAULT_CONCURRENCY,
) -> Workflow[P, R] | Callable[[Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]], Workflow[P, R]]:
    """Mark an async function ``(ctx, …)`` as a workflow."""

    def mark(target: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]) -> Workflow[P, R]:
        if max_depth < 1 or concurrency < 1:
            raise ValueError(f"@workflow {target.__name__}: max_depth and concurrency must be >= 1")
        return Workflow(target, name=name, max_depth=max_depth, concurrency=concurrency)

    return mark if function is None else mark(function)
