"""The coordinator: owns one root run, its queue and its workers, and is the only writer of its journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from poolboard.journal import queue
from poolboard.journal.errors import JournalError, Refused
from poolboard.journal.model import Lease, NewWork, RunRow, Token
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import SETTLED_WORK, IllegalMove, RunStatus
from poolboard.journal.transaction import Transaction

from . import hooks, takeover, wire, wire_limits, wire_prompts
from .chores import keep_rates, renew_leases
from .client_desk import ClientDesk
from .control import CANCEL_KEY, Controller
from .dispatch import Dispatcher
from .errands import begin
from .fleet import LocalFleet
from .folder import CoordinatorFile, RunFolder
from .header import RunHeader, WorkerSettings
from .identity import ProcessIdentity
from .intent import Errand
from .limit_desk import LimitDesk, no_limit, open_desk
from .payload import dumps
from .peers import Peer
from .pool import Pool
from .pool_events import Adopted, NotHeld, WorkerJoined, WorkerLost, WorkerRetiring
from .post_office import PostOffice
from .progress import Progress
from .prompt_desk import PromptDesk
from .recorder import Recorder
from .retrying import Retrying
from .scopes import Scopes
from .sizes import Sizes
from .spending import Spending
from .wishes import Wishes
from .worker_desk import WorkerDesk
from .worker_process import WorkerProcess

log = logging.getLogger("poolboard")
#: How long an attached screen gets to take in the last summary.
FAREWELL_S = 0.2


class Coordinator:
    """Wires the parts together and lives as long as the run is worked on."""

    def __init__(
        self,
        journal: SqliteJournal,
        lease: Lease,
        run: RunRow,
        header: RunHeader,
        digest: str,
        errand: Errand,
        ahead: dict[int, WorkerProcess] | None = None,
    ) -> None:
        self._journal, self._lease, self._run, self._header = journal, lease, run, header
        self._digest, self._errand = digest, errand
        self._folder = RunFolder(Path(header.folder))
        self._socket = self._folder.socket_path()
        self._done = asyncio.Event()
        self._failure: Exception | None = None
        self._ending: asyncio.Task[None] | None = None
        self.recorder = Recorder(journal, self._fatal)
        self.pool = Pool()
        self._lease_ms = round(header.lease_s * 1000)
        self.dispatcher = Dispatcher(
            lease, self.recorder, self.pool, self._lease_ms, lambda: self.controller.all_parked(), self._root_settled
        )
        self.fleet = LocalFleet(self._folder, self._settings, self._worker_lost, self._block, ahead)
        self.desk = WorkerDesk(self.dispatcher, self._blocked, self._retire)
        self.controller = Controller(self.dispatcher, run, header.grace_s, self._stop_is_due, self._tell_workers)
        self.scopes = Scopes(self.dispatcher, header.grace_s, self._tell_workers, self._resize)
        self.sizes = Sizes(self.dispatcher, header, lambda size: self._resize())
        self.spending = Spending(self.dispatcher, journal, header.budget, self.controller.exhaust, self.scopes)
        self.desk.on_budget = self.spending.children.grant_new
        retrying = Retrying(self.dispatcher, journal.reader, lease.number)
        wishes = Wishes(self.controller, self.scopes, self.sizes, retrying, self.spending)
        self.progress = Progress(journal, lease, self.pool, self.desk, self.fleet, self.scopes, self.spending)
        self.clients = ClientDesk(wishes, self.progress.summary)
        self.limits: LimitDesk | None = None
        self.prompts = self.progress.prompts = PromptDesk(self.dispatcher, lambda: self.controller.closing, run.read_at)
        self.desk.others[wire_prompts.AskPrompt] = self.prompts.ask
        self.clients.others |= {wire_prompts.AnswerPrompt: self.prompts.answer, wire_prompts.Why: self._why}
        self.post = PostOffice(journal, self.dispatcher)
        self.post.serve(self.desk.others, self.clients.others)
        self._peers: dict[Peer, str] = {}
        self._takeover: takeover.Takeover | None = None
        #: Once the run is at rest: the hook that is to be run for it.
        self.hook_due: str | None = None

    # --- life ------------------------------------------------------------------------------------------------------

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Work until the run ends, is stopped or blocked; raises what made going on impossible."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, told: self._fatal(told.get("exception") or RuntimeError(str(told))))
        Path(self._socket).unlink(missing_ok=True)
        server = await loop.create_unix_server(lambda: Peer(self._on_message, self._on_lost), self._socket)
        Path(self._socket).chmod(0o600)
        await self._begin()
        self._folder.write_coordinator(CoordinatorFile(ProcessIdentity.own(), self._lease.epoch, self._socket))
        on_ready()
        chores = [asyncio.ensure_future(chore) for chore in self._chores()]
        for chore in chores:
            chore.add_done_callback(self._checked)
        try:
            await self._done.wait()
            await self._farewell()
        finally:
            for chore in chores:
                chore.cancel()
            server.close()
        if self._failure is not None:
            raise self._failure
        Path(self._socket).unlink(missing_ok=True)

    def _chores(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """Return what goes on beside the run, for ever."""
        return (
            renew_leases(self._journal, self._lease, self.recorder, self.fleet, self._header.lease_s),
            keep_rates(self.progress, lambda: not self.clients.watched and self.controller.state == "running"),
            self.clients.run(),
            self.spending.watch(),
        )

    async def _begin(self) -> None:
        """Bring journal, pool and fleet to where the run goes on."""
        await self.recorder.record(self._close_gap)
        errand = self._errand
        await begin(errand, self._run, self.dispatcher, self.spending, self.controller)
        await self.recorder.record(self._opening)
        self._takeover = found = await takeover.load(self._journal, self._lease)
        takeover.watch(found, self.fleet)
        rows = await self._journal.reader.results(self._lease.number, [0])
        if rows[0][0] in SETTLED_WORK:
            self._root_settled()
            return
        self.pool.control = self.controller.state
        self.desk.failed_before = found.failed
        self.scopes.load(await self._journal.reader.holds(self._lease.number))
        await self._open_limits(found)
        asked = await self._journal.reader.open_prompts(self._lease.number)
        self.prompts.load(asked)
        if not asked and self._run.status == "awaiting_input":  # its child ended with the earlier coordinator
            await self.recorder.record(partial(queue.set_status, lease=self._lease, status="running"))
        await self.post.load({item.n for item in found.work})
        await self.spending.children.load({item.n for item in found.work})
        takeover.begin(found, self.dispatcher)
        await self.sizes.load(self._journal.reader, self._lease.number)
        await self.recorder.drain()
        if errand.intent == "cancel" or await self._journal.reader.entry_of_key(self._lease.number, CANCEL_KEY):
            await self.controller.cancel(errand.by, errand.why)
        elif errand.intent == "stop":
            await self.controller.stop(errand.by, errand.why, now=True)
        else:
            self._resize()
            self.controller.continue_transition()
        if found.alive:
            asyncio.get_running_loop().call_later(self._header.adopt_grace_s, self._say_retained)

    async def _open_limits(self, found: takeover.Takeover) -> None:
        """Serve the run's named limits, if it has any; a run without pays nothing for them."""
        self.clients.others[wire_limits.ChangeLimit] = no_limit
        if not self._header.limits:
            return
        self.limits = limits = await open_desk(self._journal, self.dispatcher, self._run, self._header, self.fleet)
        self.desk.others |= {
            wire_limits.WantLimit: limits.want,
            wire_limits.ReleaseLimit: limits.release,
            wire_limits.ObserveLimit: limits.observe,
        }
        self.clients.others[wire_limits.ChangeLimit] = limits.change
        self.controller.on_state, self.progress.limits = limits.steer, limits.views
        limits.steer(self.controller.state)
        limits.await_workers(found.alive)

    async def _why(self, message: wire_prompts.Why) -> str:
        """Return why a child waits, as far as that is known here."""
        limit = self.limits.reason(message.n) if self.limits is not None else None
        return limit or self.prompts.reason(message.n) or ""

    def _close_gap(self, tx: Transaction) -> None:
        """Leave out of the elapsed time what lies between the last sign of life and now; first of all writes."""
        if self._run.active_since is not None and self._run.lease_age_ms is not None:
            queue.close_gap(tx, self._lease, tx.now - self._run.lease_age_ms)

    def _opening(self, tx: Transaction) -> None:
        lease, header, run = self._lease, self._header, self._run
        if tx.authority(lease).status == "pending":
            root = NewWork('["root"]', header.workflow, run.name, '{"input":' + dumps(header.inputs) + "}", depth=0)
            queue.enqueue(tx, lease, None, [root])
            queue.set_status(tx, lease, "running")

    async def _farewell(self) -> None:
        if self._failure is None:
            with suppress(JournalError):
                await self.clients.farewell()
                await asyncio.sleep(FAREWELL_S if self.clients.watched else 0)
        for peer in list(self._peers):
            peer.close()

    # --- peers -----------------------------------------------------------------------------------------------------

    def _on_message(self, peer: Peer, message: wire.AnyMessage) -> None:
        role = self._peers.get(peer)
        if role is None:
            self._introduce(peer, message)
        elif role == "client":
            self.clients.take(peer, message)
        elif role.startswith("heartbeat "):
            self.fleet.heard(role.removeprefix("heartbeat "))
        else:
            self.desk.take(role, peer, message)

    def _introduce(self, peer: Peer, message: wire.AnyMessage) -> None:
        match message:
            case wire.ClientHello():
                self._peers[peer] = "client"
            case wire.HeartbeatHello(worker=worker):
                self._peers[peer] = f"heartbeat {worker}"
            case wire.WorkerHello(worker=worker) if worker in self.fleet.members:
                self._peers[peer] = worker
                task = asyncio.ensure_future(self._take_in(worker, peer, message))
                task.add_done_callback(self._checked)
            case _:
                raise wire.WireError(f"{type(message).__name__} from a stranger")

    def _checked(self, task: asyncio.Future[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fatal(error)

    async def _take_in(self, worker: str, peer: Peer, hello: wire.WorkerHello) -> None:
        """Register a worker, adopt what it still holds, and only then let it talk.

        1. the earlier coordinator dies  2. the worker keeps its runs and finds us  3. its rows move to our epoch
        4. it is welcomed, and sends again what nobody answered. What it does not hold any more is requeued.
        """
        lease = self._lease
        await self.recorder.record(partial(queue.register_worker, lease=lease, worker=worker, identity=hello.identity))
        held = {n: generation for n, generation, _ in hello.held}
        self.fleet.joined(worker)
        self.dispatcher.workers[worker] = peer
        adopted: list[tuple[Token, int]] = []
        unknown = set(held)
        for item in self._takeover.held_by(worker) if self._takeover else []:
            unknown.discard(item.n)
            token = self.dispatcher.tokens.get(item.n)
            if token is None or held.get(item.n) != item.generation:
                continue
            with suppress(Refused, IllegalMove):
                adopted.append(
                    (
                        await self.recorder.record(
                            partial(queue.adopt, lease=lease, token=token, ttl_ms=self._lease_ms)
                        ),
                        item.starts,
                    )
                )
        peer.send(wire.Welcome(epoch=lease.epoch))
        self._tell_worker(worker, peer)
        for n in unknown:
            peer.send(wire.Abandon(n=n, generation=held[n], reason="it has ended"))
        if self.limits is not None:
            self.limits.joined(worker, hello.limits)
        self.dispatcher.feed(WorkerJoined(worker, self.sizes.slots))
        for token, starts in adopted:
            self.dispatcher.adopted(token)
            self.dispatcher.feed(Adopted(token.n, token.generation, starts, worker))
        for item in self._takeover.held_by(worker) if self._takeover else []:
            if item.n not in {token.n for token, _ in adopted}:
                self.dispatcher.feed(NotHeld(item.n))
        if worker in self.fleet.surplus():
            self._retire(worker)
        self.progress.alerts.pop(f"retained {worker}", None)

    def _on_lost(self, peer: Peer) -> None:
        role = self._peers.pop(peer, None)
        if role == "client":
            self.clients.lost(peer)
        elif role is not None and self.dispatcher.workers.get(role) is peer:
            # The process may live on without its connection; only its death, or its return, moves its work.
            del self.dispatcher.workers[role]

    # --- workers ---------------------------------------------------------------------------------------------------

    def _settings(self, worker: str) -> str:
        return WorkerSettings(
            worker=worker,
            run_id=self._run.run_id,
            number=self._lease.number,
            journal=str(self._journal.reader.path),
            socket=self._socket,
            cwd=self._run.cwd,
            epoch=self._lease.epoch,
            digest=self._digest,
            header=msgspec.structs.replace(self._header, slots=self.sizes.slots),
        ).to_json()

    def _worker_lost(self, worker: str, reason: str) -> None:
        self.dispatcher.workers.pop(worker, None)
        self.desk.activity.pop(worker, None)
        self.progress.alerts.pop(f"retained {worker}", None)
        log.warning("worker %s ended (%s)", worker, reason)
        self.recorder.add(partial(queue.forget_worker, lease=self._lease, worker=worker), lambda result: None)
        if self.limits is not None:
            self.limits.lost(worker)
        self.dispatcher.feed(WorkerLost(worker, reason))

    def _say_retained(self) -> None:
        if self._takeover is not None:
            self.progress.alerts |= takeover.retained(self._takeover, self.fleet)

    def _tell_workers(self) -> None:
        for worker, peer in self.dispatcher.workers.items():
            self._tell_worker(worker, peer)

    def _tell_worker(self, worker: str, peer: Peer) -> None:
        """Say what is in force; for a worker that is to go home every stage boundary is one to park at."""
        place = self.pool.places.get(worker)
        state = "pausing" if place is not None and place.retiring else self.controller.state
        peer.send(wire.ControlNow(state=state, stages=self.scopes.stages, slots=self.sizes.slots))

    def _resize(self) -> None:
        """Have as many workers, of as many slots, as is wished, none at a drained place."""
        self.scopes.places = self.sizes.workers
        for worker in self.fleet.set_size(self.sizes.workers, self.scopes.drained):
            self._retire(worker)
        self._tell_workers()

    def _retire(self, worker: str) -> None:
        """Give the worker nothing new, move its runs at their next stage boundary, and send it home."""
        self.dispatcher.feed(WorkerRetiring(worker))
        if (peer := self.dispatcher.workers.get(worker)) is not None:
            self._tell_worker(worker, peer)

    # --- the end ---------------------------------------------------------------------------------------------------

    def _stop_is_due(self) -> None:
        self._end(*self.controller.ends_as)

    def _blocked(self, n: int, reason: str) -> None:
        self._block(f"#{n}: {reason}" if n else reason)

    def _block(self, reason: str) -> None:
        """End as stop does, with its grace, but as ``blocked``: a person has to look."""
        if self.controller.ends_as[0] == "stopped":
            self.controller.ends_as = ("blocked", reason)
            self.pool.control = "stopping"
            task = asyncio.ensure_future(self.controller.stop("poolboard", reason, now=False))
            task.add_done_callback(self._checked)

    def _root_settled(self) -> None:
        self._end("completed", None)

    def _end(self, status: RunStatus, error: str | None) -> None:
        if self._ending is None:
            self.controller.closing = True
            self._ending = asyncio.ensure_future(self._wind_up(status, error))
            self._ending.add_done_callback(self._checked)

    async def _wind_up(self, status: RunStatus, error: str | None) -> None:
        """Send the workers home, see them gone, then record how it ended: nothing may run behind a recorded end."""
        for peer in self.dispatcher.workers.values():
            peer.send(wire.Goodbye())
        await self.fleet.stop()
        if self.limits is not None:
            await self.limits.leave()
        await self.post.close(status)
        await self.spending.children.keep_times()
        await self.recorder.drain()
        end = self._finish if status == "completed" else self.controller.stopped_member(status, error)
        self.hook_due = await self.recorder.record(partial(self._ended, end))
        self._done.set()

    def _ended(self, end: Callable[[Transaction], None], tx: Transaction) -> str | None:
        """Record the end, and with it the hook that is due."""
        end(tx)
        return hooks.claim(tx, self._lease, self._header.hooks)

    def _finish(self, tx: Transaction) -> None:
        """The root has settled: what it left unsettled is cancelled, and the run ends as its root did."""
        queue.cancel_left(tx, self._lease)
        queue.finish_as_root(tx, self._lease)

    def _fatal(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        self._done.set()
