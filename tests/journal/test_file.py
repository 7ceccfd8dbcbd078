"""What a path must be to become or be a journal, and that everything else is refused untouched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from poolboard.journal.driver import connect
from poolboard.journal.errors import JournalUnusable
from poolboard.journal.file import APPLICATION_ID, SCHEMA_VERSION, open_reader, open_writer
from poolboard.journal.model import NewRun
from poolboard.journal.reader import Reader
from poolboard.journal.sqlite import SqliteJournal


def make(path: Path) -> None:
    open_writer(path, create=True, synchronous="FULL").close()


def contents(folder: Path) -> dict[str, str]:
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.is_file()}


def refusals(path: Path) -> Iterator[str]:
    """Open a path in both ways and give what each says; the folder's files stay as they are."""
    before = contents(path.parent)
    with pytest.raises(JournalUnusable) as written:
        open_writer(path, create=True, synchronous="FULL")
    with pytest.raises(JournalUnusable) as read:
        open_reader(path)
    assert contents(path.parent) == before
    yield from (str(written.value), str(read.value))


@pytest.fixture
def plain_umask() -> Iterator[None]:
    before = os.umask(0o277)
    yield
    os.umask(before)


def test_a_new_journal_is_marked_as_one_and_private(path: Path, plain_umask: None) -> None:
    connection = open_writer(path, create=True, synchronous="FULL")
    assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    connection.close()
    assert modes == {"journal.sqlite": 0o600, "journal.sqlite-wal": 0o600, "journal.sqlite-shm": 0o600}


def test_opening_again_finds_what_was_there(path: Path) -> None:
    make(path)
    before = contents(path.parent)
    make(path)
    assert contents(path.parent) == before


def test_four_that_make_one_journal_at_once_all_get_it(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from poolboard.journal.file import open_writer;"
        "sys.stdin.read(1); open_writer(Path(sys.argv[1]), create=True, synchronous='FULL').close()"
    )
    racers = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ends = [racer.communicate(b"g", timeout=60) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4, ends
    connection = open_reader(path)
    assert connection.execute("SELECT count(*) FROM stamp").fetchone()[0] == 1
    connection.close()


def test_a_missing_file_is_not_made_unless_asked(path: Path) -> None:
    with pytest.raises(JournalUnusable, match="no journal at"):
        open_writer(path, create=False, synchronous="FULL")
    with pytest.raises(JournalUnusable, match="no journal at"):
        open_reader(path)
    assert list(path.parent.iterdir()) == []


async def test_a_reader_of_a_missing_file_says_so(path: Path) -> None:
    with pytest.raises(JournalUnusable, match=f"no journal at {path}"):
        await Reader.open(path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusable, match=f"no folder {tmp_path / 'not' / 'there'}"):
        open_writer(tmp_path / "not" / "there" / "journal.sqlite", create=True, synchronous="FULL")
    assert list(tmp_path.iterdir()) == []


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(JournalUnusable, match="no folder"):
        open_writer(tmp_path / "file" / "journal.sqlite", create=True, synchronous="FULL")


def test_a_folder_is_not_a_journal(tmp_path: Path) -> None:
    assert all("is a folder" in said for said in refusals(tmp_path))


def test_a_device_is_not_a_journal() -> None:
    with pytest.raises(JournalUnusable, match="not an ordinary file"):
        open_writer(Path(os.devnull), create=True, synchronous="FULL", probe=lambda folder: "")


@pytest.mark.parametrize("content", [b"just a text, and long enough to look into\n" * 40, b"\0" * 8192])
def test_another_kind_of_file_is_refused_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert all("not a journal" in said for said in refusals(path))


def test_another_programs_database_is_refused_untouched(path: Path) -> None:
    path.touch()
    connection = connect(path, readonly=False)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    assert all("another program" in said for said in refusals(path))


def test_a_newer_journal_is_refused_with_both_versions(path: Path) -> None:
    make(path)
    connection = connect(path, readonly=False)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert all("version 7" in said and f"up to {SCHEMA_VERSION}" in said for said in refusals(path))


def test_a_damaged_header_is_refused_untouched(path: Path) -> None:
    make(path)
    data = bytearray(path.read_bytes())
    data[:16] = b"SQLite formaT 3\0"
    path.write_bytes(data)
    assert all("damaged" in said for said in refusals(path))


def test_a_journal_cut_in_half_is_refused_untouched(path: Path) -> None:
    make(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert all("damaged" in said for said in refusals(path))


async def test_a_write_ahead_log_cut_in_half_opens_at_its_last_whole_commit(path: Path, tmp_path: Path) -> None:
    """Catalogue R13, for the only append of ours that can be torn."""
    journal = await SqliteJournal.open(path)
    for number in range(20):
        await journal.create_run(NewRun(f"run-{number}", "n", "/", "{}"))
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(path.read_bytes())
    log = Path(f"{path}-wal").read_bytes()
    Path(f"{copy}-wal").write_bytes(log[: len(log) // 2])
    await journal.close()
    again = await SqliteJournal.open(copy)
    found = [row.run_id for row in await again.list_runs()]
    await again.close()
    assert 0 < len(found) < 20
    assert found == [f"run-{number}" for number in reversed(range(len(found)))]


def test_a_journal_is_not_made_through_a_link(tmp_path: Path, path: Path) -> None:
    target = tmp_path / "elsewhere.sqlite"
    path.symlink_to(target)
    with pytest.raises(JournalUnusable, match="link to nothing"):
        open_writer(path, create=True, synchronous="FULL")
    assert not target.exists()


def test_a_link_to_a_journal_is_that_journal(tmp_path: Path, path: Path) -> None:
    make(tmp_path / "real.sqlite")
    path.symlink_to(tmp_path / "real.sqlite")
    make(path)
    open_reader(path).close()


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb", "9p", "fuse.sshfs"])
def test_a_network_file_system_is_refused(path: Path, kind: str) -> None:
    with pytest.raises(JournalUnusable, match=rf"network file system \({kind}\)"):
        open_writer(path, create=True, synchronous="FULL", probe=lambda folder: kind)
    assert not path.exists()


NOBODY = 65534
AS_NOBODY = """
import os, sys
from pathlib import Path
from poolboard.journal.errors import JournalUnusable
from poolboard.journal.file import open_writer
from poolboard.journal.driver import connect
if os.getuid() == 0:
    os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
try:
    open_writer(Path(sys.argv[1]), create=True, synchronous="FULL", probe=lambda folder: "")
except JournalUnusable as error:
    print(error)
"""


def opened_as_nobody(path: Path) -> str:
    program = AS_NOBODY.format(nobody=NOBODY)
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike pytest's own."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


def test_a_folder_that_cannot_be_written_is_one_clear_line(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    said = opened_as_nobody(open_folder / "journal.sqlite")
    assert said == f"cannot use a journal at {open_folder / 'journal.sqlite'}: Permission denied\n"


def test_a_journal_that_cannot_be_written_is_refused(open_folder: Path) -> None:
    path = open_folder / "journal.sqlite"
    make(path)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    before = contents(open_folder)
    assert "cannot be written" in opened_as_nobody(path)
    assert contents(open_folder) == before


def test_a_folder_that_cannot_be_entered_is_one_clear_line(open_folder: Path) -> None:
    open_folder.chmod(0o600)
    path = open_folder / "journal.sqlite"
    assert opened_as_nobody(path) == f"cannot use a journal at {path}: Permission denied\n"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_cannot_be_is_one_clear_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(JournalUnusable, match="cannot use a journal at"):
        open_writer(tmp_path / name, create=True, synchronous="FULL")
