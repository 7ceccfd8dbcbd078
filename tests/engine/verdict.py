"""Holds the effects of a run that was killed again and again against its journal."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from poolboard.journal.reader import Reader


@dataclass
class Verdict:
    """What went wrong, by kind, over all runs; and who was killed how often."""

    runs: int = 0
    kills: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def killed(self, whom: str) -> None:
        """Count a death."""
        self.kills[whom] = self.kills.get(whom, 0) + 1

    @property
    def total(self) -> int:
        """All deaths."""
        return sum(self.kills.values())

    def take(self, lines: list[str], recorded: dict[tuple[int, int], int]) -> None:
        """Hold what was done and told, in order, against what is recorded (in ms) under (i, k).

        A workflow is told of an outcome once that is durable: from then on no kill may have it done again.
        """
        acked: set[tuple[int, int]] = set()
        for line in lines:
            word, i, k, at = line.split()
            key = (int(i), int(k))
            if word == "acked":
                acked.add(key)
                if key not in recorded:
                    self.missing.append(line)
            elif key in acked or (key in recorded and int(at) > recorded[key] + 1):
                self.again.append(line)

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.missing or self.again or self.stuck or self.left)

    def __str__(self) -> str:
        whom = ", ".join(f"{count} {who}" for who, count in sorted(self.kills.items()))
        return (
            f"{self.total} kills ({whom}) over {self.runs} runs: {len(self.missing)} missing, "
            f"{len(self.again)} done again, {len(self.stuck)} stuck, {len(self.left)} left running"
        )


@dataclass(frozen=True)
class Recorded:
    """What the journal has of a run of the ``torture`` workflow: when (ms) under (i, k), and who was given up."""

    at_ms: dict[tuple[int, int], int]
    unlucky: frozenset[str]


async def recorded(reader: Reader, run_id: str) -> Recorded:
    """Read every stage of every child; a child's first stage returns its i."""
    run = await reader.run(run_id)
    at_ms: dict[tuple[int, int], int] = {}
    unlucky = set()
    for row in await reader.work_page(run.number, 0, 10_000):
        entries = [(json.loads(entry.event.payload), entry.at) for entry in await reader.checkpoints(run.number, row.n)]
        stages = {payload["place"]: (payload, at) for payload, at in entries if payload["kind"] in ("stage", "command")}
        if stages:
            i = stages[0][0]["value"]
            at_ms |= {(i, place): at for place, (_, at) in stages.items()}
        if row.state == "failed":
            assert row.starts == 3 and "worker_lost" in (row.error or ""), row
            unlucky.add(row.label)
    return Recorded(at_ms, frozenset(unlucky))
