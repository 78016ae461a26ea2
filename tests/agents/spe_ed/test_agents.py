"""The agents of spe_ed: Combi's formulas by hand, positions with known answers, clocks, memory and options."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from tests.playing import played
from turnier.agents.agent import Decision
from turnier.agents.registry import make_agent
from turnier.agents.spe_ed.combi import AdaptiveCombiPlayer, CombiPlayer, presence, scores
from turnier.agents.spe_ed.minimax import Searched
from turnier.agents.spe_ed.player import SpeEdPlayer, best_of
from turnier.agents.spe_ed.rollouts import PathMemory, RolloutPlayer
from turnier.agents.spe_ed.search.field import CELL, walkers_of
from turnier.agents.spe_ed.search.minimax import IMPOSSIBLE
from turnier.agents.spe_ed.search.rollouts import LONGEST
from turnier.agents.spe_ed.tables import TablePlayer
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import DIRECTIONS
from turnier.games.spe_ed.messages import game_text_of, state_of

LEFT, RIGHT, SLOW, FAST, ON = range(5)
SEARCHES = ("rollouts", "minimax", "tables", "combi")


def drawn(picture: str, *players: tuple[str, int], rounds: int = 0) -> Position:
    """Returns the position of a picture: # taken, A and B the players (direction, speed)."""
    rows = picture.split()
    cells = np.array([[{".": 0, "#": 1, "A": 1, "B": 2}[mark] for mark in row] for row in rows])
    told = {}
    for number, (direction, speed) in enumerate(players, 1):
        y, x = next((y, row.index("AB"[number - 1])) for y, row in enumerate(rows) if "AB"[number - 1] in row)
        assert direction in DIRECTIONS
        told[str(number)] = {"x": x, "y": y, "direction": direction, "speed": speed}
    message = {"width": len(rows[0]), "height": len(rows), "cells": cells.tolist(), "players": told}
    return make_game(game_text_of(message)).position(state_of(message, rounds))


def decide(agent: str, position: Position, seat: int = 0) -> Decision:
    return make_agent(agent).start(position.game, seat, 1).act(position.game.position(position.view(seat)))


@pytest.mark.parametrize("agent", ["rollouts(rollouts=500)", "rollouts(unique=true)", "combi(rollouts=500)"])
def test_the_long_way_is_taken(agent: str) -> None:
    """Left are four cells and one below, right three and one: from the middle of a dead end."""
    position = drawn("########## #...A....# #.######.# #########. .........B", ("down", 1), ("up", 1))
    decision = decide(agent, position)
    assert decision.action == LEFT and decision.visits[ON] == 0
    if "unique" in agent:  # all its ways are few: each was counted once
        assert decision.nodes < 40


def test_basic_goes_straight_then_left_then_right() -> None:
    open_field = "..... ..A.. ..... ....B"
    assert decide("basic", drawn(open_field, ("up", 1), ("up", 1))).action == ON
    assert decide("basic", drawn("..#.. ..A.. ..... ....B", ("up", 1), ("up", 1))).action == LEFT
    assert decide("basic", drawn("..#.. .#A.. ..... ....B", ("up", 1), ("up", 1))).action == RIGHT
    assert decide("basic", drawn("..#.. .#A#. ..... ....B", ("up", 1), ("up", 1))).action == ON


@pytest.mark.parametrize("agent", ["minimax", "minimax(threads=3)"])
def test_minimax_does_not_enter_what_the_other_one_may_enter(agent: str) -> None:
    """Both could go into the gap; whoever does may die, so it stays out. Without others in sight it would not."""
    position = drawn("####### ##...## #A.#.B# #...... #######", ("up", 1), ("up", 1))
    decision = decide(agent, position)
    assert decision.values[decision.action] == decision.values[decision.visits > 0].max()
    meeting = drawn("#####. .A.B.. ###### ......", ("right", 1), ("left", 1))
    assert decide(agent + ("" if "(" in agent else "(depth=1)"), meeting).values[ON] <= 0


def test_slack_allows_what_is_little_worse() -> None:
    searched = Searched(np.array([5.0, 3.0, IMPOSSIBLE, -2.0, 4.0]), 3, 100)
    assert searched.good().tolist() == [True, False, False, False, False]
    assert searched.good(1.0).tolist() == [True, False, False, False, True]
    assert searched.good(5.0).tolist() == [True, True, False, False, True]
    assert not Searched(np.full(5, IMPOSSIBLE), 0, 0).good(5.0).any()


def test_threads_do_not_change_what_minimax_finds() -> None:
    game = make_game("spe_ed(width=15,height=15,players=3)")
    one, two = (
        play_match(MatchSpec(game.full_text(), (f"minimax(depth=3,nodes=3000,threads={n})", "basic", "basic"), 2))
        for n in (1, 3)
    )
    assert (one.plies, one.nodes) == (two.plies, two.nodes)


