"""``poolboard journal …`` as a script sees it: exit codes, one line per finding, nothing touched that should not be."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes
from poolboard.ages import age_ms
from poolboard.engine.errors import UserMistake
from poolboard.journal import queue
from poolboard.journal.model import NewRun, NewWork
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]


async def _ended_run(path: Path, run_id: str, folder: Path) -> None:
    journal = await SqliteJournal.open(path)
    await journal.create_run(NewRun(run_id, "survey \x1b[2J", "/", json.dumps({"folder": str(folder)})))
    lease = await journal.acquire_lease(run_id, "holder")
    root = NewWork("root", "survey", "root", '{"input": "' + "x" * 300 + '"}')
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [root]))
    await journal.transact(lambda tx: queue.finish_run(tx, lease, "completed", "1", None))
    await journal.transact(lambda tx: tx.execute("UPDATE runs SET ended_at = ended_at - 40 * 86400000"))
    await journal.release_lease(lease)
    await journal.close()


@pytest.fixture
def state(own_folders: Path) -> Path:
    """The state folder, with a journal of one run that ended 40 days ago and the run's folder."""
    state = own_folders / "state_home" / "poolboard"
    folder = state / "runs" / "run-1"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "0.log").write_text("a line")
    asyncio.run(_ended_run(state / "journal.sqlite", "run-1", folder))
    return state


def digests(state: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in state.iterdir() if path.is_file()}


# --- check ------------------------------------------------------------------------------------------------------------


