"""Few matches on many actors: each match is played in a thread here, and members of ensembles search in actors."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from ....agents.agent import Agent, Decision
from ....agents.ensembles.ensemble import Ensemble
from ....agents.ensembles.pool import Pool, SearchJob
from ....agents.registry import agent_of
from ....games.game import Game
from ....games.registry import game_of
from ...match import MatchRecord, MatchSpec
from ...play import play_matches
from ..executor import Lost

WORTH_SECONDS = 0.02  # of a search in an actor: all go through this process, and sending one takes a millisecond or two
CHECK_SECONDS = 1.0  # between two checks for lost actors, while no search is done


def members_take_long(specs: Iterable[MatchSpec]) -> bool:
    """Whether some ensemble's members search long enough to make sending worthwhile; measured at the start."""
    texts = {(spec.game, name) for spec in specs for name in spec.agents}
    return any(_seconds_of(game_of(game), agent_of(name)) >= WORTH_SECONDS for game, name in texts)


def _seconds_of(game: Game, agent: Agent) -> float:
    """Returns the time of one member's search; 0 if the agent is no ensemble."""
    if not isinstance(agent, Ensemble):
        return 0.0
    start = game.start()
    seat = start.to_move
    job = SearchJob(game.full_text(), agent.agent.full_text(), start.view(seat), start.returns, seat, 0)
    job.run()  # loads kernels
    began = time.perf_counter()
    job.run()
    return time.perf_counter() - began


class Actors(Protocol):
    """The needed part of `RayActors`; called on one thread."""

    @property
    def workers(self) -> int: ...

    def results_now(self) -> list[tuple[Any, Any]]: ...


class _Ended(Exception):
    """The run ends before its matches do."""


class _Members(Pool):
    """The pool of one match: passes searches to the thread of the actors."""

    def __init__(self, workers: int, ask: Callable[[_Members, SearchJob], object]) -> None:
        super().__init__(workers)
        self._ask = ask
        self._wanted: set[SearchJob] = set()
        self.found: queue.SimpleQueue[tuple[SearchJob | None, Decision | Exception]] = queue.SimpleQueue()

    def submit(self, job: SearchJob) -> SearchJob:
        self._wanted.add(job)
        self._ask(self, job)
        return job

    def wait(self, tickets: list[SearchJob]) -> Iterable[tuple[SearchJob, Decision]]:
        while True:
            job, result = self.found.get()
            if job is None:
                self.found.put((None, result))
            if isinstance(result, Exception):
                raise result
            if job in self._wanted:
                self._wanted.discard(job)
                return [(job, result)]

    def drop(self, tickets: list[SearchJob]) -> None:
        self._wanted.difference_update(tickets)

    def end(self) -> None:
        self.found.put((None, _Ended()))

    def close(self) -> None:
        pass


def play_spread(
    actors: Actors, send: Callable[[SearchJob], Any], specs: Sequence[MatchSpec]
) -> Iterator[list[MatchRecord]]:
    """Plays matches of ensembles, and yields each record alone; searches lost with their actors are repeated.

    Args:
        actors: give the results.
        send: sends a search to one of them and returns its piece of work.
        specs: matches that have been prepared, fewer than there are actors.
    """
    events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    searches: dict[Any, tuple[_Members, SearchJob]] = {}  # by piece
    stop = np.zeros(1, np.int64)

    def ask(pool: _Members, job: SearchJob) -> None:
        events.put(("search", (pool, job)))

    def play(spec: MatchSpec, pool: _Members) -> None:
        try:
            events.put(("match", play_matches([spec], stop, members=pool)))
        except BaseException as failure:  # raised on the other thread
            events.put(("match", failure))

    def begin(pool: _Members, job: SearchJob) -> None:
        searches[piece := send(job)] = pool, job
        piece.when_done(lambda _: events.put(("done", None)))

    pools = [_Members(actors.workers, ask) for _ in specs]
    with ThreadPoolExecutor(len(specs), "match") as threads:
        try:
            for spec, pool in zip(specs, pools, strict=True):
                threads.submit(play, spec, pool)
            left = len(specs)
            while left:
                try:
                    kind, what = events.get(timeout=CHECK_SECONDS)
                except queue.Empty:
                    kind, what = "check", None
                if kind == "search":
                    begin(*what)
                elif kind == "match":
                    left -= 1
                    if isinstance(what, BaseException):
                        raise what
                    yield what
                else:
                    for piece, result in actors.results_now():
                        pool, job = searches.pop(piece)
                        if isinstance(result, Lost):
                            pool.lost += 1
                            begin(pool, job)
                        else:
                            pool.found.put((job, result))
        finally:
            stop[0] = 1
            for pool in pools:
                pool.end()
