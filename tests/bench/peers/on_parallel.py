"""GNU parallel with ``--joblog``: an item is a command, and the job log is what a later ``--resume`` reads.

Commands have no steps. A CPU item is a Python program here, so its start counts; the others are lines of bash.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.bench.peers import rig

_NOTE = 'echo "{} {{}} $$ $EPOCHREALTIME" >> ' + shlex.quote(str(rig.folder() / "effects"))
_START, _END = _NOTE.format("s"), _NOTE.format("e")


def main() -> None:
    """Run parallel over the numbers, and count the jobs that its log says are done."""
    kind, count, width = rig.asked()
    python = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(Path(rig.__file__)))}"
    command = {
        "noop": _END,
        "cpu": f"exec {python} cpu {{}}",
        "sleep": f"{_START}; sleep {rig.SLEEP_ITEM_S}; {_END}",
        "kill": f"{_START}; sleep {rig.KILL_ITEM_S}; {_END}",
    }[kind]
    joblog = rig.data() / "joblog"
    words = ["parallel", "--will-cite", "-j", str(width), "--joblog", str(joblog), "--retries", "3", command]
    rig.begun()
    subprocess.run(
        words,
        input="".join(f"{n}\n" for n in range(count)),
        text=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PARALLEL_SHELL": "/bin/bash", "HOME": str(rig.data())},
        check=False,
    )
    done = [line.split("\t")[6:8] for line in joblog.read_text().splitlines()[1:]]
    rig.ended(done.count(["0", "0"]))


if __name__ == "__main__":
    main()
