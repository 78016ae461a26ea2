"""The memory of moves, returns of several steps, and double Q-learning, beside plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from turnier.agents.deep.learning import DeepQ
from turnier.agents.deep.replay import Replay, Turn
from turnier.agents.ntuple.td import method_for
from turnier.core.errors import UserError
from turnier.games.registry import make_game

BOARDS, LENGTH, WORDS = 3, 20, 2


def played(turns: int, seats: int = 2) -> tuple[Replay, list[Turn]]:
    """A memory of random turns, and all of them."""
    random, replay, all_turns = np.random.default_rng(seats), Replay.empty(LENGTH, BOARDS, WORDS, seats), []
    for number in range(turns):
        turn = Turn(
            np.tile(np.array([[number, 0]]), (BOARDS, 1)) + np.array([[0, board] for board in range(BOARDS)]),
            random.integers(0, seats, BOARDS).astype(np.int8),
            random.integers(0, 5, BOARDS).astype(np.int16),
            random.normal(size=(BOARDS, seats)).astype(np.float32),
            random.random(BOARDS) < 0.15,
        )
        replay.add(turn)
        all_turns.append(turn)
    return replay, all_turns


@pytest.mark.parametrize("seats", [1, 2])
@pytest.mark.parametrize("steps", [1, 3, 6])
def test_returns_of_several_steps(steps: int, seats: int) -> None:
    replay, turns = played(50, seats)
    discount = 0.9
    for time in range(50 - LENGTH, 50 - steps):
        for board in range(BOARDS):
            found = replay.moves(np.array([time]), np.array([board]), steps, discount)
            mover, total, factor = turns[time].movers[board], 0.0, 1.0
            for step in range(steps):
                turn = turns[time + step]
                total += factor * turn.rewards[board, mover]
                factor = 0.0 if turn.ended[board] else factor * discount
            sign = 1 if turns[time + steps].movers[board] == mover else -1
            assert found.rewards[0] == pytest.approx(total, abs=1e-5)
            assert found.factors[0] == pytest.approx(sign * factor, abs=1e-6)
            assert found.states[0].tolist() == [time, board] and found.next_states[0].tolist() == [time + steps, board]
            assert found.actions[0] == turns[time].actions[board]


def test_a_batch_has_known_moves_only() -> None:
    for count in (5, LENGTH, LENGTH + 1, 77):
        replay, _ = played(count)
        moves = replay.sample(np.random.default_rng(1), 2000, 4, 0.9)
        times = moves.states[:, 0]
        assert times.min() == max(count - LENGTH, 0) and times.max() == count - 5
        assert (moves.next_states[:, 0] == times + 4).all() and set(moves.states[:, 1]) == set(range(BOARDS))


@pytest.mark.parametrize("count", [0, 7, LENGTH, 33])
def test_a_memory_is_restored(count: int) -> None:
    replay, _ = played(count)
    again = Replay.empty(LENGTH, BOARDS, WORDS, 2)
    again.restore(replay.arrays(), count)
    for memory in (replay, again):
        memory.add(played(1)[1][0])
    assert again.count == replay.count == count + 1
    for one, other in zip(again.turns, replay.turns, strict=True):
        assert (one == other).all()
    with pytest.raises(ValueError, match="its memory has other"):
        Replay.empty(LENGTH, BOARDS + 1, WORDS, 2).restore(played(9)[0].arrays(), 9)


@pytest.mark.parametrize("double", [True, False])
def test_targets_of_double_learning(double: bool) -> None:
    pytest.importorskip("jax")
    from turnier.agents.deep.gradient import Lesson, targets

    random, n, actions = np.random.default_rng(4), 40, 5
    values, target_values = random.normal(size=(2, n, actions)).astype(np.float32)
    masks = (random.random((n, actions)) < 0.6).astype(np.int8)
    masks[:, 2] = 1
    rewards, factors = random.normal(size=(2, n)).astype(np.float32)
    nothing = np.zeros((n, 1, 1), np.int8)
    lesson = Lesson(nothing, rewards, np.zeros(n, np.int64), rewards, factors, nothing, rewards, masks)
    wanted = np.asarray(targets(values, target_values, lesson, double))
    for row in range(n):
        legal = [action for action in range(actions) if masks[row, action]]
        judge = values if double else target_values
        best = max(legal, key=lambda action: judge[row, action])
        assert wanted[row] == pytest.approx(rewards[row] + factors[row] * target_values[row, best], abs=1e-5)


def test_rates_and_exploration_fall() -> None:
    learning = DeepQ(alpha=0.1, alpha_end=0.001, epsilon=0.5, epsilon_end=0.1, explore=100)
    assert [learning.rate(done, 10) for done in (0, 5, 10, 12)] == pytest.approx([0.1, 0.01, 0.001, 0.001])
    assert [learning.exploration(moves) for moves in (0, 50, 100, 500)] == pytest.approx([0.5, 0.3, 0.1, 0.1])
    assert DeepQ(alpha=0.1).rate(7, 10) == 0.1


def test_what_is_left_open_goes_with_the_game() -> None:
    assert method_for(make_game("2048"), "", DeepQ).unit > 1 and method_for(make_game("tictactoe"), "", DeepQ).unit == 1
    assert method_for(make_game("2048"), "deep_q(unit=1)", DeepQ).unit == 1
    with pytest.raises(UserError, match="dqn must learn by deep_q, got td"):
        method_for(make_game("2048"), "td", DeepQ)
    with pytest.raises(UserError, match="raise replay"):
        DeepQ(replay=100, boards=64)
