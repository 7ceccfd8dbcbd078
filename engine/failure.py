"""An exception as the journal keeps it: type, message, traceback text. Never pickled, never trusted to print itself."""

from __future__ import annotations

import json
import traceback

#: A deep recursion prints thousands of lines; its two ends say all.
TRACEBACK_LIMIT_BYTES = 16 * 1024
MESSAGE_LIMIT = 2000
LINE_LIMIT = 200


def describe(error: BaseException) -> dict[str, str]:
    """Return ``type``, ``message`` and ``traceback`` of an exception; one whose ``__str__`` raises is told as such."""
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        kind = f"SystemExit({error.code!r})"
    try:
        message = "" if isinstance(error, SystemExit) else str(error)
    except Exception as second:
        message = f"<its text cannot be had: {type(second).__name__}>"
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        text = f"{kind}: {message}\n"
    return {"type": kind, "message": _cut(message, MESSAGE_LIMIT), "traceback": _cut(text, TRACEBACK_LIMIT_BYTES)}


def one_line(failure: dict[str, str]) -> str:
    """Return the failure in one line for lists."""
    message = " ".join(failure["message"].split())
    line = f"{failure['type']}: {message}" if message else failure["type"]
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"


def as_payload(failure: dict[str, str]) -> str:
    """Return the failure as the JSON of its event."""
    return json.dumps({"failure": failure}, separators=(",", ":"))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
