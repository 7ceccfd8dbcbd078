"""Which runs are held back (a child with everything below it), and which stand parked at a stage boundary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .pool_calls import Calls
from .pool_events import Action, HoldRun
from .pool_state import Item, Place


class Holds:
    """The children held now, looked up through their parents: what is below a held child is held too."""

    __slots__ = ("_calls", "_items", "children")

    def __init__(self, items: dict[int, Item], calls: Calls) -> None:
        self._items, self._calls = items, calls
        self.children: set[int] = set()

    def covers(self, item: Item) -> bool:
        """Whether the item, or anything above it, is held."""
        if not self.children:
            return False
        n = item.n
        while n not in self.children:
            above = self._items.get(n)
            if above is None:
                return False
            n = above.group[0]
        return True

    def told(self, item: Item) -> list[Action]:
        """Return what the worker that has just got the run must hear."""
        return [HoldRun(item.n, True)] if self.covers(item) else []

    def change(self, children: Iterable[int], held: bool) -> tuple[list[Action], list[Item]]:
        """Hold these children or let them go; return what their workers must hear, and the items that are free now."""
        wanted = list(children)
        self.children = self.children | set(wanted) if held else self.children - set(wanted)
        actions: list[Action] = []
        free: list[Item] = []
        for item in [item for n in wanted for item in self.below(n)]:
            covered = self.covers(item)
            if item.state in ("active", "waiting"):
                actions.append(HoldRun(item.n, covered))
            elif item.state == "ready" and covered:
                item.state = "held"
            elif item.state == "held" and not covered:
                item.state = "moving"
                free.append(item)
        return actions, free

    def below(self, n: int) -> Iterator[Item]:
        """Yield the item and everything unsettled below it."""
        level = [n]
        while level:
            n = level.pop()
            if (item := self._items.get(n)) is not None:
                yield item
            level.extend(self._calls.members(n))


class Parking:
    """Runs that stand at a stage boundary, and before which stage. They hold no slot, but for a moment."""

    __slots__ = ("_items", "_places", "stages")

    def __init__(self, items: dict[int, Item], places: dict[str, Place]) -> None:
        self._items, self._places = items, places
        self.stages: dict[int, str] = {}

    def take(self, item: Item, stage: str) -> None:
        """The run says that it stands there."""
        if item.state in ("active", "waiting"):
            self.stages[item.n] = stage

    def leave(self, n: int) -> None:
        """The run wants to go on, or is gone."""
        self.stages.pop(n, None)

    def standing(self) -> Iterator[tuple[Item, str]]:
        """Yield the parked runs that hold no slot: one that does has another call in a stage."""
        for n, stage in self.stages.items():
            item = self._items.get(n)
            if item is not None and item.state == "waiting":
                yield item, stage

    @property
    def over(self) -> bool:
        """Whether no run holds a slot any more: nothing is in a stage, and nothing can enter one."""
        return all(place.empty for place in self._places.values())
