"""Schedules that need results: duels until a verdict, adaptive tournaments; the same whoever plays, and resumable."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from turnier.agents.registry import make_agent
from turnier.agents.seats.failure import Ending
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_matches
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.arena.schedules.duel import Duel
from turnier.arena.schedules.round_robin import Rounds, round_robin
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.play import play_rounds
from turnier.statistics.sprt import Verdict

MCTS = [f"mcts(iterations={n})" for n in (64, 16, 4, 1)]


def duel(
    game: str = "tictactoe", first: str = MCTS[0], second: str = "random", seed: int = 1, **options: float
) -> Duel:
    return Duel(make_game(game), [make_agent(first), make_agent(second)], seed, **options)  # type: ignore[arg-type]


def played(
    rounds: Rounds, change: Callable[[MatchRecord], MatchRecord] = lambda record: record
) -> list[list[MatchSpec]]:
    """Plays the rounds in this thread and returns their specs."""
    found = [next(rounds)]
    try:
        while True:
            found.append(rounds.send([change(record) for record in play_matches(found[-1])]))
    except StopIteration:
        return found


def test_a_stronger_agent_is_found_stronger_in_one_round() -> None:
    one = duel()
    (specs,) = played(one.rounds())
    assert one.test.verdict is Verdict.STRONGER
    assert (one.games, one.pairs, one.games_left) == (64, 32, 0.0)
    assert {spec.agents for spec in specs} == set(itertools.permutations(one.agents))
    seeds = [[spec.seed for spec in specs if spec.agents == order] for order in one.orders]
    assert seeds[0] == seeds[1] and len(set(seeds[0])) == 32
    other = duel(first="random", second=MCTS[0])
    played(other.rounds())
    assert other.test.verdict is Verdict.WEAKER


def test_rounds_grow_and_end_with_the_games() -> None:
    one = duel(first=MCTS[1], second="mcts(iterations=15)", margin=1.0, games=1001, first_round=10)
    sizes = [len(specs) // 2 for specs in played(one.rounds())]
    assert sizes[:5] == [10] * 5 and sizes[6] > 10 and sum(sizes) == 500 == one.pairs
    assert one.test.verdict is Verdict.UNDECIDED and one.games_left == 0.0


def test_games_of_a_tournament_serve_a_duel_with_the_same_seed() -> None:
    one = duel()
    tournament = round_robin(one.game, [make_agent(agent) for agent in one.agents], 64, seed=1)
    assert {spec.id for spec in next(one.rounds())} == {spec.id for spec in tournament}


def test_openings_are_drawn_and_shared_by_a_pair() -> None:
    specs = next(duel(opening_plies=1, first_round=200).rounds())
    assert [spec.opening for spec in specs[:200]] == [spec.opening for spec in specs[200:]]
    assert len({spec.opening for spec in specs}) == 10


def test_alone_the_scores_on_one_seed_are_compared() -> None:
    one = duel("2048(size=2)", "greedy", "random", margin=0.3)
    specs = played(one.rounds())[0]
    assert one.single_player and one.test.verdict is not Verdict.UNDECIDED
    assert [spec.seed for spec in specs[:32]] == [spec.seed for spec in specs[32:]]


def test_three_seats_are_taken_in_every_way() -> None:
    one = duel("yavalath(players=3,size=3)", "mcts(iterations=50)", games=600)
    specs = played(one.rounds())[0]
    assert len(one.orders) == 6 and len({spec.agents for spec in specs}) == 6
    assert one.test.verdict is Verdict.STRONGER


def test_pairs_with_a_failure_do_not_count() -> None:
    def failing(record: MatchRecord) -> MatchRecord:
        failed = record.spec.seed % 3 == 0 and record.spec.agents[0] == "random"
        return dataclasses.replace(record, termination=Termination.ERROR) if failed else record

    some, none = duel(), duel()
    played(some.rounds(), failing)
    assert 0 < some.test.units < some.pairs
    played(none.rounds(), lambda record: dataclasses.replace(record, termination=Termination.ILLEGAL_ACTION))
    assert (none.test.units, none.pairs, none.test.verdict) == (0, 32, Verdict.UNDECIDED)


def test_points_are_shared_by_the_best() -> None:
    (record,) = play_matches([next(duel().rounds())[0]])
    assert dataclasses.replace(record, scores=(1.0, -1.0)).points == (1.0, 0.0)
    assert dataclasses.replace(record, scores=(2.0, 2.0, 1.0)).points == (0.5, 0.5, 0.0)


def test_only_matches_without_a_failure_of_ours_have_a_result() -> None:
    without = {Termination.ILLEGAL_ACTION, Termination.ERROR, Termination.UNFINISHED}
    assert {end for end in Termination if not end.has_result} == without
    assert {end for end in Termination if end.is_forfeit} == {Termination(ending.value) for ending in Ending}


def adaptive(games: int = 10_000, **options: float) -> AdaptiveTournament:
    made = [make_agent(agent) for agent in ("random", *MCTS)]
    return AdaptiveTournament(make_game("tictactoe"), made, 3, games=games, **options)  # type: ignore[arg-type]


def test_an_adaptive_tournament_finds_the_strongest() -> None:
    tournament = adaptive(top=2)
    rounds = played(tournament.rounds())
    assert [agent.split(",")[0] for agent in tournament.leaders()] == [m[:-1] for m in MCTS[:2]]
    assert tournament.certainty >= 0.95
    assert len(rounds[0]) == 20 and {len(specs) for specs in rounds[1:]} == {40}
    assert tournament.games == sum(map(len, rounds)) == len({spec.id for specs in rounds for spec in specs})
    best = tournament.leaders()[1]
    share = sum(best in spec.agents for specs in rounds for spec in specs) / tournament.games
    assert share > 0.5  # a round robin gives each of five agents two fifths of the games


def test_an_adaptive_tournament_ends_with_its_games() -> None:
    tournament = adaptive(games=101, certainty=0.999999, round_pairs=7)
    assert [len(specs) for specs in played(tournament.rounds())] == [20, 14, 14, 14, 14, 14, 10]
    assert tournament.games == 100 and tournament.certainty < 0.999999


class Dies(SerialExecutor):
    """Plays a number of batches, then it is gone."""

    left = 3

    def submit(self, do: object, batch: list[object]) -> int:
        Dies.left -= 1
        if Dies.left < 0:
            raise KeyboardInterrupt
        return super().submit(do, batch)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make", [lambda: adaptive(top=2).rounds(), lambda: duel(first=MCTS[2], second=MCTS[3]).rounds()]
)
def test_the_same_games_whoever_plays_and_after_a_kill(make: Callable[[], Rounds], tmp_path: Path) -> None:
    def ids(store: Store, executor: Executor) -> list[str]:
        with executor:
            return sorted(r.spec.id for batch in play_rounds(store, "run", make(), executor) for r in batch)

    expected = sorted(spec.id for specs in played(make()) for spec in specs)
    with Store.open(f"sqlite:///{tmp_path}/threads.db") as store:
        store.begin_run("run", "tournament", "t", {})
        assert ids(store, make_executor(Where("threads", 3))) == expected
    with Store.open(f"sqlite:///{tmp_path}/killed.db") as store:
        store.begin_run("run", "tournament", "t", {})
        Dies.left = 3
        with pytest.raises(KeyboardInterrupt):
            ids(store, Dies())
        before = store.match_counts()["run"]
        assert 0 < before < len(expected)
        assert ids(store, SerialExecutor()) == expected
        Dies.left = 0  # everything is stored: nothing is played
        assert ids(store, Dies()) == expected


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: duel(first="random"), "two different agents, got random and random"),
        (lambda: duel(games=1), "at least 2 games, got 1"),
        (lambda: duel(seed=-1), "a seed must be 0 or larger, got -1"),
        (lambda: duel(first_round=0), "at least 1 pair of games, got 0"),
        (lambda: duel(margin=-3), "above 0 and at most 800 Elo, got -3"),
        (lambda: duel("2048", opening_plies=1), "openings need a game without chance"),
        (lambda: adaptive(games=19), "5 agents must have at least 20 games to meet, got 19"),
        (lambda: adaptive(top=5), "from 1 to 4, got 5"),
        (lambda: adaptive(certainty=1.0), "above 0 and below 1, got 1"),
        (lambda: adaptive(round_pairs=0), "at least 1 pair of games, got 0"),
        (lambda: AdaptiveTournament(make_game("2048"), [make_agent("random")] * 3, 1), "a game of 2 seats, got 2048"),
        (lambda: AdaptiveTournament(make_game("nim"), [make_agent("random")] * 3, 1), "3 different agents, got 1"),
    ],
)
def test_mistakes_are_sentences(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        make()
