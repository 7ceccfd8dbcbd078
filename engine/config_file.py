"""A file of settings: where it lies, what it says, and on which line. What the settings mean is in ``config``."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs

from .errors import UserMistake

#: A project's own file, and the table that it may have in pyproject.toml instead.
PROJECT_FILE: Final = "poolboard.toml"
PYPROJECT: Final = "pyproject.toml"
USER_FILE: Final = "config.toml"
#: Names the project's file, instead of looking for one.
FILE_VARIABLE: Final = "POOLBOARD_CONFIG"
#: Owners beside this user whose files are obeyed: root's is the machine anyway.
TRUSTED: Final = frozenset({0})
LIMIT_BYTES: Final = 1024 * 1024
_AT_LINE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file's settings as TOML types; ``lines`` has the line of every key, by its path below the table."""

    path: Path
    table: Mapping[str, Any]
    lines: Mapping[Path_, int]

    def place(self, *keys: str) -> str:
        """Return ``file:line`` of a key."""
        return f"{self.path}:{self.lines.get(keys, self.lines.get(keys[:1], 1))}"


def user_path() -> Path:
    """Return where the person's own settings lie; the file need not exist. XDG_CONFIG_HOME is obeyed everywhere."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) / "poolboard" if home else Path(platformdirs.user_config_dir("poolboard"))) / USER_FILE


def user_file() -> ConfigFile | None:
    """Return the person's own settings, if there are any. Raises UserMistake."""
    path = user_path()
    return _read(path, ()) if path.is_file() else None


def project_file() -> ConfigFile | None:
    """Return the project's settings: the file that POOLBOARD_CONFIG names, else the nearest, upward from here.

    What was found, not named, must be this user's or root's: it may name commands that are run. Raises UserMistake.
    """
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return named_file(Path(named).expanduser().absolute())
    try:
        here = Path.cwd()
    except OSError:
        return None  # the folder was deleted under us
    for folder in (here, *here.parents):
        for path, table in ((folder / PROJECT_FILE, ()), (folder / PYPROJECT, ("tool", "poolboard"))):
            if path.is_file() and (not table or _mentions_us(path)) and (found := _read(path, table)) is not None:
                _check_owner(path)
                return found
    return None


def named_file(path: Path) -> ConfigFile:
    """Return the settings of a file that a person named; one without any is empty. Raises UserMistake."""
    inside = ("tool", "poolboard") if path.name == PYPROJECT else ()
    return _read(path, inside) or ConfigFile(path, {}, {})


def _mentions_us(path: Path) -> bool:
    """Whether a pyproject.toml may have our table: those of others may be as broken as they like."""
    try:
        with path.open("rb") as file:
            return b"poolboard" in file.read(LIMIT_BYTES)
    except OSError:
        return False


def _check_owner(path: Path) -> None:
    if path.stat().st_uid not in {os.getuid(), *TRUSTED}:
        raise UserMistake(f"{path} belongs to another user and is not read; to use it: {FILE_VARIABLE}={path}")


def _read(path: Path, inside: Path_) -> ConfigFile | None:
    """Return the settings in a table of a file; None if it has no such table."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise UserMistake(f"{path}: {error.strerror}") from None
    if len(data) > LIMIT_BYTES:
        raise UserMistake(f"{path}: more than {LIMIT_BYTES} bytes are no settings")
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UserMistake(f"{path}:{data.count(10, 0, error.start) + 1}: not UTF-8 text") from None
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserMistake(_damage(path, text, str(error))) from None
    for name in inside:
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise UserMistake(f"{path}: {'.'.join(inside)} must be a table")
    depth = len(inside)
    lines = {keys[depth:]: line for keys, line in _lines(text) if keys[:depth] == inside and keys[depth:]}
    return ConfigFile(path, table, lines)


def _damage(path: Path, text: str, told: str) -> str:
    found = _AT_LINE.search(told)
    line = int(found[1]) if found and found[1] else text.count("\n") + 1
    return f"{path}:{line}: not TOML: {_AT_LINE.sub('', told)}"


def _lines(text: str) -> Iterator[tuple[Path_, int]]:
    """Yield the path and line of every key of a valid file.

    tomllib tells no places, so the file is read a statement at a time: lines are added until they parse by themselves.
    """
    table: Path_ = ()
    statement, begun = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        begun = begun if statement else number
        statement += line + "\n"
        try:
            told = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        head = statement.lstrip().startswith("[")
        statement = ""
        for keys in _paths(told):
            if head:
                table = keys
            else:
                yield (*table, *keys), begun
        if head:
            yield table, begun


def _paths(told: Mapping[str, Any]) -> Iterator[Path_]:
    """Yield the path of every leaf; an empty table, and an array of tables, is one."""
    for name, value in told.items():
        if isinstance(value, dict) and value:
            yield from ((name, *rest) for rest in _paths(value))
        else:
            yield (name,)
