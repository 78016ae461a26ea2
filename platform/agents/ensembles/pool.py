"""Searches of an ensemble's members as plain data, and pools that run them here or in threads.

The arena provides the pool and adds Ray's. A search gives the same decision wherever, in whatever order and however
often it runs, so a pool never changes a move.
"""

from __future__ import annotations

import concurrent.futures
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...games.registry import game_of
from ..agent import Decision, Floats, FollowingPlayer, decide
from ..registry import agent_of
from ..seats.outside import player_of


@dataclass(frozen=True, eq=False)
class SearchJob:
    """One decision of a newly created player."""

    game: str  # full text form
    agent: str  # full text form
    state: npt.NDArray[np.int64]  # [state_words], as seen by the seat
    returns: Floats  # [seats] so far
    seat: int
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The text forms of the game and the agent."""
        return self.game, self.agent

    def run(self) -> Decision:
        game = game_of(self.game)
        player = player_of(agent_of(self.agent), game, self.seat, self.seed)
        try:
            return decide(player, game.position(self.state, self.returns, self.seed))
        finally:
            if isinstance(player, FollowingPlayer):
                player.close()


class Pool(ABC):
    """Runs searches on some workers; use it as a context manager."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}.")
        self.workers = workers
        self.lost = 0  # searches that were lost with their worker and repeated

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def submit(self, job: SearchJob) -> Any:
        """Starts a search and returns its ticket (hashable)."""

    @abstractmethod
    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Decision]]:
        """Waits until at least one ticket is done; returns all that are done. Raises the exceptions of searches."""

    @abstractmethod
    def drop(self, tickets: list[Any]) -> None:
        """Forgets searches that are no longer awaited; those that run already run to their end."""

    @abstractmethod
    def close(self) -> None:
        """Stops the workers."""


class SerialPool(Pool):
    """Searches in the calling thread."""

    def __init__(self) -> None:
        super().__init__(1)

    def submit(self, job: SearchJob) -> SearchJob:
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        return [(tickets[0], tickets[0].run())]

    def drop(self, tickets: list[SearchJob]) -> None:
        pass

    def close(self) -> None:
        pass


class ThreadPool(Pool):
    """Searches in threads of this process; kernels run without the GIL."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(os.cpu_count() or 1 if workers is None else workers)
        self._threads = concurrent.futures.ThreadPoolExecutor(self.workers, "member")

    def submit(self, job: SearchJob) -> concurrent.futures.Future[Decision]:
        return self._threads.submit(job.run)

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Decision]]:
        done, _ = concurrent.futures.wait(tickets, return_when=concurrent.futures.FIRST_COMPLETED)
        return [(future, future.result()) for future in done]

    def drop(self, tickets: list[Any]) -> None:
        for future in tickets:
            future.cancel()

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


def search_first(
    pool: Pool, jobs: Sequence[SearchJob], needed: Callable[[Sequence[Decision | None]], int]
) -> list[Decision]:
    """Returns the decisions of the first jobs, as many as turn out to be needed.

    Args:
        pool: where they run.
        jobs: in the order in which they count.
        needed: from the decisions so far (None if unknown), the least number of first jobs needed; exact once that many
            of the first decisions are known.
    """
    found: list[Decision | None] = [None] * len(jobs)
    flying: dict[Any, int] = {}
    begun = 0
    try:
        while True:
            count = needed(found)
            first = [decision for decision in found[:count] if decision is not None]
            if len(first) == count:
                return first
            # Whole rounds of the workers: a search beyond `count` may turn out useless, but ends at about the same time
            # as those awaited. Begun later it would keep its worker from the next decision.
            rounds = -(-count // pool.workers)
            while begun < min(len(jobs), rounds * pool.workers) and len(flying) < pool.workers:
                flying[pool.submit(jobs[begun])] = begun
                begun += 1
            for ticket, decision in pool.wait(list(flying)):
                found[flying.pop(ticket)] = decision
    finally:
        pool.drop(list(flying))
