"""Pause, resume and cancel of a part of a run: children with all below them, a stage by name, a worker's place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from poolboard.journal import queue
from poolboard.journal.model import HoldRow
from poolboard.journal.states import HoldScope, IllegalMove

from . import wire
from .control import Refusal
from .dispatch import Dispatcher
from .pool_events import ChildrenHeld
from .ranges import numbers_in, told
from .recorder import MOST_MEMBERS

#: The longest name of a stage that can be held.
STAGE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold in force, and who wanted it."""

    scope: HoldScope
    name: str
    by: str | None
    why: str | None


class Scopes:
    """The holds of one run. The journal has them first; then the pool, the workers and the fleet are told."""

    def __init__(self, dispatcher: Dispatcher, on_stages: Callable[[], None], on_workers: Callable[[], None]) -> None:
        self._dispatcher, self._on_stages, self._on_workers = dispatcher, on_stages, on_workers
        self.holds: dict[tuple[HoldScope, str], Hold] = {}
        #: How many places for workers the run has: set by who sizes it.
        self.places = 0

    @property
    def stages(self) -> list[str]:
        """The stages that nothing enters now."""
        return [name for scope, name in self.holds if scope == "stage"]

    @property
    def drained(self) -> set[int]:
        """The places whose worker takes nothing and goes home."""
        return {int(name) for scope, name in self.holds if scope == "worker"}

    def load(self, rows: Sequence[HoldRow]) -> None:
        """Take what was held under an earlier coordinator."""
        for row in rows:
            self.holds[row.scope, row.name] = Hold(row.scope, row.name, row.who, row.why)
        children = tuple(int(name) for scope, name in self.holds if scope == "child")
        if children:
            self._dispatcher.feed(ChildrenHeld(children, held=True))

    async def grant(self, wish: wire.ControlRequest) -> str:
        """Do what is wished of a part of the run; return a sentence, raise Refusal."""
        scope = wish.scope
        if sum((bool(scope.children), scope.stage is not None, scope.worker is not None)) != 1:
            raise Refusal("name children, or a stage, or a worker: one of them")
        if wish.verb == "cancel" and scope.children:
            return await self._cancel(scope.children, wish.by, wish.why)
        if wish.verb not in ("pause", "resume"):
            part = "a stage" if scope.stage is not None else "a worker" if scope.worker is not None else "a child"
            raise Refusal(f"{part} cannot be asked to {wish.verb}: it can be paused and resumed")
        held = wish.verb == "pause"
        if scope.stage is not None:
            return await self._stage(scope.stage, held, wish.by, wish.why)
        if scope.worker is not None:
            return await self._worker(scope.worker, held, wish.by, wish.why)
        return await self._children(scope.children, held, wish.by, wish.why)

    async def hold(self, n: int, by: str, why: str) -> None:
        """Hold one child back, if it goes on and nobody holds it; raises Refusal."""
        if n in self._dispatcher.pool.items and await self._record("child", [str(n)], True, by, why):
            self._dispatcher.feed(ChildrenHeld((n,), held=True))

    async def _stage(self, name: str, held: bool, by: str, why: str | None) -> str:
        if not name or len(name) > STAGE_CHARACTERS:
            raise Refusal(f"a stage's name has 1 to {STAGE_CHARACTERS} characters")
        changed = await self._record("stage", [name], held, by, why)
        self._on_stages()
        if not changed:
            return f"stage {name} is {'paused already' if held else 'not paused'}"
        return f"stage {name} {'paused: runs park before it' if held else 'goes on'}"

    async def _worker(self, place: int, held: bool, by: str, why: str | None) -> str:
        if not 1 <= place <= self.places and ("worker", str(place)) not in self.holds:
            raise Refusal(f"there is no worker {place}: the run has 1 to {self.places}")
        changed = await self._record("worker", [str(place)], held, by, why)
        self._on_workers()
        if not changed:
            return f"worker {place} is {'drained already' if held else 'not drained'}"
        if held:
            return f"worker {place} takes nothing new; its runs move on at their next stage boundary"
        return f"worker {place} works again"

    async def _children(self, ranges: Sequence[tuple[int, int]], held: bool, by: str, why: str | None) -> str:
        asked = self._known(ranges)
        if held:
            names = [n for n in asked if n in self._dispatcher.pool.items]
        else:
            names = [n for n in asked if ("child", str(n)) in self.holds]
        if not names:
            raise Refusal(self._none_of(asked, held))
        changed = await self._record("child", list(map(str, names)), held, by, why)
        self._dispatcher.feed(ChildrenHeld(tuple(names), held))
        part = "child" if len(names) == 1 else "children"
        if not changed:
            return f"{part} {told(names)} already {'paused' if held else 'going on'}"
        left = f"; {len(asked) - len(names)} have ended" if held and len(asked) > len(names) else ""
        return f"{part} {told(names)} {'paused, with all below' if held else 'going on'}{left}"

    async def _cancel(self, ranges: Sequence[tuple[int, int]], by: str, why: str | None) -> str:
        asked = self._known(ranges)
        chosen = [n for n in asked if n in self._dispatcher.pool.items]
        if not chosen:
            raise Refusal(self._none_of(asked, held=True))
        ended = 0
        for start in range(0, len(chosen), MOST_MEMBERS):
            ended += await self._cancel_trees(chosen[start : start + MOST_MEMBERS], by, why)
        left = f"; {len(asked) - len(chosen)} had ended" if len(asked) > len(chosen) else ""
        return f"{ended} {'child' if ended == 1 else 'children'} cancelled, with what was below{left}"

    async def _cancel_trees(self, chosen: Sequence[int], by: str, why: str | None) -> int:
        """End these with all below them, in one request of the journal; return how many ended."""
        cancel = partial(queue.cancel_tree, lease=self._dispatcher.lease, by=by, why=why)
        members = [self._dispatcher.recorder.record(partial(cancel, n=n)) for n in chosen]
        found = await asyncio.gather(*members, return_exceptions=True)
        ended = [n for below in found if not isinstance(below, BaseException) for n in below]
        for n in ended:
            self._dispatcher.drop(n, "cancelled")
        for outcome in found:  # only now: those that have ended are to let go whatever became of the others
            if isinstance(outcome, BaseException):
                raise outcome
        return len(ended)

    def _known(self, ranges: Sequence[tuple[int, int]]) -> list[int]:
        asked = sorted(numbers_in(ranges))
        if asked and asked[0] < 1:
            raise Refusal("0 is the run itself: name no child to act on the whole run")
        return asked

    def _none_of(self, asked: Sequence[int], held: bool) -> str:
        part = f"child {asked[0]}" if len(asked) == 1 else f"children {told(asked)}"
        if not held:
            pool = self._dispatcher.pool
            above = [n for n in asked if n in pool.items and pool.holds.covers(pool.items[n])]
            if above:
                return f"{part}: held through a child above; resume that one"
            return f"{part}: not paused"
        return f"{part}: ended already, or not there"

    async def _record(self, scope: HoldScope, names: list[str], held: bool, by: str, why: str | None) -> list[str]:
        lease = self._dispatcher.lease
        member = partial(queue.set_holds, lease=lease, scope=scope, names=names, held=held, by=by, why=why)
        try:
            changed: list[str] = await self._dispatcher.recorder.record(member)
        except IllegalMove as illegal:
            raise Refusal(str(illegal)) from None
        for name in changed:
            if held:
                self.holds[scope, name] = Hold(scope, name, by, why)
            else:
                self.holds.pop((scope, name), None)
        return changed
