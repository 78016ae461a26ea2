"""Greedy play of n-tuple networks by what actions change: the same as by the general kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from turnier.agents.abi import ACT
from turnier.agents.greedy import Greedy, act_greedy
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import EVALUATORS
from turnier.core.kernel import pointer
from turnier.games.registry import make_game


@pytest.mark.parametrize(
    ("game_text", "network", "learning"),
    [
        ("yavalath", "ntuple(tuples=20,length=5)", "td(epsilon=0.3)"),
        ("yavalath(size=3,swap=true)", "ntuple(tuples=5,length=3)", "td(epsilon=0.3,method=1)"),
        ("yavalath(size=3,players=3)", "ntuple(tuples=5,length=3,symmetric=false)", "td(epsilon=0.3)"),
        ("tictactoe", "ntuple(tuples=4,length=4,stages=2)", "td(epsilon=0.3)"),
        ("othello", "ntuple(tuples=5,length=4)", "td(epsilon=0.3)"),
        ("2048(size=3)", "ntuple(network=cells,cells=0.1.2/1.3.4)", "td"),
    ],
)
def test_the_same_actions_values_and_visits(game_text: str, network: str, learning: str, tmp_path: Path) -> None:
    """Bit for bit, at every decision of random games; 2048 must be left to the general kernel."""
    game, evaluator = make_game(game_text), EVALUATORS.make(network)
    assert isinstance(evaluator, NTuple)
    file = tmp_path / "w.npz"
    TdLoop(Plan(game, evaluator, td_of(learning)), file, 60).run(checked=False)
    seat = Greedy(evaluator=EVALUATORS.make(f"ntuple(file={file})")).kernels(game)
    assert (seat.act is pointer(act_greedy, ACT)) == game_text.startswith("2048")
    random, rng = np.random.default_rng(1), np.zeros(4, np.uint64)
    values = set()
    for seed in range(3):
        position = game.start(seed)
        while not position.over:
            roots = np.zeros((2, 2, game.num_actions))
            actions = [
                act(game.kernels, seat.evaluator, seat.settings, position.state, position.returns, rng, root)
                for act, root in zip((act_greedy, seat.act), roots, strict=True)
            ]
            assert actions[0] == actions[1] and roots[0].tobytes() == roots[1].tobytes()
            values |= set(roots[1, 1])
            position = position.play(int(random.choice(position.legal_actions())))
    assert len(values) > 10
