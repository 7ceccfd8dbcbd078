"""Replay: which recorded outcome answers which call of a run that starts again. Pure.

A call's key is its kind, its name, the fingerprint of its arguments and its ordinal among identical calls, so that
concurrent calls may come in another order. Sequential calls may not: where a call was recorded that no other
overlapped, a run that starts again must make that very call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from .kinds import TRY
from .payload import dumps

Kind = Literal["stage", "map", "ask", "send", "inbox", "messages"]
KINDS = frozenset({"stage", "map", "ask", "send", "inbox", "messages"})


class Call(NamedTuple):
    """One call of the running workflow; ``place`` counts its calls from 0."""

    kind: Kind
    name: str
    fingerprint: str
    ordinal: int
    place: int

    @property
    def key(self) -> str:
        """The replay key under which the call's result is recorded."""
        return f'["{self.kind}",{_quoted(self.name)},"{self.fingerprint}",{self.ordinal}]'

    def try_key(self, generation: int, number: int) -> str:
        """The key of a try that failed and is followed by another."""
        return f'{self.key[:-1]},"try",{generation},{number}]'

    def failure_key(self, generation: int) -> str:
        """The key for a failure: one per attempt, so that a retry of the child can record another outcome."""
        return f'{self.key[:-1]},"failed",{generation}]'


@dataclass(frozen=True, slots=True)
class Outcome:
    """A recorded stage: its JSON value, or its failure (``type``, ``message``, ``traceback``).

    ``alone`` says that no other call of the run was open at any moment of it. ``taken`` are the numbers of the messages
    that the stage has read.
    """

    call: Call
    alone: bool
    value: Any
    failure: dict[str, str] | None
    taken: tuple[int, ...] = ()


class Mismatch(Exception):
    """The program asks for something else than was recorded: ``recorded X, found Y``."""


class Replay:
    """The recorded outcomes of one run and the calls it makes this time."""

    __slots__ = ("_by_key", "_by_place", "_next_place", "_open", "_readers", "_seen", "_tries")

    def __init__(self, payloads: list[dict[str, Any]], *, reopened: bool = False) -> None:
        """Take the recorded stages. A run that was ``reopened`` (its failed children are tried again) may rightly ask
        for something else this time: what it asks for again is taken from the records, the rest is computed."""
        outcomes = [_outcome(payload) for payload in payloads if payload["kind"] in KINDS]
        self._tries = _tries([payload for payload in payloads if payload["kind"] == TRY])
        self._by_key = {outcome.call.key: outcome for outcome in outcomes}
        alone = [] if reopened else [outcome.call for outcome in outcomes if outcome.alone]
        self._by_place = {call.place: call for call in alone}
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._next_place = 0
        self._readers: dict[int, set[str]] | None = None
        self._open: dict[int, bool] = {}

    def begin(self, kind: Kind, name: str, fingerprint: str) -> Call:
        """Open a call; raises Mismatch where a sequential call is not the recorded one."""
        identity = (kind, name, fingerprint)
        call = Call(kind, name, fingerprint, self._seen[identity], self._next_place)
        recorded = self._by_place.get(call.place)
        if not self._open and recorded is not None and recorded.key != call.key:
            raise Mismatch(f"recorded {_told(recorded)}, found {_told(call)}")
        self._seen[identity] += 1
        self._next_place += 1
        overlapped = bool(self._open)
        for place in self._open:
            self._open[place] = True
        self._open[call.place] = overlapped
        return call

    def is_alone(self, call: Call) -> bool:
        """Whether no other call was open so far while this one is."""
        return not self._open[call.place]

    def end(self, call: Call) -> None:
        """Close a call."""
        del self._open[call.place]

    def outcome(self, call: Call) -> Outcome | None:
        """Return what was recorded for the call."""
        return self._by_key.get(call.key) if self._by_key else None

    def readers(self, number: int) -> set[str]:
        """Return the stages that are recorded to have read a message; the run's own inbox is ``""``."""
        if self._readers is None:
            found: dict[int, set[str]] = {}
            self._readers = found
            for outcome in self._by_key.values():
                by, taken = (outcome.call.name, outcome.taken)
                if outcome.call.kind in ("inbox", "messages"):
                    by, taken = "", outcome.value or ()
                for one in taken:
                    found.setdefault(one, set()).add(by)
        return self._readers.get(number, set())

    def tries(self, call: Call) -> tuple[int, int]:
        """Return how many tries of the call have failed, and when (wall ms) the next may start; (0, 0) for none."""
        return self._tries.get(call.key, (0, 0)) if self._tries else (0, 0)


def stage_payload(
    call: Call,
    value_json: str | None,
    failure: dict[str, str] | None,
    times: tuple[int, int, int],
    *,
    alone: bool,
    taken: Sequence[int] = (),
) -> str:
    """Return the checkpoint event of a call; ``times``: started_at, completed_at (wall ms), number of the try.

    ``taken`` are the messages that a stage has read.
    """
    # Put together by hand: the encoder takes four times as long, and this is made for every stage.
    head = (
        f'{{"kind":"{call.kind}","name":{_quoted(call.name)},"fingerprint":"{call.fingerprint}",'
        f'"ordinal":{call.ordinal},"place":{call.place},"alone":{"true" if alone else "false"},'
        f'"started_at":{times[0]},"completed_at":{times[1]},"attempt":{times[2]}'
    )
    if taken:
        head += f',"taken":{dumps(list(taken))}'
    if failure is not None:
        return f'{head},"failure":{dumps(failure)}}}'
    return f"{head}}}" if value_json is None else f'{head},"value":{value_json}}}'


@lru_cache(maxsize=1024)
def _quoted(name: str) -> str:
    return dumps(name)


def try_payload(call: Call, failure: dict[str, str], times: tuple[int, int, int], next_at: int) -> str:
    """Return the checkpoint event of a try that failed; the next one starts at ``next_at`` (wall ms)."""
    told = json.loads(stage_payload(call, None, failure, times, alone=False))
    return dumps({**told, "kind": TRY, "of": call.kind, "next_at": next_at})


def _tries(payloads: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for payload in payloads:
        call = Call(payload["of"], payload["name"], payload["fingerprint"], payload["ordinal"], payload["place"])
        found[call.key] = max(found.get(call.key, (0, 0)), (payload["attempt"], payload["next_at"]))
    return found


def _outcome(payload: dict[str, Any]) -> Outcome:
    call = Call(
        payload["kind"],
        payload["name"],
        payload["fingerprint"],
        payload["ordinal"],
        payload["place"],
    )
    taken = tuple(payload["taken"]) if "taken" in payload else ()
    return Outcome(call, payload["alone"], payload.get("value"), payload.get("failure"), taken)


def _told(call: Call) -> str:
    again = f" (call {call.ordinal + 1} of its kind)" if call.ordinal else ""
    return f"{call.kind} {call.name} with arguments {call.fingerprint[:8]}{again} at place {call.place + 1}"
