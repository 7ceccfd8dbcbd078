"""An environment for each peer, made once under the cache folder: no library can meddle with another's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from tests.bench.figure import Unmeasured

from .catalog import Peer

#: Versions of everything that a peer brings along, so that the next run measures the same.
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
INSTALL_LIMIT_S = 300.0


def python_of(peer: Peer) -> Path:
    """Return the interpreter that has what the peer needs, setting it up if need be; raises Unmeasured with why not."""
    missing = [command for command in peer.commands if shutil.which(command) is None]
    if missing:
        raise Unmeasured(f"not installed: there is no {' and no '.join(missing)} here")
    if not peer.needs:
        return Path(sys.executable)
    wanted = "\n".join([sys.version, *peer.needs, CONSTRAINTS.read_text(encoding="utf-8")])
    name = f"{peer.program}-{sha256(wanted.encode()).hexdigest()[:12]}"
    place = user_cache_path("poolboard") / "bench" / name
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        print(f"bench: peers: setting up {peer.name} (once)", file=sys.stderr, flush=True)
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _run([sys.executable, "-m", "venv", str(place)])
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        _run([*pip, "--constraint", str(CONSTRAINTS), *peer.needs])
        (place / "ready").touch()
    return python


def _run(words: list[str]) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"not installed: it took longer than {INSTALL_LIMIT_S:.0f} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise Unmeasured(f"not installed: {' '.join(errors[:1])[:200]}")
