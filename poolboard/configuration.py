"""What ``poolboard config …`` does."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from poolboard import exit_codes, shapes
from poolboard.console import complain_of, say, say_all
from poolboard.engine.config import NAMES, Config, told, variable
from poolboard.engine.config_file import PROJECT_FILE, ConfigFile, named_file, project_file, user_file, user_path
from poolboard.engine.config_loading import DEFAULT, Loaded, load, nearest, problems
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.journal.errors import JournalUnusable
from poolboard.showing import check_theme
from poolboard.words import shown

#: The version of the shape of ``config show --json``.
VERSION: Final = 1
EDITORS: Final = ("editor", "nano", "vi")
Row = tuple[str, object, str]


def show(journal: str | None, flags: Sequence[str], *, as_json: bool) -> int:
    """Tell every setting, its value and its source."""
    loaded = load()
    for name, word, flag in _flags(flags):
        loaded = loaded.with_flag(name, word, flag)
    rows = list(_rows(loaded, journal))
    if as_json:
        settings = [{"name": name, "value": value, "source": source} for name, value, source in rows]
        files = [str(file.path) for file in loaded.files]
        say(shapes.line({"version": VERSION, "settings": settings, "files": files}))
        return exit_codes.COMPLETED
    cells = [(name, _text(value), source) for name, value, source in rows]
    widths = [max(len(row[at]) for row in cells) for at in (0, 1)]
    say_all(shown(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source}") for name, value, source in cells)
    return exit_codes.COMPLETED


def get(journal: str | None, name: str, *, as_json: bool) -> int:
    """Print one setting's value."""
    if name not in NAMES:
        raise UserMistake(f"there is no setting {name!r}{nearest(name, NAMES)}")
    loaded = load()
    value = chosen_journal(journal).where if name == "journal" else getattr(loaded.config, name)
    if as_json:
        say(shapes.line(value))
    elif value is not None:
        say(shapes.line(value) if isinstance(value, dict) else shown(_text(value)))
    return exit_codes.COMPLETED


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the setting, the value and the flag of ``--name value``, ``--name=value``, ``--name`` and ``--no-name``."""
    left = list(words)
    switches = {one.name for one in fields(Config) if str(one.type).startswith("Annotated[bool")}
    while left:
        word = left.pop(0)
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        name = {"grace": "grace_s"}.get(name, name)
        if not flag.startswith("--"):
            raise UserMistake(f"{shown(word)!r} is no flag of a setting")
        if name.removeprefix("no_") in switches and not equals:
            yield name.removeprefix("no_"), "false" if name.startswith("no_") else "true", flag
            continue
        if name not in NAMES:
            raise UserMistake(f"no setting has the flag {shown(flag)}{nearest(name, NAMES)}")
        if not equals and not left:
            raise UserMistake(f"{flag} needs a value")
        yield name, value if equals else left.pop(0), flag


def _rows(loaded: Loaded, journal: str | None) -> Iterator[Row]:
    for name in NAMES:
        value = getattr(loaded.config, name)
        if name == "journal" and loaded.source(name) != "--journal":
            chosen = chosen_journal(journal)
            yield name, chosen.where, DEFAULT if chosen.source == "the default" else chosen.source
        elif name == "limits" and value:
            for limit, amount in value.items():
                yield f"limits.{limit}", amount, loaded.source(f"limits.{limit}")
        else:
            yield name, value, loaded.source(name)


def _text(value: object) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def path(*, as_json: bool) -> int:
    """Tell which files are read, and where the person's own would lie."""
    mine = user_path()
    try:
        found = project_file()
    except UserMistake as mistake:  # a file that is wrong is still the one in force
        complain_of(shown(str(mistake)))
        found = None
    project = None if found is None else str(found.path)
    if as_json:
        say(shapes.line({"user": str(mine), "user_exists": mine.is_file(), "project": project}))
        return exit_codes.COMPLETED
    say(f"user     {shown(str(mine))}{'' if mine.is_file() else ' (not there)'}")
    say(f"project  {'none' if project is None else shown(project)}")
    return exit_codes.COMPLETED


def edit(*, project: bool, as_json: bool) -> int:
    """Open a file of settings in an editor, then tell whether it is right."""
    target = _project_path() if project else user_path()
    command = _editor()
    if not target.exists():
        _begin(target)
    try:
        code = subprocess.run([*command, str(target)], check=False).returncode
    except OSError as error:
        raise UserMistake(f"{command[0]}: {error.strerror}; set EDITOR") from None
    if code != 0:
        raise UserMistake(f"{command[0]} ended with {code}; {target} is as it left it")
    return validate(str(target), as_json=as_json)


def _project_path() -> Path:
    try:
        found = project_file()
    except UserMistake:
        found = None
    return Path.cwd() / PROJECT_FILE if found is None else found.path


def _editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        if os.environ.get(name):
            return shlex.split(os.environ[name])
    for name in EDITORS:
        if (program := shutil.which(name)) is not None:
            return [program]
    raise UserMistake("there is no editor here: set EDITOR")


def _begin(target: Path) -> None:
    """Make the file with every setting as a comment, for this user's eyes."""
    text = "# Settings of Poolboard. Flags come first, then variables, the project's file, this one.\n"
    for one in fields(Config):
        about = told(one.name)
        text += f"\n# {about.about}\n# {about.allowed}; in the environment: {variable(one.name)}\n"
        text += "# [limits]\n" if one.name == "limits" else f"# {one.name} = {_toml(one.default)}\n"
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    except OSError as error:
        raise UserMistake(f"cannot make {target}: {error.strerror}") from None


def _toml(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "" if default is None else str(default)


def validate(file: str | None, *, as_json: bool) -> int:
    """Tell what is wrong with one file, or with all settings in force here."""
    found = list(_wrong(file))
    if as_json:
        say(shapes.line({"ok": not found, "problems": found}))
    else:
        for problem in found:
            complain_of(shown(problem))
        if not found:
            say("the settings are right")
    return exit_codes.MISTAKE if found else exit_codes.COMPLETED


def _wrong(file: str | None) -> Iterator[str]:
    try:
        if file is not None:
            one = named_file(Path(file).absolute())
            yield from problems(one)
            yield from _theme_problems(one.table.get("theme"), one)
            return
        found: list[str] = []
        loaded = load(found)
        yield from found
        if found:
            # Of settings that are wrong anywhere none are in force: a theme is looked for where it stands.
            for one in filter(None, (project_file(), user_file())):
                yield from _theme_problems(one.table.get("theme"), one)
            yield from _theme_problems(os.environ.get(variable("theme")) or None, None, variable("theme"))
            return
        yield from _theme_problems(loaded.config.theme, None, loaded.source("theme"))
        chosen_journal(None)
    except (UserMistake, JournalUnusable) as error:
        yield str(error)


def _theme_problems(name: object, file: ConfigFile | None, source: str = "") -> Iterator[str]:
    if isinstance(name, str):
        try:
            check_theme(name, source if file is None else file.place("theme"))
        except UserMistake as mistake:
            yield str(mistake)