def test_after_a_real_run_everything_recorded_is_as_it_was_recorded(poolboard: Poolboard, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("def f(:\n")
    assert poolboard("demo", "--folder", str(tmp_path), "--workers", "1", "--headless").code == 0
    answer = poolboard("journal", "check", "--json")
    told = json.loads(answer.out)
    assert (answer.code, told["ok"], told["findings"], told["runs"]) == (0, True, [], 1)
    assert told["events"] > 6
    assert "is whole: 1 run, " in poolboard("journal", "check").out


def test_damage_is_a_line_each_and_exit_code_5_and_nothing_is_touched(poolboard: Poolboard, state: Path) -> None:
    path = state / "journal.sqlite"
    path.write_bytes(path.read_bytes().replace(b"x" * 200, b"y" * 200))
    before = digests(state)
    answer = poolboard("journal", "check")
    assert (answer.code, answer.err) == (exit_codes.STORAGE, "")
    first, *rest = answer.out.splitlines()
    assert first == "content: run run-1: ChildEnqueued (event 1) is not what was recorded"
    assert rest[0].startswith(f"journal damaged: {path}")
    asked = poolboard("journal", "check", "--json")
    assert asked.code == exit_codes.STORAGE
    assert json.loads(asked.out)["findings"][0]["kind"] == "content"
    assert digests(state) == before


@pytest.mark.parametrize("content", [b"\0" * 8192, b"some text\n" * 900])
def test_a_file_that_is_no_journal_any_more_is_damaged(poolboard: Poolboard, state: Path, content: bytes) -> None:
    (state / "journal.sqlite").write_bytes(content)
    answer = poolboard("journal", "check")
    assert answer.code == exit_codes.STORAGE
    assert answer.out.startswith("file: it is not a journal, or its beginning is damaged")


def test_what_is_not_there_is_one_line_that_names_who_chose_it(poolboard: Poolboard, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing.sqlite")
    for words, env, source in (
        (("--journal", missing), {}, "chosen by --journal"),
        ((), {"POOLBOARD_JOURNAL": missing}, "chosen by POOLBOARD_JOURNAL"),
        ((), {"POOLBOARD_JOURNAL": ""}, "the default"),
    ):
        answer = poolboard("journal", "check", *words, env=env)
        assert (answer.code, answer.out) == (exit_codes.MISTAKE, "")
        assert answer.err.startswith("poolboard: no journal at ") and answer.err.endswith(f"({source})\n")
        assert answer.err.count("\n") == 1


@pytest.mark.parametrize("word", ["memory", "mine.py:make", "postgres://me:S3CR-77-VALUE@host/db"])
def test_a_journal_that_is_no_file_is_refused(poolboard: Poolboard, word: str) -> None:
    answer = poolboard("journal", "check", "--journal", word)
    assert answer.code == exit_codes.MISTAKE
    assert answer.err.count("\n") == 1 and "S3CR" not in answer.err


def test_without_a_word_it_asks_for_one(poolboard: Poolboard) -> None:
    answer = poolboard("journal")
    assert (answer.code, answer.err.count("\n")) == (exit_codes.MISTAKE, 1)


# --- backup, vacuum ---------------------------------------------------------------------------------------------------


def test_a_backup_is_a_private_file_and_a_second_one_needs_another_name(
    poolboard: Poolboard, state: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.sqlite"
    answer = poolboard("journal", "backup", "copy.sqlite", "--json", cwd=tmp_path)
    assert answer.code == 0
    assert json.loads(answer.out) == {"backup": str(copy), "size_bytes": copy.stat().st_size, "runs": 1}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    again = poolboard("journal", "backup", str(copy))
    assert again.code == exit_codes.MISTAKE and "never overwrites" in again.err
    assert poolboard("journal", "check", "--journal", str(copy)).code == 0


def test_vacuum_tells_what_it_gave_back(poolboard: Poolboard, state: Path) -> None:
    told = json.loads(poolboard("journal", "vacuum", "--json").out)
    assert told["after_bytes"] == (state / "journal.sqlite").stat().st_size


# --- prune ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_prune_tells_first_and_then_forgets_the_run_with_its_folder(poolboard: Poolboard, state: Path) -> None:
    tried = poolboard("journal", "prune", "--keep", "0", "--dry-run")
    assert tried.code == 0
    assert tried.out.startswith("run-1  survey ^[[2J  completed  ended ")
    assert "1 run would be forgotten" in tried.out
    assert (state / "runs" / "run-1" / "logs").is_dir()
    done = poolboard("journal", "prune", "--keep", "0", "--json")
    told = json.loads(done.out)
    assert ([run["run_id"] for run in told["forgotten"]], told["folders_left"]) == (["run-1"], {})
    assert list((state / "runs").iterdir()) == []
    assert json.loads(poolboard("list", "--json").out) == []


@pytest.mark.slow
def test_prune_as_it_comes_keeps_what_is_young_or_among_the_newest(poolboard: Poolboard, state: Path) -> None:
    assert "0 runs forgotten" in poolboard("journal", "prune").out
    assert "0 runs forgotten" in poolboard("journal", "prune", "--keep", "0", "--older-than", "41d").out


@pytest.mark.slow
@pytest.mark.parametrize("run_id", ["../../precious", "innocent"])
def test_prune_never_takes_a_folder_away_that_only_the_journal_names(
    poolboard: Poolboard, state: Path, own_folders: Path, run_id: str
) -> None:
    precious = own_folders / "state_home" / "precious"
    precious.mkdir()
    asyncio.run(_ended_run(state / "journal.sqlite", run_id, precious))
    answer = poolboard("journal", "prune", "--keep", "0")
    assert answer.code == 0
    assert "take it away by hand" in answer.err
    assert precious.is_dir()


@pytest.mark.slow
def test_prune_follows_no_link(poolboard: Poolboard, state: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    (state / "runs" / "run-2").symlink_to(precious)
    asyncio.run(_ended_run(state / "journal.sqlite", "run-2", state / "runs" / "run-2"))
    assert poolboard("journal", "prune", "--keep", "0").code == 0
    assert (precious / "file").exists()


@pytest.mark.parametrize("word", ["", "30", "d", "-3d", "1e3d", "30 days", "0x10d", "9999999d", "200000w", "3٣d"])
def test_an_age_that_is_none_is_one_line(word: str) -> None:
    with pytest.raises(UserMistake, match=r"--older-than .*30d"):
        age_ms(word, "--older-than")


def test_ages_are_what_they_say() -> None:
    assert [age_ms(word, "") for word in ("0s", "90m", " 12 h ", "30d", "8w")] == [
        0, 5_400_000, 43_200_000, 2_592_000_000, 4_838_400_000,
    ]  # fmt: skip


# --- export and import ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_travels_through_a_pipe(poolboard: Poolboard, state: Path, tmp_path: Path) -> None:
    exported = poolboard("journal", "export", "run")
    assert exported.code == 0
    assert all(isinstance(json.loads(line), dict) for line in exported.out.splitlines())
    other = str(tmp_path / "other.sqlite")
    imported = poolboard("journal", "import", "-", "--journal", other, stdin=exported.out)
    assert (imported.code, imported.out) == (0, "run run-1 imported: 0 children, 2 events\n")
    assert poolboard("journal", "export", "run-1", "--journal", other).out == exported.out
    again = poolboard("journal", "import", "-", "--journal", other, stdin=exported.out)
    assert again.code == exit_codes.MISTAKE and "recorded already" in again.err


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_imported(poolboard: Poolboard, own_folders: Path, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(COUNTING)
    for name in ("log", "log.gate"):
        os.mkfifo(tmp_path / name)
    started = poolboard("run", str(tmp_path / "work.py"), "--input", f"log={tmp_path / 'log'}", "--detach", "--json")
    run_id = json.loads(started.out)["run_id"]
    with (tmp_path / "log").open() as log:  # and now it waits for somebody to open the gate
        assert log.readline() == "second\n"
    assert poolboard("stop", run_id, "--now").code == 0
    assert poolboard("watch", run_id).code == exit_codes.RESUMABLE
    exported = poolboard("journal", "export", run_id).out
    elsewhere = {"XDG_STATE_HOME": str(own_folders / "elsewhere")}
    assert poolboard("journal", "import", "-", stdin=exported, env=elsewhere).code == 0
    for name in ("log", "log.gate"):
        (tmp_path / name).unlink()
        (tmp_path / name).touch()
    resumed = poolboard("resume", run_id, "--json", env=elsewhere)
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out.splitlines()[-1])["result"] == [1, 2]
    assert (tmp_path / "firsts").read_text() == "once\n"
    assert poolboard("journal", "check", env=elsewhere).code == 0


COUNTING = """
from pathlib import Path

from poolboard import Context, stage, workflow

@stage
def first(log: str) -> int:
    with open(Path(log).parent / "firsts", "a") as file:
        file.write("once\\n")
    return 1

@stage
def second(log: str) -> int:
    with open(log, "w") as file:
        file.write("second\\n")
    open(log + ".gate").read()
    return 2

@workflow
async def both(ctx: Context, log: str) -> list[int]:
    return [await ctx.stage(first, log), await ctx.stage(second, log)]
"""


@pytest.mark.slow
def test_a_run_whose_record_was_made_up_is_not_imported(poolboard: Poolboard, state: Path, tmp_path: Path) -> None:
    asyncio.run(_ended_run(tmp_path / "evil.sqlite", "../../evil", tmp_path))
    exported = poolboard("journal", "export", "../../evil", "--journal", str(tmp_path / "evil.sqlite"))
    answer = poolboard("journal", "import", "-", stdin=exported.out)
    assert answer.code == exit_codes.MISTAKE
    assert "'../../evil' is no id of a run" in answer.err and answer.err.count("\n") == 1
    assert [run["run_id"] for run in json.loads(poolboard("list", "--json").out)] == ["run-1"]


@pytest.mark.slow
def test_an_import_of_anything_else_is_one_line_and_makes_nothing(poolboard: Poolboard, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"poolboard_export": 1}\n')
    for file, said in ((str(bad), "line 1: run: Field required"), (str(tmp_path / "no"), "No such file")):
        answer = poolboard("journal", "import", file, "--journal", str(tmp_path / "new.sqlite"))
        assert (answer.code, answer.out) == (exit_codes.MISTAKE, "")
        assert said in answer.err and answer.err.count("\n") == 1
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.slow
def test_an_unknown_run_is_not_exported(poolboard: Poolboard, state: Path) -> None:
    answer = poolboard("journal", "export", "nope")
    assert (answer.code, answer.out) == (exit_codes.MISTAKE, "")
    assert "'nope' not found" in answer.err


def test_a_pipe_that_closes_early_is_no_fault(state: Path) -> None:
    command = f"{sys.executable} -m poolboard journal export run-1 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, timeout=60)
    assert done.returncode in (0, exit_codes.BROKEN_PIPE)
    assert done.stderr == ""
