"""Rollouts by a learned network: the same moves in plain Python by another way to the values, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.mcts.naive_mcts import Walk
from tests.contract.tiny_games import Fuse
from turnier.agents.evaluators.learned_rollout import LearnedRollout
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.contract.agents import positions
from turnier.contract.evaluators import EVALUATOR_LAWS, estimate
from turnier.contract.law import check_laws
from turnier.core.errors import UserError
from turnier.core.rng import below, stream, uniform
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Position
from turnier.games.generic import draw_outcome
from turnier.games.registry import make_game
from turnier.runs.experiments.trained import Learner

SMALL = "ntuple(tuples=6,length=3)"
DEPTH = 40
LEARNERS = {
    "tictactoe": Learner("tictactoe", SMALL, "td(alpha=0.3,epsilon=0.3,tanh=true)", 500),
    "whole returns": Learner("tictactoe", SMALL, "td(alpha=0.3,epsilon=0.3,method=1)", 500),
    "connect four": Learner("connect_four(rows=4,columns=4)", SMALL, "td(alpha=0.3,epsilon=0.3)", 200),
    "three seats": Learner("yavalath(players=3,size=3)", SMALL, "td(alpha=0.3,epsilon=0.3)", 200),
    "2048": Learner("2048", "ntuple(network=cells,cells=0.1.2.3/4.5.6.7)", "td", 30),
    "2048 3x3": Learner("2048(size=3)", SMALL, "td", 100),
}


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Trained networks as text."""
    folder, found = tmp_path_factory.mktemp("networks"), {}
    for name, learner in LEARNERS.items():
        learner.train(folder, lambda _: None)
        found[name] = learner.agent(folder).removeprefix("greedy(evaluator=")[:-1]
    return found


def plain_rollout(network: NTuple, randomness: float, position: Position, rng: Any) -> list[float]:
    """Returns the values of a rollout whose moves ask the evaluator `ntuple` for every afterstate."""
    game, walk = position.game, Walk(position)
    values = network.kernels(game, 0, 1)
    plies = 0
    while (mover := walk.mover()) != TERMINAL and (mover == CHANCE or plies < DEPTH):
        if mover == CHANCE:
            walk.step(int(draw_outcome(walk.kernels, walk.state, rng, walk.choices, walk.probs)))
            continue
        plies += 1
        legal = walk.legal()
        if len(legal) > 1:
            if randomness and uniform(rng) < randomness:
                legal = [legal[int(below(rng, len(legal)))]]
            else:
                worth = []
                for action in legal:
                    state, returns = walk.state.copy(), walk.returns.copy()
                    walk.kernels.step(state, action, returns)
                    worth.append(np.float32(estimate(game, values, state, returns, stream(1))[mover]))
                legal = [action for action, value in zip(legal, worth, strict=True) if value == max(worth)]
                if len(legal) > 1:
                    legal = [legal[int(below(rng, len(legal)))]]
        walk.step(legal[0])
    lost = game.num_seats == 1 and mover == TERMINAL
    return [gain / game.max_return - lost for gain in walk.returns]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("randomness", [0.0, 0.4])
def test_it_plays_to_the_best_afterstates(networks: dict[str, str], name: str, randomness: float) -> None:
    game, network = make_game(LEARNERS[name].game), EVALUATORS.make(networks[name])
    evaluator = EVALUATORS.make(f"learned_rollout(network={networks[name]},randomness={randomness})")
    assert isinstance(network, NTuple) and evaluator.cannot_evaluate(game) is None
    kernels, rng, other = evaluator.kernels(game, DEPTH, 2), stream(5), stream(5)
    for position in positions(game):
        got = estimate(game, kernels, position.state.copy(), position.returns.copy(), rng)
        assert got.tolist() == pytest.approx(plain_rollout(network, randomness, position, other), abs=1e-12)
        assert np.array_equal(rng, other), "other moves were drawn"


@pytest.mark.parametrize("name", LEARNERS)
def test_trained_ones_keep_the_laws(networks: dict[str, str], name: str) -> None:
    evaluator = EVALUATORS.make(f"learned_rollout(network={networks[name]})")
    check_laws(EVALUATOR_LAWS, evaluator, make_game(LEARNERS[name].game))


def test_what_it_has_learned_makes_rollouts_better(networks: dict[str, str]) -> None:
    """In 2048 a rollout of 40 moves makes more points than a random one from the same positions."""
    game = make_game("2048")
    totals = [0.0, 0.0]
    for i, text in enumerate(("rollout", f"learned_rollout(network={networks['2048']},randomness=0.0)")):
        kernels = EVALUATORS.make(text).kernels(game, DEPTH, 1)
        for position in positions(game)[:6]:
            state, returns = position.state.copy(), position.returns.copy()
            totals[i] += float(estimate(game, kernels, state, returns, stream(3), 100)[0] - 100 * position.returns[0])
    assert totals[1] > 1.3 * totals[0]


def test_its_digest_is_that_of_the_file(networks: dict[str, str], tmp_path: Path) -> None:
    """The agent's full text names the weights, so that other weights are another agent."""
    agent = make_agent(f"mcts(evaluator=learned_rollout(network={networks['tictactoe']}))")
    network = EVALUATORS.make(networks["tictactoe"])
    assert isinstance(network, NTuple) and f"digest={network.digest}" in agent.full_text()
    changed = networks["tictactoe"].replace(network.digest, "0" * 16)
    with pytest.raises(UserError, match="digest"):
        make_agent(f"mcts(evaluator=learned_rollout(network={changed}))").start(make_game("tictactoe"))


def test_what_does_not_fit_is_refused(networks: dict[str, str]) -> None:
    with pytest.raises(UserError, match="needs an n-tuple network, got rollout"):
        EVALUATORS.make("learned_rollout(network=rollout)")
    learned = EVALUATORS.make(f"learned_rollout(network={networks['tictactoe']})")
    assert isinstance(learned, LearnedRollout)
    assert "are for tictactoe, got connect_four" in str(learned.cannot_evaluate(make_game("connect_four")))
    assert "needs a game with a board" in str(EVALUATORS.make("learned_rollout").cannot_evaluate(Fuse()))
