"""The doctor says how things stand, advises in one line, and mends only what nobody can miss."""

from __future__ import annotations

import json
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes, leftovers, machine, premises, upkeep
from poolboard.ailment import Ailment
from poolboard.engine.folder import CoordinatorFile, RunFolder, state_folder
from poolboard.engine.identity import ProcessIdentity
from poolboard.engine.strays import MARK
from poolboard.journal.driver import connect
from poolboard.journal.file import open_writer
from poolboard.terminal_check import terminal

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]


def levels(ailments: Iterator[Ailment]) -> dict[str, str]:
    return {ailment.about: ailment.level for ailment in ailments}


# --- the command ------------------------------------------------------------------------------------------------------


def test_on_a_fresh_machine_all_is_well_and_nothing_is_made(poolboard: Poolboard, own_folders: Path) -> None:
    answer = poolboard("doctor", "--json")
    told = json.loads(answer.out)
    assert (answer.code, answer.err, told["ok"]) == (0, "", True)
    about = {check["about"]: check["told"] for check in told["checks"]}
    assert {"python", "sqlite", "state folder", "journal", "file system", "disk space", "open files"} <= set(about)
    assert [path for path in own_folders.rglob("*") if path.is_file()] == []
    assert not state_folder().exists()


def test_every_advice_is_one_line(poolboard: Poolboard, own_folders: Path) -> None:
    state_folder().mkdir(mode=0o755, parents=True)
    answer = poolboard("doctor", env={"POOLBOARD_JOURNAL": str(own_folders)})
    assert answer.code == exit_codes.MISTAKE
    assert f"BAD   journal         {own_folders} is a folder" in answer.out
    assert "note  state folder" in answer.out and f"chmod 700 {state_folder()}" in answer.out


def test_fix_closes_folders_and_removes_what_the_dead_left(poolboard: Poolboard) -> None:
    folder = left_by_a_dead_coordinator("run-1")
    state_folder().chmod(0o755)
    before = poolboard("doctor")
    assert "nobody listens on 1 socket" in before.out and "1 announcement of dead ones: run-1" in before.out
    assert (folder.path / "coordinator.sock").exists()
    answer = poolboard("doctor", "--fix")
    assert answer.code == 0
    assert answer.out.count("mended") == 3
    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.path.iterdir()) == ["logs", "workers"]
    assert "mended" not in poolboard("doctor", "--fix").out


def test_fix_leaves_a_living_coordinator_alone(poolboard: Poolboard) -> None:
    state_folder().mkdir(mode=0o700)
    folder = RunFolder.of("run-1")
    folder.create()
    with closing(listening(folder.path / "coordinator.sock")):
        folder.write_coordinator(CoordinatorFile(ProcessIdentity.own(), 1, folder.socket_path()))
        assert "mended" not in poolboard("doctor", "--fix").out
        # A socket that somebody listens on stays, also where the announcement is of a dead process.
        folder.write_coordinator(CoordinatorFile(dead(), 1, folder.socket_path()))
        poolboard("doctor", "--fix")
        assert (folder.path / "coordinator.sock").exists()


def listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


def dead() -> ProcessIdentity:
    """Return the identity of a process that was."""
    own = ProcessIdentity.own()
    return ProcessIdentity(own.pid, own.start - 1, own.boot)


def left_by_a_dead_coordinator(run_id: str) -> RunFolder:
    folder = RunFolder.of(run_id)
    folder.create()
    listening(folder.path / "coordinator.sock").close()
    folder.write_coordinator(CoordinatorFile(dead(), 1, folder.socket_path()))
    return folder


def test_a_link_among_the_runs_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    listening(elsewhere / "coordinator.sock").close()
    (state_folder() / "runs").mkdir(parents=True)
    (state_folder() / "runs" / "run-1").symlink_to(elsewhere)
    assert levels(leftovers.sockets_and_announcements()) == {"sockets": "fine"}


def test_an_announcement_cannot_have_any_file_removed(tmp_path: Path) -> None:
    precious = listening(tmp_path / "precious.sock")
    precious.close()
    folder = RunFolder.of("run-1")
    folder.create()
    folder.write_coordinator(CoordinatorFile(dead(), 1, str(tmp_path / "precious.sock")))
    for ailment in leftovers.sockets_and_announcements():
        if ailment.mend is not None:
            ailment.mend()
    assert (tmp_path / "precious.sock").exists()
    assert not (folder.path / "coordinator.json").exists()


def test_a_process_of_a_dead_worker_is_named_and_not_touched() -> None:
    child = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: "a worker that is gone"})
    try:
        told = leftovers.lost_processes()
        assert told.level == "note" and told.mend is None
        assert f"{child.pid} (sleep)" in told.told or "…" in told.told
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


# --- the machine ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10), "trouble"), ((3, 11), "fine"), ((3, 14), "fine"), ((3, 15), "note")]
)
def test_pythons(version: tuple[int, int], level: str) -> None:
    assert machine.python(version).level == level


