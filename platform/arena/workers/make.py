"""Executors and pools for a place to play."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from ...agents.agent import Agent
from ...agents.ensembles.ensemble import Ensemble
from ...agents.ensembles.pool import Pool, SerialPool, ThreadPool
from .auto import AutoExecutor, say
from .executor import Executor
from .local import SerialExecutor, ThreadExecutor
from .where import Where


def make_executor(where: Where) -> Executor:
    """Returns the executor of a place; raises UserError if it cannot start.

    `auto` is Ray if a cluster is named, otherwise `AutoExecutor`; it tells the user its choice and why.
    """
    if where.on_ray:
        from .cluster.executor import RayExecutor

        ray = RayExecutor(where.workers, where.address, **where.claims)
        if where.executor == "auto":
            say(f"Playing on Ray: {where.cluster_named_by} names a cluster.")
        return ray
    if where.executor == "auto":
        return AutoExecutor(where.workers)
    return SerialExecutor() if where.executor == "serial" else ThreadExecutor(where.workers)


def at_work(where: Where | Executor) -> AbstractContextManager[Executor]:
    """Returns the executor of a place, closed at the end, or a started executor, which stays open."""
    return make_executor(where) if isinstance(where, Where) else nullcontext(where)


def make_pool(agents: Iterable[Agent], where: Where) -> Pool:
    """Returns the pool of a place for members of ensembles; a serial one if none of the agents is an ensemble.

    Raises UserError like `make_executor`.
    """
    if where.executor == "serial" or not any(isinstance(agent, Ensemble) for agent in agents):
        return SerialPool()
    if where.on_ray:
        from .cluster.executor import RayPool

        return RayPool(where.workers, where.address, **where.claims)
    return ThreadPool(where.workers)
