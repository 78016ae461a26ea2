"""Ray actors: started as CPUs appear, kept warm, and replaced when they are gone."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from turnier.arena.workers.cluster.connection import connect
from turnier.arena.workers.cluster.head import LOCAL, HeadMonitor
from turnier.arena.workers.cluster.local import LocalRay
from turnier.arena.workers.executor import Lost
from turnier.core.errors import UserError

CHECK_SECONDS = 2.0  # between two checks of nodes and silent workers
SILENT_SECONDS = 10.0  # a worker that returned nothing for this long is pinged
DEAD_SECONDS = 120.0  # without an answer; then the worker is replaced, however long its work may take
WARN_SECONDS = 10.0  # without any worker; then the user learns what is missing
START_ATTEMPTS = 5  # for every expected worker, before a cluster on which none starts is given up


class RayWorker:
    """The actor: a process that does one piece of work after another, and answers pings in between."""

    def work(self, do: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return do(argument)
        except MemoryError:
            raise UserError("a worker must have enough memory for its games, got less; start fewer workers.") from None
        except (KeyboardInterrupt, SystemExit) as failure:  # Ray would take them for its own
            name = type(failure).__name__
            raise UserError(f"an agent must let its worker go on, but its code raised {name}; fix it.") from None
        except OSError as failure:
            raise UserError(f"a worker must be able to work, got: {failure}; fix that.") from None

    def ping(self) -> tuple[str, str]:
        """Returns the actor's node and its version of Turnier."""
        import ray

        return ray.get_runtime_context().get_node_id(), _version()


@dataclass(eq=False)
class _Worker:
    actor: Any
    node: str = ""
    load: int = 0  # unfinished pieces of work
    ping: Any = None  # the ref of an unanswered ping
    last_answer: float = field(default_factory=time.monotonic)


