"""The results as text: a table for the terminal, a page for the repository, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from .figure import Figure, Grid, Section
from .machine import Machine


def number(value: float) -> str:
    """Return a number with about three digits that mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(section: Section) -> Iterator[str]:
    """Yield a section as lines of a terminal."""
    yield f"{section.name}: {section.about}"
    for grid in section.grids or (_plain(section),):
        if grid.title:
            yield f"  {grid.title}"
        rows = [grid.columns, *grid.rows] if section.grids else list(grid.rows)
        widths = [max(len(row[column]) for row in rows) for column in range(len(grid.columns))]
        for first, *others in rows:
            cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
            yield "  " + "  ".join([f"{first:<{widths[0]}}", *cells]).rstrip()
    for note in section.notes:
        yield f"  ({note})"


def page(machine: Machine, sections: Sequence[Section], command: str = "make bench") -> str:
    """Return RESULTS.md, or another page by the command that measured it."""
    before, after = machine.load1
    lines = [
        f"# Measured by `{command}`",
        "",
        f"{machine.date}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB, {machine.system}, journals "
        f"on {machine.file_system}; Python {machine.python}, SQLite {machine.sqlite}, Textual {machine.textual}.",
        f"Load of the machine (1 minute): {before} before, {after} after. Medians of interleaved rounds, with the "
        "smallest and the largest. On a shared machine the ratios are worth more than the rates.",
    ]
    if before > machine.cores / 2:
        lines += [
            "",
            "**Others were using the machine: rates are too low and times too long; CPU seconds hold better.**",
        ]
    for section in sections:
        lines += ["", f"## {section.name}", "", section.about + "."]
        for grid in section.grids or (_plain(section),):
            lines += ["", f"**{grid.title}**"] if grid.title else []
            lines += ["", f"| {' | '.join(grid.columns)} |", "|---" + "|--:" * (len(grid.columns) - 1) + "|"]
            lines += [f"| {' | '.join(row)} |" for row in grid.rows]
        lines += ["", *(f"- {note}" for note in section.notes)]
    return "\n".join(lines) + "\n"


def as_json(machine: Machine, sections: Sequence[Section]) -> str:
    """Return results.json: every value of every round, beside the medians."""
    found = {
        section.name: {
            "about": section.about,
            "notes": section.notes,
            "figures": {
                figure.name: {
                    "unit": figure.unit,
                    "median": figure.median,
                    "min": min(figure.values),
                    "max": max(figure.values),
                    "values": figure.values,
                }
                for figure in section.figures
            },
        }
        for section in sections
    }
    return json.dumps({"machine": asdict(machine), "sections": found}, indent=2) + "\n"


def _plain(section: Section) -> Grid:
    """Return a section's figures as one list."""
    return Grid("", ("what", "median", "min to max", "unit"), tuple(_cells(figure) for figure in section.figures))


def _cells(figure: Figure) -> tuple[str, str, str, str]:
    low, high = number(min(figure.values)), number(max(figure.values))
    return figure.name, number(figure.median), f"{low} to {high}" if len(figure.values) > 1 else "", figure.unit
