"""`turnier.Judging`: its positions, its figures by hand, and that neither workers nor agents change them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import turnier
from turnier.agents.perfect.judge import judge_of
from turnier.arena.workers.where import Where
from turnier.games.registry import make_game
from turnier.runs.judging.judging import Judging
from turnier.runs.judging.positions import draw_positions

QUIET: dict[str, Any] = {"where": Where("serial"), "progress": False}
TINY = "nim(piles=1;2)"
# All positions of TINY with at least two legal actions: the piles, how many actions keep its value, and of how many.
BY_HAND = {(1, 2): (1, 3), (0, 2): (1, 2), (1, 1): (2, 2)}


def test_positions_are_different_and_offer_a_choice() -> None:
    game = make_game("tictactoe")
    drawn = list(draw_positions(game, 300, 3))
    assert len({position.id for position in drawn}) == 300
    assert min(len(position.legal) for position in drawn) == 2
    assert len({position.phase for position in drawn}) == 8  # from the empty board to two empty cells
    for seen in drawn:
        position = game.position(np.array(seen.state), np.array(seen.returns))
        assert not position.over and tuple(position.legal_actions()) == seen.legal
    assert drawn[:50] == list(draw_positions(game, 50, 3)) != list(draw_positions(game, 50, 4))


def test_a_game_with_few_positions_gives_all_of_them() -> None:
    drawn = list(draw_positions(make_game(TINY), 40, 1))
    assert {tuple(make_game(TINY).cell_values(np.array(seen.state))) for seen in drawn} == set(BY_HAND)


def test_figures_are_those_worked_out_by_hand() -> None:
    """`greedy` wins at once where it can, and otherwise plays the first action, which from the start (1, 2) loses.

    So it keeps the value in two of three positions, and in one of the two that have a wrong action; it loses 2, 0, 0.
    """
    results = Judging(TINY, ["greedy", "perfect"], positions=100).run(**QUIET)
    assert results.chance == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert results.contested_chance == pytest.approx((1 / 3 + 1 / 2) / 2)
    perfect, greedy = results.agents().to_dict("records")
    assert (perfect["label"], perfect["optimal"], perfect["kept"], perfect["loss"]) == ("perfect", 1, 1, 0)
    assert (greedy["label"], greedy["positions"], greedy["contested"]) == ("greedy", 3, 2)
    assert (greedy["optimal"], greedy["kept"]) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert greedy["loss"] == pytest.approx(2 / 3)
    student, skewness = 4.302653 * math.sqrt(4 / 3) / math.sqrt(3), math.sqrt(3)
    assert greedy["loss_half_width"] == pytest.approx(student * (1 + 1.0801 * skewness**2 / 3), rel=1e-4)
    # Wilson's interval of 2 in 3, by its formula
    z2 = 1.959964**2
    centre, half = (2 / 3 + z2 / 6) / (1 + z2 / 3), math.sqrt(z2 / 3 * (2 / 9 + z2 / 12)) / (1 + z2 / 3)
    assert (greedy["optimal_low"], greedy["optimal_high"]) == pytest.approx((centre - half, centre + half), rel=1e-5)


def test_random_play_is_as_good_as_chance() -> None:
    """Of three positions 11/6 are played right in the mean, with a variance of 2/9 + 1/4."""
    right = [(Judging(TINY, ["random"], positions=3, seed=s).run(**QUIET).positions()["loss"] == 0) for s in range(100)]
    total = sum(int(each.sum()) for each in right)
    assert abs(total - 100 * 11 / 6) < 5 * math.sqrt(100 * (2 / 9 + 1 / 4))
    assert {int(each.sum()) for each in right} == {1, 2, 3}


def test_positions_say_what_every_move_was_worth() -> None:
    game = make_game("tictactoe")
    rows = Judging(game, ["random"], positions=60).run(**QUIET).positions()
    assert set(rows["loss"]) == {0, 1, 2} and set(rows["best"]) == {-1, 0, 1}
    by_id = {seen.id: seen for seen in draw_positions(game, 60, 1)}
    for row in rows.to_dict("records"):
        seen = by_id[row["position"]]
        values = judge_of(game).values(game.position(np.array(seen.state), np.array(seen.returns)))
        assert row["loss"] == row["best"] - values[row["action"]] and row["best"] == max(values.values())
        assert (row["legal"], row["optimal"]) == (len(values), list(values.values()).count(row["best"]))
        assert row["contested"] == (row["optimal"] < row["legal"])


def test_neither_workers_nor_other_agents_change_a_decision() -> None:
    agents = ["random", "mc(iterations=5)"]
    one = Judging("hex(size=3)", agents, positions=40, seed=5).run(**QUIET)
    threads = Judging("hex(size=3)", agents, positions=40, seed=5).run(where=Where("threads", 3), progress=False)
    assert one.positions().equals(threads.positions())
    alone = Judging("hex(size=3)", ["random"], positions=40, seed=5).run(**QUIET)
    random = one.positions().query("label == 'random'").reset_index(drop=True)
    assert alone.positions().equals(random)
    other = Judging("hex(size=3)", agents, positions=40, seed=6).run(**QUIET)
    assert set(other.positions()["position"]) != set(one.positions()["position"])


@pytest.mark.parametrize(
    ("game", "agents", "positions", "part"),
    [
        ("hex(size=9)", ["random"], 10, "too many boards"),
        ("tictactoe", [], 10, "at least 1 agent"),
        ("tictactoe", ["random"], 1, "at least 2 positions"),
        ("tictactoe", ["random"], 10**7, "at most 1,000,000"),
        ("tictactoe", ["basic"], 10, "spe_ed"),
        ("tictactoe", ["human"], 10, "a person plays at a board"),
    ],
)
def test_mistakes_are_sentences(game: str, agents: list[str], positions: int, part: str) -> None:
    with pytest.raises(turnier.UserError, match=part):
        Judging(game, agents, positions=positions).run(**QUIET)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(turnier.UserError, match="seed must be 0 or larger"):
        turnier.Judging("tictactoe", ["random"], seed=-1)
