"""A crew of Ray actors: started as CPUs appear, kept warm, and left where they are gone. Nothing else imports ray."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from turnier.arena.workers.executor import Lost
from turnier.arena.workers.ray_head import HeadMonitor
from turnier.core.errors import UserError

LOOK_SECONDS = 2.0  # how often nodes and silent workers are looked after
SILENT_SECONDS = 10.0  # a worker that had nothing to say for so long is asked for a sign of life
PATIENCE = 120.0  # seconds without one; then it is replaced, however long its work may take
TELL_SECONDS = 10.0  # nobody works for so long: say what is missing
# A link that is cut without a word is noticed by this (nodes need it, too; see README).
KEEPALIVE = {"RAY_grpc_client_keepalive_time_ms": "5000", "RAY_grpc_client_keepalive_timeout_ms": "5000"}

# On one machine a node is silent only because there is much to do; by default Ray gives it up after half a minute.
PATIENT = {"health_check_failure_threshold": 200}


class RayWorker:
    """The actor: one process that does one piece of work after the other, and gives signs of life meanwhile."""

    def work(self, do: Callable[[Any], Any], what: Any) -> Any:
        return do(what)

    def sign(self) -> tuple[str, str]:
        """Returns the node that it is on and its version of Turnier."""
        import ray

        return ray.get_runtime_context().get_node_id(), _version()


@dataclass(eq=False)
class _Worker:
    actor: Any
    node: str = ""
    load: int = 0
    sign: Any = None  # the ref of a sign of life that was asked for
    heard: float = field(default_factory=time.monotonic)


class RayActors:
    """Actors on the cluster at `address`, else on a quiet local one: `workers`, or as many as it has CPUs meanwhile."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or "local"
        self._ray = connect(self.address, workers)
        self._wanted = workers
        self._class = self._ray.remote(num_cpus=1, max_restarts=0, concurrency_groups={"signs": 1})(RayWorker)
        self._ready: list[_Worker] = []
        self._starting: dict[Any, _Worker] = {}  # by their first sign of life
        self._flights: dict[Any, _Worker] = {}
        self._lost: list[Any] = []
        self._looked = self._told = -1e9
        self._head = HeadMonitor(self.address, self._ray.get_runtime_context().gcs_address)
        try:
            self._await_first()
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> int:
        """How many there are now."""
        return len(self._ready)

    @property
    def handles(self) -> list[Any]:
        return [worker.actor for worker in self._ready]

    def size(self) -> tuple[int, int]:
        """Returns the cluster's nodes and CPUs."""
        nodes = self._nodes()
        return len(nodes), int(sum(resources.get("CPU", 0) for resources in nodes.values()))

    def _nodes(self) -> dict[str, dict[str, float]]:
        """Returns the resources of the nodes that are alive."""
        return {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}

    def _await_first(self) -> None:
        self._look_after()
        if not self._starting:
            raise UserError(f"the Ray cluster at {self.address} must have at least 1 CPU, got none; add a worker node.")
        expected = len(self._starting)
        self._await_worker()
        deadline = time.monotonic() + 1.0  # those of one machine start together
        while len(self._ready) < expected and time.monotonic() < deadline:
            self._welcome(0.1)

    def _await_worker(self) -> None:
        """Waits until there is one; what is done or lost meanwhile is for `wait` to tell."""
        while not self._ready:
            self._look_after()
            if not self._welcome(1.0):
                self._tell_who_is_missing()

    def send(self, do: Callable[[Any], Any], what: Any) -> Any:
        """Lets the actor that has least to do call a function, which Ray ships by name; returns the ref."""
        self._await_worker()
        worker = min(self._ready, key=lambda worker: worker.load)
        ref = worker.actor.work.remote(do, what)
        worker.load += 1
        self._flights[ref] = worker
        return ref

    def wait(self, refs: list[Any]) -> list[tuple[Any, Any]]:
        """Waits until at least one is done or a worker joins; returns what is done: its result, Lost, or an error."""
        while True:
            self._look_after()
            results = [(ref, Lost()) for ref in self._lost]
            self._lost.clear()
            if results:
                return results
            done, _ = self._ray.wait([*refs, *self._starting], num_returns=1, timeout=1.0)
            joined = self._welcome(0.0) if done and done[0] in self._starting else False
            results = [(ref, self._collect(ref)) for ref in done if ref in self._flights]
            if results or joined:
                return results

    def _collect(self, ref: Any) -> Any:
        worker = self._flights.pop(ref)
        try:
            result = self._ray.get(ref)
        except self._gone():
            self._leave(worker)
            return Lost()
        except self._ray.exceptions.RayTaskError as failure:
            result = failure.as_instanceof_cause()
        worker.load -= 1
        worker.heard = time.monotonic()
        return result

    def _gone(self) -> tuple[type[Exception], ...]:
        """What Ray raises where a worker is gone."""
        found = self._ray.exceptions
        return (
            found.ActorDiedError,
            found.ActorUnavailableError,
            found.WorkerCrashedError,
            found.NodeDiedError,
            found.ObjectLostError,
        )

    def _leave(self, worker: _Worker) -> None:
        """Gives a worker up; all of its work is lost, once."""
        if worker in self._ready:
            self._ready.remove(worker)
            with contextlib.suppress(Exception):
                self._ray.kill(worker.actor)
        for ref in [ref for ref, its in self._flights.items() if its is worker]:
            del self._flights[ref]
            self._lost.append(ref)

    def _look_after(self) -> None:
        """Every LOOK_SECONDS: gives up workers of dead nodes and silent ones, and starts some where there are CPUs."""
        self._head.require()
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        nodes = self._nodes()
        if self.address == "local" and not nodes:
            raise UserError("Ray on this machine must go on, but it has ended; repeat the command, which goes on, too.")
        for worker in list(self._ready):
            if worker.node not in nodes or self._is_silent(worker, now):
                self._leave(worker)
        wanted = self._wanted or int(sum(resources.get("CPU", 0) for resources in nodes.values()))
        while len(self._ready) + len(self._starting) < wanted:
            actor = self._class.remote()
            self._starting[_ask(actor)] = _Worker(actor)
        for ref in list(self._starting)[: max(0, len(self._ready) + len(self._starting) - wanted)]:
            with contextlib.suppress(Exception):
                self._ray.kill(self._starting.pop(ref).actor)  # its node left before it started

    def _is_silent(self, worker: _Worker, now: float) -> bool:
        if worker.sign is not None and self._ray.wait([worker.sign], timeout=0)[0]:
            worker.sign, worker.heard = None, now  # also where it raised: then its work does, too
        if worker.sign is None and worker.load and now - worker.heard > SILENT_SECONDS:
            worker.sign = _ask(worker.actor)
        return worker.sign is not None and now - worker.heard > PATIENCE

    def _welcome(self, timeout: float) -> bool:
        """Takes up workers that have started; returns whether there are any."""
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
            except self._ray.exceptions.RayError:
                continue  # its node left; where another has room, the next look starts one
            if version != _version():
                raise UserError(f"worker machines must have Turnier {_version()}, got {version}; install it there.")
            worker.heard = time.monotonic()
            self._ready.append(worker)
            joined = True
        return joined

    def _tell_who_is_missing(self) -> None:
        now = time.monotonic()
        if self._told < 0:
            self._told = now
        elif now - self._told > TELL_SECONDS:
            self._told = now + 1e9  # once is enough
            print(f"Waiting for a free CPU of the Ray cluster at {self.address} ...", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._head.is_gone():
            return  # every call would wait for it; the process ends anyway
        self._head.stop()
        for worker in (*self._ready, *self._starting.values()):
            with contextlib.suppress(Exception):
                self._ray.kill(worker.actor)
        disconnect(self._ray)


def _ask(actor: Any) -> Any:
    return actor.sign.options(concurrency_group="signs").remote()


def _version() -> str:
    try:
        return metadata.version("turnier")
    except metadata.PackageNotFoundError:
        return "without a version"


def connect(address: str, workers: int | None) -> Any:
    """Starts or joins Ray, quietly; raises UserError with one sentence where that fails."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address == "local":
        # Ray's ports listen on all interfaces unless told that this machine is the whole cluster.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    else:
        for name, value in KEEPALIVE.items():
            os.environ.setdefault(name, value)
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address == "local":
            cpus = workers or os.cpu_count() or 1
            ray.init(
                address, num_cpus=cpus, include_dashboard=False, object_store_memory=128 << 20,
                runtime_env={"env_vars": {"NUMBA_NUM_THREADS": "1"}}, _system_config=PATIENT, **quiet,
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


def disconnect(ray: Any) -> None:
    with contextlib.suppress(Exception):
        ray.shutdown()
