"""Where Poolboard is installed and keeps its files: the unpacked wheel draws its screen, long paths do not matter."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.each_rig import PATIENCE_S
from tests.test_packaging import build

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

SQUARES = """
from poolboard import Context, stage, workflow

@stage
def square(n: int) -> int:
    return n * n

@workflow
async def one(ctx: Context, n: int) -> int:
    return await ctx.stage(square, n)

@workflow
async def squares(ctx: Context, upto: int) -> int:
    return sum(await ctx.map(one, range(upto)))
"""


@pytest.mark.slow
def test_b77_a_state_folder_with_a_long_odd_path_works_and_its_socket_is_found(
    poolboard: Poolboard, own_folders: Path, tmp_path: Path
) -> None:
    """Situation B77: 150 characters with spaces, a quote and non-ASCII, a long TMPDIR, no XDG_RUNTIME_DIR."""
    state = own_folders / ("it's a länger path " * 8)[:150].strip()
    temporary = own_folders / ("t" * 120)
    temporary.mkdir()
    env = {"XDG_STATE_HOME": str(state), "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": ""}
    (tmp_path / "squares.py").write_text(SQUARES)
    words = ["run", str(tmp_path / "squares.py"), "--input", "upto=20", "--workers", "1"]
    answer = poolboard(*words, "--json", env=env)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out.splitlines()[-1])["result"] == 2470
    run_id = poolboard(*words, "--detach", env=env).out.strip()
    assert poolboard("wait", run_id, env=env).code == 0


def test_b76_the_unpacked_wheel_draws_its_screen_far_from_the_tree(own_folders: Path, tmp_path: Path) -> None:
    """Situation B76: style sheets and themes are in the wheel; the home is read-only, nothing is written there."""
    with zipfile.ZipFile(build("wheel", tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
    before = sorted(path for path in (tmp_path / "site").rglob("*") if "__pycache__" not in path.parts)
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "HOME": str(home), "TERM": "xterm-256color"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "poolboard"], stdin=inner, stdout=inner, stderr=inner, env=env, cwd="/"
    ) as process:
        os.close(inner)
        seen, until = b"", time.monotonic() + PATIENCE_S
        while b"poolboard demo" not in seen and time.monotonic() < until:
            seen += os.read(outer, 65536)
        process.kill()
    os.close(outer)
    assert b"poolboard demo" in seen
    assert b"Traceback" not in seen
    after = sorted(path for path in (tmp_path / "site").rglob("*") if "__pycache__" not in path.parts)
    assert after == before
    assert list(home.iterdir()) == []
