"""The settings in force, and where each comes from: environment, project's file, user's file, default.

Read by pydantic-settings, which is loaded only if there is something to read.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from .config import NAMES, PREFIX, Config, told, variable
from .config_file import ConfigFile, project_file, user_file
from .errors import UserMistake
from .limit_spec import parse_limits
from .secrets import INPUT_PREFIX, RUN_PREFIX

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

DEFAULT: Final = "default"
#: Variables of ours that are no settings.
OTHERS: Final = frozenset(
    f"{PREFIX}{name}" for name in ("CONFIG", "FAULT", "IMPORT_ROOT", "OUTPUT", "SLOT", "WORKER", "COMPLETE")
)
#: How alike a variable must be to a setting's to be taken for a misspelt one.
ALIKE: Final = 0.85
#: Longer values are cut in messages.
_SHOWN_CELLS: Final = 60


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings; ``sources`` has a variable's name or ``file:line`` for each that is not a default.

    ``folders`` has the folder of the file, for those that come from one: what is relative there is relative to it.
    """

    config: Config
    sources: Mapping[str, str]
    folders: Mapping[str, Path]
    files: tuple[ConfigFile, ...]

    def source(self, name: str) -> str:
        """Return where a setting comes from."""
        return self.sources.get(name, DEFAULT)

    def with_flag(self, name: str, word: str, flag: str) -> Loaded:
        """Return the settings as they are with a flag given. Raises UserMistake for a word that it does not take."""
        values = _validated({name: word}, strict=False)
        if isinstance(values, _Wrong):
            raise UserMistake(_refused(flag, name, word))
        config = replace(self.config, **values)
        return replace(self, config=config, sources={**self.sources, name: flag})


def load(problems_found: list[str] | None = None) -> Loaded:
    """Return the settings in force here. Raises UserMistake that names the file and line, or the variable.

    With ``problems_found`` all that is wrong is put there instead, and the defaults are returned.
    """
    files = tuple(file for file in (project_file(), user_file()) if file is not None)
    known = {variable(name): name for name in NAMES}
    # In either case, as pydantic-settings reads them.
    environ = {known[key.upper()]: value for key, value in os.environ.items() if value and key.upper() in known}
    found = [*_odd_variables(), *(problem for file in files for problem in problems(file))]
    if isinstance(wrong := _validated(environ, strict=False), _Wrong):
        found.append(_refused(variable(wrong.name), wrong.name, environ[wrong.name]))
    if found:
        if problems_found is None:
            raise UserMistake(found[0])
        problems_found += found
        return Loaded(Config(), {}, {}, ())
    if not files and not environ:
        return Loaded(Config(), {}, {}, ())
    values = _model([dict(file.table) for file in files])().model_dump()
    return Loaded(Config(**values), _sources(files, environ), _folders(files, environ), files)


def _sources(files: tuple[ConfigFile, ...], environ: Mapping[str, str]) -> dict[str, str]:
    """Return who says each setting, and each named limit (``limits.gpu``), for these add up over the sources."""
    found: dict[str, str] = {}
    for file in reversed(files):
        found |= {name: file.place(name) for name in file.table}
        found |= {f"limits.{name}": file.place("limits", name) for name in file.table.get("limits", {})}
    found |= {name: variable(name) for name in environ}
    return found | {f"limits.{name}": variable("limits") for name in json.loads(environ.get("limits", "{}"))}


def _folders(files: tuple[ConfigFile, ...], environ: Mapping[str, str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in reversed(files):
        found |= dict.fromkeys(file.table, file.path.parent)
    return {name: folder for name, folder in found.items() if name not in environ}


def _model(tables: list[dict[str, Any]]) -> type[BaseSettings]:
    """Return the settings as pydantic-settings reads them: the environment, then each table, merged by key."""
    from pydantic import Field, create_model
    from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

    class Layered(BaseSettings):
        model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid")

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (env_settings, *(InitSettingsSource(settings_cls, table) for table in tables))

    hints = get_type_hints(Config, include_extras=True)
    declared: dict[str, Any] = {
        one.name: (hints[one.name], Field(default_factory=dict) if one.name == "limits" else one.default)
        for one in fields(Config)
    }
    return create_model("Settings", __base__=Layered, **declared)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """The first value that is not allowed, and the key inside it for a table."""

    name: str
    key: str | None = None


def _validated(values: Mapping[str, Any], *, strict: bool) -> dict[str, Any] | _Wrong:
    """Return values of settings as their types; ``strict``: those of a file, which has types of its own."""
    if not values:
        return {}  # pydantic alone takes longer than most commands
    from pydantic import TypeAdapter, ValidationError

    hints = get_type_hints(Config, include_extras=True)
    found: dict[str, Any] = {}
    for name, value in values.items():
        try:
            given = json.loads(value) if name == "limits" and isinstance(value, str) else value
            if name == "limits" and isinstance(given, dict) and (odd := _odd_limit(given)) is not None:
                return _Wrong(name, odd)
            found[name] = TypeAdapter(hints[name]).validate_python(given, strict=strict)
        except ValidationError as error:
            inner = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
            return _Wrong(name, str(inner[0]) if inner and name == "limits" else None)
        except ValueError:
            return _Wrong(name)
    return found


def _odd_limit(table: Mapping[str, Any]) -> str | None:
    """Return the first key that says no limit; a burst may belong to a limit that stands elsewhere."""
    for key, value in table.items():
        name, dot, _ = key.partition(".")
        try:
            parse_limits({name: table.get(name, "1/s"), key: value} if dot else {key: value})
        except UserMistake:
            return key
    return None


def problems(file: ConfigFile) -> Iterator[str]:
    """Yield what is wrong with a file, a sentence each that begins with its place."""
    for name, value in file.table.items():
        if name not in NAMES:
            yield f"{file.place(name)}: there is no setting {name!r}{nearest(name, NAMES)}"
        elif isinstance(wrong := _validated({name: value}, strict=True), _Wrong):
            keys = (name,) if wrong.key is None else (name, wrong.key)
            inner = value if wrong.key is None else value.get(wrong.key)
            yield _refused(file.place(*keys), ".".join(keys), inner, told(name).allowed)


def _odd_variables() -> Iterator[str]:
    """Yield a variable that is all but a setting's: it would be ignored without a word."""
    known = [variable(name) for name in NAMES]
    for name in sorted(os.environ):
        if name.startswith((INPUT_PREFIX, RUN_PREFIX)):
            continue  # inputs of runs, named as their workflows like
        if name.startswith(PREFIX) and name not in (*known, *OTHERS) and (meant := nearest(name, known, ALIKE)):
            yield f"{name}: there is no such setting{meant}"


def nearest(name: str, known: Sequence[str], alike: float = 0.6) -> str:
    """Return the end of a sentence that names what was probably meant; empty if nothing is alike."""
    close = difflib.get_close_matches(name, known, 1, alike)
    return f"; did you mean {close[0]}?" if close else ""


def _refused(place: str, name: str, value: object, allowed: str | None = None) -> str:
    shown = repr(value) if len(repr(value)) <= _SHOWN_CELLS else repr(value)[: _SHOWN_CELLS - 1] + "…"
    what = place if place.startswith((PREFIX, "--")) else f"{place}: {name}"
    return f"{what} is {shown}: write {allowed or told(name).allowed}"
