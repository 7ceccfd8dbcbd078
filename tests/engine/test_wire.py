"""Frames: whatever the pieces, the same messages; whatever the bytes, an error and never a surprise."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine import wire

MESSAGES: list[wire.Message] = [
    wire.WorkerHello(worker="1.a", identity="1:2:3", digest="d", held=[(1, 2, 3)]),
    wire.CommitStage(
        req=1, n=2, generation=3, key="k", stage="s", payload='{"é":"\\ud800"}', started_at=1, completed_at=2,
        duration_ms=0.5, ok=True,
    ),
    wire.Recorded(req=1, children=[(1, "ready"), (2, "completed")]),
    wire.Goodbye(),
]  # fmt: skip


def test_messages_that_queued_travel_in_one_frame() -> None:
    frame = wire.encode(MESSAGES)
    assert struct.unpack(">I", frame[:4]) == (len(frame) - 4,)
    assert wire.Decoder().feed(frame) == MESSAGES


@given(st.lists(st.integers(1, 40), min_size=1, max_size=50))
def test_the_same_messages_come_out_however_the_stream_is_cut(cuts: list[int]) -> None:
    stream = wire.encode(MESSAGES) + wire.encode(MESSAGES[:1])
    decoder, found, start = wire.Decoder(), [], 0
    for cut in [*cuts, len(stream)]:
        found += decoder.feed(stream[start : start + cut])
        start += cut
    assert found == [*MESSAGES, MESSAGES[0]][: len(found)]
    assert len(found) == 5 or start < len(stream)


@given(st.binary(min_size=4, max_size=200))
def test_strange_bytes_are_refused_or_waited_for(data: bytes) -> None:
    try:
        assert wire.Decoder().feed(data) == [] or data.startswith(b"\0\0\0\2[]")
    except wire.WireError as error:
        assert str(error)


def test_a_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(wire.WireError, match="over the limit"):
        wire.Decoder().feed(struct.pack(">I", wire.FRAME_LIMIT_BYTES + 1))


@pytest.mark.parametrize(
    "body", [b"[]x", b'[{"t":"nothing"}]', b'[{"t":"goodbye","more":1}]', b'{"t":"goodbye"}', b"[1]"]
)
def test_what_is_not_a_message_of_ours_is_refused(body: bytes) -> None:
    with pytest.raises(wire.WireError, match="not a message of ours"):
        wire.Decoder().feed(struct.pack(">I", len(body)) + body)


def test_m15_a_frame_of_1_mb_in_many_pieces_is_looked_at_twice_and_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting:
        size, looks = 4, 0

        def unpack_from(self, data: bytes) -> tuple[int]:
            self.looks += 1
            return (int.from_bytes(data[:4], "big"),)

    frame = wire.encode([wire.SummaryNews(summary="x" * 1_000_000)])
    counting = Counting()
    decoded: list[int] = []
    whole = wire._messages

    def decode(body: bytes | memoryview) -> list[wire.AnyMessage]:
        decoded.append(len(body))
        return whole(body)

    monkeypatch.setattr(wire, "_LENGTH", counting)
    monkeypatch.setattr(wire, "_messages", decode)
    decoder = wire.Decoder()
    found = [message for start in range(0, len(frame), 250) for message in decoder.feed(frame[start : start + 250])]
    assert len(found) == 1
    assert (counting.looks, decoded) == (3, [len(frame) - 4])
