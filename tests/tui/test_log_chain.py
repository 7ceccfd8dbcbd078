"""Several log files read as one: whatever is asked for, it is a piece of the same whole."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from poolboard.engine.monitor import Monitor
from poolboard.tui.log_chain import Link, LogChain

FILES = st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\r", b"\n")), min_size=1, max_size=4)


async def chain_of(folder: Path, contents: list[bytes]) -> LogChain:
    links = []
    for place, data in enumerate(contents):
        path = folder / f"{place}.log"
        path.write_bytes(data)
        links.append(Link(str(path), len(data), f"file {place}"))
    return await LogChain.open(Monitor(folder / "none.sqlite", None), links)


@settings(max_examples=60, deadline=None)
@given(contents=FILES, offset=st.integers(0, 200), limit=st.integers(1, 80))
async def test_a_piece_of_the_chain_is_that_piece_of_the_whole(
    tmp_path_factory: object, contents: list[bytes], offset: int, limit: int
) -> None:
    folder = Path(getattr(tmp_path_factory, "mktemp")("chain"))  # noqa: B009 - hypothesis needs a session's fixture
    chain = await chain_of(folder, contents)
    whole = await chain.read(0, 10_000)
    assert len(whole) == chain.size_bytes
    assert await chain.read(offset, limit) == whole[offset : offset + limit]
    for place in chain.marks:
        assert len(contents) == 1 or whole[place:].startswith("── file ".encode())
        assert place == 0 or whole[place - 1 : place] == b"\n"


async def test_the_last_file_may_grow_and_a_file_before_it_that_was_cut_shifts_nothing(tmp_path: Path) -> None:
    chain = await chain_of(tmp_path, [b"one\n", b"two\n"])
    before = await chain.read(0, 1000)
    (tmp_path / "1.log").write_bytes(b"two\nthree\n")
    assert await chain.read(0, 1000) == before + b"three\n"
    (tmp_path / "0.log").write_bytes(b"")
    assert (await chain.read(0, 1000)).endswith("── file 1 ──\ntwo\nthree\n".encode())
    assert len(await chain.read(0, 1000)) == len(before) + 6
