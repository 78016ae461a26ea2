"""Where work is done: in this thread, in threads, or in Ray actors. Nothing else imports ray.

All three do the same batches of about a second through the same function, so that the choice never changes a move.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import os
import socket
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from turnier.arena.match import play_matches, prepare_matches
from turnier.arena.spec import MatchRecord, MatchSpec
from turnier.games.errors import UserError, unknown

TARGET_SECONDS = 1.0  # of work in a batch
GROWTH = 8  # a batch is at most this many times larger than the largest before it


class Timed(Protocol):
    """What every record says: how long the work took."""

    @property
    def seconds(self) -> float: ...


S = TypeVar("S")
R = TypeVar("R", bound=Timed)
Batch = Callable[..., list[Any]]  # what a worker calls: (specs) or (specs, stop) -> their records


class Work(NamedTuple, Generic[S, R]):
    """One kind of work; both are functions of a module, which Ray ships by name."""

    do: Callable[[Sequence[S], npt.NDArray[np.int64] | None], list[R]]  # once stop[0] is not 0 it leaves out the rest
    prepare: Callable[[Sequence[S]], None]  # refuses bad specs and compiles, before anything is done


MATCHES: Work[MatchSpec, MatchRecord] = Work(play_matches, prepare_matches)


class Lost(Exception):
    """The worker that had a batch is gone; the batch is done again elsewhere."""


class BatchSizer:
    """Chooses how many specs make about a second of work, from what earlier batches took."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seconds_each = 0.0
        self.largest = 0

    def size(self, remaining: int) -> int:
        """Returns the next batch's size; small at first, and small again at the end so that no worker idles long."""
        if self.seconds_each == 0.0:
            return 1
        wanted = int(TARGET_SECONDS / self.seconds_each)
        fair = -(-remaining // (2 * self.workers))
        return max(1, min(wanted, fair, self.largest * GROWTH))

    def observe(self, done: int, seconds: float) -> None:
        latest = max(seconds, 1e-6) / done
        # Agents differ, so recent batches count most; a slow one at once, lest batches grow too long.
        self.seconds_each = max(latest, 0.5 * (self.seconds_each + latest))
        self.largest = max(self.largest, done)


class Executor(ABC):
    """Does work on some workers; use it as a context manager."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}.")
        self.workers = workers

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def submit(self, do: Batch, batch: list[Any]) -> Any:
        """Starts a batch and returns its ticket (hashable)."""

    @abstractmethod
    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, list[Any] | Lost]]:
        """Waits until at least one ticket is done; returns what is."""

    @abstractmethod
    def close(self) -> None:
        """Stops the workers; batches in flight are dropped."""

    def play(self, specs: Iterable[MatchSpec]) -> Iterator[list[MatchRecord]]:
        """Plays matches and yields their records, see `run`."""
        return self.run(MATCHES, specs)

    def run(self, work: Work[S, R], specs: Iterable[S]) -> Iterator[list[R]]:
        """Does work and yields its records batch by batch, in order of completion.

        A lost batch is done again, what was yielded never is. At most two batches a worker are in flight.
        """
        waiting = deque(specs)
        work.prepare(list(waiting))
        sizer = BatchSizer(self.workers)
        flying: dict[Any, list[S]] = {}
        while waiting or flying:
            while waiting and len(flying) < 2 * self.workers:
                batch = [waiting.popleft() for _ in range(min(len(waiting), sizer.size(len(waiting))))]
                flying[self.submit(work.do, batch)] = batch
            for ticket, result in self.wait(list(flying)):
                batch = flying.pop(ticket)
                if isinstance(result, Lost):
                    waiting.extendleft(reversed(batch))
                    continue
                sizer.observe(len(batch), sum(record.seconds for record in result))
                yield result


class SerialExecutor(Executor):
    """Works in the calling thread."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(1)
        self._done: dict[int, list[Any]] = {}

    def submit(self, do: Batch, batch: list[Any]) -> int:
        ticket = len(self._done)
        self._done[ticket] = do(batch)
        return ticket

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, list[Any] | Lost]]:
        done, self._done = self._done, {}
        return done.items()

    def close(self) -> None:
        self._done.clear()


