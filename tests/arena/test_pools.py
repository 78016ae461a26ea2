"""Pools of the arena: the same match wherever members search, also when a Ray actor is killed in the middle of it."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from tests.playing import played
from turnier.agents.ensembles.pool import Pool, SearchJob, SerialPool, ThreadPool
from turnier.agents.registry import make_agent
from turnier.agents.seats.seating import start_player
from turnier.arena.match import MatchRecord, MatchSpec, unpack_plies
from turnier.arena.play import play_match
from turnier.arena.workers.cluster import executor as ray_executor
from turnier.arena.workers.cluster import spread
from turnier.arena.workers.cluster.crew import Piece
from turnier.arena.workers.cluster.executor import RayExecutor, RayPool, _send_search
from turnier.arena.workers.cluster.luggage import Packing
from turnier.arena.workers.cluster.spread import members_take_long, play_spread
from turnier.arena.workers.executor import Lost
from turnier.arena.workers.make import make_pool
from turnier.arena.workers.where import Where
from turnier.commands.runs.shown_match import show_match
from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game

GAME = "2048(size=3)"
VOTE = "majority(agent=mctse(iterations=60,rollout_depth=10),members=5)"
SUM = "root_parallel(agent=mctse(iterations=60,rollout_depth=10),members=3)"


def outcome(record: MatchRecord) -> tuple[Any, ...]:
    return record.scores, record.plies, record.decisions, record.nodes, record.facts, record.termination


def watched(text: str, pool: Pool | None) -> tuple[Position, str]:
    shown = io.StringIO()
    end = show_match(Console(file=shown, width=150), make_game(GAME), [make_agent(text)], 4, every_move=True, pool=pool)
    return end, shown.getvalue()


def without_clock(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if "agent=" not in line]


@pytest.fixture(scope="module")
def actors() -> Iterator[RayPool]:
    with RayPool(2) as pool:
        yield pool


def test_a_watched_match_is_the_same_in_every_pool(actors: RayPool) -> None:
    with ThreadPool(2) as threads:
        for text in (VOTE, SUM):
            record = played(GAME, text, seed=4)
            assert len(unpack_plies(record.plies)) > 60
            end, expected = watched(text, None)
            assert tuple(end.returns) == record.scores
            for pool in (threads, actors):
                assert without_clock(watched(text, pool)[1]) == without_clock(expected)
                assert pool.lost == 0


def test_a_killed_actor_changes_no_move_and_is_counted(actors: RayPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The actor dies in the middle of the game, with a search in its hands."""
    import ray

    expected = without_clock(watched(SUM, None)[1])
    victim, submit, begun = actors.actors.handles[0], actors.submit, []
    pid = ray.get(victim.__ray_call__.remote(lambda _: os.getpid()))

    def fatal(job: SearchJob) -> SearchJob:
        begun.append(submit(job))
        if len(begun) == 40:
            os.kill(pid, signal.SIGSTOP)  # so that it cannot finish what it will have got before it dies
        if len(begun) == 42:
            with contextlib.suppress(ProcessLookupError):  # Ray gives up what has been silent for long
                os.kill(pid, signal.SIGKILL)
        return job

    monkeypatch.setattr(actors, "submit", fatal)
    _, shown = watched(SUM, actors)
    assert actors.lost >= 1 and len(begun) > 100
    searches = "1 search was" if actors.lost == 1 else f"{actors.lost} searches were"
    *moves, sentence = without_clock(shown)
    assert sentence == f"{searches} lost with a worker and repeated with the same seed."
    assert moves == expected


def test_what_a_member_raises_in_an_actor_is_raised_here_and_the_pool_stays_usable(actors: RayPool) -> None:
    ensemble, game = make_agent(SUM), make_game(GAME)
    player = start_player(ensemble, game, 0, 1, actors)
    player.texts = (game.full_text(), "mctse(iterations=none)")  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="iterations must be a whole number"):
        player.act(game.start(1))
    whole = start_player(ensemble, game, 0, 1, actors).act(game.start(1))
    assert whole.action == ensemble.start(game, 0, 1).act(game.start(1)).action


