"""The coordinator's end of its socket: peers of the same uid only, messages batched into frames."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import sys
from collections.abc import Callable

from . import wire

log = logging.getLogger("poolboard")
#: A peer that reads nothing while this much waits for it is cut off: it will come back and ask again.
UNSENT_LIMIT_BYTES = 64 * 1024 * 1024


class Peer(asyncio.Protocol):
    """One connection. ``send`` queues; everything of one pass of the loop travels in one frame."""

    def __init__(self, on_message: Callable[[Peer, wire.AnyMessage], None], on_lost: Callable[[Peer], None]) -> None:
        self._on_message, self._on_lost = on_message, on_lost
        self._transport: asyncio.WriteTransport | None = None
        self._decoder = wire.Decoder()
        self._out: list[wire.Message] = []
        self._due = False

    def send(self, message: wire.Message) -> None:
        """Queue a message; silently dropped when the peer is gone (it will ask again)."""
        if self._transport is None:
            return
        self._out.append(message)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def close(self) -> None:
        """Send what waits, then hang up."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def _flush(self) -> None:
        self._due = False
        if self._transport is None or not self._out:
            return
        messages, self._out = self._out, []
        self._transport.write(wire.encode(messages))
        if self._transport.get_write_buffer_size() > UNSENT_LIMIT_BYTES:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        if peer_uid(transport.get_extra_info("socket")) != os.getuid():
            transport.abort()
            return
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        try:
            for message in self._decoder.feed(data):
                self._on_message(self, message)
        except wire.WireError as error:
            log.warning("a peer is cut off: %s", error)
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)


def peer_uid(connection: socket.socket) -> int:
    """Return the uid of the process at the other end of a Unix socket; -1 where the system does not tell."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", raw)[1])
    if sys.platform == "darwin":
        # struct xucred: version, uid, …; LOCAL_PEERCRED is 1 on level SOL_LOCAL, which is 0.
        raw = connection.getsockopt(0, 1, 76)
        return int(struct.unpack_from("II", raw)[1])
    return -1
