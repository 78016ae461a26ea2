"""Gauntlets and Swiss tournaments."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, Termination, derive_seed
from turnier.arena.play import play_matches
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.arena.schedules.round_robin import Rounds, gauntlet, round_robin
from turnier.arena.schedules.swiss import _pairs, match_points, swiss
from turnier.core.errors import UserError
from turnier.games.registry import GAMES

TTT = GAMES.make("tictactoe")


def field(n: int) -> list[str]:
    return [f"mc(iterations={i + 1})" for i in range(n)]


def made(n: int) -> list[object]:
    return [AGENTS.make(text) for text in field(n)]


def strength(agent: str) -> int:
    return AGENTS.make(agent).iterations


def decided(spec: MatchSpec, termination: Termination = Termination.NORMAL) -> MatchRecord:
    """Returns a match that the agent with more iterations won."""
    seats = len(spec.agents)
    scores = tuple(float(strength(agent)) for agent in spec.agents)
    return MatchRecord(spec, termination, scores, (1,) * seats, (1,) * seats, (0.1,) * seats, 0.1, b"\0", {})


def run(rounds: Rounds, play: Callable[[MatchSpec], MatchRecord] = decided) -> list[list[MatchSpec]]:
    """Plays rounds, their records in reverse, and returns the specs of each."""
    played = [next(rounds)]
    while True:
        try:
            played.append(rounds.send([play(spec) for spec in reversed(played[-1])]))
        except StopIteration:
            return played


def pairings(specs: Sequence[MatchSpec]) -> list[frozenset[int]]:
    return list(dict.fromkeys(frozenset(strength(agent) for agent in spec.agents) for spec in specs))


@pytest.mark.parametrize(("game", "agents", "plies"), [("tictactoe", 4, 1), ("yavalath(players=3)", 4, 0)])
@pytest.mark.parametrize("games", [1, 2, 3, 7, 20, 27, 40])
def test_exactly_the_games_that_were_asked_for(game: str, agents: int, plies: int, games: int) -> None:
    """Every group plays this many, seats shared evenly, on the same openings; more games only add to them."""
    made_game = GAMES.make(game)
    seats = made_game.num_seats
    specs = round_robin(made_game, made(agents), games, 5, plies, exactly=True)
    by_group: dict[frozenset[str], list[MatchSpec]] = {}
    for spec in specs:
        by_group.setdefault(frozenset(spec.agents), []).append(spec)
    assert {len(own) for own in by_group.values()} == {games} and len({spec.id for spec in specs}) == len(specs)
    assert len({tuple(sorted(Counter(spec.opening for spec in own).items())) for own in by_group.values()}) == 1
    for group, own in by_group.items():
        for seat in range(seats):
            held = [sum(spec.agents[seat] == agent for spec in own) for agent in group]
            assert max(held) - min(held) <= 1
    rounded = {spec.id for spec in round_robin(made_game, made(agents), games, 5, plies)}
    more = {spec.id for spec in round_robin(made_game, made(agents), games + 3, 5, plies, exactly=True)}
    assert {spec.id for spec in specs} <= rounded & more


def test_a_gauntlet_is_the_part_of_the_round_robin_with_one_challenger() -> None:
    agents = made(5)
    whole, part = round_robin(TTT, agents, 4, seed=3), gauntlet(TTT, agents, 2, 4, seed=3)
    challengers = {agent.full_text() for agent in agents[:2]}
    assert set(part) == {spec for spec in whole if len(challengers & set(spec.agents)) == 1}
    assert len(part) == 2 * 3 * 4


def test_a_gauntlet_of_three_seats_has_every_group_of_the_field_in_all_roles() -> None:
    specs = gauntlet(GAMES.make("yavalath(players=3)"), made(5), 1, 6, seed=1)
    assert Counter(pairings(specs)) == Counter(frozenset((1, *two)) for two in itertools.combinations((2, 3, 4, 5), 2))
    assert len(set(specs)) == len(specs) == 6 * 6


@pytest.mark.parametrize(
    ("game", "agents", "challengers", "sentence"),
    [
        ("2048", 3, 1, "needs a game of two or more seats"),
        ("tictactoe", 2, 2, "a field of 1, got 2 and 0"),
        ("tictactoe", 2, 0, "at least 1 challenger"),
        ("yavalath(players=3)", 3, 2, "a field of 2, got 2 and 1"),
    ],
)
def test_impossible_gauntlets_are_refused(game: str, agents: int, challengers: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        gauntlet(GAMES.make(game), made(agents), challengers, 2, seed=1)


@pytest.mark.parametrize("n", [4, 5, 8, 11, 16])
def test_swiss_rounds_find_the_best_without_rematches(n: int) -> None:
    played = run(swiss(TTT, made(n), 2, seed=5))
    assert len(played) == (n - 1).bit_length()
    met = [pair for specs in played for pair in pairings(specs)]
    assert len(met) == len(set(met)), "somebody met twice"
    for specs in played:
        appearances = Counter(agent for pair in pairings(specs) for agent in pair)
        assert set(appearances.values()) == {1} and len(appearances) == n - n % 2
        assert len({spec.seed for spec in specs}) == 1 and len(specs) == 2 * (n // 2)
    assert len({specs[0].seed for specs in played}) == len(played)
    if n & (n - 1) == 0:  # nobody sits out: the best one wins all, and equals meet
        points = match_points(decided(spec) for specs in played for spec in specs)
        best = max(points, key=points.__getitem__)
        assert strength(best) == n and points[best] == 2 * 2 * len(played)


def test_who_leads_meets_who_leads() -> None:
    first, second = run(swiss(TTT, made(8), 2, seed=1, rounds=2))
    winners = {max(pair) for pair in pairings(first)}
    assert all(pair <= winners or not pair & winners for pair in pairings(second))


def test_nobody_sits_out_twice_before_all_did_once() -> None:
    played = run(swiss(TTT, made(5), 2, seed=1, rounds=5))
    rests = Counter(
        (set(range(1, 6)) - {agent for pair in pairings(specs) for agent in pair}).pop() for specs in played
    )
    assert set(rests.values()) == {1} and len(rests) == 5


def test_no_pair_meets_twice_however_many_games_a_round_has() -> None:
    """Points of the first agent so far ahead that only another meeting would be nearer."""
    for games in (2, 500, 100_000):
        agents = ["a", "b", "c", "d"]
        points = Counter({"a": 4 * games, "b": 2 * games, "c": 2 * games, "d": 0})
        met = Counter(map(frozenset, [("a", "b"), ("c", "d"), ("a", "c"), ("b", "d")]))
        assert _pairs(agents, points, met) == [("a", "d"), ("b", "c")], games


def test_more_rounds_than_opponents_repeat_as_few_pairs_as_can_be() -> None:
    met = Counter(pair for specs in run(swiss(TTT, made(4), 2, seed=1, rounds=6)) for pair in pairings(specs))
    assert set(met.values()) == {2} and len(met) == 6


def test_swiss_groups_of_three_seats_are_cut_from_the_order_of_points() -> None:
    first, second = run(swiss(GAMES.make("yavalath(players=3)"), made(9), 6, seed=1, rounds=2))
    assert pairings(first) == [frozenset((1, 2, 3)), frozenset((4, 5, 6)), frozenset((7, 8, 9))]
    assert set(pairings(second)) == {frozenset((3, 6, 9)), frozenset((2, 5, 8)), frozenset((1, 4, 7))}


def test_the_same_seed_gives_the_same_rounds_of_real_games() -> None:
    agents = [AGENTS.make(text) for text in ("random", "mc(iterations=1)", "mc(iterations=9)", "mc(iterations=99)")]
    once, again = (run(swiss(TTT, agents, 4, seed=8), lambda spec: play_matches([spec])[0]) for _ in range(2))
    assert once == again
    assert once[0][0].seed == derive_seed(8, 0, 0)


def test_points_count_wins_twice_ties_once_and_failures_never() -> None:
    spec = MatchSpec("tictactoe", ("mc(iterations=1)", "mc(iterations=2)"), 1)
    tie = MatchSpec("tictactoe", ("mc(iterations=1)", "mc(iterations=2)"), 2)
    records = [decided(spec), decided(spec, Termination.ERROR)]
    records.append(MatchRecord(tie, Termination.NORMAL, (0.0, 0.0), (1, 1), (1, 1), (0.1, 0.1), 0.1, b"\0", {}))
    assert match_points(records) == {"mc(iterations=1)": 1, "mc(iterations=2)": 3}


@pytest.mark.parametrize(
    ("game", "agents", "sentence"),
    [("2048", 4, "two or more seats"), ("tictactoe", 2, "more than 2 agents"), ("tictactoe", 0, "at least 2 agents")],
)
def test_impossible_swiss_tournaments_are_refused(game: str, agents: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        swiss(GAMES.make(game), made(agents), 2, seed=1)


def test_groups_have_seeds_of_their_own_whoever_else_plays() -> None:
    """Every pairing has other seeds than all others, the same in any field, order and format."""
    agents = made(4)
    whole = list(round_robin(TTT, agents, 4, seed=3, own_seeds=True))
    by_group: dict[frozenset[str], set[int]] = {}
    for spec in whole:
        by_group.setdefault(frozenset(spec.agents), set()).add(spec.seed)
    assert all(len(seeds) == 2 for seeds in by_group.values())  # pairs of games
    assert len(set.union(*by_group.values())) == 2 * len(by_group) == 12
    ids = {spec.id for spec in whole}
    for part in (
        round_robin(TTT, agents[::-1][:3], 4, seed=3, own_seeds=True),
        gauntlet(TTT, agents, 2, 4, seed=3, own_seeds=True),
        next(AdaptiveTournament(TTT, agents, 3, games=100, own_seeds=True).rounds()),
    ):
        assert {spec.id for spec in part} <= ids
    first_round = next(swiss(TTT, agents, 4, 3, own_seeds=True))
    assert len({spec.seed for spec in first_round}) == 4  # two pairings of two pairs
    scored = list(round_robin(GAMES.make("2048"), agents, 2, seed=3, own_seeds=True))
    assert len({spec.seed for spec in scored}) == 2  # scores are compared on common seeds