def test_scores_are_those_of_the_document() -> None:
    counts, risks = np.array([6, 0, 3, 0, 1]), np.array([1.2, 0.0, 0.3, 0.0, 0.3])
    # p_start = 0.2, 0.1, 0.3; their sum 0.6
    wanted = [1 / 3 + 0.4, np.inf, 1 / 6 + 0.7, np.inf, 1 / 2 + 0.9]
    np.testing.assert_allclose(scores(counts, risks, 0.5), wanted)
    np.testing.assert_allclose(scores(counts, risks, 0.0)[[0, 2, 4]], [0.8, 1.4, 1.8])
    np.testing.assert_allclose(scores(counts, risks, 1.0)[[0, 2, 4]], [2 / 3, 1 / 3, 1])
    np.testing.assert_allclose(scores(counts, 0 * risks, 0.5)[[0, 2, 4]], [0.4, 0.7, 0.9])


def test_presence_is_a_mean_over_free_cells_that_have_any() -> None:
    field, total = np.zeros(100, np.uint8), np.zeros(100)
    field[[44, 45]] = 1
    total[[33, 45, 55, 99]] = 0.2, 0.3, 0.4, 5.0
    assert presence(field, total, 44, 10, 3) == pytest.approx(0.9 / 2)
    assert presence(field, 0 * total, 44, 10, 3) == 0


def test_preference_decides_between_equal_values() -> None:
    assert best_of(np.array([1.0, 1, 1, 1, 1]), np.ones(5, np.bool_)) == ON
    assert best_of(np.array([1.0, 1, 1, 2, 1]), np.array([1, 1, 1, 0, 0], np.bool_)) == LEFT
    assert best_of(np.zeros(5), np.zeros(5, np.bool_)) == ON


def test_paths_are_remembered_only_where_they_lead_on() -> None:
    memory = PathMemory(10)
    guides, room = memory.recall(1, 50)
    assert guides.lengths.size == 0
    room.actions[:2, :3], room.lengths[:2] = [[ON, LEFT, LEFT], [LEFT, ON, ON]], [3, 3]
    memory.remember(ON, 2, 51)
    assert memory.recall(2, 52)[0].lengths.size == memory.recall(3, 51)[0].lengths.size == 0
    guides, _ = memory.recall(2, 51)
    assert guides.lengths.tolist() == [2] and guides.actions[0, :2].tolist() == [LEFT, LEFT]


def test_reuse_finds_longer_paths() -> None:
    """Over the first rounds, the longest path of few rollouts is longer where those of the round before count."""
    game = make_game("spe_ed(width=30,height=30)")
    means = []
    for reuse in (0, 500):
        position, player = game.start(4), make_agent(f"rollouts(rollouts=300,reuse={reuse})").start(game, 0, 1)
        assert isinstance(player, RolloutPlayer)
        roll_out, longest = player.roll_out, list[int]()

        def noted(*arguments: Any, roll_out: Any = roll_out, longest: list[int] = longest) -> Any:
            found = roll_out(*arguments)
            longest.append(int(found.numbers[LONGEST]))
            return found

        player.roll_out = noted  # type: ignore[method-assign]
        for _ in range(12):
            position = position.play(player.act(position).action).play(ON)
        means.append(np.mean(longest))
    assert means[1] > means[0]


def test_moves_of_others_are_seen_from_round_to_round() -> None:
    """B turns right, goes faster, straight on; A's own moves stay alike, and another round on the board forgets all."""
    game = make_game("spe_ed(width=20,height=20)")
    player = make_agent("tables(habits=2.0,table_rounds=1)").start(game, 0, 1)
    assert isinstance(player, TablePlayer)
    position = start = game.start(3)
    for moves in ((ON, RIGHT), (ON, FAST), (ON, ON)):
        player.act(position)
        for move in moves:
            position = position.play(move)
    player.act(position)
    assert player.seen[1].tolist() == [0, 1, 0, 1, 1] and player.seen[0].tolist() == [0, 0, 0, 0, 3]
    assert player.habits([0, 1]).tolist() == [[1, 1, 1, 1, 1], [1, 3, 1, 3, 3]], "asked twice in the same round"
    player.act(start)
    assert not player.seen.any()


def test_habits_of_others_make_their_way_likelier() -> None:
    """A player that always goes on is expected ahead; without habits it may turn as well."""
    game = make_game("spe_ed(width=20,height=20)")
    ahead = {}
    for habits in (0.0, 5.0):
        player = make_agent(f"tables(habits={habits},table_rounds=2)").start(game, 0, 1)
        assert isinstance(player, TablePlayer)
        position = game.start(3)
        for _ in range(4):
            player.act(position)
            position = position.play(ON).play(ON)
        cell = walkers_of(position.state, [1])[0]
        tables, _ = player.tables(1.0, 0)
        one = cell[CELL]  # two rounds after the last decision's view
        ahead[habits] = float(tables.total[one])
    assert ahead[5.0] > 1.5 * ahead[0.0] > 0


