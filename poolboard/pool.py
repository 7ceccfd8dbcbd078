"""Starting runs from Python: ``poolboard.run`` and ``poolboard.map``, and ``Pool`` for those who want it otherwise."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, overload

from poolboard.engine import hosting, mapping
from poolboard.engine.authoring import Stage, Workflow
from poolboard.engine.errors import ChildError, UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.engine.launch import RunRequest, start_run
from poolboard.engine.payload import MAX_PAYLOAD_BYTES, dumps
from poolboard.engine.result import Result
from poolboard.engine.signature import Signature
from poolboard.engine.views import RunView
from poolboard.handle import Handle, RunFailed, blocking
from poolboard.journal.reader import Reader

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: Children whose results are read at once.
PAGE = 2000
#: What a run's input may come to; a little is left for what stands around it.
ITEMS_LIMIT_BYTES = MAX_PAYLOAD_BYTES - 1024


@dataclass(frozen=True, slots=True)
class Pool:
    """Where and how runs are started: worker processes (default: one per core), runs at once in each, journal, name."""

    workers: int | None = None
    slots: int | None = None
    journal: str | None = None
    name: str | None = None

    def run(self, workflow: Workflow[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Start a run of a workflow with these arguments and return its handle once it is recorded and at work.

        The workflow must stand at the top level of a file: workers import it from there. Raises UserMistake.
        """
        if not isinstance(workflow, Workflow):
            raise UserMistake(f"poolboard.run takes a function marked @workflow, not {workflow!r}")
        hosting.refuse_inside("poolboard.run")
        signature = workflow.signature
        self._refuse_own_options(signature, kwargs)
        try:
            _, plain = signature.bind_call(args, kwargs)
        except TypeError as error:
            raise UserMistake(str(error)) from None

        async def take(run: RunView) -> R:
            value: R = signature.result.decode(run.result or "null")
            return value

        return Handle(self._start(_file_of(workflow.function), workflow.name, plain), self.journal, take)

    @overload
    def map(
        self,
        function: Callable[[T], Coroutine[Any, Any, R]],
        items: Iterable[T],
        *,
        concurrency: int | None = None,
        on_error: Literal["raise"] = "raise",
    ) -> list[R]: ...
    @overload
    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        concurrency: int | None = None,
        on_error: Literal["raise"] = "raise",
    ) -> list[R]: ...
    @overload
    def map(
        self,
        function: Callable[[T], Coroutine[Any, Any, R]],
        items: Iterable[T],
        *,
        concurrency: int | None = None,
        on_error: Literal["collect"],
    ) -> list[Result[R]]: ...
    @overload
    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        concurrency: int | None = None,
        on_error: Literal["collect"],
    ) -> list[Result[R]]: ...
    def map(
        self,
        function: Callable[[T], Any],
        items: Iterable[T],
        *,
        concurrency: int | None = None,
        on_error: Literal["raise", "collect"] = "raise",
    ) -> list[Any]:
        """Call a plain function for every item on the pool and return the results in the order of the items.

        Each call is a child run with one stage; a function marked @stage keeps its retries and limits. All items settle
        first; then ``raise`` raises ChildError for the first failed one, ``collect`` returns a Result each. Raises
        UserMistake, RunFailed.
        """
        if on_error not in ("raise", "collect"):
            raise UserMistake(f"on_error must be 'raise' or 'collect', not {on_error!r}")
        hosting.refuse_inside("poolboard.map")
        step = mapping.as_stage(function)
        given = list(items)
        path = _file_of(step.function)
        inputs = {"items": _plain(step, given), "concurrency": concurrency, "collect": on_error == "collect"}
        run_id = self._start(path, mapping.name_for(_name_in_file(step.function)), inputs)
        take = partial(_outcomes, self.journal, step.signature, len(given))
        try:
            results = blocking(lambda: _all_of(Handle(run_id, self.journal, take), take))
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(f"the run goes on; to come back: poolboard watch {run_id}")
            raise
        if on_error == "collect":
            return results
        for result in results:
            if not result.ok:
                raise ChildError(step.name, result.n, result.error or "failed")
        return [result.value for result in results]

    def _start(self, path: str, workflow: str, inputs: dict[str, Any]) -> str:
        request = RunRequest(f"{path}:{workflow}", inputs, self.journal, self.workers, self.slots, self.name)
        return blocking(lambda: start_run(request))

    def _refuse_own_options(self, signature: Signature, kwargs: dict[str, Any]) -> None:
        for name in (field.name for field in fields(self)):
            if name in kwargs and name not in signature.parameters:
                raise UserMistake(
                    f"{name} is not the workflow's: write poolboard.Pool({name}=…).run({signature.name}, …)"
                )


async def _all_of(handle: Handle[list[Result[Any]]], take: Callable[[RunView], Any]) -> list[Result[Any]]:
    """Return a Result per item, also where the root failed because an item did."""
    try:
        return await handle.result()
    except RunFailed as failed:
        if failed.run.status == "failed" and failed.run.children.failed:
            found: list[Result[Any]] = await take(failed.run)
            return found
        raise


async def _outcomes(journal: str | None, signature: Signature, count: int, run: RunView) -> list[Result[Any]]:
    """Return what became of the children 1 to ``count``, typed."""
    found: list[Result[Any]] = []
    reader = await Reader.open(chosen_journal(journal).pool_path())
    try:
        number = (await reader.run(run.run_id)).number
        for start in range(1, count + 1, PAGE):
            numbers = range(start, min(start + PAGE, count + 1))
            rows = await reader.results(number, numbers)
            for n in numbers:
                state, value, error = rows.get(n, ("cancelled", None, "not started"))
                ok = state == "completed" and value is not None
                found.append(Result(ok, n, signature.result.decode(value) if ok and value else None, error))
    finally:
        await reader.close()
    return found


def _plain(step: Stage[..., Any], items: list[Any]) -> list[Any]:
    """Return the items as JSON; raises UserMistake for one that does not fit, or for too many."""
    signature = step.signature
    single = len(signature.parameters) == 1
    try:
        calls = [signature.item_call(item) for item in items]
    except TypeError as error:
        raise UserMistake(str(error)) from None
    found = [next(iter(call.values())) for call in calls] if single else calls
    size_bytes = len(dumps(found))
    if size_bytes > ITEMS_LIMIT_BYTES:
        raise UserMistake(
            f"{len(items)} items come to {size_bytes} bytes, and a run's input holds {ITEMS_LIMIT_BYTES}: give numbers "
            "or names, and let the function look the rest up"
        )
    return found


def _file_of(function: Callable[..., Any]) -> str:
    """Return the file that workers can import a function from; raises UserMistake where there is none."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", repr(function))
    if code is None:
        raise UserMistake(f"{name} is not written in Python; wrap it in a function of a file of yours")
    path = Path(code.co_filename)
    # What a notebook's kernel compiles has a path, sometimes one of a file that is really there: but no module's.
    if not path.is_file() or path.suffix != ".py" or "ipykernel_" in code.co_filename:
        raise UserMistake(
            f"{name} stands in {code.co_filename}, which is no file that workers could import: put it into one "
            "(in a notebook: %%writefile flows.py), import it, and start it from here"
        )
    return str(path.absolute())


def _name_in_file(function: Callable[..., Any]) -> str:
    if function.__qualname__ != function.__name__ or not function.__name__.isidentifier():
        raise UserMistake(
            f"{function.__qualname__} is not at the top level of its file, so workers cannot find it: define it there"
        )
    return function.__name__


_default = Pool()
run = _default.run
map = _default.map
