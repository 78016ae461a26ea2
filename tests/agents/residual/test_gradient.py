"""How a residual network learns: its gradient beside formulas and differences, and what batches it learns from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.agents.residual.plain_network import GAMES, drawn_weights, plain_outputs, positions
from turnier.agents.residual.kernels import see_lessons
from turnier.agents.residual.network import Network
from turnier.games.game import Position
from turnier.games.registry import make_game

jax = pytest.importorskip("jax")


def lesson_of(network: Network, found: list[Position], turns: Any = None) -> tuple[Any, Any]:
    """A batch of what is to be said of positions, turned to images, and of what by position; one has no policy."""
    from turnier.agents.residual.gradient import Lesson

    game, n, random = network.game, len(found), np.random.default_rng(5)
    shares = [random.dirichlet(np.ones(len(p.legal_actions()))).astype(np.float32) for p in found]
    shares[1] = shares[1][:0]
    values = random.uniform(-1, 1, n).astype(np.float32)
    seen, second = np.empty((n, game.num_cells), np.int8), np.empty(n, np.int8)
    legal, wanted = np.empty((n, game.num_actions), np.int8), np.empty((n, game.num_actions), np.float32)
    turned = network.turned_actions
    see_lessons(
        game.kernels, network.header(), np.array([p.state for p in found]), np.cumsum([0, *map(len, shares)]),
        np.concatenate(shares), np.arange(n), np.zeros(n, np.int64) if turns is None else turns,
        game.symmetries()[: len(turned)].copy(), turned, seen, second, legal, wanted,
    )  # fmt: skip
    return Lesson(seen, second, values, legal, wanted), shares


@pytest.mark.parametrize("game", GAMES)
def test_batches_show_turned_boards(game: str) -> None:
    made = make_game(game)
    network, found = Network(made, 1, 16), positions(made)
    turns = np.arange(len(found)) % len(network.turned_actions)
    lesson, shares = lesson_of(network, found, turns)
    for row, (position, own) in enumerate(zip(found, shares, strict=True)):
        mover, cells = position.to_move, made.cell_values(position.state)[made.symmetries()[turns[row]]]
        assert lesson.second[row] == mover
        assert lesson.seen[row].tolist() == [0 if c == 0 else 1 if c == 1 + mover else 2 for c in cells]
        to = network.turned_actions[turns[row]]
        expected = {int(to[action]): float(share) for action, share in zip(position.legal_actions(), own, strict=False)}
        assert {a: float(lesson.policies[row, a]) for a in np.flatnonzero(lesson.legal[row])} == expected
        assert lesson.policies[row].sum() == pytest.approx(float(own.sum()))


def plain_loss(network: Network, weights: Any, found: list[Position], lesson: Any) -> float:
    """Mean squared error, and mean cross-entropy of the policies that are to be learned."""
    squares, entropies = [], []
    for row, position in enumerate(found):
        value, logits = plain_outputs(network, weights, position)
        squares.append((value - float(lesson.values[row])) ** 2)
        legal = np.flatnonzero(lesson.legal[row])
        if len(legal):
            known = logits[legal] - np.log(np.exp(logits[legal]).sum())
            entropies.append(-(lesson.policies[row, legal] * known).sum())
    return float(np.mean(squares) + np.mean(entropies))


def test_the_loss_and_its_gradient_are_those_of_plain_numpy() -> None:
    """By differences, in directions at random."""
    from turnier.agents.residual.gradient import losses

    game = make_game("tictactoe")
    network, found = Network(game, 1, 8), positions(game, 3)
    weights, (lesson, _) = drawn_weights(network), lesson_of(network, found)
    value, gradient = jax.value_and_grad(lambda w: sum(losses(network, network.parts(w), lesson)))(weights)
    assert float(value) == pytest.approx(plain_loss(network, weights, found, lesson), rel=1e-5)
    random, step = np.random.default_rng(6), 1e-7
    for _ in range(5):
        direction = random.normal(size=network.size)
        ends = [plain_loss(network, weights + sign * step * direction, found, lesson) for sign in (1, -1)]
        expected = float(np.asarray(gradient, float) @ direction)
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_the_first_updates_move_biases_by_hand() -> None:
    """Nothing is known, so the value is 0 and the policy uniform: gradients of output biases are means of errors."""
    from turnier.agents.residual.gradient import Learned, update_of

    game, rate, decay = make_game("tictactoe"), 0.01, 0.1
    network, found = Network(game, 0, 16), [make_game("tictactoe").start()] * 2
    lesson, shares = lesson_of(network, found)
    learned, _ = update_of(network)(Learned.new(network.new_weights(1)), rate, decay, lesson)
    value_bias, policy_bias = (network.parts(learned.weights)[number] for number in (-1, -5))
    value_gradient = float(np.mean(2 * (0 - lesson.values)))
    policy_gradient = 1 / 9 - shares[0]  # the second position teaches no policy
    means = network.parts(learned.mean)
    assert float(means[-1][0]) == pytest.approx(0.1 * value_gradient, rel=1e-5)  # Adam's, of 0.9
    np.testing.assert_allclose(means[-5], 0.1 * policy_gradient, atol=1e-7)
    assert float(value_bias[0]) == pytest.approx(-rate * np.sign(value_gradient), rel=1e-3)
    np.testing.assert_allclose(policy_bias, -rate * np.sign(policy_gradient), rtol=1e-3)
    stem = network.parts(network.new_weights(1))[0]  # outputs of 0 teach what comes before nothing; it only decays
    np.testing.assert_allclose(network.parts(learned.weights)[0], stem * (1 - rate * decay), rtol=1e-6)


@pytest.mark.parametrize("game", ["tictactoe", "yavalath(size=3)"])
def test_what_is_taught_again_and_again_is_known(game: str) -> None:
    from turnier.agents.residual.gradient import Learned, update_of

    made = make_game(game)
    network, found = Network(made, 1, 16), positions(made, 6)
    lesson, _ = lesson_of(network, found)
    learned, losses = Learned.new(network.new_weights(1)), []
    for _ in range(300):
        learned, loss = update_of(network)(learned, 0.003, 0.0, lesson)
        losses.append(float(loss))
    entropy = -float(np.where(lesson.policies > 0, lesson.policies * np.log(lesson.policies + 1e-30), 0).sum())
    assert losses[1] < losses[0] and losses[-1] < entropy / lesson.policies.sum() + 0.02
    for row, position in enumerate(found):
        value, _ = plain_outputs(network, learned.to_numpy().weights, position)
        assert value == pytest.approx(float(lesson.values[row]), abs=0.05)
