"""What a run may use, and how much of it is used: limits by name, judged. Pure.

Two names are kept by Poolboard itself: ``duration_s`` (elapsed time, pauses left out) and ``failures`` (children that
have failed). Every other name is what ``ctx.usage`` charges.
"""

from __future__ import annotations

from collections.abc import Mapping

DURATION, FAILURES = "duration_s", "failures"
OWN_NAMES = frozenset({DURATION, FAILURES})
#: The share of a limit from which on it is told (SPEC 1.30).
WARN_FROM = 0.8


def changed(limits: Mapping[str, float], wished: Mapping[str, float]) -> dict[str, float]:
    """Return the limits with the wished ones put in; 0 lifts one."""
    return {name: limit for name, limit in {**limits, **wished}.items() if limit > 0}


def exhausted(limits: Mapping[str, float], used: Mapping[str, float]) -> str | None:
    """Return in one line which limits are reached, None while none is."""
    over = [told(name, used.get(name, 0), limit) for name, limit in limits.items() if used.get(name, 0) >= limit]
    return f"budget used up: {', '.join(over)}" if over else None


def warnings(limits: Mapping[str, float], used: Mapping[str, float]) -> list[str]:
    """Return a sentence for each limit of which 80 % are used; those that are reached too."""
    near = [
        (name, used.get(name, 0), limit) for name, limit in limits.items() if used.get(name, 0) >= WARN_FROM * limit
    ]
    return [f"budget: {told(name, amount, limit)} ({amount / limit:.0%})" for name, amount, limit in near]


def checked(limits: Mapping[str, float], what: str) -> dict[str, float]:
    """Return limits as numbers; raises ValueError, TypeError for what is none. ``what`` says whose they are."""
    for name, limit in limits.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"{what}: a budget is of something with a name, not {name!r}")
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            raise TypeError(f"{what}: the budget of {name} must be a number, not {limit!r}")
        if not 0 <= limit < 1e18:
            raise ValueError(f"{what}: the budget of {name} must be from 0 to 1e18, not {limit!r}")
    return {name: float(limit) for name, limit in limits.items()}


def advice(limits: Mapping[str, float], used: Mapping[str, float]) -> str:
    """Return the options that give more of what is used up."""
    flags = {DURATION: "--max-duration TIME", FAILURES: "--max-failures N"}
    spent = [name for name, limit in limits.items() if used.get(name, 0) >= limit]
    return " ".join(flags.get(name, f"--max-usage {name}=N") for name in spent)


def told(name: str, amount: float, limit: float) -> str:
    """Return ``40 of 50 failures``."""
    if name == DURATION:
        return f"{amount:.0f} of {limit:g} s"
    return f"{amount:g} of {limit:g} {name}"
