"""Workflows in files: loaded by path, identified by name and the digest of their source."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import poolboard

from .authoring import Stage, Workflow
from .errors import UserMistake
from .hosting import ImportEnded, importing, line_of

_PARSER = threading.Lock()
PARSER_TRIES = 20


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a workflow is: absolute path of its file, its name, the digest of the file's source."""

    path: str
    workflow: str
    digest: str


def digest_of(source: bytes) -> str:
    """Return the digest that identifies a source file: 32 hex digits."""
    return hashlib.sha256(source).hexdigest()[:32]


def same_program(before: bytes, after: bytes) -> bool:
    """Whether two sources differ in comments and layout at most, so that a run may go on with the newer one."""
    if before == after:
        return True
    try:
        return ast.dump(_parsed(before)) == ast.dump(_parsed(after))
    except (SyntaxError, ValueError):
        return False


def _parsed(source: bytes, name: str = "<unknown>") -> ast.Module:
    # CPython 3.11's parser is not safe beside another one: it counts its depth in a place that all threads share, and
    # fails with SystemError "AST constructor recursion depth mismatch". The lock keeps our own apart; a thread of the
    # user's may still be in one, so what failed for that is done again.
    with _PARSER:
        for _ in range(PARSER_TRIES):
            try:
                return ast.parse(source, filename=name)
            except SystemError:
                continue
        return ast.parse(source, filename=name)


def split_target(target: str) -> tuple[Path, str | None]:
    """Return path and workflow name of ``FILE.py[:workflow]``; raises UserMistake."""
    text, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    path = Path(text or target).expanduser().absolute()
    if not path.is_file():
        raise UserMistake(
            f"no workflow file {path}" if not path.is_dir() else f"{path} is a folder, not a workflow file"
        )
    return path, name or None


def read_source(path: Path) -> bytes:
    """Return the file's bytes; raises UserMistake naming file, line and fault if it does not parse."""
    try:
        source = path.read_bytes()
        _parsed(source, str(path))
    except OSError as error:
        raise UserMistake(f"cannot read {path}: {error.strerror}") from None
    except SyntaxError as error:
        raise UserMistake(f"{path}:{error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserMistake(f"{path} does not parse: {error}") from None
    return source


@dataclass(frozen=True, slots=True)
class Module:
    """A loaded workflow file; ``ended_at`` is the line at which it asked for a run of its own, if it did."""

    path: Path
    digest: str
    workflows: dict[str, Workflow[Any, Any]]
    #: What the file's stages need of named limits, by stage; one that is made inside a function is not seen.
    needs: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    ended_at: int | None = None

    def pick(self, name: str | None) -> Workflow[Any, Any]:
        """Return the named workflow, or the only (else the last defined) one; raises UserMistake."""
        if name is None:
            if not self.workflows:
                raise UserMistake(f"{self.path} defines no workflow; mark an async function with @workflow")
            return list(self.workflows.values())[-1]
        found = self.workflows.get(name)
        if found is None:
            known = ", ".join(self.workflows) or "none"
            raise UserMistake(f"{name!r} is not a workflow in {self.path}; workflows there: {known}{self._unread()}")
        return found

    def _unread(self) -> str:
        if self.ended_at is None:
            return ""
        return (
            f". Line {self.ended_at} starts a run, and what comes after it was not read: "
            "put what starts runs under if __name__ == '__main__':"
        )


def load(path: Path, wanted: str | None = None) -> Module:
    """Import the file as a module and collect its workflows; raises UserMistake for whatever its import raises.

    For ``map(f)`` as the ``wanted`` workflow, those that map its function f are made.
    """
    digest = digest_of(read_source(path))
    module, ended_at = _import(path)
    found = [value for value in vars(module).values() if isinstance(value, Workflow)]
    own = {w.name: w for w in found if w.function.__module__ == module.__name__}
    others = {w.name: w for w in found if w.name not in own}
    needs = {value.name: value.needs for value in vars(module).values() if isinstance(value, Stage) and value.needs}
    return Module(path, digest, others | own | _mapped(module, wanted), needs, ended_at)


def _mapped(module: ModuleType, wanted: str | None) -> dict[str, Workflow[Any, Any]]:
    if wanted is None or not wanted.startswith("map("):
        return {}
    # Late: it brings in all that a workflow may call, which a command that only asks for a file's path does not need.
    from .mapping import function_in, mapped

    function = vars(module).get(function_in(wanted) or "")
    if not isinstance(function, (FunctionType, Stage)):
        return {}
    return {workflow.name: workflow for workflow in reversed(mapped(function))}


#: Where this package's own workflow files lie; they are imported as what they are.
OWN_PACKAGE = Path(poolboard.__file__).absolute().parent


def _import(path: Path) -> tuple[ModuleType, int | None]:
    if path.parent == OWN_PACKAGE:
        return importlib.import_module(f"{poolboard.__name__}.{path.stem}"), None
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"poolboard_file_{path.stem}"
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserMistake(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with importing(path):
            spec.loader.exec_module(module)
    except ImportEnded as ended:
        return module, line_of(ended, path)
    except (Exception, SystemExit) as error:
        raise UserMistake(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module, None
