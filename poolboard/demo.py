"""The main job: survey a folder of Python files, one child run per file.

It is an ordinary workflow file. Workers load it by its path, so it imports nothing relatively. What it finds is
the same on every run: no absolute paths, no times, no addresses; ties are broken by name.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import threading
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from poolboard import Context, Result, stage, workflow
from poolboard.engine.errors import UserMistake

#: A larger file is a failure of its own: hostile input must not fill the memory.
MAX_FILE_BYTES = 16 * 1024 * 1024
#: How many paths one checkpoint of ``list_files`` holds, so that it stays far under the payload limit.
PAGE_FILES = 2000
#: How many functions the ranking shows, and how many failures are spelled out.
MOST_COMPLEX = 10
MAX_FAILURES = 500
#: Installed packages lie inside the standard library's folder, but are not it.
NOT_OURS = frozenset({"__pycache__", "dist-packages", "site-packages"})
#: The name under which sources are compiled; a filter for warnings can name it.
SOURCE_NAME = "<surveyed>"
#: One parser at a time, tried so often; see ``_parsed``.
_PARSING = threading.RLock()
PARSE_TRIES = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """A file as bytes. A last line without a newline counts."""

    size_bytes: int
    lines: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function by its dotted name inside the file; ``lines`` from ``def`` to its end."""

    name: str
    line: int
    lines: int
    complexity: int


@dataclass(frozen=True, slots=True)
class Structure:
    """A file as ``ast`` sees it; of its functions only the longest and the most complex are kept."""

    functions: int
    classes: int
    complexity: int
    longest: Function | None
    most_complex: list[Function]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What one child run returns. ``tokens`` counts by the type names of ``tokenize``."""

    path: str
    reading: Reading
    structure: Structure
    tokens: dict[str, int]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A function and the file it is in, relative to the folder."""

    path: str
    function: Function


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be surveyed, relative to the folder, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The root run's result. ``failed`` counts all failures, ``failures`` spells out the first 500."""

    files: int
    surveyed: int
    failed: int
    size_bytes: int
    lines: int
    functions: int
    classes: int
    complexity: int
    tokens: dict[str, int]
    longest: Ranked | None
    most_complex: list[Ranked]
    failures: list[Failure] = field(default_factory=list)


@stage
def list_files(folder: str, limit: int | None, start: int) -> list[str]:
    """Return one page of the folder's Python files: relative paths, sorted, from index ``start`` on."""
    found = sorted(python_files(folder))
    end = start + PAGE_FILES if limit is None else min(limit, start + PAGE_FILES)
    return found[start:end]


@stage
def read(path: str) -> Reading:
    """Return size, lines and digest of a file."""
    source = _source(path)
    lines = source.count(b"\n") + (not source.endswith(b"\n") and source != b"")
    return Reading(len(source), lines, hashlib.sha256(source).hexdigest())


@stage
def parse(path: str) -> Structure:
    """Return what ``ast`` sees in a file; raises SyntaxError and the like for one that is not Python."""
    tree = _tree(_source(path))
    functions = list(_functions(tree))
    classes = sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
    return Structure(
        len(functions),
        classes,
        sum(function.complexity for function in functions),
        min(functions, key=lambda f: (-f.lines, f.line, f.name), default=None),
        sorted(functions, key=lambda f: (-f.complexity, f.name, f.line))[:MOST_COMPLEX],
    )


@stage
def tokens(path: str) -> dict[str, int]:
    """Return how many tokens of each type a file has."""
    # BytesIO and not the open file: tokenize would put an open file's absolute path into its messages.
    readline = io.BytesIO(_source(path)).readline
    counts = Counter(token.type for token in tokenize.tokenize(readline))
    return {tokenize.tok_name[kind]: counts[kind] for kind in sorted(counts, key=tokenize.tok_name.__getitem__)}


@workflow
async def one_file(ctx: Context, path: str) -> FileReport:
    """Survey one file."""
    reading = await ctx.stage(read, path)
    structure = await ctx.stage(parse, path)
    return FileReport(path, reading, structure, await ctx.stage(tokens, path))


@workflow
async def survey(ctx: Context, folder: str, limit: int | None = None) -> Survey:
    """Survey every Python file under a folder, at most ``limit`` of them."""
    names: list[str] = []
    while page := await ctx.stage(list_files, folder, limit, len(names)):
        names += page
    paths = [str(Path(folder, name)) for name in names]
    results = await ctx.map(one_file, paths, label=lambda path: str(Path(path).relative_to(folder)), on_error="collect")
    return summarise(zip(names, results, strict=True))


