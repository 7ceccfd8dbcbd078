"""The main job: what it counts, and that the pool finds the same as one plain loop."""

from __future__ import annotations

import ast
import gc
import json
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard import demo, survey_report
from poolboard.engine.errors import UserMistake

if TYPE_CHECKING:
    from tests.conftest import Answer

STDLIB = Path(sysconfig.get_path("stdlib"))

BRANCHY = """
def plain():
    pass

def branchy(a, b):
    if a and b or not a:          # if 1, and 1, or 1
        return 1
    elif b:                       # 1
        return 2
    for x in a:                   # 1
        while x:                  # 1
            x -= 1
    try:
        y = 1 if a else 2         # 1
    except ValueError:            # 1
        pass
    except TypeError:             # 1
        pass
    z = [i for i in a if i if b]  # for 1, two ifs 2
    match a:
        case 1: pass              # 1
        case [x]: pass            # 1
        case _: pass
    return lambda: a or b         # 1

class Thing:
    async def method(self):
        async for x in self:      # 1
            async with x:
                assert x
        def inner():
            if self: pass         # 1, inner's own
        return inner
"""


def write(folder: Path, **files: str | bytes) -> Path:
    """Fill a folder with ``name.py`` files."""
    for name, source in files.items():
        (folder / f"{name}.py").write_bytes(source if isinstance(source, bytes) else source.encode())
    return folder


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder like real ones: packages, files that do not parse, files that are not Python, and one named oddly."""
    folder = tmp_path / "mixed"
    for name in ("json", "email"):
        shutil.copytree(STDLIB / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    write(folder, empty="", latin=b"# coding: latin-1\ns = '\xe4'\n", bad_bytes=b"s = '\xe4'\n", branchy=BRANCHY)
    write(folder, bad_coding=b"# coding: uft-8\n", print_two="print 'two'\n", indent="def f():\n    x\n  y\n")
    write(folder, nul=b"x = 1\x00\n", deep="(" * 5000 + ")" * 5000, escape="x = '\\d'\n", open_string="x = '''\n")
    (folder / "notes.txt").write_text("not Python\n")
    (folder / "unwise \x1b[31mname.py").write_text("x = (\n")
    return folder


def test_a_file_is_measured_by_its_bytes(tmp_path: Path) -> None:
    write(tmp_path, abc="abc", empty="", two_lines="a = 1\nb = 2", closed="a = 1\nb = 2\n")
    # The digest of "abc" is the example of FIPS 180-2.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert demo.read(str(tmp_path / "abc.py")) == demo.Reading(3, 1, digest)
    assert [demo.read(str(tmp_path / f"{name}.py")).lines for name in ("empty", "two_lines", "closed")] == [0, 2, 2]


def test_branches_are_counted_as_documented(tmp_path: Path) -> None:
    write(tmp_path, branchy=BRANCHY)
    structure = demo.parse(str(tmp_path / "branchy.py"))
    assert {function.name: function.complexity for function in structure.most_complex} == {
        "plain": 1,
        "branchy": 16,
        "Thing.method": 2,
        "Thing.method.inner": 2,
    }
    assert (structure.functions, structure.classes, structure.complexity) == (4, 1, 21)
    assert structure.longest is not None
    assert (structure.longest.name, structure.longest.line, structure.longest.lines) == ("branchy", 5, 20)


def test_tokens_are_counted_by_type(tmp_path: Path) -> None:
    write(tmp_path, short="x = 1  # one\n")
    assert demo.tokens(str(tmp_path / "short.py")) == {
        "COMMENT": 1,
        "ENCODING": 1,
        "ENDMARKER": 1,
        "NAME": 1,
        "NEWLINE": 1,
        "NUMBER": 1,
        "OP": 1,
    }


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        (b"def f(:\n", SyntaxError, "(line 1)"),
        (b"# coding: uft-8\n", SyntaxError, "unknown encoding: uft-8"),
        (b"s = '\xe4'\n", SyntaxError, "'utf-8' codec can't decode byte 0xe4"),
        (b"x = 1\x00\n", (SyntaxError, ValueError), "null bytes"),
        (b"if x:\n    y\n  z\n", IndentationError, "(line 3)"),
        (b"-" * 200_000 + b"x\n", RecursionError, "nested too deeply for Python's parser"),
    ],
)
def test_a_file_that_is_not_python_fails_with_words_that_are_the_same_everywhere(
    tmp_path: Path, source: bytes, kind: type[Exception], said: str
) -> None:
    write(tmp_path, bad=source)
    with pytest.raises(kind) as caught:
        demo.parse(str(tmp_path / "bad.py"))
    assert said in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_has_gone_fails_without_naming_its_absolute_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        demo.read(str(tmp_path / "gone.py"))
    assert str(caught.value) == "[Errno 2] No such file or directory"


def test_an_old_escape_is_no_failure_even_where_warnings_are_errors(tmp_path: Path) -> None:
    write(tmp_path, escape="x = '\\d'\n")
    assert demo.parse(str(tmp_path / "escape.py")).functions == 0


def test_a_sound_file_parses_although_the_garbage_collector_makes_others_parse_in_between(tmp_path: Path) -> None:
    class Litter:
        """A cycle whose end parses, as a finalizer does that formats a traceback."""

        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            ast.parse("x = 1")

    write(tmp_path, sound=BRANCHY * 50)
    expected = demo.parse(str(tmp_path / "sound.py"))
    threshold = gc.get_threshold()
    gc.set_threshold(2000)
    try:
        for _ in range(40):
            Litter()
            assert demo.parse(str(tmp_path / "sound.py")) == expected
    finally:
        gc.set_threshold(*threshold)


def test_files_are_listed_sorted_without_links_caches_and_foreign_packages(tmp_path: Path) -> None:
    write(tmp_path, b="", a="")
    for name in ("sub", "site-packages", "__pycache__"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, c="")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "folder.py").mkdir()
    assert demo.list_files(str(tmp_path), None, 0) == ["a.py", "b.py", "sub/c.py"]
    assert demo.list_files(str(tmp_path), 2, 0) == ["a.py", "b.py"]
    assert demo.list_files(str(tmp_path), 2, 2) == []
    assert demo.list_files(str(tmp_path), None, 2) == ["sub/c.py"]


def test_a_name_that_is_not_utf8_is_listed_in_a_form_that_can_be_recorded(tmp_path: Path) -> None:
    (Path(tmp_path) / "caf\udce9.py").write_text("")
    assert demo.list_files(str(tmp_path), None, 0) == ["caf\\xe9.py"]


@pytest.mark.parametrize("name", ["absent", "a_file.py", "no_python"])
def test_a_folder_without_work_is_refused_before_anything_is_created(tmp_path: Path, name: str) -> None:
    write(tmp_path, a_file="")
    (tmp_path / "no_python").mkdir()
    with pytest.raises(UserMistake, match=name):
        demo.check_folder(str(tmp_path / name))


@pytest.mark.parametrize(
    ("workers", "limit"),
    [pytest.param(1, None, marks=pytest.mark.slow), (2, None), pytest.param(2, 7, marks=pytest.mark.slow)],
)
def test_the_pool_finds_what_one_plain_loop_finds(
    poolboard: Callable[..., Answer],
    survey_plainly: Callable[..., dict[str, Any]],
    mixed: Path,
    workers: int,
    limit: int | None,
) -> None:
    more = [] if limit is None else ["--limit", str(limit)]
    answer = poolboard("demo", "--folder", str(mixed), "--workers", str(workers), "--json", *more)
    assert answer.code == 0, answer.err
    last = json.loads(answer.out.splitlines()[-1])
    expected = survey_plainly(mixed, limit)
    assert last["result"] == expected
    assert last["children"]["failed"] == expected["failed"]
    assert limit is not None or expected["failed"] == 8


def test_the_demo_without_a_terminal_prints_the_survey_and_says_what_failed(
    poolboard: Callable[..., Answer], mixed: Path
) -> None:
    answer = poolboard("demo", "--folder", str(mixed), "--workers", "1")
    assert answer.code == 0, answer.err
    assert "8 children failed" in answer.out
    assert "most complex functions" in answer.out
    assert "  print_two.py: " in answer.out
    assert "unwise ^[[31mname.py" in answer.out
    assert "\x1b" not in answer.out


def test_a_report_of_many_failures_says_how_many_it_leaves_out() -> None:
    failures = [demo.Failure(f"{n}.py", "SyntaxError: no") for n in range(survey_report.SHOWN_FAILURES + 5)]
    survey = demo.Survey(25, 0, 25, 0, 0, 0, 0, 0, {}, None, [], failures)
    assert list(survey_report.lines(survey))[-1].startswith("  … and 5 more")
