"""Ray actors: started as CPUs appear, kept warm, and replaced when they are gone."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ....core.errors import UserError
from ..executor import Lost
from .connection import connect
from .crew import Crew, Piece, Worker
from .head import LOCAL, HeadMonitor
from .local import LocalRay
from .machines.admission import Admission, place_of
from .machines.nodes import Compiling, Nodes, Selection, Waiting, missing, tell
from .shares import Shares
from .worker import NotBegun, RayWorker, ask, failure_of, gone, reason_of

CHECK_SECONDS = 2.0  # between two checks of nodes and silent workers
SILENT_SECONDS = 10.0  # a worker that has returned nothing for so long is pinged
MOST_PINGS = 100  # per second: many workers are pinged less often
DEAD_SECONDS = 120.0  # without an answer; then the worker is replaced, even in long work
FIRST_SECONDS = 10.0  # of waiting for the first worker
START_ATTEMPTS = 5  # for every expected worker, before giving up a cluster without any
GATHER_SECONDS = 1e-5  # per piece in flight: taking results of this time together saves half the time
MOST_GATHER_SECONDS = 0.05


class RayActors:
    """Actors on the cluster at `address`, otherwise on a local one: `workers`, or one per CPU.

    Several drivers share a cluster's CPUs in proportion to `priority`.

    Args:
        workers: their number; an autoscaler sees them as its demand.
        address: address of the cluster.
        priority: weight relative to other drivers, above 0.
        resources: amounts of Ray's resources that each worker needs besides its CPU.
        labels: labels of the usable nodes, as Ray selects them: x, !x, in(x,y), !in(x,y).

    Raises UserError if there is no such cluster. If no worker starts within FIRST_SECONDS, `workers` is 0, and `send`
    waits for one.
    """

    def __init__(
        self,
        workers: int | None = None,
        address: str | None = None,
        *,
        priority: float = 1.0,
        resources: Mapping[str, float] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or LOCAL
        self._requested = workers
        self._selection = Selection(resources or {}, labels or {})
        self._ready = Crew()
        self._starting: dict[concurrent.futures.Future[Any], Worker] = {}  # by their first ping
        self._leaving: dict[Worker, None] = {}  # their CPUs belong to others; they finish the work they have begun
        self._working: dict[Piece, None] = {}
        self._results: dict[Piece, Any] = {}  # not yet returned by `wait`
        self._returned: list[Piece] = []  # work that has lost its worker
        self._shares = None if self.address == LOCAL else Shares(priority)
        self._started: list[concurrent.futures.Future[Any]] = []
        # Pieces and futures of first pings; Ray's thread puts them.
        self._arrivals: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._checked_at = -1e9
        self._waiting = Waiting()
        self._failed_starts = 0  # since the last worker joined
        self.admission = Admission(self.address)
        self._connect()
        try:
            self._await_first_workers()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        self._ray = connect(self.address, self._requested)
        try:
            self._class = self._selection.actor_of(self._ray, RayWorker)
        except UserError:
            self._ray.shutdown()
            raise
        self._local = LocalRay(self._ray) if self.address == LOCAL else None
        self._gcs_address = self._ray.get_runtime_context().gcs_address
        self._head = HeadMonitor(self.address, self._gcs_address)
        self._nodes = Nodes(self._selection)
        self._compiling = Compiling(self._nodes)

    def _start_again(self) -> None:
        """Starts Ray on this machine again after it has ended; the work of all workers is lost."""
        tell("Ray on this machine has ended; starting it again ...")
        self._results |= {piece: Lost() for piece in (*self._working, *self._returned)}
        for known in (self._working, self._returned, self._ready, self._starting, self._leaving):
            known.clear()
        self._checked_at = -1e9
        self._waiting.is_over()
        self._disconnect()
        self._connect()

    def _disconnect(self) -> None:
        self._head.stop()
        with contextlib.suppress(Exception):
            self._ray.shutdown()
        if self._local:
            self._local.close()

    @property
    def workers(self) -> int:
        """The current number of workers."""
        return len(self._ready)

    @property
    def idle(self) -> int:
        """The number of workers without work."""
        return self._ready.idle

    @property
    def objects(self) -> Any:
        """Ray, which keeps objects for workers of other machines (`put`); None if all are on this one."""
        return None if self._local else self._ray

    @property
    def handles(self) -> list[Any]:
        return [worker.actor for worker in self._ready]

    @property
    def next_speed(self) -> float:
        """The speed of the worker that gets the next work, relative to the mean of all."""
        return self._ready.least_busy().speed if self._ready else 1.0

    def observe(self, piece: Piece, units: int, seconds: float) -> None:
        """Notes the time that a worker took for the `units` games or searches of a finished piece."""
        if piece.worker is not None:
            self._ready.observe(piece.worker, units, seconds)

    def size(self) -> tuple[int, int]:
        """Returns the numbers of the cluster's nodes, and of the CPUs that workers may use."""
        found = self._found()
        return sum(node["Alive"] for node in found), sum(self._room(found).values())

    def _found(self) -> list[dict[str, Any]]:
        return list(self._local.nodes if self._local else self._ray.nodes())

    def _room(self, found: list[dict[str, Any]]) -> dict[str, int]:
        """Returns the room for workers on each machine that is alive and may play."""
        alive = [node for node in found if node["Alive"] and node["NodeID"] not in self.admission.refused]
        return {node["NodeID"]: self._selection.workers_on(node) for node in alive}

    def _await_first_workers(self) -> None:
        began = time.monotonic()
        self._check_workers()
        expected = len(self._starting)
        while not self._ready and (self._local or time.monotonic() - began < FIRST_SECONDS):
            self._check_workers()
            self._admit_started(0.1)
        deadline = time.monotonic() + 1.0  # workers of one machine start together
        while self._ready and len(self._ready) < expected and time.monotonic() < deadline:
            self._admit_started(0.1)

    def _await_worker(self) -> None:
        """Waits until there is a worker; `wait` returns results and losses of this time."""
        while not self._ready:
            self._check_workers()
            if not self._admit_started(1.0):
                self._waiting.go_on(self.missing)

    def send(self, do: Callable[[Any], Any], argument: Any, count: int = 1) -> Piece:
        """Makes the least busy actor call a function, which Ray ships by name.

        Args:
            do: the function.
            argument: its argument.
            count: number of games or searches in it.
        """
        self._await_worker()
        piece = Piece(do, argument, count)
        self._begin(piece)
        return piece

    def _begin(self, piece: Piece) -> None:
        worker = piece.worker = self._ready.least_busy()
        self._ready.give(worker, piece)
        self._working[piece] = None
        if self._shares and not self._ready.idle:
            self._shares.note_all_busy()
        # For Ray, the cost of waiting grows with the number of refs, for each result; this does not.
        piece.future = worker.actor.work.remote(piece.do, piece.argument).future()
        piece.future.add_done_callback(lambda _: self._arrivals.put(piece))

    def wait(self, pieces: Collection[Piece]) -> list[tuple[Piece, Any]]:
        """Waits until at least one piece is done or a worker joins; returns results: values, Lost, or exceptions."""
        wanted = set(pieces)
        while True:
            self._check_workers()
            self._receive(1.0 if wanted.isdisjoint(self._results) else 0.0)
            joined = self._admit_started(0.0)
            done = [piece for piece in self._results if piece in wanted]
            if done or joined:
                return [(piece, self._results.pop(piece)) for piece in done]
            if not self._ready:
                self._waiting.go_on(self.missing)

    def results_now(self) -> list[tuple[Piece, Any]]:
        """Returns all results so far, like `wait`."""
        self._check_workers()
        self._receive(0.0)
        self._admit_started(0.0)
        results = list(self._results.items())
        self._results.clear()
        return results

    def _receive(self, seconds: float) -> None:
        """Takes everything that has arrived; if there is nothing, waits up to so many seconds."""
        with contextlib.suppress(queue.Empty):
            arrivals = [self._arrivals.get(timeout=seconds) if seconds else self._arrivals.get_nowait()]
            if seconds and len(self._working) * GATHER_SECONDS > 1e-3:
                time.sleep(min(len(self._working) * GATHER_SECONDS, MOST_GATHER_SECONDS))
            while not self._arrivals.empty():
                arrivals.append(self._arrivals.get_nowait())
            for arrival in arrivals:
                if isinstance(arrival, Piece):
                    self._collect(arrival)
                else:
                    self._started.append(arrival)

    def _collect(self, piece: Piece) -> None:
        """Takes the result of a piece whose worker has answered or ended."""
        worker = piece.worker
        if piece not in self._working or worker is None or piece.future is None:
            return  # it was given up
        try:
            result = piece.future.result()
        except gone():
            self._drop(worker)
            return
        except self._ray.exceptions.RayError as failure:
            result = failure_of(failure, "" if self._local else self._nodes.name(worker.node))
        del self._working[piece]
        self._ready.take(worker, piece)
        worker.last_answer = time.monotonic()
        self._compiling.is_over(worker.node)
        if isinstance(result, NotBegun):
            self._returned.append(piece)
            self._begin_returned()
        else:
            self._results[piece] = result
        if worker in self._leaving and not worker.pieces:
            self._end(worker)

    def _begin_returned(self) -> None:
        while self._returned and self._ready:
            self._begin(self._returned.pop())

    def _drop(self, worker: Worker) -> None:
        """Gives a worker up; all of its work is lost."""
        if worker in self._ready:
            self._ready.remove(worker)
        self._nodes.note_lost(worker.node, sum(piece.count for piece in worker.pieces))
        for piece in worker.pieces:
            del self._working[piece]
            self._results[piece] = Lost()
        worker.pieces.clear()
        self._end(worker)

    def _end(self, worker: Worker) -> None:
        self._leaving.pop(worker, None)
        with contextlib.suppress(Exception):
            self._ray.kill(worker.actor)

    def _let_go(self, worker: Worker) -> None:
        """Ends a worker as soon as it has finished its current work."""
        self._ready.remove(worker)
        self._leaving[worker] = None
        if worker.pieces:
            ask(worker.actor.leave)
        else:
            self._end(worker)

    def _check_workers(self) -> None:
        """Drops dead and silent workers and starts new ones on free CPUs; at most every CHECK_SECONDS."""
        if self._local and (self._local.has_ended() or self._head.is_gone()):
            self._start_again()
        self._head.require()
        now = time.monotonic()
        if now - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = now
        found = self._found()
        nodes = self._room(found)
        if not any(nodes.values()):
            self.admission.require_some(node["NodeID"] for node in found if node["Alive"])
        for worker in [*self._ready, *self._leaving]:
            if worker.node not in nodes or self._is_silent(worker, now):
                self._drop(worker)
        if not self._local:
            self._nodes.look(found)
            self._compiling.check(self._ready, now)
        self._reach(self._target(nodes))

    def _target(self, nodes: Mapping[str, int]) -> int:
        """Returns this driver's number of workers: with zero CPUs it wants one, as a sign to an autoscaler."""
        most = self._requested or max(1, sum(nodes.values()))
        return self._shares.of_this(nodes, most, self._ready, not self._selection) if self._shares else most

    def _reach(self, target: int) -> None:
        """Starts workers, or releases some, until there are `target`."""
        while len(self._ready) + len(self._starting) < target:
            actor = self._class.options(**self._selection.options(self.admission.selector())).remote()
            ping = ask(actor.ping)
            self._starting[ping] = Worker(actor)
            ping.add_done_callback(self._arrivals.put)
        excess = len(self._ready) + len(self._starting) - target
        for ping in list(self._starting)[: max(0, excess)]:
            self._end(self._starting.pop(ping))  # its node left before it started, or belongs to other drivers
        for worker in list(self._ready)[: max(0, len(self._ready) - target)]:
            self._let_go(worker)

    def _is_silent(self, worker: Worker, now: float) -> bool:
        if worker.ping is not None and worker.ping.done():
            worker.ping, worker.last_answer = None, now  # even if it raised: then its work raises too
        silent_seconds = max(SILENT_SECONDS, len(self._ready) / MOST_PINGS)
        if worker.ping is None and worker.pieces and now - worker.last_answer > silent_seconds:
            # We may have been busy for longer, for example with the database: the answer's time begins now.
            worker.ping, worker.last_answer = ask(worker.actor.ping), now
        return worker.ping is not None and now - worker.last_answer > DEAD_SECONDS - SILENT_SECONDS

    def _admit_started(self, timeout: float) -> bool:
        """Adds started workers; returns whether there are any."""
        if timeout and not self._started:
            self._receive(timeout)
        joined = False
        started, self._started = self._started, []
        for ping in started:
            worker = self._starting.pop(ping, None)
            if worker is None:
                continue  # it was given up
            try:
                other = ping.result()
            except self._ray.exceptions.RayError as failure:
                self._count_failed_start(worker, failure)
                continue  # usually its node left; the next check starts another if there is room
            is_known = isinstance(other, dict)  # otherwise of an earlier version
            worker.node, name = (other["node"], other["name"]) if is_known else place_of(self._ray, worker.actor)
            if not self.admission.admits(other, worker.node, name):
                self._checked_at = -1e9  # others may start in its place
                self._end(worker)
                continue
            worker.last_answer = time.monotonic()
            self._ready.add(worker)
            self._failed_starts, joined = 0, True
            self._waiting.is_over()
        self._begin_returned()
        if self._ready:
            self.admission.tell()
        return joined

    def prove(self, node: str, agrees: bool) -> None:
        """Notes whether games on a node were as here; if not, gives up all of its workers."""
        self.admission.prove(node, agrees)
        for worker in [worker for worker in self._ready if worker.node in self.admission.refused]:
            self._drop(worker)

    def _count_failed_start(self, worker: Worker, failure: Exception) -> None:
        """Leaves the node out if the failure is permanent; raises UserError if no worker starts on any node."""
        node, name = ("", "") if self._local else place_of(self._ray, worker.actor)
        if node:
            room = self._room(self._found()).get(node, 1)
            self.admission.failed(reason_of(failure), node, name, START_ATTEMPTS * max(1, room))
            return
        self._failed_starts += 1
        expected = self._requested or self.size()[1]
        if self._ready or self._failed_starts < START_ATTEMPTS * max(1, expected):
            return
        raise UserError(
            f"workers of the Ray cluster at {self.address} must start, but {self._failed_starts} attempts failed, the"
            f" last with: {reason_of(failure)}; install the same Python and Turnier on all machines."
        )

    def missing(self) -> tuple[str, str]:
        """Returns the reason for having no worker, and a remedy."""
        return missing(self.address, self._gcs_address, *self.size(), self._selection)

    def close(self) -> None:
        if self._head.is_gone():
            return  # every call would wait for the head; the process ends anyway
        if not self._local:  # a local Ray ends with us
            for worker in (*self._ready, *self._leaving, *self._starting.values()):
                with contextlib.suppress(Exception):
                    self._ray.kill(worker.actor)
        if self._shares:
            with contextlib.suppress(Exception):
                self._shares.leave()
        self._disconnect()
