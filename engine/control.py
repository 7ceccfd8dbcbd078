"""Pause, resume and stop of a root run: idempotent, journaled with who and why, told to every worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from poolboard.journal import log, prompts, queue
from poolboard.journal.errors import Refused
from poolboard.journal.model import Event, RunRow
from poolboard.journal.states import ControlState, IllegalMove, RunStatus
from poolboard.journal.transaction import Transaction

from .dispatch import Dispatcher
from .payload import dumps
from .pool_events import ControlSet
from .views import OWN_NAME as OWN_NAME

#: The journal key of the wish to cancel: it outlives the coordinator that was asked.
CANCEL_KEY = '["CancelAsked"]'


class Refusal(Exception):
    """The wish cannot be granted now; the message says why."""


#: Control state -> the run's status while it is in force.
STATUS_OF: dict[ControlState, RunStatus] = {
    "running": "running",
    "pausing": "pausing",
    "paused": "paused",
    "stopping": "stopping",
    "stopped": "stopped",
}


class Controller:
    """The control state of one root run; ``on_stopped`` is called once, when nothing runs any more."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        run: RunRow,
        grace_s: float,
        on_stopped: Callable[[], None],
        tell_workers: Callable[[], None],
    ) -> None:
        self._dispatcher, self._grace_s = dispatcher, grace_s
        self._on_stopped, self._tell_workers = on_stopped, tell_workers
        self.state, self.revision = run.control, run.control_revision
        self._by, self._why = run.control_by, run.control_why
        #: The status in which ``stopping`` ends, and its error line.
        self.ends_as: tuple[RunStatus, str | None] = ("stopped", None)
        #: Set once the coordinator winds up: what is wished from then on is for its successor.
        self.closing = False
        #: Told of every state that is in force from now on.
        self.on_state: Callable[[ControlState], None] = lambda state: None
        self._busy = asyncio.Lock()
        self._deadline: asyncio.TimerHandle | None = None
        self._finishing: asyncio.Task[None] | None = None

    async def pause(self, by: str, why: str | None) -> str:
        """Claim nothing new; runs park at their next stage boundary. Return a sentence; raises Refusal."""
        if self.state in ("pausing", "paused"):
            return f"already {self.state}"
        await self._move("pausing", by, why)
        return "pausing: runs stop at their next stage boundary"

    async def resume(self, by: str, why: str | None) -> str:
        """Go on. Return a sentence; raises Refusal."""
        if self.state == "running":
            return "already running"
        await self._move("running", by, why)
        if self.ends_as[0] == "blocked":
            self.ends_as = ("stopped", None)
        return "running"

    async def exhaust(self, reason: str) -> None:
        """The budget is used up: park everything, then end as ``blocked``, which a raised budget can go on from."""
        if self.ends_as[0] != "stopped" or self.closing or self.state in ("stopping", "stopped"):
            return
        self.ends_as = ("blocked", reason)
        if self.state == "running":
            await self._move("pausing", OWN_NAME, reason)
        else:
            self._dispatcher.feed(ControlSet("pausing"))

    async def stop(self, by: str, why: str | None, *, now: bool) -> str:
        """No new stage; running ones get the grace. Return a sentence."""
        grace_s = 0.0 if now else self._grace_s
        if self.state not in ("stopping", "stopped"):
            await self._move("stopping", by, why)
        self._arm(grace_s)
        return f"stopping: running stages have {grace_s:g} s" if grace_s else "stopping now"

    async def cancel(self, by: str, why: str | None) -> str:
        """Like stop, but final; asked once, it is carried out even by a successor. Return a sentence."""
        event = Event("CancelAsked", dumps({"by": by, "why": why}))
        await self._dispatcher.recorder.record(
            partial(log.append, lease=self._dispatcher.lease, event=event, key=CANCEL_KEY)
        )
        self.ends_as = ("cancelled", why)
        return (await self.stop(by, why, now=False)).replace("stopping", "cancelling")

    def all_parked(self) -> None:
        """Nothing is in a stage any more."""
        if self.ends_as[0] == "blocked":
            self._stop_now()
        elif self.state == "pausing" and (self._finishing is None or self._finishing.done()):
            self._finishing = asyncio.ensure_future(self._paused())
        elif self.state == "stopping":
            self._stop_now()

    async def resume_after_restart(self, by: str, why: str | None) -> None:
        """A person asked for a new coordinator: whatever was wished before, the run goes on."""
        if self.state == "stopping":
            await self._move("stopped", self._by, self._why)
        if self.state != "running":
            await self._move("running", by, why)

    def continue_transition(self) -> None:
        """Finish what an earlier coordinator began, so that no in-between state survives it."""
        if self.state == "stopping":
            self._arm(0.0)
        elif self.state == "stopped":
            self._stop_now()
        elif self.state == "pausing":
            self._dispatcher.feed(ControlSet("pausing"))

    async def _paused(self) -> None:
        async with self._busy:
            if self.state == "pausing":
                await self._write("paused", self._by, self._why)

    async def _move(self, state: ControlState, by: str | None, why: str | None) -> None:
        async with self._busy:
            if self.closing:
                raise Refusal(f"this coordinator is ending ({self.state}); ask again in a moment")
            await self._write(state, by, why)

    async def _write(self, state: ControlState, by: str | None, why: str | None) -> None:
        """Record first, then tell: a worker never sees a state that the journal does not have.

        Claiming stops before the write, though: nothing may be claimed behind the person's back meanwhile.
        """
        lease = self._dispatcher.lease

        def member(tx: Transaction) -> tuple[ControlState, int]:
            told = queue.set_control(tx, lease, state, by, why)
            queue.set_status(tx, lease, prompts.status_beside(tx, lease, STATUS_OF[state]))
            return told

        self._by, self._why = by, why
        before = self._dispatcher.pool.control
        if state != "running":
            self._dispatcher.pool.control = state
        try:
            self.state, self.revision = await self._dispatcher.recorder.record(member)
        except IllegalMove as illegal:
            self._dispatcher.pool.control = before
            raise Refusal(str(illegal)) from None
        self._tell_workers()
        self._dispatcher.feed(ControlSet(state))
        self.on_state(state)

    def _arm(self, grace_s: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(grace_s, self._stop_now)

    def _stop_now(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        stopped, self._on_stopped = self._on_stopped, lambda: None
        asyncio.get_running_loop().call_soon(stopped)

    def stopped_member(self, status: RunStatus, error: str | None) -> Callable[[Transaction], None]:
        """Return the write that ends ``stopping``: every attempt back to ready, its start given back."""
        lease, tokens = self._dispatcher.lease, list(self._dispatcher.tokens.values())
        by, why = self._by, self._why

        def member(tx: Transaction) -> None:
            if status == "cancelled":
                queue.cancel_left(tx, lease)
                queue.finish_run(tx, lease, "cancelled", None, error)
                return
            for token in tokens:
                # A refusal comes before any write: that item has settled in the meantime.
                with suppress(Refused):
                    queue.release(tx, lease, token, give_start_back=True)
            queue.set_control(tx, lease, "stopped", by, why)
            queue.set_status(tx, lease, status, error=error)

        return member
