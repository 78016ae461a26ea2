"""Actors on a Ray cluster that do an executor's work and search for ensembles. Nothing else imports ray."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from turnier.agents.agent import Decision
from turnier.agents.pool import Pool, SearchJob
from turnier.arena.executors import Batch, Executor, Lost
from turnier.games.errors import UserError


class RayWorker:
    """The actor: one process that does one piece of work after the other."""

    def work(self, do: Callable[[Any], Any], what: Any) -> Any:
        return do(what)


class Crew:
    """Actors that keep their kernels warm: on the cluster at `address`, else on a quiet local one."""

    PATIENCE = 600.0  # seconds that work may take, plus ten times the longest so far; then its worker is replaced

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or "local"
        self._ray = _connect(self.address, workers)
        cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if cpus < 1:
            _disconnect(self._ray)
            raise UserError(f"the Ray cluster at {self.address} must have at least 1 CPU, got none; add a worker node.")
        self.workers = workers or cpus
        self._actor_class = self._ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        self.actors = [self._actor_class.remote() for _ in range(self.workers)]
        self._load = [0] * self.workers
        self._flights: dict[Any, tuple[int, Any, float]] = {}  # ref -> actor's index, actor, when it was sent
        self._longest = 0.0

    def send(self, do: Callable[[Any], Any], what: Any) -> Any:
        """Lets the actor that has least to do call a function, which Ray ships by name; returns the ref."""
        worker = int(np.argmin(self._load))
        ref = self.actors[worker].work.remote(do, what)
        self._load[worker] += 1
        self._flights[ref] = (worker, self.actors[worker], time.monotonic())
        return ref

    def wait(self, refs: list[Any]) -> list[tuple[Any, Any]]:
        """Waits until at least one is done; returns its result, Lost, or what its work raised."""
        while True:
            done, _ = self._ray.wait(refs, num_returns=1, timeout=5.0)
            results = [(ref, self._collect(ref)) for ref in done]
            late = time.monotonic() - self.PATIENCE - 10 * self._longest
            for ref in refs:
                if ref in self._flights and self._flights[ref][2] < late:
                    results.append((ref, self._replace(ref)))
            if results:
                return results

    def _collect(self, ref: Any) -> Any:
        from ray import exceptions

        worker, _, sent = self._flights[ref]
        try:
            result = self._ray.get(ref)
        except (
            exceptions.ActorDiedError,
            exceptions.ActorUnavailableError,
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
        ):
            return self._replace(ref)
        except exceptions.RayTaskError as failure:
            result = failure.as_instanceof_cause()
        del self._flights[ref]
        self._load[worker] -= 1
        self._longest = max(self._longest, time.monotonic() - sent)
        return result

    def _replace(self, ref: Any) -> Lost:
        """Starts a new actor in place of the one that had `ref`, once for all of its work."""
        worker, actor, _ = self._flights.pop(ref)
        if self.actors[worker] is actor:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)
            self.actors[worker] = self._actor_class.remote()
        self._load[worker] -= 1
        return Lost()

    def close(self) -> None:
        for actor in self.actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)
        _disconnect(self._ray)


class RayExecutor(Executor):
    """Works in a crew of Ray actors."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.crew = Crew(workers, address)
        super().__init__(self.crew.workers)

    def submit(self, do: Batch, batch: list[Any]) -> Any:
        return self.crew.send(do, batch)

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, list[Any] | Lost]]:
        done = self.crew.wait(tickets)
        for _, result in done:
            if isinstance(result, Exception) and not isinstance(result, Lost):
                raise result
        return done

    def close(self) -> None:
        self.crew.close()


class RayPool(Pool):
    """Searches in a crew of Ray actors; what is lost with an actor is searched again, with the same seed."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.crew = Crew(workers, address)
        super().__init__(self.crew.workers)
        self._jobs: dict[Any, SearchJob | None] = {}  # ref -> the job, or None where nobody waits for it any more

    def submit(self, job: SearchJob) -> SearchJob:
        self._jobs[self.crew.send(SearchJob.run, job)] = job
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        done: list[tuple[SearchJob, Decision]] = []
        while not done:
            # Dropped searches are waited for, too, so that their workers count as free when they are.
            for ref, result in self.crew.wait(list(self._jobs)):
                job = self._jobs.pop(ref)
                if job is None:
                    continue
                if isinstance(result, Lost):
                    self.lost += 1
                    self.submit(job)
                elif isinstance(result, Exception):
                    raise result
                else:
                    done.append((job, result))
        return done

    def drop(self, tickets: list[SearchJob]) -> None:
        for ref, job in self._jobs.items():
            if job in tickets:
                self._jobs[ref] = None

    def close(self) -> None:
        self.crew.close()


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
