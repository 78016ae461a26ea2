"""Executors and pools by name."""

from __future__ import annotations

import os
from collections.abc import Iterable

from turnier.agents.agent import Agent
from turnier.agents.ensembles.ensemble import Ensemble
from turnier.agents.ensembles.pool import Pool, SerialPool, ThreadPool
from turnier.arena.workers.auto import AutoExecutor, say
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.core.errors import UserError, unknown

EXECUTORS = ("auto", "ray", "threads", "serial")


def make_executor(name: str, workers: int | None = None, address: str | None = None) -> Executor:
    """Returns the executor with that name; raises UserError for an unknown name or where it cannot start.

    `auto` is Ray where a cluster is named, otherwise see `AutoExecutor`; it tells the user which and why.
    """
    require_executor(name, workers, address)
    cluster = _cluster_named_by(address)
    if name == "ray" or (name == "auto" and cluster):
        from turnier.arena.workers.cluster.executor import RayExecutor

        ray = RayExecutor(workers, address)
        if name == "auto":
            say(f"Playing on Ray: {cluster} names a cluster.")
        return ray
    if name == "auto":
        return AutoExecutor(workers)
    return SerialExecutor() if name == "serial" else ThreadExecutor(workers)


def make_pool(agents: Iterable[Agent], name: str, workers: int | None = None, address: str | None = None) -> Pool:
    """Returns the pool with that name for members of ensembles; a serial one if none of the agents is an ensemble.

    Raises UserError as `make_executor` does.
    """
    require_executor(name, workers, address)
    if name == "serial" or not any(isinstance(agent, Ensemble) for agent in agents):
        return SerialPool()
    if name == "ray" or (name == "auto" and _cluster_named_by(address)):
        from turnier.arena.workers.cluster.executor import RayPool

        return RayPool(workers, address)
    return ThreadPool(workers)


def require_executor(name: str, workers: int | None, address: str | None) -> None:
    """Raises UserError for an unknown name and for options that do not fit it."""
    if name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    if address and name not in ("auto", "ray"):
        raise UserError(f"--address names a Ray cluster, got it with the executor {name}; use --executor ray.")
    if workers is not None and workers < 1:
        raise UserError(f"there must be at least 1 worker, got {workers}; choose more.")


def _cluster_named_by(address: str | None) -> str:
    """Returns what names the Ray cluster to join; empty where nothing does."""
    return "--address" if address else "RAY_ADDRESS" if os.environ.get("RAY_ADDRESS") else ""
