"""Items become commands: whatever an item holds, the shell hands it on as one text, unchanged."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolboard import items, quoting
from poolboard.each_job import Halt, names_of, seconds, workers_and_slots
from poolboard.engine.errors import UserMistake
from poolboard.templates import MAX_COMMAND_BYTES, Command, Template

HOSTILE = [
    "a b",
    "it's",
    'say "hi"',
    "$(touch owned)",
    "`touch owned`",
    "${HOME}",
    "-rf",
    "line\nbreak",
    "\ttab",
    "*",
    "~root",
    "a;b|c&d",
    "\\",
    "#no comment",
    "!history",
    "",
    "ünï",
    os.fsdecode(b"\xff\xfe broken \x80"),
    "\x1b]0;title\x07",
]


def shell(command: Command) -> list[bytes]:
    """Run a command that prints its arguments with NUL bytes behind them, and return those."""
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    return subprocess.run(words, capture_output=True, check=True, timeout=20).stdout.split(b"\0")[:-1]


def one(template: str, *values: str, number: int = 1) -> Command:
    return Template([template]).render(values, number)


# --- what stands for what ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replaced", "item", "meant"),
    [
        ("{}", "dir/file.tar.gz", "dir/file.tar.gz"),
        ("{.}", "dir/file.tar.gz", "dir/file.tar"),
        ("{.}", "dir.d/file", "dir.d/file"),
        ("{.}", ".bashrc", ".bashrc"),
        ("{.}", "dir/.a.b", "dir/.a"),
        ("{/}", "dir/file.gz", "file.gz"),
        ("{/}", "dir/", ""),
        ("{//}", "dir/sub/file", "dir/sub"),
        ("{//}", "file", "."),
        ("{//}", "/file", "/"),
        ("{//}", "/", "/"),
        ("{/.}", "dir/file.gz", "file"),
    ],
)
def test_each_replacement_string_says_what_gnu_parallels_says(replaced: str, item: str, meant: str) -> None:
    assert one(f"printf {replaced}", item) == f"printf {quoting.quote(meant)}"


def test_the_number_of_an_item_is_no_item() -> None:
    assert one("echo {#}", "x", number=7) == "echo 7 x"
    assert one("echo {#} {}", "x", number=7) == "echo 7 x"


def test_a_command_that_takes_no_item_gets_it_at_its_end() -> None:
    assert one("gzip -k", "a b") == "gzip -k 'a b'"
    assert Template(["gzip", "-k"], argv=True).render(["a b"], 1) == ["gzip", "-k", "a b"]


def test_items_that_are_taken_together_are_quoted_one_by_one() -> None:
    assert one("rm {}", "a b", "c") == "rm 'a b' c"
    assert one("mv {} {.}.old", "a.x", "b c.x") == "mv a.x 'b c.x' a 'b c'.old"
    assert Template(["rm", "{}", "in {}"], argv=True).render(["a b", "c"], 1) == ["rm", "a b", "c", "in a b c"]


def test_the_shells_own_braces_are_left_alone() -> None:
    assert one("echo ${x} ${#} {a,b} {} \\{}", "i") == "echo ${x} ${#} {a,b} i \\{}"


def test_the_place_is_known_only_when_the_command_runs() -> None:
    template = Template(["echo {%} '{%}' \"{%}\" {}"])
    assert template.uses_slot
    line = template.render(["x"], 1)
    assert isinstance(line, str)
    done = subprocess.run(["/bin/sh", "-c", line], env={"POOLBOARD_SLOT": "3"}, capture_output=True, text=True)
    assert done.stdout == "3 3 3 x\n"
    words = Template(["printf", "%s.", "gpu{%}", "{}"], argv=True).render(["a b"], 1)
    assert isinstance(words, str)
    done = subprocess.run(["/bin/sh", "-c", words], env={"POOLBOARD_SLOT": "3"}, capture_output=True, text=True)
    assert done.stdout == "gpu3.a b."


# --- hostile items ----------------------------------------------------------------------------------------------------

PLACES = [
    "printf '%s\\0' {}",
    "printf '%s\\0' \"{}\"",
    "printf '%s\\0' '{}'",
    "printf '%s\\0' \"$(printf %s {})\"",
    'printf \'%s\\0\' "$(printf %s "{}")"',
    "(printf '%s\\0' {})",
    "# it's a comment\nprintf '%s\\0' {}",
    "x={}; printf '%s\\0' \"$x\"",
]


@pytest.mark.parametrize("template", PLACES)
@pytest.mark.parametrize("item", HOSTILE)
def test_a_hostile_item_is_one_text_wherever_it_is_put(template: str, item: str) -> None:
    assert shell(one(template, item)) == [os.fsencode(item)]
    assert not os.path.exists("owned")


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(PLACES),
    # A shell takes newlines off the end of what $(…) gives, whoever put them there.
    st.binary(max_size=30).filter(lambda data: b"\0" not in data and not data.endswith(b"\n")),
)
def test_any_bytes_are_one_text_wherever_they_are_put(template: str, item: bytes) -> None:
    assert shell(one(template, os.fsdecode(item))) == [item]


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=30).filter(lambda data: b"\0" not in data))
def test_without_a_shell_any_bytes_are_one_word(item: bytes) -> None:
    assert shell(Template(["printf", "%s\\0", "{}"], argv=True).render([os.fsdecode(item)], 1)) == [item]


@pytest.mark.parametrize("item", HOSTILE)
def test_what_is_recorded_of_a_command_is_always_text(item: str) -> None:
    "".join(one("x {} '{}' \"{}\"", item)).encode()
    "".join(Template(["x", "{}"], argv=True).render([item], 1)).encode()


@pytest.mark.parametrize(
    "template",
    [
        "echo `cat {}`",
        "cat <<END\n{}\nEND",
        "echo $'a' {}",
        'echo "${x:-"{}"}" {}',
        "echo $(case x in x) echo {};; esac)",
        "(true)# don't\necho {}",
    ],
)
def test_a_place_where_quoting_is_not_sure_is_refused(template: str) -> None:
    with pytest.raises(UserMistake, match="cannot be quoted for sure"):
        Template([template])


def test_a_command_that_no_system_would_take_is_refused_by_the_number_of_its_item() -> None:
    with pytest.raises(UserMistake, match="item 12 "):
        one("echo {}", "x" * MAX_COMMAND_BYTES, number=12)


# --- tables -----------------------------------------------------------------------------------------------------------


def test_a_cell_is_put_where_its_columns_name_is() -> None:
    template = Template(["train --lr {lr} --seed '{seed}' {#}"], columns=["lr", "seed"])
    assert template.render(["0.1", "it's"], 4) == "train --lr 0.1 --seed ''" + shlex.quote("it's") + "'' 4"


def test_a_command_that_names_no_column_is_refused() -> None:
    with pytest.raises(UserMistake, match=r"names no column; there are \{lr\}, \{seed\}"):
        Template(["train"], columns=["lr", "seed"])


def test_a_misspelt_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserMistake, match=r"\{sead\} is no column; did you mean \{seed\}\?"):
        Template(["train {lr} {sead}"], columns=["lr", "seed"])
    assert Template(["awk '{print}' {lr}"], columns=["lr"]).render(["f"], 1) == "awk '{print}' f"


def read_table(text: str, tmp_path_name: str = "jobs.csv") -> tuple[list[str], list[list[str]]]:
    reading, writing = os.pipe()
    os.write(writing, text.encode("utf-8", "surrogateescape"))
    os.close(writing)
    table = items.Table(reading, tmp_path_name)
    return table.columns, [row for batch in table.batches() for row in batch]


def test_a_table_may_hold_quotes_newlines_and_a_byte_order_mark() -> None:
    columns, rows = read_table('\ufefflr,seed\n0.1,"a, ""b""\nc"\n\n0.2,x\n')
    assert (columns, rows) == (["lr", "seed"], [["0.1", 'a, "b"\nc'], ["0.2", "x"]])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "first line"),
        ("a,a\n1,2\n", "first line"),
        ("a,\n1,2\n", "first line"),
        ("a,b\n1,2\n1\n", r"jobs\.csv:3: 1 cells, but 2 columns"),
        ('a,b\n"1,2\n', r"jobs\.csv:2: "),
        ("a,b\n1,\0\n", r"jobs\.csv:2: "),
    ],
)
def test_a_damaged_table_is_refused_by_its_line(text: str, told: str) -> None:
    with pytest.raises(UserMistake, match=told):
        read_table(text)


# --- lists ------------------------------------------------------------------------------------------------------------


def piped(data: bytes, separator: bytes = b"\n") -> list[list[str]]:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        return [item for batch in items.of_pipe(reading, separator) for item in batch]
    finally:
        os.close(reading)


def test_the_last_line_needs_no_newline_and_an_empty_line_is_an_item() -> None:
    assert piped(b"a\n\nb c") == [["a"], [""], ["b c"]]
    assert piped(b"") == []
    assert piped(b"one\ntwo\0three", b"\0") == [["one\ntwo"], ["three"]]


def test_a_nul_byte_in_a_line_says_what_to_do() -> None:
    with pytest.raises(UserMistake, match="item 2 holds a NUL byte; -0"):
        piped(b"a\nb\0c\n")


def test_an_item_without_an_end_is_not_read_into_memory() -> None:
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        while True:
            try:
                os.write(writing, b"x" * 65536)
            except OSError:
                os._exit(0)
    os.close(writing)
    with pytest.raises(UserMistake, match="item 1 is longer"):
        list(items.of_pipe(reading, b"\n"))
    os.close(reading)
    os.wait()


def test_items_are_taken_together_as_they_come() -> None:
    def batches() -> Iterator[list[list[str]]]:
        yield [["1"], ["2"], ["3"]]
        yield [["4"]]
        yield [["5"]]

    assert list(items.grouped(batches(), 2)) == [[["1", "2"]], [["3", "4"]], [["5"]]]


# --- options ----------------------------------------------------------------------------------------------------------


def test_a_halt_is_due_when_enough_failed() -> None:
    assert Halt.parse("soon,fail=2").is_due(2, None)
    assert not Halt.parse("soon,fail=2").is_due(1, None)
    percent = Halt.parse("now,fail=30%")
    assert not percent.is_due(3, None)
    assert percent.is_due(3, 10)
    assert not percent.is_due(2, 10)


@pytest.mark.parametrize("text", ["", "soon", "fail=1", "later,fail=1", "now,fail=0", "now,fail=101%", "now,fail=x"])
def test_a_halt_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserMistake, match="--halt"):
        Halt.parse(text)


def test_times_have_units() -> None:
    assert [seconds(text, "--timeout") for text in ("90", "1.5", "2m", "1h", "1d")] == [90, 1.5, 120, 3600, 86400]
    for text in ("", "0", "-1", "x", "1w", "1e9"):
        with pytest.raises(UserMistake, match="--timeout"):
            seconds(text, "--timeout")


@pytest.mark.parametrize("jobs", [1, 2, 7, 8, 12, 4096])
def test_exactly_so_many_commands_can_run_at_once_as_were_asked_for(jobs: int) -> None:
    for most in (1, 2, 5, 64):
        workers, slots = workers_and_slots(jobs, most)
        assert workers * slots == jobs
        assert workers <= most


def test_a_secret_is_not_told_when_its_name_is_wrong() -> None:
    with pytest.raises(UserMistake, match="--env 'A B'") as raised:
        names_of(["A B=S3CR-77"])
    assert "S3CR-77" not in str(raised.value)
