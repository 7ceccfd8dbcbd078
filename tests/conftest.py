"""What every test may ask for: folders of its own, the command line as a process, a survey without the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the person's own journal, sockets and settings out of every test; return the folder that stands in."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        folder = home / name.removeprefix("XDG_").lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(name, str(folder))
    for name in [name for name in os.environ if name.startswith("POOLBOARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return home


@pytest.fixture
def poolboard(own_folders: Path) -> Iterator[Callable[..., Answer]]:
    """Return ``poolboard(*words, **options)``, the command line in a process of its own, without a terminal.

    Whatever the test leaves running (a coordinator that was detached) is ended with it.
    """

    def run(*words: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "poolboard", *words],
            input=stdin,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=110,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    yield run
    for process in _processes_of(own_folders):
        process.kill()


def _processes_of(home: Path) -> list[psutil.Process]:
    """Return the processes that live in a test's folders: they inherited its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("XDG_STATE_HOME", "").startswith(str(home)) and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def survey_plainly() -> Callable[..., dict[str, Any]]:
    """Return ``survey_plainly(folder, limit=None)``: the demo's result as JSON types, computed in one plain loop.

    It shares with the demo only the three functions that look at one file.
    """
    return _survey_plainly


def _survey_plainly(folder: Path, limit: int | None = None) -> dict[str, Any]:
    from poolboard import demo

    good: list[tuple[str, demo.Reading, demo.Structure, dict[str, int]]] = []
    failures: list[dict[str, str]] = []
    for path in sorted(str(p.relative_to(folder)) for p in folder.rglob("*.py"))[:limit]:
        steps: dict[str, Any] = {"read": demo.read, "parse": demo.parse, "tokens": demo.tokens}
        found = []
        for name, step in steps.items():
            try:
                found.append(step(str(folder / path)))
            except Exception as error:
                failures.append({"path": path, "reason": f"stage {name}: {type(error).__name__}: {error}"})
                break
        else:
            good.append((path, *found))
    tokens: Counter[str] = Counter()
    functions = []
    for path, _, structure, counts in good:
        tokens.update(counts)
        functions += [(path, function) for function in structure.most_complex]
    longest = [(path, structure.longest) for path, _, structure, _ in good if structure.longest is not None]
    functions.sort(key=lambda pair: (-pair[1].complexity, pair[0], pair[1].name, pair[1].line))
    longest.sort(key=lambda pair: (-pair[1].lines, pair[0], pair[1].line))
    return {
        "files": len(good) + len(failures),
        "surveyed": len(good),
        "failed": len(failures),
        "size_bytes": sum(reading.size_bytes for _, reading, _, _ in good),
        "lines": sum(reading.lines for _, reading, _, _ in good),
        "functions": sum(structure.functions for _, _, structure, _ in good),
        "classes": sum(structure.classes for _, _, structure, _ in good),
        "complexity": sum(structure.complexity for _, _, structure, _ in good),
        "tokens": dict(sorted(tokens.items())),
        "longest": _ranked(longest[0]) if longest else None,
        "most_complex": [_ranked(pair) for pair in functions[:10]],
        "failures": failures,
    }


def _ranked(pair: tuple[str, Any]) -> dict[str, Any]:
    path, function = pair
    shown = {name: getattr(function, name) for name in ("name", "line", "lines", "complexity")}
    return {"path": path, "function": shown}
