"""A run as one HTML page that needs nothing else: no network, no script. All text of data is escaped."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from poolboard import report_pictures
from poolboard.ages import wall_ms
from poolboard.tui.fingerprint import fingerprint
from poolboard.tui.text import visible
from poolboard.tui.units import clock_time, count, duration, milliseconds, several

if TYPE_CHECKING:
    from poolboard.engine.views import RunView, Summary
    from poolboard.journal.model import WorkRow
    from poolboard.run_facts import RunFacts

#: Children that the page looks at; what is beyond is counted, not drawn.
MOST_CHILDREN: Final = 100_000
MOST_GROUPS: Final = 50
NAMED_PER_GROUP: Final = 20
MOST_TEXT: Final = 20_000

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --line: #d7dce3; --paper: #fff; --bar: #3f7fd4;
  --bad: #c4383d; --good: #2e8b57; }
@media (prefers-color-scheme: dark) { :root { --ink: #d5dbe6; --dim: #8a94a6; --line: #333b49; --paper: #12161d;
  --bar: #6aa5f0; --bad: #ef7176; --good: #5dbb86; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.dim { color: var(--dim); } .failed { color: var(--bad); } .completed { color: var(--good); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .6rem;
  border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: color-mix(in srgb, var(--line) 40%, transparent); padding: .6rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } svg text { fill: var(--dim); font: 11px system-ui, sans-serif; }
.bar { fill: var(--bar); } .bar.failed { fill: var(--bad); } .axis { stroke: var(--line); }
"""


async def page(summary: Summary, facts: RunFacts) -> AsyncGenerator[str]:
    """Yield the page in parts: head, stages, durations, failures, timeline."""
    run = summary.run
    rows = await facts.rows(MOST_CHILDREN)
    stages = await facts.stages()
    yield _head(run)
    yield "\n".join(_overview(summary))
    yield "\n".join(_stages(summary))
    yield "<h2>Durations</h2>\n"
    yield report_pictures.histogram(stages) or '<p class="dim">no stage has ended yet</p>'
    async for part in _failures(rows, facts):
        yield part
    yield "<h2>Timeline</h2>\n"
    yield report_pictures.timeline(rows) or '<p class="dim">no child has started yet</p>'
    if run.children.total > len(rows):
        yield f'<p class="dim">the page looks at {count(len(rows))} of {count(run.children.total)} children</p>'
    yield f'<p class="dim">Poolboard, {_text(clock_time(wall_ms(), 0))}</p>\n</body>\n</html>\n'


def _head(run: RunView) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_text(run.name)}: {_text(run.status)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )


def _overview(summary: Summary) -> Iterator[str]:
    run = summary.run
    yield f"<h1>{_text(run.name)}</h1>"
    status = _text(run.status)
    yield f'<p><strong class="{status}">{status}</strong> <span class="dim">{_text(run.run_id)}</span></p>'
    counts = run.children
    facts = [
        (
            "children",
            f"{count(counts.completed)} completed, {count(counts.failed)} failed, {count(counts.total)} in all",
        ),
        ("elapsed", duration(run.elapsed_s)),
        ("started", clock_time(run.started_at, 0)),
        ("ended", clock_time(run.ended_at, 0)),
        ("folder", run.cwd),
    ]
    yield "<table>"
    yield from (f"<tr><th>{name}</th><td>{_text(value)}</td></tr>" for name, value in facts)
    yield "</table>"
    if run.error:
        yield f"<h2>Error</h2>\n<pre>{_text(run.error)}</pre>"
    if run.result is not None:
        yield f"<h2>Result</h2>\n<pre>{_text(run.result)}</pre>"


def _stages(summary: Summary) -> Iterator[str]:
    yield "<h2>Stages</h2>"
    if not summary.stages:
        yield '<p class="dim">none yet</p>'
        return
    heads = ["done", "failed", "active", "p50", "p95"]
    yield "<table><tr><th>stage</th>" + "".join(f'<th class="number">{head}</th>' for head in heads) + "</tr>"
    for stage in summary.stages:
        numbers = [count(stage.done), count(stage.failed), count(stage.active)]
        numbers += [milliseconds(stage.p50_ms), milliseconds(stage.p95_ms)]
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
        yield f"<tr><td>{_text(stage.name)}</td>{cells}</tr>"
    yield "</table>\n"


async def _failures(rows: Sequence[WorkRow], facts: RunFacts) -> AsyncGenerator[str]:
    """Yield the failed children in groups by what went wrong, the largest first, each with its first one in full."""
    groups: dict[str, list[WorkRow]] = {}
    for row in rows:
        if row.state == "failed":
            groups.setdefault(fingerprint(row.error or ""), []).append(row)
    if not groups:
        return
    failed = sum(map(len, groups.values()))
    yield f"<h2>Failures</h2>\n<p>{several(failed, 'child', 'children')} in {several(len(groups), 'group')}</p>\n"
    for told, members in sorted(groups.items(), key=lambda group: -len(group[1]))[:MOST_GROUPS]:
        named = ", ".join(f"#{row.n} {row.label}" for row in members[:NAMED_PER_GROUP])
        more = f" and {len(members) - NAMED_PER_GROUP} more" if len(members) > NAMED_PER_GROUP else ""
        yield f'<details open><summary><strong class="failed">{len(members)}</strong> {_text(told)}</summary>\n'
        yield f'<p class="dim">{_text(named)}{more}</p>\n'
        first = await facts.failure(members[0].n) or members[0].error or ""
        yield f"<pre>{_lines(first)}</pre>\n</details>\n"
    if len(groups) > MOST_GROUPS:
        yield f'<p class="dim">and {len(groups) - MOST_GROUPS} more groups</p>\n'


def _text(text: str) -> str:
    """Return text of data for the page: bounded, control characters visible, escaped."""
    cut = text[:MOST_TEXT]
    return escape(visible(cut)) + ("…" if len(text) > MOST_TEXT else "")


def _lines(text: str) -> str:
    return "\n".join(_text(line) for line in text[:MOST_TEXT].splitlines())
