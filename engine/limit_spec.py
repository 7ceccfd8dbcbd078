"""What a named limit is: a capacity (``gpu = 2``) or a rate (``api = 60/min``), and how a person writes one. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from .errors import UserMistake

#: More named limits than that are no longer names of scarce things.
MOST_LIMITS: Final = 64
MOST_AMOUNT: Final = 1_000_000
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_TEXT: Final = re.compile(r"(?P<amount>[^\s/]+)(?:/(?P<period>[^\s/]+))?(?: burst (?P<burst>\S+))?(?P<shared> shared)?")
_PERIOD: Final = re.compile(r"(\d{0,6})(s|sec|second|m|min|minute|h|hour|d|day)")
_SECONDS: Final = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0,
}  # fmt: skip
#: Without ``burst`` a rate may be ahead by what it gives in this time: enough for the grain of timers, no more.
DEFAULT_BURST_S: Final = 0.1
HOW: Final = "write a capacity such as gpu=2, or a rate such as api=60/min"


@dataclass(frozen=True, slots=True)
class LimitSpec:
    """One limit. ``most`` is how much may be in use at once; for a rate how much may be taken at once (its burst).

    ``per_s`` is None for a capacity. ``text`` is what a person wrote, without burst and shared. ``shared`` says that
    all runs of the user count together.
    """

    name: str
    text: str
    most: int
    per_s: float | None = None
    shared: bool = False

    @property
    def is_rate(self) -> bool:
        """Whether it is used up by taking, not by holding."""
        return self.per_s is not None

    def __str__(self) -> str:
        """Return the whole of it on one line, as ``parse_limit`` reads it."""
        burst = f" burst {self.most}" if self.is_rate else ""
        return f"{self.text}{burst}{' shared' if self.shared else ''}"


def parse_limit(name: str, text: str | int) -> LimitSpec:
    """Return what ``2``, ``60/min`` or ``60/min burst 10 shared`` says; raises UserMistake, naming the limit."""
    if not _NAME.fullmatch(name):
        raise UserMistake(f"limit {name!r}: a name has letters, digits, _ and - only, 40 at most")
    found = _TEXT.fullmatch(str(text).strip())
    if found is None:
        raise UserMistake(f"limit {name}={text!s}: {HOW}")
    shared = found["shared"] is not None
    if found["period"] is None:
        if found["burst"] is not None:
            raise UserMistake(f"limit {name}={text!s}: only a rate has a burst")
        most = _whole(name, found["amount"], "a capacity")
        return LimitSpec(name, str(most), most, None, shared)
    per_s = _rate(name, text, found["amount"], found["period"])
    most = max(1, math.ceil(per_s * DEFAULT_BURST_S))
    if found["burst"] is not None:
        most = _whole(name, found["burst"], "a burst")
    return LimitSpec(name, f"{found['amount']}/{found['period']}", most, per_s, shared)


def parse_limits(told: Mapping[str, int | str]) -> dict[str, LimitSpec]:
    """Return the limits of a table: ``gpu = 2``, ``api = "60/min"``, ``api.burst = 10``, ``api.shared = true``.

    Raises UserMistake for anything else, naming the key.
    """
    specs: dict[str, LimitSpec] = {}
    for key, value in told.items():
        if "." not in key:
            specs[key] = parse_limit(key, "" if isinstance(value, bool) else value)
    for key, value in told.items():
        name, dot, part = key.partition(".")
        if not dot:
            continue
        if name not in specs:
            raise UserMistake(f"limit {key}: there is no limit {name}; {HOW.replace('gpu', name)}")
        specs[name] = _with_part(specs[name], key, part, value)
    if len(specs) > MOST_LIMITS:
        raise UserMistake(f"{len(specs)} limits are too many: {MOST_LIMITS} at most")
    return specs


def check_needs(needs: Mapping[str, int], specs: Mapping[str, LimitSpec], what: str) -> str | None:
    """Return why a need can never be met, None if it can; ``what`` names who needs it."""
    for name, amount in needs.items():
        spec = specs.get(name)
        if spec is None:
            known = ", ".join(sorted(specs)) or "none"
            return (
                f"{what} needs {name!r}, which is no limit of this run (limits: {known}); give it with --limit {name}=N"
            )
        if amount > spec.most:
            room = f"its burst is {spec.most} (set {name}.burst)" if spec.is_rate else f"there are {spec.most}"
            return f"{what} needs {amount} of {name}, more than it can ever get: {room}"
    return None


def _with_part(spec: LimitSpec, key: str, part: str, value: int | str) -> LimitSpec:
    if part == "burst":
        if not spec.is_rate:
            raise UserMistake(f"limit {key}: only a rate has a burst, and {spec.name} is {spec.text}")
        return replace(spec, most=_whole(spec.name, str(value), "a burst"))
    if part == "shared":
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if str(value).lower() not in words:
            raise UserMistake(f"limit {key}: true or false, not {value!r}")
        return replace(spec, shared=words[str(value).lower()])
    raise UserMistake(f"limit {key}: a limit has burst and shared, not {part!r}")


def _whole(name: str, word: str, what: str) -> int:
    if not re.fullmatch(r"\d{1,7}", word) or not 1 <= int(word) <= MOST_AMOUNT:
        raise UserMistake(f"limit {name}: {what} is a whole number from 1 to {MOST_AMOUNT}, not {word!r}; {HOW}")
    return int(word)


def _rate(name: str, text: str | int, amount: str, period: str) -> float:
    every = _PERIOD.fullmatch(period)
    if every is None or not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", amount) or float(amount) <= 0 or every[1] == "0":
        raise UserMistake(f"limit {name}={text!s}: a rate is an amount per s, min, h or d, such as 60/min or 5/10s")
    return float(amount) / (_SECONDS[every[2]] * int(every[1] or 1))
