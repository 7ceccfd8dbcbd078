"""Loading a journal adapter by ``module:factory`` or ``file.py:factory``.

The factory takes nothing and returns a journal, or something that is awaited for one. The adapter imports
``poolboard.journal`` like any module of this process, so the errors it raises are the ones that the engine knows.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar, cast

from .errors import JournalError, JournalUnusable
from .guarded import GuardedJournal, guarded, unavailable
from .protocol import Journal

T = TypeVar("T")

#: What a journal must have; the optional parts may be missing.
VERBS: Final = (
    "acquire_lease",
    "append",
    "close",
    "create_run",
    "get_run",
    "lease_state",
    "list_runs",
    "read",
    "read_key",
    "release_lease",
    "renew_lease",
)


async def open_adapter(where: str) -> GuardedJournal:
    """Load the adapter, call its factory and return its journal behind a guard.

    Raises JournalUnusable if it cannot be loaded or gives no journal, StorageUnavailable if the factory fails; neither
    shows a foreign error's message.
    """
    source, _, name = where.rpartition(":")
    factory = getattr(imported(source, lambda: _module(source)), name, None)
    if not callable(factory):
        raise JournalUnusable(f"the journal adapter {source} has no factory {name!r}")
    return await open_with(factory, where)


async def open_with(factory: Callable[..., Any], where: str, *arguments: str) -> GuardedJournal:
    """Call a factory and return its journal behind a guard; ``where`` stands for it in messages. Raises as above."""
    try:
        made: Any = factory(*arguments)
        if inspect.isawaitable(made):
            made = await made
    except JournalError:
        raise
    except Exception as error:
        failure = unavailable(error, where)
    else:
        return guarded(_checked(made, where), where)
    raise failure


def imported(source: str, load: Callable[[], T]) -> T:
    """Return what ``load`` imports; a failure tells its class, and where a syntax error is, but no foreign message."""
    try:
        return load()
    except JournalError:
        raise
    except SyntaxError as error:
        told = f"SyntaxError in line {error.lineno}"
    except Exception as error:
        told = type(error).__qualname__
    # Outside of the handler: the failure must not hang on to what it hides.
    raise JournalUnusable(f"the journal adapter {source} cannot be imported: {told}")


def _checked(made: object, where: str) -> Journal:
    missing = [verb for verb in VERBS if not callable(getattr(made, verb, None))]
    if not isinstance(getattr(made, "descriptor", None), str):
        missing.append("descriptor")
    if missing:
        raise JournalUnusable(f"{where} gave a {type(made).__name__}, which is no journal: no {', '.join(missing)}")
    return cast(Journal, made)


def _module(source: str) -> ModuleType:
    return _from_file(Path(source).expanduser()) if source.endswith(".py") else importlib.import_module(source)


def _from_file(path: Path) -> ModuleType:
    path = path.absolute()
    if not path.is_file():
        raise JournalUnusable(f"no journal adapter at {path}")
    # A name of its own, by its path: two adapters may be called journal.py, and one is loaded once.
    name = f"poolboard_adapter_{sha256(str(path).encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise JournalUnusable(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
