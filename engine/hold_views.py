"""How far each hold of a run has come: what stands parked because of it, and what has not got there yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .pool import Pool
from .pool_state import Item
from .scopes import Hold, Scopes
from .views import HoldView

#: Holds that a summary lists.
HOLDS_SHOWN = 50


def hold_views(
    scopes: Scopes, pool: Pool, active: Mapping[str, int], parked: Sequence[tuple[Item, str]]
) -> tuple[HoldView, ...]:
    """Return the holds in force, stages and workers first; ``active`` counts what is in each stage now."""
    order = {"stage": 0, "worker": 1, "child": 2}
    shown = sorted(scopes.holds.values(), key=lambda hold: order[hold.scope])[:HOLDS_SHOWN]
    return tuple(_view(hold, pool, active, parked) for hold in shown)


def _view(hold: Hold, pool: Pool, active: Mapping[str, int], parked: Sequence[tuple[Item, str]]) -> HoldView:
    if hold.scope == "stage":
        standing, going = sum(stage == hold.name for _, stage in parked), active.get(hold.name, 0)
    elif hold.scope == "worker":
        places = [place for worker, place in pool.places.items() if worker.partition(".")[0] == hold.name]
        standing, going = 0, sum(len(place.holding) for place in places)
    else:
        inside = {item.n for item in pool.holds.below(int(hold.name))}
        standing = sum(item.n in inside for item, _ in parked)
        going = sum(len(inside & place.holding) for place in pool.places.values())
    return HoldView(hold.scope, hold.name, hold.by, hold.why, standing, going, hold.cut)
