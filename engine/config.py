"""The settings: what a person may set once instead of giving a flag each time. Their names, defaults and limits.

Declared here without pydantic, which only reads what is not ours (``config_loading``): most commands meet neither a
file nor a variable and pay for neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Annotated, Final, get_type_hints

from annotated_types import Ge, Interval, MinLen, Predicate

#: What stands before a setting's name in the environment.
PREFIX: Final = "POOLBOARD_"
HALT: Final = re.compile(r"(?:soon|now),fail=[1-9]\d{0,8}%?")
TIME: Final = re.compile(r"\d{1,9}(?:\.\d{1,9})?[smhd]?")


def is_halt(text: str) -> bool:
    """Whether text says when ``each`` gives up."""
    return HALT.fullmatch(text) is not None


def is_time(text: str) -> bool:
    """Whether text is a time such as ``90`` or ``2m``."""
    return TIME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a setting: what it is for, and what it may be."""

    about: str
    allowed: str


Count = Annotated[int, Interval(ge=1, le=4096)]
Natural = Annotated[int, Ge(0)]
Text = Annotated[str, MinLen(1)]
Workers = Annotated[int, Interval(ge=1, le=1024)]

YES_OR_NO: Final = "true or false (in the environment also 1 yes on, 0 no off)"
COMMAND: Final = "a shell command"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force. None: no default of ours, it is found out when it is needed."""

    workers: Annotated[
        Workers | None, Told("worker processes; without it one per core", "a whole number from 1 to 1024")
    ] = None
    slots: Annotated[Count, Told("runs at once in each worker", "a whole number from 1 to 4096")] = 4
    grace_s: Annotated[
        Annotated[float, Interval(ge=0, le=86_400)],
        Told("seconds that running stages have to end when a run is stopped", "seconds from 0 to 86400"),
    ] = 10.0
    journal: Annotated[
        Text | None, Told("the journal; without it the one in the state folder", "a path, memory or module:factory")
    ] = None
    theme: Annotated[Text | None, Told("the screen's theme; without it the one chosen last", "a theme's name")] = None
    ascii: Annotated[bool | None, Told("draw with ASCII only; without it as the locale says", YES_OR_NO)] = None
    read_only: Annotated[bool, Told("let the screen look, and change nothing", YES_OR_NO)] = False
    notify: Annotated[bool, Told("ring the terminal when a run comes to rest", YES_OR_NO)] = False
    quiet: Annotated[bool, Told("no lines of progress", YES_OR_NO)] = False
    on_complete: Annotated[Text | None, Told("run when a run completed; gets JSON on stdin", COMMAND)] = None
    on_failure: Annotated[Text | None, Told("run when a run failed; gets JSON on stdin", COMMAND)] = None
    on_blocked: Annotated[Text | None, Told("run when a run is blocked; gets JSON on stdin", COMMAND)] = None
    hook_limit_s: Annotated[
        Annotated[float, Interval(gt=0, le=3600)],
        Told("seconds after which one of these commands is ended", "seconds, more than 0, at most 3600"),
    ] = 60.0
    jobs: Annotated[
        Count | None, Told("each: commands at once; without it one per core", "a whole number from 1 to 4096")
    ] = None
    retries: Annotated[
        Annotated[int, Interval(ge=0, le=1000)],
        Told("each: tries more for a command that fails", "a whole number from 0 to 1000"),
    ] = 0
    timeout: Annotated[
        Annotated[str, Predicate(is_time)] | None,
        Told("each: end a command after so long", 'a time as text, such as "90", "2m" or "1h"'),
    ] = None
    halt: Annotated[
        Annotated[str, Predicate(is_halt)] | None,
        Told("each: give up after so many failures", "soon,fail=N or now,fail=N, N may end with %"),
    ] = None
    allow_failures: Annotated[
        Natural, Told("each: so many may fail, and it still ends with 0", "a whole number from 0")
    ] = 0
    keep_order: Annotated[bool, Told("each: print in the order of the items", YES_OR_NO)] = False
    limits: Annotated[
        dict[str, bool | int | str],
        Told("named limits of what runs use", 'a table of name = 2 (capacity) or name = "60/min" (rate)'),
    ] = field(default_factory=dict)


#: The settings' names, in the order in which they are shown.
NAMES: Final = tuple(one.name for one in fields(Config))


def told(name: str) -> Told:
    """Return what is said of a setting."""
    metadata = get_type_hints(Config, include_extras=True)[name].__metadata__
    return next(one for one in metadata if isinstance(one, Told))


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()
