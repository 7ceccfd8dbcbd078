"""``python -m tests.bench [ONLY]``: every section, or one. The whole is written to RESULTS.md and results.json."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from poolboard.engine.errors import EngineError
from poolboard.journal.errors import JournalError

from . import attach, commands, demo, each, engine, growth, journal, keys, limits, machine, messages, pool, report
from .figure import Section, Unmeasured
from .peers import section as peers

SECTIONS: Final[dict[str, Callable[[], Awaitable[Section]]]] = {
    "pool": pool.measure,
    "engine": engine.measure,
    "journal": journal.measure,
    "demo": demo.measure,
    "attach": attach.measure,
    "keys": keys.measure,
    "limits": limits.measure,
    "each": each.measure,
    "commands": commands.measure,
    "growth": growth.measure,
    "messages": messages.measure,
    "peers": peers.measure,
}
FOLDER: Final = Path(__file__).parent
EXIT_UNMEASURED, EXIT_MISTAKE = 1, 2


async def run(names: Sequence[str]) -> list[Section]:
    """Measure, printing each section when it is done; one that cannot be measured is named on stderr and left out."""
    found: list[Section] = []
    for name in names:
        started_s = time.perf_counter()
        try:
            section = await SECTIONS[name]()
        except (Unmeasured, EngineError, JournalError, OSError) as error:
            print(f"bench: {name}: not measured: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            continue
        found.append(section)
        print("\n".join(report.table(section)), flush=True)
        print(f"  (took {time.perf_counter() - started_s:.0f} s)\n", flush=True)
    return found


def main(words: Sequence[str]) -> int:
    """Return 0 if every number was produced, 1 if not, 2 for a section that does not exist."""
    if len(words) > 1 or any(word not in SECTIONS for word in words):
        print(f"bench: no section {' '.join(words)!r}; there are {', '.join(SECTIONS)}", file=sys.stderr)
        return EXIT_MISTAKE
    before, started_s = machine.load1(), time.perf_counter()
    sections = asyncio.run(run(words or list(SECTIONS)))
    if len(sections) < len(words or SECTIONS):
        return EXIT_UNMEASURED
    seen = machine.observe(before)
    print(f"took {time.perf_counter() - started_s:.0f} s in all")
    print(f"{seen.cpu}, {seen.cores} cores, journals on {seen.file_system}, load {seen.load1[0]} to {seen.load1[1]}")
    if not words:
        # One section alone is for looking: the page tells of one machine at one time, whole.
        (FOLDER / "RESULTS.md").write_text(report.page(seen, sections), encoding="utf-8")
        (FOLDER / "results.json").write_text(report.as_json(seen, sections), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