@pytest.mark.parametrize("name", SEARCHES)
def test_a_time_that_is_over_gets_an_answer_at_once(name: str) -> None:
    """Searches that may not use any time any more still answer, with something possible."""
    position = drawn("..#.. .#A.. ..... ....B", ("up", 1), ("up", 1))
    player = make_agent(name).start(position.game, 0, 1)
    assert isinstance(player, SpeEdPlayer)
    decision = player.act_before(position, time.monotonic_ns() - 1)
    assert decision.action == RIGHT


@pytest.mark.parametrize("name", SEARCHES)
def test_by_the_clock_whole_games_are_played(name: str) -> None:
    agents = (f"{name}(milliseconds=2)", "basic", "basic")
    record = played("spe_ed(width=16,height=16,players=3)", *agents)
    assert record.termination is Termination.NORMAL and record.nodes[0] > 0


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ("duel=true", False),
        ("duel=true,duel_table_weight=1.0,duel_filter_value=0.2", True),
        ("tight_cells=1000", False),
        ("tight_cells=1000,tight_filter_value=0.2,tight_table_weight=1.0", True),
        ("tight_cells=3,tight_filter_value=0.2,tight_table_weight=1.0", False),
    ],
)
def test_parameters_by_situation(options: str, changed: bool) -> None:
    position = make_game("spe_ed(width=12,height=12)").start(2)
    plain, other = (decide(f"combi(rollouts=200{text})", position) for text in ("", f",{options}"))
    assert (plain.values.tolist() != other.values.tolist()) == changed


def test_combi_asks_minimax_only_when_others_are_near_enough_and_likely() -> None:
    game = make_game("spe_ed(width=12,height=12)")
    # The first round knows of no tables of a round before.
    cases = (("", 3), (",minimax_activation=0.001", 2), (",minimax_activation=10", 0), (",minimax_distance=0", 0))
    for options, asked in cases:
        position, player = game.start(2), make_agent(f"combi(rollouts=50,depth=2{options})").start(game, 0, 1)
        assert isinstance(player, CombiPlayer)
        calls: list[int] = []
        deepen = player.deepen
        player.deepen = lambda *known, calls=calls, deepen=deepen: calls.append(1) or deepen(*known)  # type: ignore
        for _ in range(3):
            position = position.play(player.act(position).action).play(ON)
        assert len(calls) == asked


def test_combi_weighs_what_minimax_finds() -> None:
    """With all of the weight it plays one of the moves that minimax alone finds best, with none it may not."""
    game, played = make_game("spe_ed(width=9,height=9)"), set()
    for seed in range(12):
        position = game.start(seed)
        best = decide("minimax(depth=3,territory=10,minimax_distance=1000)", position).values
        for weight in (0, 100):
            action = decide(f"combi(rollouts=20,depth=3,table_rounds=1,minimax_weight={weight})", position).action
            played.add((weight, bool(best[action] >= best.max() - 0.1)))  # the rest of the score weighs as much
    assert (0, False) in played and (100, True) in played and (100, False) not in played


@pytest.mark.parametrize("name", [*SEARCHES, "basic"])
def test_other_games_are_refused(name: str) -> None:
    assert "spe_ed" in str(make_agent(name).cannot_play(make_game("tictactoe")))


AMONG = "......... ...#..... .A.#...B. ...#..... ........."
WALLED = "...#..... ...#..... .A.#...B. ...#..... ...#....."
ALONE = "...###... ...###... .A.###.B. ...###... ...###..."


@pytest.mark.parametrize(
    ("picture", "alone", "weight", "jumps", "hug"),
    [(AMONG, False, 10.0, 0, 0.1), (WALLED, False, 2.0, 9, 0.8), (ALONE, True, 2.0, 9, 0.8)],
    ids=("among", "walled", "alone"),
)
def test_walls_change_what_counts(picture: str, alone: bool, weight: float, jumps: int, hug: float) -> None:
    """A wall of one cell keeps others out until they jump, one of three for good."""
    position = drawn(picture, ("up", 1), ("up", 1))
    agent = make_agent("adaptive_combi(minimax_weight=10,walled_weight=2,jump_steps=9,hug=0.1,walled_hug=0.8)")
    player = agent.start(position.game, 0, 1)
    assert isinstance(player, AdaptiveCombiPlayer)
    player.act(position.game.position(position.view(0)))
    values = player.situation()
    assert (values.alone, values.minimax_weight, values.jump_steps, values.hug) == (alone, weight, jumps, hug)
    assert (values.filter_value == 1.0) == (picture != AMONG)


def test_who_is_alone_asks_no_minimax() -> None:
    position = drawn(ALONE, ("up", 1), ("up", 1))
    player = make_agent("adaptive_combi(rollouts=50)").start(position.game, 0, 1)
    assert isinstance(player, AdaptiveCombiPlayer)
    player.deepen = None  # type: ignore
    assert player.act(position.game.position(position.view(0))).action in (LEFT, RIGHT, ON)
    walled = drawn(WALLED, ("up", 1), ("up", 1))
    with pytest.raises(TypeError):
        player.act(walled.game.position(walled.view(0)))