class ThreadExecutor(Executor):
    """Works in threads of this process; compiled code runs without the GIL."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(os.cpu_count() or 1 if workers is None else workers)
        self._pool = concurrent.futures.ThreadPoolExecutor(self.workers, "turnier")
        self._stop = np.zeros(1, np.int64)

    def submit(self, do: Batch, batch: list[Any]) -> concurrent.futures.Future[list[Any]]:
        return self._pool.submit(do, batch, self._stop)

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, list[Any] | Lost]]:
        done, _ = concurrent.futures.wait(tickets, return_when=concurrent.futures.FIRST_COMPLETED)
        return [(future, future.result()) for future in done]

    def close(self) -> None:
        self._stop[0] = 1  # compiled matches look at it before every decision
        self._pool.shutdown(wait=True, cancel_futures=True)


class RayExecutor(Executor):
    """Works in Ray actors that keep their kernels warm: on the cluster at `address`, else on a quiet local one."""

    PATIENCE = 600.0  # seconds that a batch may take, plus ten times the longest so far; then its worker is replaced

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or "local"
        self._ray = _connect(self.address, workers)
        cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if cpus < 1:
            _disconnect(self._ray)
            raise UserError(f"the Ray cluster at {self.address} must have at least 1 CPU, got none; add a worker node.")
        super().__init__(workers or cpus)
        self._actor_class = self._ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        self._actors = [self._actor_class.remote() for _ in range(self.workers)]
        self._load = [0] * self.workers
        self._flights: dict[Any, tuple[int, Any, float]] = {}  # ref -> actor's index, actor, when it was sent
        self._longest = 0.0

    def submit(self, do: Batch, batch: list[Any]) -> Any:
        worker = int(np.argmin(self._load))
        ref = self._actors[worker].work.remote(do, batch)
        self._load[worker] += 1
        self._flights[ref] = (worker, self._actors[worker], time.monotonic())
        return ref

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, list[Any] | Lost]]:
        while True:
            done, _ = self._ray.wait(tickets, num_returns=1, timeout=5.0)
            results = [(ref, self._collect(ref)) for ref in done]
            late = time.monotonic() - self.PATIENCE - 10 * self._longest
            for ref in tickets:
                if ref in self._flights and self._flights[ref][2] < late:
                    results.append((ref, self._replace(ref)))
            if results:
                return results

    def _collect(self, ref: Any) -> list[Any] | Lost:
        from ray import exceptions

        worker, _, sent = self._flights[ref]
        try:
            records: list[Any] = self._ray.get(ref)
        except (
            exceptions.ActorDiedError,
            exceptions.ActorUnavailableError,
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
        ):
            return self._replace(ref)
        except exceptions.RayTaskError as failure:
            raise failure.as_instanceof_cause() from None
        del self._flights[ref]
        self._load[worker] -= 1
        self._longest = max(self._longest, time.monotonic() - sent)
        return records

    def _replace(self, ref: Any) -> Lost:
        """Starts a new actor in place of the one that had `ref`, once for all of its batches."""
        worker, actor, _ = self._flights.pop(ref)
        if self._actors[worker] is actor:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)
            self._actors[worker] = self._actor_class.remote()
        self._load[worker] -= 1
        return Lost()

    def close(self) -> None:
        for actor in self._actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)
        _disconnect(self._ray)


class RayWorker:
    """The actor: one process that does one batch after the other."""

    def work(self, do: Batch, batch: list[Any]) -> list[Any]:
        return do(batch)


def _connect(address: str, workers: int | None) -> Any:
    """Starts or joins Ray, quietly; raises UserError with one sentence where that fails."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address == "local":
        # Ray's ports listen on all interfaces unless told that this machine is the whole cluster.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address == "local":
            cpus = workers or os.cpu_count() or 1
            ray.init(
                address, num_cpus=cpus, include_dashboard=False, object_store_memory=128 << 20,
                runtime_env={"env_vars": {"NUMBA_NUM_THREADS": "1"}}, **quiet,
            )  # fmt: skip
        else:
            _require_reachable(address)
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as failure:
        reason = next(iter(str(failure).strip().splitlines()), type(failure).__name__).rstrip(".")
        raise UserError(
            f"a Ray cluster must answer at {address}, got: {reason}; start one with `ray start --head`,"
            " set RAY_AUTH_MODE=token if it asks for a token, or leave --address out."
        ) from None
    return ray


def _require_reachable(address: str) -> None:
    """Raises ConnectionError where nobody listens: ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        if address == "auto":
            return
        raise ConnectionError("the address is not HOST:PORT or auto")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=5):
        pass


def _disconnect(ray: Any) -> None:
    with contextlib.suppress(Exception):
        ray.shutdown()


EXECUTORS = ("ray", "threads", "serial")


def make_executor(name: str, workers: int | None = None, address: str | None = None) -> Executor:
    """Returns the executor of that name; raises UserError where there is none or it cannot start."""
    if name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    if address and name != "ray":
        raise UserError(f"--address names a Ray cluster, got it with the executor {name}; use --executor ray.")
    if workers is not None and workers < 1:
        raise UserError(f"there must be at least 1 worker, got {workers}.")
    if name == "ray":
        return RayExecutor(workers, address)
    return SerialExecutor() if name == "serial" else ThreadExecutor(workers)
