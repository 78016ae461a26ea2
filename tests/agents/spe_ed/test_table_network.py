"""The network on probability tables: what it sees, the step of learning, that it learns and resumes, and its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.agents.spe_ed.boards import scattered
from turnier.agents.registry import make_agent
from turnier.agents.spe_ed.network.agent import TableNetwork
from turnier.agents.spe_ed.network.inputs import OF_MOVE, OF_OTHERS, Eyes, num_inputs
from turnier.agents.spe_ed.network.learning import targets_of
from turnier.agents.spe_ed.network.weights import Network, Weights, learn_moves, value_of
from turnier.agents.spe_ed.search.field import FASTER, MOVES, TURN, next_round, on_board, stride_of
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Game, Ints
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import DIRECTION, DX, DY, HEIGHT, SPEED, WIDTH, X, Y, cell_at, jumps, put_cell
from turnier.runs.learning.ways import learning_plan
from turnier.runs.self_play.table_network import TableLoop

WINDOW, ROUNDS, REACH = 5, 3, 2
SMALL = "spe_ed(width=10,height=10)"
Floats32 = npt.NDArray[np.float32]


def windows(game: Game, state: Ints, action: int, table: npt.NDArray[np.float64]) -> tuple[Floats32, Floats32] | None:
    """Returns what lies around the end of seat 0's move, by coordinates: taken cells, and a table; None if it dies."""
    speed, heading = int(state[SPEED] + FASTER[action]), int(state[DIRECTION] + TURN[action]) & 3
    cells = game.cell_values(state).reshape(state[HEIGHT], state[WIDTH]) != 0
    x, y = int(state[X]), int(state[Y])
    jump = bool(jumps(next_round(state), speed))
    for step in range(1, speed + 1):
        x, y = x + int(DX[heading]), y + int(DY[heading])
        if jump and 1 < step < speed:
            continue
        if not (0 <= x < state[WIDTH] and 0 <= y < state[HEIGHT]) or cells[y, x]:
            return None
        cells[y, x] = True
    if not 1 <= speed <= 10:
        return None
    taken, likely = np.ones((WINDOW, WINDOW), np.float32), np.zeros((WINDOW, WINDOW), np.float32)
    beside = (heading + 1) & 3
    for up in range(-REACH, REACH + 1):
        for right in range(-REACH, REACH + 1):
            column = x + up * int(DX[heading]) + right * int(DX[beside])
            row = y + up * int(DY[heading]) + right * int(DY[beside])
            if 0 <= column < state[WIDTH] and 0 <= row < state[HEIGHT]:
                taken[up + REACH, right + REACH] = cells[row, column]
                likely[up + REACH, right + REACH] = min(1.0, table[row, column])
    return taken.ravel(), likely.ravel()


@pytest.mark.parametrize("seed", range(6 if JIT else 1))
def test_it_sees_the_board_and_the_tables_around_each_move(seed: int) -> None:
    game, state = scattered(14, 11, 3, seed, 0.1)
    eyes, cells = Eyes(game, WINDOW, ROUNDS, 500, 2.0), WINDOW**2
    before = eyes.look(state, 0)
    assert before.tables is not None
    total = on_board(before.tables.total, int(stride_of(state)))
    for action in range(MOVES):
        expected, inputs = windows(game, state, action, total), before.inputs[action]
        assert before.possible[action] == (expected is not None)
        if expected is None:
            assert not inputs.any()
            continue
        assert np.array_equal(inputs[:cells], expected[0])
        assert np.allclose(inputs[cells : 2 * cells], expected[1])
        sums = inputs[3 * cells : 3 * cells + ROUNDS]
        assert np.allclose(sums, np.minimum(1, before.tables.mass[1 : ROUNDS + 1, action]))
        assert inputs[2 * cells : 3 * cells].any() == bool(sums.any()) and inputs.min() >= 0
    assert any(before.inputs[:, cells : 2 * cells].any(axis=1)), "nobody else comes near"
    blind = Eyes(game, WINDOW, ROUNDS, 0, 2.0).look(state, 0).inputs
    known = slice(cells, 3 * cells + 2 * ROUNDS + 1)
    assert not blind[:, known].any() and np.array_equal(np.delete(blind, known, 1), np.delete(before.inputs, known, 1))


def turned(game: Game, state: Ints) -> Ints:
    """Returns a square board after a quarter of a turn to the right."""
    side = int(state[WIDTH])
    after = state.copy()
    for y in range(side):
        for x in range(side):
            put_cell(after, x * side + side - 1 - y, int(cell_at(state, y * side + x)))
    for seat in range(game.num_seats):
        after[X + seat], after[Y + seat] = side - 1 - state[Y + seat], state[X + seat]
        after[DIRECTION + seat] = (state[DIRECTION + seat] + 1) & 3
    return after


def test_a_turned_board_is_the_same() -> None:
    game, state = scattered(12, 12, 2, 3, 0.1)
    eyes = Eyes(game, WINDOW, ROUNDS, 500, 2.0)
    whole = eyes.look(state, 1).inputs.copy()
    assert whole.shape[1] == num_inputs(WINDOW, ROUNDS) and whole[:, -OF_OTHERS - OF_MOVE :].any()
    for _ in range(3):
        state = turned(game, state)
        assert np.allclose(eyes.look(state, 1).inputs, whole, atol=1e-6)


