"""Executors and pools for a place to play."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from turnier.agents.agent import Agent
from turnier.agents.ensembles.ensemble import Ensemble
from turnier.agents.ensembles.pool import Pool, SerialPool, ThreadPool
from turnier.arena.workers.auto import AutoExecutor, say
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.arena.workers.where import Where


def make_executor(where: Where) -> Executor:
    """Returns the executor of a place; raises UserError if it cannot start.

    `auto` is Ray if a cluster is named, otherwise see `AutoExecutor`; it tells the user which and why.
    """
    if where.on_ray:
        from turnier.arena.workers.cluster.executor import RayExecutor

        ray = RayExecutor(where.workers, where.address)
        if where.executor == "auto":
            say(f"Playing on Ray: {where.cluster_named_by} names a cluster.")
        return ray
    if where.executor == "auto":
        return AutoExecutor(where.workers)
    return SerialExecutor() if where.executor == "serial" else ThreadExecutor(where.workers)


def at_work(where: Where | Executor) -> AbstractContextManager[Executor]:
    """Returns the executor of a place, which is closed at the end, or one that has been started, which stays open."""
    return make_executor(where) if isinstance(where, Where) else nullcontext(where)


def make_pool(agents: Iterable[Agent], where: Where) -> Pool:
    """Returns the pool of a place for members of ensembles; a serial one if none of the agents is an ensemble.

    Raises UserError as `make_executor` does.
    """
    if where.executor == "serial" or not any(isinstance(agent, Ensemble) for agent in agents):
        return SerialPool()
    if where.on_ray:
        from turnier.arena.workers.cluster.executor import RayPool

        return RayPool(where.workers, where.address)
    return ThreadPool(where.workers)
