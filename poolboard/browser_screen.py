"""The process behind one browser's screen: ``python -m poolboard.browser_screen [--write] [RUN]``.

``poolboard serve`` starts it. Its standard input and output carry textual-serve's packets and nothing else.
"""

from __future__ import annotations

import sys

from poolboard.console import complain_of
from poolboard.engine.errors import EngineError
from poolboard.journal.errors import JournalError
from poolboard.showing import Showing
from poolboard.tui.app import run_dashboard


def main(words: list[str]) -> int:
    """Show the dashboard until the browser leaves; return the exit status."""
    write = "--write" in words
    run_id = next((word for word in words if not word.startswith("-")), None)
    try:
        showing = Showing(read_only=not write).settled(screen=True)
        return run_dashboard(
            None, run_id, bool(showing.read_only), theme=showing.theme, ascii=showing.ascii, guest=True
        )
    except (EngineError, JournalError) as error:
        complain_of(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
