"""Requests of an attempt that nobody has waited for yet. Several calls of a run may wait for the same ones at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from . import wire

Request = asyncio.Future[wire.Recorded]


class Unanswered:
    """Requests in the order in which they were sent, until each is answered."""

    __slots__ = ("_requests",)

    def __init__(self) -> None:
        self._requests: list[Request] = []

    def __bool__(self) -> bool:
        return bool(self._requests)

    def add(self, request: Request) -> None:
        """Take in a request that is on its way."""
        self._requests.append(request)

    async def settle(self, answered: Callable[[Request], Awaitable[object]]) -> None:
        """Return once all that are under way now are answered; raises what ``answered`` makes of a refusal.

        1. two calls wait here (``asyncio.gather``)  2. one is given up: it must not take the request from the other
        3. the answer comes: both go on, so neither may count on finding the request still listed.
        """
        for request in list(self._requests):
            await answered(asyncio.shield(request))
        self._requests = [request for request in self._requests if not request.done()]

    def close(self) -> None:
        """Let go of them: nobody waits any more."""
        for request in self._requests:
            if not request.cancel():
                request.exception()