def test_an_affected_sqlite_is_named_whether_it_is_used_or_not() -> None:
    old, new = ("sqlite3", "3.40.1", False), ("pysqlite3", "3.53.4", True)
    only_old = machine.sqlite([old])
    assert only_old.level == "trouble" and "sqlite3 3.40.1" in only_old.told and "pysqlite3" in (only_old.advice or "")
    both = machine.sqlite([old, new])
    assert both.level == "fine" and both.told.startswith("pysqlite3 3.53.4 in use; affected")
    assert machine.sqlite([new]).told == "pysqlite3 3.53.4 in use"


@pytest.mark.parametrize(
    ("look", "soft", "level"),
    [
        (machine.open_files, 100, "trouble"),
        (machine.open_files, 1000, "note"),
        (machine.open_files, 1024, "fine"),
        (machine.open_files, resource.RLIM_INFINITY, "fine"),
        (machine.processes, 30, "trouble"),
        (machine.processes, 4000, "fine"),
        (machine.processes, resource.RLIM_INFINITY, "fine"),
        (machine.file_size, 1000, "note"),
        (machine.file_size, resource.RLIM_INFINITY, "fine"),
    ],
)
def test_limits(look: Callable[[int], Ailment], soft: int, level: str) -> None:
    assert look(soft).level == level


def test_inotify(tmp_path: Path) -> None:
    (tmp_path / "max_user_instances").write_text("128\n")
    (tmp_path / "max_user_watches").write_text("8192\n")
    full, free = machine.inotify(tmp_path, 127), machine.inotify(tmp_path, 3)
    assert full is not None and full.level == "note" and "max_user_instances=512" in (full.advice or "")
    assert free is not None and free.level == "fine"
    assert machine.inotify(tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("kind", "level"),
    [("nfs4", "trouble"), ("cifs", "trouble"), ("9p", "trouble"), ("fuse.sshfs", "trouble"), ("tmpfs", "note"),
     ("overlay", "fine"), ("ext4", "fine"), ("", "fine")],
)  # fmt: skip
def test_file_systems(tmp_path: Path, kind: str, level: str) -> None:
    found = levels(premises.disk(tmp_path / "not" / "there" / "journal.sqlite", lambda folder: kind))
    assert found["file system"] == level


@pytest.mark.parametrize(("free", "level"), [(10 << 20, "trouble"), (500 << 20, "note"), (5 << 30, "fine")])
def test_disk_space(tmp_path: Path, free: int, level: str) -> None:
    assert levels(premises.disk(tmp_path / "journal.sqlite", free_bytes=free))["disk space"] == level


def test_a_journal_that_is_damaged_or_open_to_others(tmp_path: Path, poolboard: Poolboard) -> None:
    path = tmp_path / "journal.sqlite"
    assert levels(premises.journal(path)) == {"journal": "fine"}
    path.write_bytes(b"\0" * 8192)
    [told] = premises.journal(path)
    assert told.level == "trouble" and "poolboard journal check" in (told.advice or "")


def test_a_journal_of_an_older_version_is_told_with_what_brings_it_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    open_writer(path, create=True, synchronous="FULL").close()
    with closing(connect(path, readonly=False)) as connection:
        for statement in ("DROP TABLE cuts", "DROP TABLE receipts", "DROP TABLE messages", "PRAGMA user_version = 3"):
            connection.execute(statement)
    [_, older] = premises.journal(path)
    assert older.level == "note" and "schema version 3 is an older one" in older.told
    assert older.advice is not None and older.advice.startswith("poolboard journal vacuum")
    upkeep.vacuum(str(path), as_json=False)
    assert levels(premises.journal(path)) == {"journal": "fine"}


# --- the terminal -----------------------------------------------------------------------------------------------------

GOOD = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "en_US.UTF-8"}


@pytest.mark.parametrize(
    ("changed", "size", "about", "level"),
    [
        ({}, (80, 24), "terminal", "fine"),
        ({}, (79, 24), "terminal", "note"),
        ({}, (39, 12), "terminal", "trouble"),
        ({}, (80, 24), "colours", "fine"),
        ({"COLORTERM": ""}, (80, 24), "colours", "note"),
        ({"COLORTERM": "", "TERM": "vt100"}, (80, 24), "colours", "note"),
        ({"NO_COLOR": "1", "COLORTERM": ""}, (80, 24), "colours", "fine"),
        ({}, (80, 24), "characters", "fine"),
        ({"LC_ALL": "C"}, (80, 24), "characters", "note"),
        ({"LANG": ""}, (80, 24), "characters", "note"),
    ],
)
def test_terminals(changed: dict[str, str], size: tuple[int, int], about: str, level: str) -> None:
    assert levels(terminal({**GOOD, **changed}, size))[about] == level


def test_without_a_terminal_there_is_one_line_about_it() -> None:
    program = (
        "import sys; from poolboard.terminal_check import terminal;"
        "print(*(f'{a.about}: {a.level}' for a in terminal({'TERM': 'dumb'})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "terminal: fine\n"
