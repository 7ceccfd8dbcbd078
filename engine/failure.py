"""An exception as the journal keeps it: type, message, traceback text. Never pickled, never trusted to print itself."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import TypeVar

from . import secrets
from .errors import StageError

E = TypeVar("E", bound=BaseException)
#: A deep recursion prints thousands of lines; its two ends say all.
TRACEBACK_LIMIT_BYTES = 16 * 1024
MESSAGE_LIMIT = 2000
LINE_LIMIT = 200
#: Frames of these files are ours; between the frames of the person's code they only hide it.
OWN_FOLDER = str(Path(__file__).parent)


def describe(error: BaseException) -> dict[str, str]:
    """Return ``type``, ``message`` and ``traceback`` of an exception, and the ``stage`` that raised it if one did.

    An exception whose ``__str__`` raises is told as such.
    """
    if isinstance(error, StageError):
        told = {"type": error.type, "message": error.message, "traceback": error.traceback, "stage": error.stage}
        return {name: _cut(secrets.masked(text), TRACEBACK_LIMIT_BYTES) for name, text in told.items()}
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        kind = secrets.masked(f"SystemExit({error.code!r})")
    try:
        message = "" if isinstance(error, SystemExit) else str(error)
    except Exception as second:
        message = f"<its text cannot be had: {type(second).__name__}>"
    return {
        "type": kind,
        "message": _cut(secrets.masked(message), MESSAGE_LIMIT),
        "traceback": _cut(
            secrets.masked(_account(error) or _traceback(error) or f"{kind}: {message}\n"), TRACEBACK_LIMIT_BYTES
        ),
    }


def one_line(failure: dict[str, str]) -> str:
    """Return the failure in one line for lists."""
    message = " ".join(failure["message"].split())
    line = f"{failure['type']}: {message}" if message else failure["type"]
    if "stage" in failure:
        line = f"stage {failure['stage']}: {line}"
    line = line.encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"


def as_payload(failure: dict[str, str]) -> str:
    """Return the failure as the JSON of its event."""
    return json.dumps({"failure": failure}, separators=(",", ":"))


def with_account(error: E, account: str) -> E:
    """Return an exception that says this of itself, and not where it was raised: that would only show us."""
    error.__dict__["account"] = account
    return error


def _account(error: BaseException) -> str:
    """Return what the exception says of itself in place of a traceback, if it does."""
    return str(getattr(error, "account", ""))


def _traceback(error: BaseException) -> str:
    """Return the traceback as the person would see it without us."""
    try:
        told = traceback.TracebackException.from_exception(error)
        own = told.stack
        told.stack = traceback.StackSummary.from_list(
            [frame for frame in own if not frame.filename.startswith(OWN_FOLDER)] or own
        )
        return "".join(told.format())
    except Exception:
        return ""


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
