"""Which part of the coordinator grants a client's wish; every grant is one sentence, or raises Refusal."""

from __future__ import annotations

from . import wire
from .control import Controller, Refusal
from .ranges import numbers_in
from .retrying import Retrying
from .scopes import Scopes
from .sizes import UNITS, Sizes
from .spending import Spending


class Wishes:
    """The wishes of people, sorted by what they are about."""

    def __init__(
        self, controller: Controller, scopes: Scopes, sizes: Sizes, retrying: Retrying, spending: Spending
    ) -> None:
        self.controller = controller
        self._scopes, self._sizes, self._retrying, self._spending = scopes, sizes, retrying, spending

    async def grant(self, wish: wire.ControlRequest) -> str:
        """Do what is wished and return a sentence; raises Refusal. What it says is in the journal by then."""
        controller = self.controller
        if wish.verb == "retry" or wish.scope != wire.Scope() or wish.verb in UNITS:
            if controller.closing:
                raise Refusal(f"this coordinator is ending ({controller.state}); ask again in a moment")
            return await self._grant_part(wish)
        if wish.verb == "pause":
            return await controller.pause(wish.by, wish.why)
        if wish.verb == "resume":
            await self._spending.change(wish.budget, wish.by, wish.why)
            return await controller.resume(wish.by, wish.why)
        if wish.verb == "cancel":
            return await controller.cancel(wish.by, wish.why)
        return await controller.stop(wish.by, wish.why, now=wish.now)

    async def _grant_part(self, wish: wire.ControlRequest) -> str:
        if wish.verb == "retry":
            return await self._retrying.retry(numbers_in(wish.scope.children) or None, wish.by, wish.why)
        if wish.verb == "workers" or wish.verb == "slots" or wish.verb == "concurrency":
            return await self._sizes.set(wish.verb, wish.count or 0, wish.by, wish.why)
        if wish.verb == "resume" and wish.scope.children:
            children = numbers_in(wish.scope.children)
            told = await self._spending.children.change(children, wish.budget or {}, wish.by, wish.why)
            if told and not any(("child", str(n)) in self._scopes.holds for n in children):
                return told
        return await self._scopes.grant(wish)
