"""The coordinator's process: ``python -m poolboard.engine.coordinate JOURNAL RUN_ID [LOGS AHEAD]``.

Started in a session of its own, its errand on stdin. With AHEAD it starts that many workers, which print into LOGS,
before it loads anything that takes time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .worker_process import start_ahead


def main() -> None:
    """Run one coordinator process."""
    journal, run_id, *first = sys.argv[1:]
    ahead = start_ahead(Path(first[0]), range(1, int(first[1]) + 1)) if first else {}
    from . import coordination  # late: this is what takes the time

    coordination.main(Path(journal), run_id, ahead)


if __name__ == "__main__":
    main()