class FewActors:
    """Actors in this thread; the second search is lost."""

    workers = 4

    def __init__(self) -> None:
        self.jobs: list[SearchJob] = []
        self.done: list[tuple[Piece, Any]] = []

    def send(self, job: SearchJob) -> Piece:
        piece = Piece(SearchJob.run, job, 1, future=Future())
        assert piece.future is not None
        piece.future.set_result(None)
        self.jobs.append(job)
        self.done.append((piece, Lost() if len(self.jobs) == 2 else job.run()))
        return piece

    def results_now(self) -> list[tuple[Piece, Any]]:
        done, self.done = self.done, []
        return done


def test_few_matches_let_their_members_search_in_actors(actors: RayPool) -> None:
    """In all of them, also if a match ends before the others."""
    specs = [
        MatchSpec(make_game(GAME).full_text(), (make_agent(text).full_text(),), seed)
        for seed, text in ((4, VOTE), (5, SUM))
    ]
    expected = [outcome(play_match(spec)) for spec in specs]
    few = FewActors()
    send = partial(_send_search, actors.actors, Packing(None))
    for playing in (play_spread(few, few.send, specs), play_spread(actors.actors, send, specs)):
        played = {record.spec: outcome(record) for records in playing for record in records}
        assert [played[spec] for spec in specs] == expected
    assert len(few.jobs) > 100 and few.jobs[1] in few.jobs[2:]


def test_the_last_of_some_matches_are_few_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which matches are spread over actors; the others are played in one."""
    executor = RayExecutor.__new__(RayExecutor)
    executor.workers, executor.actors, executor._packing = 4, FewActors(), Packing(None)  # type: ignore[assignment]
    monkeypatch.setattr(spread, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(ray_executor, "play_spread", lambda actors, send, specs: ["spread"] * len(specs))
    monkeypatch.setattr(executor, "run", lambda work, specs: ["whole"] * len(specs))
    vote, alone = (make_agent(text).full_text() for text in (VOTE, "mctse(iterations=60)"))

    def spread_of(agent: str, games: int) -> int:
        game = make_game("2048(size=2)").full_text()
        played = list(executor.play([MatchSpec(game, (agent,), seed) for seed in range(games)]))
        assert len(played) == games
        return played.count("spread")  # type: ignore[arg-type]

    assert [spread_of(vote, games) for games in (0, 1, 2, 3, 4, 6, 7, 14, 18)] == [0, 1, 2, 0, 0, 2, 0, 2, 0]
    assert spread_of(alone, 1) == 0


def test_short_searches_of_members_stay_where_the_match_is(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(GAME).full_text()
    vote, alone = (make_agent(text).full_text() for text in (VOTE, "mctse(iterations=60)"))
    searched: list[str] = []
    monkeypatch.setattr(SearchJob, "run", lambda job: searched.append(job.agent))
    for seconds in (0.0, 10.0):
        monkeypatch.setattr(spread, "WORTH_SECONDS", 10.0 - seconds)  # no clock decides here
        assert members_take_long([MatchSpec(game, (vote,), 1), MatchSpec(game, (vote,), 2)]) is (seconds > 0)
    assert len(searched) == 4 and all(agent.startswith("mctse(") for agent in searched)
    monkeypatch.undo()
    assert not members_take_long([MatchSpec(game, (alone,), 1)])


def test_what_ends_one_of_few_matches_ends_all() -> None:
    few = FewActors()

    def send(job: SearchJob) -> Piece:
        raise UserError("no more")

    agent = make_agent(VOTE).full_text()
    specs = [MatchSpec(make_game(GAME).full_text(), (agent,), seed) for seed in (1, 2)]
    with pytest.raises(UserError, match="no more"):
        list(play_spread(few, send, specs))


def test_only_ensembles_get_workers() -> None:
    assert isinstance(make_pool([make_agent("random")], Where("ray", 2)), SerialPool)
    with make_pool([make_agent("random"), make_agent(VOTE)], Where("threads", 3)) as pool:
        assert isinstance(pool, ThreadPool) and pool.workers == 3
    assert isinstance(make_pool([make_agent(VOTE)], Where("serial")), SerialPool)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("thread",), "did you mean threads?"),
        (("threads", 0), "at least 1 worker"),
        (("serial", None, "auto"), "--address names a Ray cluster"),
        (("ray", None, "127.0.0.1:1"), "a Ray cluster must answer at 127.0.0.1:1"),
    ],
)
def test_what_cannot_start_says_so(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        make_pool([make_agent(VOTE)], Where(*arguments))
