"""Which journal is taken, who is named for it, and what a foreign one may say when it fails."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from poolboard.journal import protocol, queue
from poolboard.journal.errors import JournalUnusable, RunNotFound, StaleLease, StorageUnavailable
from poolboard.journal.memory import MemoryJournal
from poolboard.journal.model import Event, NewRun
from poolboard.journal.select import Selection, choose, open_journal
from poolboard.journal.sqlite import SqliteJournal

DEFAULT = Path("/state/journal.sqlite")
SECRET = "S3CR-77-VALUE"


@pytest.mark.parametrize(
    ("flag", "variable", "chosen"),
    [
        ("flag.sqlite", "variable.sqlite", ("flag.sqlite", "--journal")),
        (None, "variable.sqlite", ("variable.sqlite", "POOLBOARD_JOURNAL")),
        ("", "variable.sqlite", ("variable.sqlite", "POOLBOARD_JOURNAL")),
        (None, "", (str(DEFAULT), "the default")),
        (None, None, (str(DEFAULT), "the default")),
    ],
)
def test_the_flag_comes_before_the_environment_and_that_before_the_default(
    flag: str | None, variable: str | None, chosen: tuple[str, str]
) -> None:
    environ = {} if variable is None else {"POOLBOARD_JOURNAL": variable}
    assert choose(flag, environ, DEFAULT) == Selection("sqlite", *chosen)


@pytest.mark.parametrize(
    ("word", "kind", "where"),
    [
        ("a/journal.sqlite", "sqlite", "a/journal.sqlite"),
        ("sqlite:memory", "sqlite", "memory"),
        ("./memory", "sqlite", "./memory"),
        ("odd:name here", "sqlite", "odd:name here"),
        ("a/b:c", "sqlite", "a/b:c"),
        ("memory", "memory", ""),
        ("memory:shared", "memory", "shared"),
        ("mine.journals:factory", "custom", "mine.journals:factory"),
        ("some where/mine.py:make", "custom", "some where/mine.py:make"),
    ],
)
def test_a_word_means_one_kind_of_journal(word: str, kind: str, where: str) -> None:
    chosen = choose(word, {}, DEFAULT)
    assert (chosen.kind, chosen.where) == (kind, where)


def test_an_address_of_a_server_is_refused_without_its_password() -> None:
    with pytest.raises(JournalUnusable) as refused:
        choose(None, {"POOLBOARD_JOURNAL": f"postgres://me:{SECRET}@host/db"}, DEFAULT)
    assert "postgres://" in str(refused.value) and "(chosen by POOLBOARD_JOURNAL)" in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("word", ["memory", "memory:x", "mine.py:make"])
def test_only_a_file_hosts_a_pool_and_the_others_are_named(word: str) -> None:
    with pytest.raises(JournalUnusable, match=r"hosts no pool.*chosen by --journal") as refused:
        choose(word, {}, DEFAULT).pool_path()
    assert word.removeprefix("memory:") in str(refused.value)


def test_a_path_is_made_absolute_for_the_pool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert choose("j.sqlite", {}, DEFAULT).pool_path() == tmp_path / "j.sqlite"
    assert choose("~/j.sqlite", {}, DEFAULT).pool_path() == Path("/home/me/j.sqlite")


async def test_an_error_on_opening_names_who_chose_the_journal(tmp_path: Path) -> None:
    for chosen in (
        choose(None, {"POOLBOARD_JOURNAL": str(tmp_path)}, DEFAULT),
        choose(None, {"POOLBOARD_JOURNAL": str(tmp_path / "missing.py") + ":make"}, DEFAULT),
        choose(None, {"POOLBOARD_JOURNAL": "no_such_module_at_all:make"}, DEFAULT),
    ):
        with pytest.raises(JournalUnusable, match=r"\(chosen by POOLBOARD_JOURNAL\)$"):
            await open_journal(chosen)


async def test_a_journal_in_memory_is_one_by_its_name_and_gone_when_closed() -> None:
    first = await open_journal(Selection("memory", "shared", "the test"))
    second = await open_journal(Selection("memory", "shared", "the test"))
    other = await open_journal(Selection("memory", "", "the test"))
    await first.create_run(NewRun("run-1", "n", "/", "{}"))
    assert (await second.get_run("run-1")).run_id == "run-1"
    with pytest.raises(RunNotFound):
        await other.get_run("run-1")
    assert first.descriptor == "memory at shared"
    for journal in (first, second, other):
        await journal.close()
    again = await open_journal(Selection("memory", "shared", "the test"))
    assert await again.list_runs() == []
    await again.close()


async def test_the_queue_means_the_same_in_memory() -> None:
    from tests.journal.conftest import TTL_MS, StartedRun

    journal = await MemoryJournal.open_named()
    await journal.create_run(NewRun("run-1", "survey", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [StartedRun.child("root")]))
    claimed = await journal.transact(lambda tx: queue.claim(tx, lease, 0, "w0", TTL_MS))
    assert claimed is not None
    await journal.transact(lambda tx: queue.commit(tx, lease, claimed.token, StartedRun.checkpoint()))
    assert [stage.done for stage in await journal.reader.stages(1)] == [1]
    await journal.close()


# --- custom adapters --------------------------------------------------------------------------------------------------


def adapter(folder: Path, body: str, name: str = "mine.py") -> Selection:
    (folder / name).write_text(f"from pathlib import Path\nHERE = Path(__file__).parent\n{body}")
    return Selection("custom", f"{folder / name}:make", "the test")


BUILT_ON_OURS = """
from poolboard.journal.sqlite import SqliteJournal

