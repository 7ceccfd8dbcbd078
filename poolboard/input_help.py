"""``run --help-inputs``: what a workflow takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from poolboard import exit_codes, shapes, words
from poolboard.console import say, say_all
from poolboard.engine.launch import Described, describe


def told(target: str, *, as_json: bool) -> int:
    """Tell names, types and defaults of a workflow's parameters, and its doc; raises UserMistake."""
    found = asyncio.run(describe(target))
    if as_json:
        say(shapes.line(_shape(found)))
    else:
        say_all(_lines(found))
    return exit_codes.COMPLETED


def _lines(found: Described) -> Iterator[str]:
    yield words.shown(found.workflow)
    yield from (f"  {words.shown(line)}".rstrip() for line in found.doc.splitlines())
    if not found.parameters:
        yield "it takes no inputs"
        return
    rows: list[list[object]] = [
        [p.name, p.annotation, "required" if p.required else f"default: {p.default}"] for p in found.parameters
    ]
    yield from words.table(["input", "type", ""], rows)


def _shape(found: Described) -> shapes.Shape:
    return {
        "shape": shapes.VERSION,
        "workflow": found.workflow,
        "doc": found.doc,
        "inputs": [
            {"name": p.name, "type": p.annotation, "required": p.required, "default": p.default}
            for p in found.parameters
        ],
    }