class RayActors:
    """Actors on the cluster at `address`, otherwise on a local one: `workers`, or one per CPU."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or LOCAL
        self._requested = workers
        self._ready: list[_Worker] = []
        self._starting: dict[Any, _Worker] = {}  # by the ref of their first ping
        self._working: dict[Any, _Worker] = {}  # by the ref of the work
        self._lost: list[Any] = []  # refs of work whose worker is gone
        self._checked_at = -1e9
        self._waiting_since: float | None = None
        self._warned = False
        self._failed_starts = 0  # since a worker last joined
        self._connect()
        try:
            self._await_first_workers()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        self._ray = connect(self.address, self._requested)
        self._class = self._ray.remote(num_cpus=1, max_restarts=0, concurrency_groups={"pings": 1})(RayWorker)
        self._local = LocalRay(self._ray) if self.address == LOCAL else None
        self._head = HeadMonitor(self.address, self._ray.get_runtime_context().gcs_address)

    def _start_again(self) -> None:
        """Starts Ray on this machine again after it has ended; the work of all workers is lost."""
        print("Ray on this machine has ended; starting it again ...", file=sys.stderr, flush=True)
        self._lost += self._working
        for known in (self._working, self._ready, self._starting):
            known.clear()
        self._checked_at, self._waiting_since = -1e9, None
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
        """The number of workers that have no work."""
        return sum(worker.load == 0 for worker in self._ready)

    @property
    def objects(self) -> Any:
        """What keeps objects for workers of other machines (`put`); None if all are on this one."""
        return None if self._local else self._ray

    @property
    def handles(self) -> list[Any]:
        return [worker.actor for worker in self._ready]

    def size(self) -> tuple[int, int]:
        """Returns the cluster's nodes and CPUs."""
        nodes = self._nodes()
        return len(nodes), _cpus(nodes)

    def _nodes(self) -> dict[str, dict[str, float]]:
        """Returns the resources of the nodes that are alive."""
        nodes = self._local.nodes if self._local else self._ray.nodes()
        return {node["NodeID"]: node["Resources"] for node in nodes if node["Alive"]}

    def _await_first_workers(self) -> None:
        self._check_workers()
        if not self._starting:
            raise UserError(f"the Ray cluster at {self.address} must have at least 1 CPU, got none; add a worker node.")
        expected = len(self._starting)
        self._await_worker()
        deadline = time.monotonic() + 1.0  # workers of one machine start together
        while len(self._ready) < expected and time.monotonic() < deadline:
            self._admit_started(0.1)

    def _await_worker(self) -> None:
        """Waits until there is a worker; `wait` returns what is done or lost meanwhile."""
        while not self._ready:
            self._check_workers()
            if not self._admit_started(1.0):
                self._warn_of_missing_cpus()

    def send(self, do: Callable[[Any], Any], argument: Any) -> Any:
        """Lets the least busy actor call a function, which Ray ships by name; returns the ref."""
        self._await_worker()
        worker = min(self._ready, key=lambda worker: worker.load)
        ref = worker.actor.work.remote(do, argument)
        worker.load += 1
        self._working[ref] = worker
        return ref

    def wait(self, refs: list[Any]) -> list[tuple[Any, Any]]:
        """Waits until at least one ref is done or a worker joins; returns results: values, Lost, or exceptions."""
        while True:
            self._check_workers()
            results = [(ref, Lost()) for ref in self._lost]
            self._lost.clear()
            if results:
                return results
            done, _ = self._ray.wait([*refs, *self._starting], num_returns=1, timeout=1.0)
            joined = self._admit_started(0.0) if done and done[0] in self._starting else False
            results = [(ref, self._collect(ref)) for ref in done if ref in self._working]
            if results or joined:
                return results

    def _collect(self, ref: Any) -> Any:
        worker = self._working.pop(ref)
        try:
            result = self._ray.get(ref)
        except self._gone():
            self._drop(worker)
            return Lost()
        except self._ray.exceptions.RayError as failure:
            result = self._failure(worker, failure)
        worker.load -= 1
        worker.last_answer = time.monotonic()
        return result

    def _failure(self, worker: _Worker, failure: Exception) -> Exception:
        """Returns what an exception of Ray means: a sentence, or the exception that our own code raised."""
        cause = getattr(failure, "cause", None)
        if isinstance(cause, UserError):
            return self._sentence(worker, str(cause))
        if isinstance(cause, Exception) and not isinstance(cause, self._ray.exceptions.RayError):
            return cause
        lines = str(failure).strip().splitlines() or [type(failure).__name__]
        what = lines[-1 if isinstance(failure, self._ray.exceptions.RayTaskError) else 0].strip().rstrip(".")
        return self._sentence(worker, f"work must end with a result, got: {what}; repeat the command.")

    def _sentence(self, worker: _Worker, text: str) -> UserError:
        """Returns a worker's error, with the machine if it may be another one than ours."""
        if self._local:
            return UserError(text)
        machines = {node["NodeID"]: f"{node['NodeManagerHostname']} ({node['NodeName']})" for node in self._ray.nodes()}
        return UserError(f"on {machines.get(worker.node, 'a machine that has left')}: {text}")

    def _gone(self) -> tuple[type[Exception], ...]:
        """Returns the exceptions that Ray raises when a worker is gone."""
        exceptions = self._ray.exceptions
        return (
            exceptions.ActorDiedError,
            exceptions.ActorUnavailableError,
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
            exceptions.OutOfMemoryError,  # Ray ended it, so that the node lives on
        )

    def _drop(self, worker: _Worker) -> None:
        """Gives a worker up; all of its work is lost."""
        if worker in self._ready:
            self._ready.remove(worker)
            with contextlib.suppress(Exception):
                self._ray.kill(worker.actor)
        for ref in [ref for ref, owner in self._working.items() if owner is worker]:
            del self._working[ref]
            self._lost.append(ref)

    def _check_workers(self) -> None:
        """Drops dead and silent workers and starts new ones on free CPUs; at most every CHECK_SECONDS."""
        if self._local and (self._local.has_ended() or self._head.is_gone()):
            self._start_again()
        self._head.require()
        now = time.monotonic()
        if now - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = now
        nodes = self._nodes()
        for worker in list(self._ready):
            if worker.node not in nodes or self._is_silent(worker, now):
                self._drop(worker)
        target = self._requested or _cpus(nodes)
        while len(self._ready) + len(self._starting) < target:
            actor = self._class.remote()
            self._starting[_ping(actor)] = _Worker(actor)
        for ref in list(self._starting)[: max(0, len(self._ready) + len(self._starting) - target)]:
            with contextlib.suppress(Exception):
                self._ray.kill(self._starting.pop(ref).actor)  # its node left before it started

    def _is_silent(self, worker: _Worker, now: float) -> bool:
        if worker.ping is not None and self._ray.wait([worker.ping], timeout=0)[0]:
            worker.ping, worker.last_answer = None, now  # also if it raised: then its work raises too
        if worker.ping is None and worker.load and now - worker.last_answer > SILENT_SECONDS:
            # We may have been busy for longer, such as waiting for the database: the answer's time begins now.
            worker.ping, worker.last_answer = _ping(worker.actor), now - SILENT_SECONDS
        return worker.ping is not None and now - worker.last_answer > DEAD_SECONDS

    def _admit_started(self, timeout: float) -> bool:
        """Adds workers that have started; returns whether there are any."""
        refs = list(self._starting)
        started = self._ray.wait(refs, num_returns=1, timeout=timeout)[0] if refs else []
        started = self._ray.wait(refs, num_returns=len(refs), timeout=0)[0] if started else []
        joined = False
        for ref in started:
            worker = self._starting.pop(ref)
            try:
                worker.node, version = self._ray.get(ref)
            except self._ray.exceptions.RayTaskError as failure:
                raise UserError(
                    f"worker machines must have Turnier {_version()}, got: {str(failure).strip().splitlines()[-1]};"
                    " install it there."
                ) from None
            except self._ray.exceptions.RayError as failure:
                self._count_failed_start(failure)
                continue  # usually its node left; the next check starts another where there is room
            if version != _version():
                raise UserError(f"worker machines must have Turnier {_version()}, got {version}; install it there.")
            worker.last_answer = time.monotonic()
            self._ready.append(worker)
            self._failed_starts, joined = 0, True
        return joined

    def _count_failed_start(self, failure: Exception) -> None:
        """Raises UserError where workers end again and again before they answer, and none is left."""
        self._failed_starts += 1
        expected = self._requested or _cpus(self._nodes())
        if self._ready or self._failed_starts < START_ATTEMPTS * max(1, expected):
            return
        lines = [line.strip() for line in str(failure).strip().splitlines()] or [type(failure).__name__]
        reason = next((line for line in reversed(lines) if re.match(r"\w+Error: ", line)), lines[0]).rstrip(".")
        raise UserError(
            f"workers of the Ray cluster at {self.address} must start, but {self._failed_starts} attempts failed, the"
            f" last with: {reason}; install the same Python and Turnier on all machines."
        )

    def _warn_of_missing_cpus(self) -> None:
        """Prints once why nothing happens."""
        now = time.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        elif now - self._waiting_since > WARN_SECONDS and not self._warned:
            self._warned = True
            print(f"Waiting for a free CPU of the Ray cluster at {self.address} ...", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._head.is_gone():
            return  # every call would wait for it; the process ends anyway
        if not self._local:  # where all of Ray ends with us
            for worker in (*self._ready, *self._starting.values()):
                with contextlib.suppress(Exception):
                    self._ray.kill(worker.actor)
        self._disconnect()


def _ping(actor: Any) -> Any:
    return actor.ping.options(concurrency_group="pings").remote()


def _cpus(nodes: dict[str, dict[str, float]]) -> int:
    return int(sum(resources.get("CPU", 0) for resources in nodes.values()))


def _version() -> str:
    try:
        return metadata.version("turnier")
    except metadata.PackageNotFoundError:
        return "without a version"
