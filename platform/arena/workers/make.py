"""Executors and pools by name."""

from __future__ import annotations

from collections.abc import Iterable

from turnier.agents.agent import Agent
from turnier.agents.ensembles.ensemble import Ensemble
from turnier.agents.ensembles.pool import Pool, SerialPool, ThreadPool
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.core.errors import UserError, unknown

EXECUTORS = ("ray", "threads", "serial")


def make_executor(name: str, workers: int | None = None, address: str | None = None) -> Executor:
    """Returns the executor with that name; raises UserError for an unknown name or where it cannot start."""
    require_executor(name, workers, address)
    if name == "ray":
        from turnier.arena.workers.ray_executor import RayExecutor

        return RayExecutor(workers, address)
    return SerialExecutor() if name == "serial" else ThreadExecutor(workers)


def make_pool(agents: Iterable[Agent], name: str, workers: int | None = None, address: str | None = None) -> Pool:
    """Returns the pool with that name for members of ensembles; a serial one if none of the agents is an ensemble.

    Raises UserError as `make_executor` does.
    """
    require_executor(name, workers, address)
    if name == "serial" or not any(isinstance(agent, Ensemble) for agent in agents):
        return SerialPool()
    if name == "ray":
        from turnier.arena.workers.ray_executor import RayPool

        return RayPool(workers, address)
    return ThreadPool(workers)


def require_executor(name: str, workers: int | None, address: str | None) -> None:
    """Raises UserError for an unknown name and for options that do not fit it."""
    if name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    if address and name != "ray":
        raise UserError(f"--address names a Ray cluster, got it with the executor {name}; use --executor ray.")
    if workers is not None and workers < 1:
        raise UserError(f"there must be at least 1 worker, got {workers}; choose more.")
