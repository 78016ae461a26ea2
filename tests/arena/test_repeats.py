"""Games repeat earlier ones by construction where nobody draws random numbers; who draws is declared, or seen."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination, pack_plies, without_moves
from turnier.arena.schedules.repeats import (
    ENOUGH,
    Played,
    Repeats,
    drawing,
    enough_repeats,
    only_moves_differ,
    without_repeats,
)
from turnier.games.registry import make_game

GAME = make_game("tictactoe").full_text()
PROGRAMS = tuple(f'json(command="bot {name}")' for name in "abc")
FIRST, SECOND = (make_agent(agent).full_text() for agent in ("greedy", "alphabeta(depth=2)"))
MCTS = make_agent("mcts").full_text()


def play(agents: Sequence[str], draws: dict[str, int], random: np.random.Generator, opening: int) -> Played:
    """Plays a game of agents each of which has its own fixed answers, and draws others from some ply on."""
    position, plies = make_game("tictactoe").start(), list[int]()
    while not position.over:
        legal, agent = position.legal_actions(), agents[position.to_move]
        fixed = np.random.default_rng([int(agent.encode().hex(), 16) % 1000, *plies])
        ours = len(plies) < opening or len(plies) >= draws.get(agent, 9)
        plies.append(int((random if ours else fixed).choice(legal)))
        position = position.play(plies[-1])
    return Played(tuple(agents), opening, pack_plies(np.array(plies)), (Termination.NORMAL, *position.returns))


def answered_twice(games: Sequence[Played]) -> set[str]:
    """As `drawing`, position by position."""
    answers: defaultdict[tuple[str, tuple[int, ...], int], set[int]] = defaultdict(set)
    for one in games:
        plies = tuple(one.plies[1:])
        for ply in range(one.opening, len(plies)):
            answers[one.agents[ply % 2], plies[:ply], one.opening].add(plies[ply])
    return {agent for (agent, *_), found in answers.items() if len(found) > 1}


def fields() -> Iterator[tuple[dict[str, int], list[Played]]]:
    """Yields who draws from which ply on, and games, in some of which a ply or two are those of an opening."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        draws = {agent: int(random.integers(0, 12)) for agent in PROGRAMS}
        seatings = list(itertools.permutations(PROGRAMS, 2))
        games = [
            play(seatings[i % 6], draws, random, int(random.integers(0, 3))) for i in range(int(random.integers(40)))
        ]
        yield draws, games


def test_who_answers_a_position_in_two_ways_is_found() -> None:
    found = []
    for _, games in fields():
        found.append(drawing(GAME, games, set(PROGRAMS)))
        assert found[-1] == answered_twice(games)
        assert drawing(GAME, games, {PROGRAMS[0]}) == found[-1] & {PROGRAMS[0]}
    assert {len(agents) for agents in found} == {0, 1, 2, 3}


def test_equal_games_are_repeats_where_nobody_draws() -> None:
    some = 0
    for _, games in fields():
        repeats = Repeats(GAME)
        repeats.add(games)
        found, seen = repeats.found(), answered_twice(games)
        for i, (one, again) in enumerate(zip(games, found, strict=True)):
            assert again == (one in games[:i] and seen.isdisjoint(one.agents))
        some += sum(found)
    assert some > 20


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        ((FIRST, SECOND), 3),
        ((FIRST, FIRST), 3),
        ((FIRST, PROGRAMS[0]), 3),
        ((FIRST, MCTS), 0),
        ((PROGRAMS[0], MCTS), 0),
    ],
)
def test_games_count_once_unless_a_seat_declares_to_draw(agents: tuple[str, str], expected: int) -> None:
    one = play(agents, {}, np.random.default_rng(0), 0)
    repeats = Repeats(GAME)
    repeats.add([one, None, one, one])
    repeats.add([one, one._replace(agents=agents[::-1])])
    mirrored = agents[0] == agents[1]  # in which case the last game is one more repeat
    assert repeats.found() == [False, False, *[expected > 0] * 3, mirrored]


def test_repeats_count_once_an_agent_is_seen_to_draw() -> None:
    random, seats = np.random.default_rng(0), PROGRAMS[:2]
    same, other = play(seats, {}, random, 0), play(seats, {PROGRAMS[0]: 4}, random, 0)
    assert same != other
    repeats = Repeats(GAME)
    repeats.add([same] * 3)
    assert repeats.found() == [False, True, True] and repeats.suspects() == set(seats) and not repeats.look()
    repeats.add([other, same])
    assert repeats.found() == [False] * 5 and repeats.look() == {PROGRAMS[0]}
    against_one_that_draws = Repeats(GAME)  # shows it as well
    against_one_that_draws.add([same] * 3)
    against_one_that_draws.add([one._replace(agents=(PROGRAMS[0], MCTS)) for one in (same, other)])
    assert against_one_that_draws.found() == [False] * 5


def test_failures_are_other_games_but_show_nothing() -> None:
    """A program that is late once has not changed its mind."""
    whole = play(PROGRAMS[:2], {}, np.random.default_rng(0), 0)
    late = whole._replace(plies=whole.plies[:-2], ending=(Termination.TIMEOUT, -1.0, 1.0))
    repeats = Repeats(GAME)
    repeats.add([whole, late, whole, late])
    assert repeats.found() == [False, False, True, True]


def test_without_its_moves_a_game_is_a_repeat_only_where_all_declare() -> None:
    for agents, expected in [((FIRST, SECOND), True), ((FIRST, PROGRAMS[0]), False)]:
        one = Played(agents, 0, without_moves(7, ()), (Termination.NORMAL, 1.0, -1.0))
        repeats = Repeats(GAME)
        repeats.add([one, one])
        assert repeats.found() == [False, expected]


def test_chance_and_simultaneous_moves_make_games_differ() -> None:
    for game, expected in [
        ("tictactoe", True),
        ("nim", True),
        ("2048", False),
        ("spe_ed", False),
        ("gone(x=1)", False),
    ]:
        assert only_moves_differ(game if "(" in game else make_game(game).full_text()) is expected
    repeats = Repeats(make_game("2048(size=2)").full_text())
    repeats.add([Played((FIRST,), 0, bytes(3), (Termination.NORMAL, 8.0))] * 2)
    assert repeats.found() == [False, False]


def test_of_stored_games_the_first_are_kept() -> None:
    def record(agents: tuple[str, str], seed: int, opening: tuple[int, ...] = (), error: bool = False) -> MatchRecord:
        end = Termination.ERROR if error else Termination.NORMAL
        plies = pack_plies(np.array([*opening, 3, 5]))
        zeros = (0, 0)
        return MatchRecord(
            MatchSpec(GAME, agents, seed, 0, opening), end, (1.0, -1.0), zeros, zeros, (0.0, 0.0), 0.0, plies, {}
        )

    pair = (FIRST, SECOND)
    records = [
        record(pair, 1, error=True),
        record(pair, 2),
        record(pair, 3),
        record(pair, 4, (1,)),
        record(pair, 5, (1,)),
    ]
    others = [record((MCTS, FIRST), seed) for seed in (1, 2)]
    assert without_repeats([*records, *others]) == [*records[:2], records[3], *others]


def test_more_is_asked_of_those_whose_games_must_show_it() -> None:
    assert [enough_repeats(GAME, agents) for agents in ((FIRST, SECOND), (FIRST, PROGRAMS[0]))] == [1, ENOUGH]
