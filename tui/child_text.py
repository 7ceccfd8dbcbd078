"""What the child's tabs say: input, result, error and the chosen stage, verbatim and bounded. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolboard.engine.views import ChildView, StageRun

from .json_text import indent
from .text_pane import PaneLine
from .units import count, milliseconds

VIEWS: Final = ("stage", "input", "result", "error", "log")

_MAX_CHARACTERS: Final = 262_144
_MAX_LINES: Final = 4000


def document(child: ChildView, view: str, stage: StageRun | None) -> list[PaneLine]:
    """Return the lines of one tab."""
    if view == "input":
        return list(_text(indent(child.input), "the input is empty"))
    if view == "result":
        why = "no result: the child has failed" if child.error else "no result yet"
        return list(_text(indent(child.result or ""), why))
    if view == "error":
        return list(_text(child.error or child.row.error or "", "no error", "failed"))
    return list(_stage(stage))


def _stage(stage: StageRun | None) -> Iterator[PaneLine]:
    if stage is None:
        yield PaneLine("No stage has been recorded yet.", "quiet")
        return
    how = "completed" if stage.ok else "failed"
    yield PaneLine(f"{stage.name}  attempt {stage.attempt}, {how} after {milliseconds(stage.duration_ms)}", "title")
    if stage.error:
        yield from _text(stage.error, "", "failed")
    if stage.ok:
        yield from _text(indent(stage.result or ""), "no result")


def _text(text: str, nothing: str, tone: str = "") -> Iterator[PaneLine]:
    """Yield the text by lines, cut at a limit that it names."""
    if not text:
        yield PaneLine(nothing, "quiet")
        return
    shown = text[:_MAX_CHARACTERS].removesuffix("\n").split("\n")
    for line in shown[:_MAX_LINES]:
        yield PaneLine(line.removesuffix("\r"), tone)
    if len(text) > _MAX_CHARACTERS or len(shown) > _MAX_LINES:
        yield PaneLine(f"… cut: {count(len(text))} characters in all, the journal has the rest", "quiet")
