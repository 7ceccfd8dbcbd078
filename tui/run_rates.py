"""How fast each run of the list goes and when it may end, from what was read of it again and again. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from poolboard.engine.views import RunView

from .glyphs import ACTIVE

#: As in the coordinator's own rates: what happens now, and what went on for a while.
_SHORT_S: Final = 10.0
_LONG_S: Final = 60.0
_SAMPLES: Final = 128


class RunRates:
    """Samples of (seconds, settled children) per active run. Nothing is known before a run was read twice."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[tuple[float, int]]] = {}

    def take(self, runs: Iterable[RunView], now_s: float) -> None:
        """Note how far the runs are; those that do not go on any more are forgotten."""
        going = {run.run_id: run for run in runs if run.status in ACTIVE}
        for run_id in self._samples.keys() - going.keys():
            del self._samples[run_id]
        for run_id, run in going.items():
            samples = self._samples.setdefault(run_id, deque(maxlen=_SAMPLES))
            samples.append((now_s, run.children.settled))
            while samples[-1][0] - samples[0][0] > _LONG_S:
                samples.popleft()

    def per_s(self, run_id: str, window_s: float = _SHORT_S) -> float:
        """Return the rate over the last seconds; 0 while it is not known."""
        samples = self._samples.get(run_id)
        if not samples:
            return 0.0
        last_s, last = samples[-1]
        first_s, first = next(one for one in samples if last_s - one[0] <= window_s)
        return max(0.0, (last - first) / (last_s - first_s)) if last_s > first_s else 0.0

    def eta_s(self, run: RunView) -> tuple[float, float] | None:
        """Return a low and a high guess of the seconds left; None while unsure."""
        left = run.children.total - run.children.settled
        rates = [rate for window_s in (_SHORT_S, _LONG_S) if (rate := self.per_s(run.run_id, window_s)) > 0]
        if not rates or left <= 0:
            return None
        return left / max(rates), left / min(rates)