def summarise(results: Iterable[tuple[str, Result[FileReport]]]) -> Survey:
    """Return the survey of all files; equal results give an equal survey, whatever ran when."""
    reports: list[tuple[str, FileReport]] = []
    failures: list[Failure] = []
    for name, result in results:
        if result.ok and result.value is not None:
            reports.append((name, result.value))
        else:
            # Every child fails by one of its stages; that it was a stage need not be said twice.
            failures.append(Failure(name, str(result.error).removeprefix("StageError: ")))
    counts: Counter[str] = Counter()
    for _, report in reports:
        counts.update(report.tokens)
    structures = [report.structure for _, report in reports]
    ranked = [Ranked(name, function) for name, report in reports for function in report.structure.most_complex]
    longest = [Ranked(name, report.structure.longest) for name, report in reports if report.structure.longest]
    return Survey(
        files=len(reports) + len(failures),
        surveyed=len(reports),
        failed=len(failures),
        size_bytes=sum(report.reading.size_bytes for _, report in reports),
        lines=sum(report.reading.lines for _, report in reports),
        functions=sum(structure.functions for structure in structures),
        classes=sum(structure.classes for structure in structures),
        complexity=sum(structure.complexity for structure in structures),
        tokens={kind: counts[kind] for kind in sorted(counts)},
        longest=min(longest, key=lambda r: (-r.function.lines, r.path, r.function.line), default=None),
        most_complex=sorted(ranked, key=_by_complexity)[:MOST_COMPLEX],
        failures=failures[:MAX_FAILURES],
    )


def check_folder(folder: str) -> None:
    """Raise UserMistake unless the folder is there and holds at least one Python file."""
    path = Path(folder)
    if not path.exists():
        raise UserMistake(f"no folder {folder}")
    if not path.is_dir():
        raise UserMistake(f"{folder} is a file, not a folder")
    try:
        os.scandir(path).close()
    except OSError as error:
        raise UserMistake(f"cannot read folder {folder}: {error.strerror}") from None
    if next(python_files(folder), None) is None:
        raise UserMistake(f"no Python file (*.py) in folder {folder}")


def python_files(folder: str) -> Iterator[str]:
    """Yield the relative path of each ``*.py`` that is a plain file. No link is followed, so there are no circles.

    A name that is not UTF-8 comes with its bytes escaped; its child then fails, for there is no such file. A folder
    that cannot be read comes as itself, so that its child fails and says so.
    """
    unreadable: list[str] = []
    for root, folders, names in os.walk(folder, onerror=lambda error: unreadable.append(error.filename)):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        for name in names:
            path = Path(root, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink():
                yield _told(path, folder)
    for name in unreadable:
        yield _told(Path(name), folder)


def _told(path: Path, folder: str) -> str:
    return os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")


def _source(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            source = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        # The original names the absolute path, which differs from machine to machine.
        raise OSError(error.errno, error.strerror) from None
    if len(source) > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES} bytes")
    return source


def _tree(source: bytes) -> ast.Module:
    # Old sources warn (invalid escapes); with -W error that would count as a failure. The filter is the process's
    # own list, set once: catch_warnings is not safe in the threads that stages run in.
    if not any(getattr(entry[3], "pattern", None) == SOURCE_NAME for entry in warnings.filters):
        warnings.filterwarnings("ignore", module=SOURCE_NAME)
    try:
        return _parsed(source)
    except SyntaxError as error:
        raise type(error)(f"{error.msg} (line {error.lineno})" if error.lineno else error.msg) from None
    except (RecursionError, MemoryError):
        # Which of the two, and with which words, depends on how deep the caller stood already.
        raise RecursionError("nested too deeply for Python's parser") from None


def _parsed(source: bytes) -> ast.Module:
    """Parse, whatever else this process parses meanwhile.

    Up to Python 3.12 the parser counts its depth once per process, so a sound file now and then failed with
    "SystemError: AST constructor recursion depth mismatch" (CPython issue 106905):
    1. one thread builds a tree, the garbage collector runs Python code in the middle of it;
    2. that code, or another thread that got its turn, parses too (formatting a traceback does) and moves the count;
    3. the first thread ends with a count that is not the one it began with.
    The lock keeps stages from each other, the repetition helps against the rest.
    """
    for _ in range(PARSE_TRIES - 1):
        try:
            with _PARSING:
                return ast.parse(source, filename=SOURCE_NAME)
        except SystemError:
            continue
    with _PARSING:
        return ast.parse(source, filename=SOURCE_NAME)


def _functions(tree: ast.Module) -> Iterator[Function]:
    # A stack and not recursion: what parses may still be nested deeper than Python calls may be.
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}{child.name}"
                waiting.append((child, f"{name}."))
                if not isinstance(child, ast.ClassDef):
                    lines = (child.end_lineno or child.lineno) - child.lineno + 1
                    yield Function(name, child.lineno, lines, _complexity(child))
            else:
                waiting.append((child, prefix))


def _complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return McCabe's number: 1 + the places where the function can branch.

    if, elif, conditional expression, for, while, except, each further operand of and/or, each for and if of a
    comprehension, each case but a bare ``_``. Lambdas count here, nested functions and classes for themselves.
    """
    found = 1
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        found += _branches(node)
        waiting.extend(ast.iter_child_nodes(node))
    return found


def _branches(node: ast.AST) -> int:
    if isinstance(node, (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler)):
        return 1
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        bare = isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None and node.guard is None
        return 0 if bare else 1
    return 0


def _by_complexity(ranked: Ranked) -> tuple[int, str, str, int]:
    return (-ranked.function.complexity, ranked.path, ranked.function.name, ranked.function.line)
