"""Control of a part of a run: children with all below them, a stage by name, a worker's place.

Pause: what runs there parks at its next stage boundary. Stop: a pause that does not wait longer than the grace; then
what still runs there is cut off, and is ready again, its start given back. Resume undoes both. Cancel ends children.
"""

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
from .pool_state import Item
from .ranges import numbers_in, told
from .recorder import MOST_MEMBERS

#: The longest name of a stage that can be held.
STAGE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold in force, and who wanted it. ``cut``: it is a stop."""

    scope: HoldScope
    name: str
    by: str | None
    why: str | None
    cut: bool = False


class Scopes:
    """The holds of one run. The journal has them first; then the pool, the workers and the fleet are told."""

    def __init__(
        self, dispatcher: Dispatcher, grace_s: float, on_stages: Callable[[], None], on_workers: Callable[[], None]
    ) -> None:
        self._dispatcher, self._on_stages, self._on_workers = dispatcher, on_stages, on_workers
        self._grace_s = grace_s
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
            self.holds[row.scope, row.name] = Hold(row.scope, row.name, row.who, row.why, row.cut)
        children = tuple(int(name) for scope, name in self.holds if scope == "child")
        if children:
            self._dispatcher.feed(ChildrenHeld(children, held=True))
        self._cut_later([key for key, hold in self.holds.items() if hold.cut], self._grace_s)

    async def grant(self, wish: wire.ControlRequest) -> str:
        """Do what is wished of a part of the run; return a sentence, raise Refusal."""
        scope = wish.scope
        if sum((bool(scope.children), scope.stage is not None, scope.worker is not None)) != 1:
            raise Refusal("name children, or a stage, or a worker: one of them")
        if wish.verb == "cancel" and scope.children:
            return await self._cancel(scope.children, wish.by, wish.why)
        if wish.verb not in ("pause", "resume", "stop"):
            part = "a stage" if scope.stage is not None else "a worker" if scope.worker is not None else "a child"
            raise Refusal(f"{part} cannot be asked to {wish.verb}: it can be paused, stopped and resumed")
        if scope.stage is not None:
            return await self._stage(scope.stage, wish)
        if scope.worker is not None:
            return await self._worker(scope.worker, wish)
        return await self._children(scope.children, wish)

    async def hold(self, n: int, by: str, why: str) -> None:
        """Hold one child back, if it goes on and nobody holds it; raises Refusal."""
        wish = wire.ControlRequest(req=0, verb="pause", by=by, why=why)
        if n in self._dispatcher.pool.items and await self._record("child", [str(n)], wish):
            self._dispatcher.feed(ChildrenHeld((n,), held=True))

    async def _stage(self, name: str, wish: wire.ControlRequest) -> str:
        if not name or len(name) > STAGE_CHARACTERS:
            raise Refusal(f"a stage's name has 1 to {STAGE_CHARACTERS} characters")
        changed = await self._record("stage", [name], wish)
        self._on_stages()
        if not changed:
            return f"stage {name} is {_not_news(wish)}"
        if wish.verb == "resume":
            return f"stage {name} goes on"
        return f"stage {name} {_done(wish)}: runs park before it{self._and_cut([('stage', name)], wish)}"

    async def _worker(self, place: int, wish: wire.ControlRequest) -> str:
        if not 1 <= place <= self.places and ("worker", str(place)) not in self.holds:
            raise Refusal(f"there is no worker {place}: the run has 1 to {self.places}")
        changed = await self._record("worker", [str(place)], wish)
        self._on_workers()
        if not changed:
            return f"worker {place} is {_not_news(wish).replace('paused', 'drained')}"
        if wish.verb == "resume":
            return f"worker {place} works again"
        cut = self._and_cut([("worker", str(place))], wish)
        return f"worker {place} takes nothing new; its runs move on at their next stage boundary{cut}"

    async def _children(self, ranges: Sequence[tuple[int, int]], wish: wire.ControlRequest) -> str:
        asked, held = self._known(ranges), wish.verb != "resume"
        if held:
            names = [n for n in asked if n in self._dispatcher.pool.items]
        else:
            names = [n for n in asked if ("child", str(n)) in self.holds]
        if not names:
            raise Refusal(self._none_of(asked, held))
        changed = await self._record("child", list(map(str, names)), wish)
        self._dispatcher.feed(ChildrenHeld(tuple(names), held))
        part = f"{'child' if len(names) == 1 else 'children'} {told(names)}"
        if not changed:
            return f"{part} already {_done(wish) if held else 'going on'}"
        if not held:
            return f"{part} going on"
        left = f"; {len(asked) - len(names)} have ended" if len(asked) > len(names) else ""
        cut = self._and_cut([("child", str(n)) for n in names], wish)
        return f"{part} {_done(wish)}, with all below{cut}{left}"

    def _and_cut(self, keys: Sequence[tuple[HoldScope, str]], wish: wire.ControlRequest) -> str:
        """Let what still runs there be cut off after the grace, if it is to be stopped; say so."""
        if wish.verb != "stop":
            return ""
        grace_s = 0.0 if wish.now else self._grace_s
        self._cut_later(keys, grace_s)
        return f"; what still runs there has {grace_s:g} s" if grace_s else "; what still runs there is cut off"

    def _cut_later(self, keys: Sequence[tuple[HoldScope, str]], grace_s: float) -> None:
        if keys:
            asyncio.get_running_loop().call_later(grace_s, self._cut, [*keys])

    def _cut(self, keys: Sequence[tuple[HoldScope, str]]) -> None:
        """Abandon what still runs there: its worker ends it, and it is ready again without a start lost."""
        for scope, name in keys:
            hold = self.holds.get((scope, name))
            if hold is None or not hold.cut:
                continue
            for item in self._running(scope, name):
                token = self._dispatcher.tokens.get(item.n)
                if token is not None:
                    stage = name if scope == "stage" else ""
                    self._dispatcher.send(
                        token, wire.Abandon(n=item.n, generation=item.generation, reason="stopped", stage=stage)
                    )

    def _running(self, scope: HoldScope, name: str) -> list[Item]:
        pool = self._dispatcher.pool
        if scope == "child":
            inside = pool.holds.below(int(name))
            return [item for item in inside if any(item.n in place.here for place in pool.places.values())]
        places = [p for worker, p in pool.places.items() if scope == "stage" or worker.partition(".")[0] == name]
        return [pool.items[n] for place in places for n in place.here]

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

    async def _record(self, scope: HoldScope, names: list[str], wish: wire.ControlRequest) -> list[str]:
        held, cut, by, why = wish.verb != "resume", wish.verb == "stop", wish.by, wish.why
        lease = self._dispatcher.lease
        member = partial(queue.set_holds, lease=lease, scope=scope, names=names, held=held, by=by, why=why, cut=cut)
        try:
            changed: list[str] = await self._dispatcher.recorder.record(member)
        except IllegalMove as illegal:
            raise Refusal(str(illegal)) from None
        for name in changed:
            if held:
                self.holds[scope, name] = Hold(scope, name, by, why, cut)
            else:
                self.holds.pop((scope, name), None)
        return changed


def _done(wish: wire.ControlRequest) -> str:
    return "stopped" if wish.verb == "stop" else "paused"


def _not_news(wish: wire.ControlRequest) -> str:
    return "not paused" if wish.verb == "resume" else f"{_done(wish)} already"
