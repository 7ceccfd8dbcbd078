"""Which SQLite is taken, how a connection is set up, and what its errors become."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolboard.journal import driver
from poolboard.journal.driver import connect, sqlite, translate
from poolboard.journal.errors import JournalUnusable, StorageUnavailable

#: Every primary result code that is an error, by name, and whether the user must act before anything can go on.
CODES = {
    "ERROR": (1, False), "INTERNAL": (2, False), "PERM": (3, False), "ABORT": (4, False), "BUSY": (5, False),
    "LOCKED": (6, False), "NOMEM": (7, False), "READONLY": (8, True), "INTERRUPT": (9, False), "IOERR": (10, False),
    "CORRUPT": (11, True), "NOTFOUND": (12, False), "FULL": (13, False), "CANTOPEN": (14, False),
    "PROTOCOL": (15, False), "EMPTY": (16, False), "SCHEMA": (17, False), "TOOBIG": (18, False),
    "CONSTRAINT": (19, False), "MISMATCH": (20, False), "MISUSE": (21, False), "NOLFS": (22, False),
    "AUTH": (23, False), "FORMAT": (24, True), "RANGE": (25, False), "NOTADB": (26, True),
}  # fmt: skip


def error_with(code: int | None, text: str) -> Exception:
    error = sqlite.OperationalError(text)
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ((3, 51, 3), True), ((3, 51, 2), False), ((3, 51, 0), False), ((3, 50, 7), True), ((3, 50, 6), False),
        ((3, 44, 6), True), ((3, 44, 5), False), ((3, 45, 1), False), ((3, 40, 1), False), ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)  # fmt: skip
def test_only_versions_without_the_wal_bug_are_fixed(version: tuple[int, int, int], fixed: bool) -> None:
    assert driver.is_fixed(version) is fixed


def test_a_module_that_is_missing_or_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old_one.py").write_text("sqlite_version_info = (3, 40, 1)")
    (tmp_path / "new_one.py").write_text("sqlite_version_info = (3, 51, 3)")
    monkeypatch.syspath_prepend(str(tmp_path))
    chosen = driver.choose(["no_such_one", "old_one", "new_one"])
    assert chosen is not None and chosen.__name__ == "new_one"
    assert driver.choose(["old_one", "no_such_one"]) is None


def test_without_a_fixed_sqlite_nothing_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "chosen", None)
    with pytest.raises(JournalUnusable, match=r"SQLite 3\.\d+\.\d+ can corrupt .* install pysqlite3"):
        connect(path, readonly=False)


def test_the_library_in_use_is_fixed() -> None:
    assert driver.is_fixed(sqlite.sqlite_version_info)


@pytest.mark.parametrize(("code", "user_must_act"), CODES.values(), ids=CODES)
@pytest.mark.parametrize("extended", [0, 3])
def test_every_result_code_has_one_meaning(code: int, user_must_act: bool, extended: int) -> None:
    whole = code + (extended << 8)
    meant = translate(error_with(whole, "the reason"), "/a/journal")
    assert isinstance(meant, JournalUnusable if user_must_act else StorageUnavailable)
    assert f"the reason (SQLite code {whole})" in str(meant)
    assert "/a/journal" in str(meant)


def test_a_locked_store_is_named_as_in_the_manual() -> None:
    text = str(translate(error_with(5, "database is locked"), "/a/journal"))
    assert text == "Storage unavailable: sqlite at /a/journal: database is locked (SQLite code 5)"


def test_an_error_without_a_code_is_named_by_its_class() -> None:
    assert "(OperationalError)" in str(translate(error_with(None, "odd"), "/a/journal"))


@pytest.mark.parametrize("name", ["with space", "a?mode=memory", "100%41", "#1", "ünïcode", "semi;colon&x=1"])
def test_a_path_of_any_name_is_opened_as_it_is(tmp_path: Path, name: str) -> None:
    odd = tmp_path / name
    odd.touch()
    connect(odd, readonly=False).close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [name]
    assert odd.stat().st_size > 0


def test_a_writer_is_durable_and_leaves_checkpoints_to_itself(path: Path) -> None:
    path.touch()
    connection = connect(path, readonly=False)
    asked = ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint")
    found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked}
    connection.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "wal_autocheckpoint": 0}


def test_a_reader_cannot_write(path: Path) -> None:
    path.touch()
    connect(path, readonly=False).close()
    connection = connect(path, readonly=True)
    with pytest.raises(sqlite.OperationalError, match="readonly"):
        connection.execute("CREATE TABLE t (x)")
    assert connection.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 0
    connection.close()


def test_nothing_else_imports_a_database_module() -> None:
    root = Path(driver.__file__).parent.parent
    folders = [root / "journal", root / "engine", root / "tui", root]
    sources = {file.resolve() for folder in folders for file in folder.glob("*.py")}
    importing = re.compile(r"^\s*(import|from)\s+(sqlite3|pysqlite3|apsw)\b", re.MULTILINE)
    found = [file.name for file in sources if importing.search(file.read_text("utf-8"))]
    assert len(sources) > 20
    assert found == ["driver.py"]