async def make():
    return await SqliteJournal.open(HERE / "journal.sqlite")
"""

FAILING = """
class DriverError(Exception):
    sqlstate = "08006"

class Journal:
    descriptor = "failing at nowhere"
    def __getattr__(self, name):
        if name not in ("append", "close", "create_run", "get_run", "lease_state", "list_runs", "read_key",
                        "acquire_lease", "release_lease", "renew_lease", "append_many"):
            raise AttributeError(name)
        async def fail(*values, **named):
            if name == "append_many":
                return [DriverError("password S3CR-77-VALUE")]
            raise DriverError("password S3CR-77-VALUE")
        return fail
    async def read(self, run_id, from_seq=1):
        raise DriverError("password S3CR-77-VALUE")
        yield

def make():
    return Journal()
"""


async def test_an_adapter_built_on_ours_raises_the_very_errors_that_the_engine_knows(tmp_path: Path) -> None:
    """Catalogue J12."""
    journal = await open_journal(adapter(tmp_path, BUILT_ON_OURS))
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    await journal.acquire_lease("run-1", "heir", if_epoch=1)
    with pytest.raises(StaleLease) as refused:
        await journal.append(lease, Event("Note", "{}"))
    assert type(refused.value) is StaleLease
    for part in (protocol.BatchAppends, protocol.ChangeTracking, protocol.RunDeletion):
        assert isinstance(journal, part)
    await journal.close()


async def test_a_foreign_failure_is_told_by_class_and_code_and_never_by_its_message(tmp_path: Path) -> None:
    """Catalogue R12: Catalogue J3, B65: a custom adapter's message never appears."""
    journal = await open_journal(adapter(tmp_path, FAILING))
    assert not isinstance(journal, protocol.ChangeTracking)

    async def read() -> None:
        async for _ in journal.read("run-1"):
            pass

    for attempt in (journal.get_run("run-1"), journal.list_runs(), journal.close(), read()):
        with pytest.raises(StorageUnavailable) as failed:
            await attempt
        assert str(failed.value).endswith("DriverError (code 08006)")
        assert "mine.py:make" in str(failed.value)
        assert SECRET not in "".join(traceback.format_exception(failed.value))
        assert failed.value.__context__ is None and failed.value.__cause__ is None
    assert isinstance(journal, protocol.BatchAppends)
    [outcome] = await journal.append_many(None, [])  # type: ignore[arg-type]
    assert isinstance(outcome, StorageUnavailable) and SECRET not in str(outcome)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"raise RuntimeError('{SECRET}')", "cannot be imported: RuntimeError"),
        ("def make(:", "cannot be imported: SyntaxError in line 3"),
        ("x = 1", "has no factory 'make'"),
        ("make = 3", "has no factory 'make'"),
        ("def make(): return 3", "gave a int, which is no journal: no acquire_lease, append, close"),
        (f"def make(): raise OSError(111, '{SECRET}')", "ConnectionRefusedError (code 111)"),
        (f"async def make(): raise ValueError('{SECRET}')", "ValueError"),
        (f"class E(Exception): code = 'password {SECRET}'\ndef make(): raise E()", "mine.py:make: E (chosen"),
    ],
)
async def test_an_adapter_that_gives_no_journal_is_one_clear_line(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises((JournalUnusable, StorageUnavailable)) as refused:
        await open_journal(adapter(tmp_path, body))
    text = str(refused.value)
    assert said in text and text.endswith("(chosen by the test)")
    assert "\n" not in text and SECRET not in text
    assert SECRET not in "".join(traceback.format_exception(refused.value))


# --- adapters that came with a package --------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return ``install(package, entry_point, body)``, which makes a package as pip leaves it on the import path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def make(package: str, offered: str, body: str) -> None:
        (site / f"{package}.py").write_text(body)
        info = site / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[poolboard.journals]\n{offered}\n")
        importlib.invalidate_caches()

    return make


TAKES_AN_ADDRESS = """
from pathlib import Path
from poolboard.journal.sqlite import SqliteJournal

async def make(address):
    return await SqliteJournal.open(Path(address.partition("://")[2].partition("?")[0]))
"""


async def test_an_installed_adapter_opens_the_address_that_names_it(
    install: Callable[..., None], tmp_path: Path
) -> None:
    install("their_diary", "diary = their_diary:make", TAKES_AN_ADDRESS)
    chosen = choose(None, {"POOLBOARD_JOURNAL": f"diary://{tmp_path}/diary.sqlite?key={SECRET}"}, DEFAULT)
    assert SECRET not in repr(chosen)
    journal = await open_journal(chosen)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    await journal.close()
    assert (tmp_path / "diary.sqlite").exists()
    with pytest.raises(JournalUnusable, match=r"adapter diary:// hosts no pool.*POOLBOARD_JOURNAL") as refused:
        chosen.pool_path()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"raise RuntimeError('{SECRET}')", "adapter broken:// cannot be imported: RuntimeError"),
        ("x = 1", "adapter broken:// cannot be imported: AttributeError"),
        ("make = 3", "adapter broken:// has no factory: broken_{}:make cannot be called"),
        ("def make(address): return 3", "broken:// gave a int, which is no journal"),
        ("def make(address): raise OSError(111, address)", "broken://: ConnectionRefusedError (code 111)"),
    ],
)
async def test_an_installed_adapter_that_fails_shows_class_and_code_and_never_the_address(
    install: Callable[..., None], body: str, said: str, request: pytest.FixtureRequest
) -> None:
    number = abs(hash(request.node.name))  # a module stays imported
    install(f"broken_{number}", f"broken = broken_{number}:make", body)
    with pytest.raises((JournalUnusable, StorageUnavailable)) as refused:
        await open_journal(choose(f"broken://me:{SECRET}@host", {}, DEFAULT))
    assert said.format(number) in str(refused.value) and "(chosen by --journal)" in str(refused.value)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


async def test_an_address_that_two_packages_offer_to_open_is_nobodys(install: Callable[..., None]) -> None:
    for package in ("red_store", "blue_store"):
        install(package, f"store = {package}:make", TAKES_AN_ADDRESS)
    with pytest.raises(JournalUnusable, match=r"store:// is offered by blue_store, red_store: exactly one"):
        await open_journal(choose("store://here", {}, DEFAULT))


async def test_two_adapters_of_one_file_name_are_two(tmp_path: Path) -> None:
    journals = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        journals.append(await open_journal(adapter(tmp_path / name, BUILT_ON_OURS)))
    assert [Path(journal.descriptor.partition(" at ")[2]).parent.name for journal in journals] == ["one", "two"]
    for journal in journals:
        await journal.close()


def test_the_sqlite_journal_is_a_journal_for_the_type_checker_too() -> None:
    _: type[protocol.Journal] = SqliteJournal
    __: type[protocol.Journal] = MemoryJournal
