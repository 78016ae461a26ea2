"""Search around a network with a policy of its own: the same search in plain Python, and what goes with it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.mcts.naive_mcts import Walk
from tests.agents.puct.naive_puct import Node, Search
from tests.agents.puct.test_puct import grown, plain_shape, puct, shape
from tests.agents.residual.plain_network import drawn_weights
from turnier.agents.mcts.tree import NONE
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.agents.residual.kernels import say
from turnier.agents.residual.network import Network, Weights
from turnier.games.abi import TERMINAL
from turnier.games.game import Position
from turnier.games.registry import make_game


class SearchByHeads(Search):
    """Priors are the network's policy; what does not end the game is first worth what the state itself is."""

    def __init__(self, agent: Any, position: Position, network: Network, weights: Any) -> None:
        super().__init__(agent, position, None, lambda state, returns: [float(value) for value in returns])
        self.settings = network.settings(weights)

    def look(self, walk: Walk) -> tuple[list[float], Any]:
        """What a state is worth to each seat, and the logits of all actions."""
        logits, mover = np.empty(self.game.num_actions, np.float32), walk.mover()
        words, table = self.settings.view(np.int64), self.settings.view(np.float32)
        value = say(self.game.kernels, words, table, walk.state, mover, logits)
        own = min(max(value, -0.999), 0.999)
        return ([own, -own] if mover == 0 else [-own, own]), logits

    def guess(self, walk: Walk) -> list[float]:
        return super().guess(walk) if walk.mover() == TERMINAL else self.look(walk)[0]

    def expand(self, node: Node, walk: Walk) -> list[list[float]]:
        (own, logits), mover, worth = self.look(walk), walk.mover(), []
        for action in walk.legal():
            ahead = Walk(self.position)
            ahead.state, ahead.returns = walk.state.copy(), walk.returns.copy()
            ahead.step(action)
            over = ahead.mover() == TERMINAL
            worth.append(self.guess(ahead) if over else own)
            child = Node(action, mover, worth[-1][mover], logit=float(logits[action]))
            child.proof = worth[-1] if over and self.agent.solver else None
            node.children.append(child)
        highest, total = max(child.logit for child in node.children), 0.0
        for child in node.children:
            child.logit -= highest
            total += math.exp(child.logit)
        for child in node.children:
            child.prior, child.logit = math.exp(child.logit) / total, child.logit - math.log(total)
        return worth


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("selection", ["puct", "gumbel"])
@pytest.mark.parametrize(
    ("game_text", "plies"),
    [("tictactoe", (4,)), ("connect_four", (3, 2, 3, 2, 3)), ("othello(size=4)", (1,)), ("yavalath(size=3)", (3, 9))],
)
def test_the_search_equals_a_plain_one(
    game_text: str, plies: tuple[int, ...], selection: str, solver: bool, tmp_path: Path
) -> None:
    """The whole tree, bit for bit."""
    game, file = make_game(game_text), tmp_path / "r.npz"
    network, position = Network(game, 1, 16), game.start()
    weights = drawn_weights(network)
    Weights(network, weights, {}).save(file)
    for ply in plies:
        position = position.play(ply)
    evaluator = EVALUATORS.make(f"residual(file={file})")
    agent = puct(evaluator=evaluator, selection=selection, solver=solver, iterations=150)
    plain = SearchByHeads(agent, position, network, weights)
    tree, favourite = grown(agent, position)
    if selection == "gumbel":
        best = plain.halve([0.0] * game.kernels.max_choices)
        assert (best is None) == (favourite == NONE)
    else:
        for _ in range(agent.iterations):
            plain.iterate()
    assert shape(tree) == plain_shape(plain.root)
    assert len({child.prior for child in plain.root.children}) > 1


def test_by_the_clock_it_searches_the_same_way(tmp_path: Path) -> None:
    game, file = make_game("connect_four"), tmp_path / "r.npz"
    network = Network(game, 1, 16)
    Weights(network, drawn_weights(network), {}).save(file)
    agent = make_agent(f"puct(milliseconds=200,evaluator=residual(file={file}),solver=true)")
    decision = agent.start(game).act(game.start())  # type: ignore[attr-defined]
    iterations = int(decision.visits.sum()) + 1  # the first one looks at the position itself
    assert iterations > 2
    counted = make_agent(f"puct(iterations={iterations},evaluator=residual(file={file}),solver=true)")
    expected = counted.start(game).act(game.start())  # type: ignore[attr-defined]
    assert decision.visits.tolist() == expected.visits.tolist() and decision.values.tolist() == expected.values.tolist()


def test_what_such_a_search_cannot_do(tmp_path: Path) -> None:
    game = make_game("tictactoe")
    reason = make_agent("puct(leaf=best,evaluator=residual)").cannot_play(game)
    assert reason == "puct with leaf=best needs values of one decision ahead, got residual; use leaf=state."
    reason = make_agent("puct(evaluator=residual)").cannot_play(make_game("2048"))
    assert reason is not None and "residual needs a compiled game of two seats without chance" in reason