def test_a_step_of_learning_follows_the_gradient() -> None:
    """The first step of Adam is the learning rate against the sign of each derivative of the cross entropy."""
    random, hidden, seen, rate = np.random.default_rng(1), 3, 6, 0.01
    weights = random.normal(0, 0.5, hidden * (seen + 2) + 1).astype(np.float32)
    inputs = (random.random((8, seen)) * (random.random((8, seen)) < 0.7)).astype(np.float32)
    targets = random.random(8).astype(np.float32)

    def loss(at: Floats32) -> float:
        layer = np.empty(hidden, np.float32)
        values = np.array([value_of(at, row, layer) for row in inputs])
        return float(-(targets * np.log(values) + (1 - targets) * np.log(1 - values)).mean())

    slopes = np.zeros(len(weights))
    for place in range(len(weights)):
        moved = [weights.copy(), weights.copy()]
        moved[0][place] -= 0.01
        moved[1][place] += 0.01
        slopes[place] = (loss(moved[1]) - loss(moved[0])) / 0.02
    learned, mean, square = weights.copy(), np.zeros_like(weights), np.zeros_like(weights)
    order = np.arange(8)
    before = learn_moves(learned, mean, square, hidden, 0, inputs, targets, order, 8, np.float32(rate))
    assert before == pytest.approx(loss(weights), abs=1e-5)
    clear = abs(slopes) > 1e-3
    assert clear.sum() > 15 and np.allclose(learned[clear], (weights - rate * np.sign(slopes))[clear], atol=1e-4)
    assert np.allclose(mean, 0.1 * slopes, atol=1e-3)


def test_targets_reach_from_the_outcome_to_the_last_random_move() -> None:
    best = np.array([0.2, 0.4, 0.6], np.float32)
    none, second = np.zeros(3, np.bool_), np.array([False, True, False])
    assert np.allclose(targets_of(best, none, 1.0, 1.0), [1, 1, 1])
    assert np.allclose(targets_of(best, none, 1.0, 0.0), [0.4, 0.6, 1])
    assert np.allclose(targets_of(best, none, 1.0, 0.5), [0.5 * 0.8 + 0.2, 0.8, 1])
    assert np.allclose(targets_of(best, second, 0.0, 1.0), [0.4, 0, 0])


def test_it_learns_and_a_stop_changes_nothing(tmp_path: Path) -> None:
    games = 300 if JIT else 2
    plan = learning_plan(
        make_game(SMALL), "table_network(window=5,hidden=16,table_nodes=100)", f"outcomes(chunk={games // 20 or 1})",
        1, games, out=tmp_path / "a.npz",
    )  # fmt: skip
    plan.loop(tmp_path / "a.npz", games).run()
    plan.loop(tmp_path / "b.npz", games).run(until=games // 2)
    assert Weights.read(tmp_path / "b.npz")["training"]["done"] == games // 2
    loop = plan.loop(tmp_path / "b.npz", games)
    loop.run()
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    if not JIT:
        return
    untrained = plan.loop(tmp_path / "c.npz", games)
    assert isinstance(loop, TableLoop) and isinstance(untrained, TableLoop)
    assert lead(loop) > 0.2 > lead(untrained) + 0.1, "it knows who is going to win, which it did not before"


def lead(loop: TableLoop) -> float:
    """Returns by how much winners value their last moves but one higher than losers do, in games not learned from."""
    leads = []
    for number in range(10_000, 10_040):
        seats, returns = loop.play(number, 0.0)
        if returns.any():
            won = int(returns.argmax())
            leads.append(seats[won].best[-2] - seats[1 - won].best[-2])
    return float(np.mean(leads))


def test_it_plays_the_best_possible_move_of_its_file(tmp_path: Path) -> None:
    network = Network(3, 1, 2, 100, 2.0)
    weights = np.zeros(network.size, np.float32)
    fast = 3 * 9 + 2 * 2 + 1 + 3 + 1  # the input of speed 2
    weights[fast], weights[-2] = 1.0, 1.0
    Weights(network, weights, {"done": 0, "points": []}).save(tmp_path / "n.npz")
    position = make_game("spe_ed(width=20,height=20)").start(3)
    agent = make_agent(f"table_network(file={tmp_path}/n.npz)")
    assert isinstance(agent, TableNetwork)
    decision = agent.start(position.game, 0, 1).act(position)
    assert decision.action == 3 and decision.values[3] == pytest.approx(1 / (1 + np.exp(-1)))
    assert decision.values[4] == 0.5 and decision.visits[2] == 0 == decision.values[2], "slower than 1 is to be out"
    other = replace(Weights.load(tmp_path / "n.npz"), weights=-weights)
    other.save(tmp_path / "m.npz")
    with pytest.raises(UserError, match="digest"):
        make_agent(f"table_network(file={tmp_path}/m.npz,digest={agent.digest})").start(position.game, 0, 1)
    for change in ({"window": 4}, {"hidden": 0}, {"rounds": 0}, {"start_probability": 0.0}):
        described = network.to_json() | change
        with pytest.raises(ValueError, match="no such"):
            Weights.shape(described)
    with pytest.raises(UserError, match="window must be odd"):
        make_agent("table_network(window=4)")
    (tmp_path / "n.npz").write_text("no network")
    with pytest.raises(UserError, match="undamaged"):
        make_agent(f"table_network(file={tmp_path}/n.npz)")
