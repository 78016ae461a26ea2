"""Executors and pools for a place to play."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...agents.agent import Agent
from ...agents.ensembles.ensemble import Ensemble
from ...agents.ensembles.pool import Pool, SerialPool, ThreadPool
from ...agents.registry import agent_of
from ...agents.seats.outside import plays_outside
from ...core.errors import UserError
from ...core.outside import library
from ...core.outside.trust import trusted
from ...core.terminal import visible
from ...games.registry import game_of
from ..played import names_of, specs_of
from .executor import Done, Executor, Lost, R, S, Source, Task, Work
from .local import SerialExecutor, ThreadExecutor
from .where import Where

RAY_SECONDS = 6.0  # starting time of Ray and its workers on a busy machine


class AutoExecutor(Executor):
    """Works in threads, which share compiled code and kernels and start at once; results are the same everywhere.

    In Python only one thread runs at a time; in compiled code and external programs all do. So if agents decide in
    Python, Ray's processes take over once they save more time than they take to start.
    """

    more_may_join = False  # except for those agents, which do not play in step

    def __init__(self, workers: int | None = None) -> None:
        self._threads = ThreadExecutor(workers)
        super().__init__(self._threads.workers)
        self._ray: Executor | None = None
        self._in_threads: set[Any] = set()  # tickets
        self._source: Source[Any] = Source()
        self._done, self._seconds = 0, 0.0  # specs of agents that decide in Python, and their time in threads
        self._ray_pays = False
        self._may_start_ray = self.workers > 1
        self._said = False

    def serve(self, work: Work[S, R], source: Source[S]) -> Iterator[Sequence[R]]:
        self._source = source
        return super().serve(work, source)

    def submit(self, do: Task, batch: Sequence[Any]) -> Any:
        self._say_where(batch)
        if self._ray_pays and self._may_start_ray:
            self._start_ray()
        if self._ray is not None:
            return self._ray.submit(do, batch)
        ticket = self._threads.submit(do, batch)
        self._in_threads.add(ticket)
        return ticket

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        in_threads = [ticket for ticket in tickets if ticket in self._in_threads]
        if self._ray is not None and not in_threads:
            results = self._ray.wait(tickets)
            self.workers = self._ray.workers
            return results
        finished = list(self._threads.wait(in_threads))
        for ticket, result in finished:
            self._in_threads.discard(ticket)
            if isinstance(result, Done):
                self._observe(result)
        return finished

    def withdraw(self, tickets: list[Any]) -> None:
        self._threads.withdraw([ticket for ticket in tickets if ticket in self._in_threads])
        if self._ray is not None:
            self._ray.withdraw([ticket for ticket in tickets if ticket not in self._in_threads])

    def close(self) -> None:
        self._threads.close()
        if self._ray is not None:
            self._ray.close()

    def _observe(self, result: Done) -> None:
        """Adds the time of a batch, and decides whether Ray would save more than it costs."""
        if not self._may_start_ray:
            return
        counts, inside = names_of(specs_of(result.records)), trusted()
        slow = sum(count for names, count in counts.items() if _in_python(names, inside))
        if not slow or _of_session(counts):
            return
        self._done += slow
        self._seconds += result.seconds * slow / len(result.records)
        # Expected work: the known rest, or as long as so far, since a search makes its games as it goes.
        expected = self._seconds * max(1.0, self._source.left / self._done)
        # Each thread waited while another ran, so together they took `expected / workers`.
        one_core = expected / self.workers
        self._ray_pays = one_core * (1 - 1 / self.workers) > RAY_SECONDS

    def _start_ray(self) -> None:
        from .cluster.executor import RayExecutor

        self._may_start_ray = False
        try:
            self._ray = RayExecutor(self.workers)
        except UserError as failure:
            say(f"Still on threads, because Ray did not start: {failure}")
        else:
            say("Now on Ray: agents that decide in Python would take turns in threads.")

    def _say_where(self, batch: Sequence[Any]) -> None:
        if self._said:
            return
        self._said = True
        count = f"{self.workers} thread{'s' * (self.workers > 1)}"
        if self.workers == 1:
            reason = "one worker needs no other process"
        elif _of_session(names_of(batch)):
            reason = "code that is in no file plays in this process"
        elif any(_in_python(names, trusted()) for names in names_of(batch)):
            reason = "agents in Python that take long move to Ray"
        else:
            reason = "nothing is decided in Python"
        say(f"Playing on {count}: {reason}.")


def say(sentence: str) -> None:
    """Tells the user on standard error which executor works; a running bar moves down."""
    visible.say(sentence, errors=True)


def _of_session(names: Iterable[tuple[str, ...]]) -> bool:
    return any(library.of_session(name) for each in names for name in each)


@functools.lru_cache(maxsize=1024)
def _in_python(names: tuple[str, ...], inside: bool) -> bool:
    """Returns whether a match or search of this game and these agents spends most of its time in Python."""
    agents = [agent_of(name) for name in names[1:]]
    return game_of(names[0]).in_python or any(agent.in_python and not plays_outside(agent) for agent in agents)


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
