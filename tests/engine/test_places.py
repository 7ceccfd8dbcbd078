"""Folders, sockets and identities of processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from poolboard.engine.folder import SOCKET_PATH_LIMIT_BYTES, CoordinatorFile, RunFolder
from poolboard.engine.identity import ProcessIdentity
from poolboard.engine.peers import peer_uid
from tests.engine.rig import Rig


def test_state_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = RunFolder(tmp_path / "state" / "run")
        folder.create()
        folder.write_coordinator(CoordinatorFile(ProcessIdentity.own(), 3, "/a/socket"))
    finally:
        os.umask(before)
    for path in (folder.path, folder.logs, folder.workers):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder.path / "coordinator.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"identity": 3}', '{"identity": "x", "epoch": 1, "socket": "s"}', "\0" * 50]
)
def test_a_damaged_announcement_is_no_announcement(tmp_path: Path, text: str) -> None:
    (tmp_path / "coordinator.json").write_text(text)
    assert RunFolder(tmp_path).read_coordinator() is None


def test_an_announcement_is_read_as_it_was_written(tmp_path: Path) -> None:
    told = CoordinatorFile(ProcessIdentity.own(), 3, "/a/socket")
    RunFolder(tmp_path).write_coordinator(told)
    assert RunFolder(tmp_path).read_coordinator() == told
    assert json.loads((tmp_path / "coordinator.json").read_text())["epoch"] == 3
    assert os.listdir(tmp_path) == ["coordinator.json"], "nothing half written is left beside it"


def test_a_long_path_gets_a_short_socket_in_the_runtime_folder(tmp_path: Path) -> None:
    """B77."""
    deep = RunFolder(tmp_path / ("long ' ü " * 20) / "run")
    path = deep.socket_path()
    assert len(os.fsencode(path)) <= SOCKET_PATH_LIMIT_BYTES
    assert path != RunFolder(tmp_path / ("long ' ü " * 21) / "run").socket_path()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.close()
    os.unlink(path)


def test_a_process_is_known_by_its_start_not_by_its_number() -> None:
    process = subprocess.Popen(["sleep", "60"])
    identity = ProcessIdentity.of(process.pid)
    assert identity is not None and identity.is_alive()
    other = ProcessIdentity(identity.pid, identity.start + 1, identity.boot)
    assert not other.is_alive() and not other.signal(signal.SIGKILL)
    assert not ProcessIdentity(identity.pid, identity.start, "another boot").signal(signal.SIGKILL)
    assert process.poll() is None, "a number alone is never signalled"
    assert identity.signal(signal.SIGKILL)
    process.wait()
    assert not identity.is_alive()
    assert ProcessIdentity.parse(str(identity)) == identity


@pytest.mark.parametrize("text", ["", "1", "1:2", "a:b:c", "1:x:boot"])
def test_what_is_not_an_identity_is_none(text: str) -> None:
    assert ProcessIdentity.parse(text) is None


def test_the_uid_at_the_other_end_of_a_socket_is_known() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    assert peer_uid(one) == os.getuid()
    one.close()
    other.close()


@pytest.mark.slow
async def test_stale_files_with_somebody_elses_pid_do_not_hinder_a_resume(rig: Rig) -> None:
    """B19: the pid of an unrelated process stands in every file."""
    await rig.start("squares:many", n=30, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(3)
    from tests.engine.rig import kill, try_resume

    await kill(*rig.pids())
    bystander = subprocess.Popen(["sleep", "600"])  # noqa: ASYNC220
    try:
        for file in Path(os.environ["XDG_STATE_HOME"]).rglob("coordinator.json"):
            told = json.loads(file.read_text())
            told["identity"] = ":".join([str(bystander.pid), *told["identity"].split(":")[1:]])
            file.write_text(json.dumps(told))
        await try_resume(rig)
        assert (await rig.ended()).run.result == "8555"
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
