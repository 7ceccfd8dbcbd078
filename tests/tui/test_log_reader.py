"""A log of any size, read by whole lines from any place."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine.monitor import Monitor
from poolboard.tui.log_lines import ERRORS, SHOWN_BYTES, LogLine, cut, hits, last_hit, shown, tone
from poolboard.tui.log_reader import BLOCK_BYTES, LogReader

LINES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")), max_size=30)


@given(LINES, st.integers(0, 1000))
def test_cutting_loses_nothing(lines: list[bytes], start: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    found = list(cut(data, start))
    assert [line.data for line in found] == lines
    assert all(data[line.start - start : line.end - start].rstrip(b"\n") == line.data for line in found)


@given(LINES, st.sampled_from([b"a", b"\x00", b"er"]))
def test_hits_are_exactly_the_lines_that_hold_the_text(lines: list[bytes], needle: bytes) -> None:
    data = b"".join(line + b"\n" for line in lines)
    wanted = [line for line in cut(data, 7) if needle in line.data.lower()]
    assert list(hits(data, 7, (needle,))) == wanted
    assert last_hit(data, 7, (needle,)) == (wanted[-1] if wanted else None)


def test_a_progress_bar_shows_its_last_state_and_how_often_it_was_overwritten() -> None:
    line = LogLine(0, 1, b"\r".join(b"%d%%" % n for n in range(100_000)) + b"\r\r")
    assert shown(line).text.startswith("99999%  (100,000 overwritten)")


def test_a_very_long_line_is_cut_and_says_how_long_it_is() -> None:
    text = shown(LogLine(0, 1, b"x" * 5_000_000)).text
    assert len(text) < SHOWN_BYTES + 40 and text.endswith("… 5.0 MB in this line")


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"ERROR: no", "failed"), (b"Traceback (most recent", "failed"), (b"WARNING: x", "warn"), (b"all fine", "")],
)
def test_errors_and_warnings_stand_out(data: bytes, expected: str) -> None:
    assert tone(data) == expected


async def reader_of(path: Path, data: bytes) -> tuple[Monitor, LogReader]:
    path.write_bytes(data)
    monitor = await Monitor.open(str(path.parent / "none.sqlite"))
    return monitor, LogReader(partial(monitor.read_log, str(path)))


@pytest.mark.parametrize("long_line", [10, BLOCK_BYTES - 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 5])
async def test_forwards_and_backwards_read_the_same_bytes(tmp_path: Path, long_line: int) -> None:
    data = b"first\n" + b"y" * long_line + b"\nlast one\n" + b"z\n" * 200_000
    monitor, reader = await reader_of(tmp_path / "one.log", data)
    forwards = [block async for block in reader.blocks(0)]
    assert b"".join(block.data for block in forwards) == data
    assert all(block.data.endswith(b"\n") for block in forwards)
    end, backwards = len(data), b""
    while end > 0:
        block = await reader.before(end)
        assert block.start < end and block.end == end
        assert block.start == 0 or data[block.start - 1 : block.start] == b"\n"
        backwards, end = block.data + backwards, block.start
    assert backwards == data
    await monitor.close()


async def test_what_is_not_ended_yet_is_told_apart(tmp_path: Path) -> None:
    monitor, reader = await reader_of(tmp_path / "one.log", b"whole\nhal")
    block = await reader.after(0)
    assert (block.data, block.rest, block.end) == (b"whole\n", b"hal", 6)
    assert (await reader.after(6)).rest == b"hal"
    assert await reader.line_start(9) == 6
    await monitor.close()


async def test_a_search_finds_the_next_and_the_one_before_across_blocks(tmp_path: Path) -> None:
    filler = b"nothing to see\n" * (BLOCK_BYTES // 10)
    data = filler + b"first Error here\n" + filler + b"second ERROR\n" + filler
    monitor, reader = await reader_of(tmp_path / "one.log", data)
    first = await reader.find(ERRORS, 0)
    assert first is not None and first.data == b"first Error here"
    second = await reader.find(ERRORS, first.end)
    assert second is not None and second.data == b"second ERROR"
    assert await reader.find(ERRORS, second.end) is None
    assert await reader.find_back(ERRORS, len(data)) == second
    assert await reader.find_back(ERRORS, second.start) == first
    assert await reader.find_back(ERRORS, first.start) is None
    await monitor.close()


async def test_a_file_that_is_gone_reads_as_empty() -> None:
    monitor = await Monitor.open("/nowhere/none.sqlite")
    reader = LogReader(partial(monitor.read_log, "/nowhere/one.log"))
    assert (await reader.after(70_000)).data == b""
    assert (await reader.before(70_000)).data == b""
    await monitor.close()
