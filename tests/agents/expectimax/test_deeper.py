"""Depth by empty cells, and the transposition table that takes deeper searches, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agents.expectimax.expectimax_searches import Generic, decide, expectimax
from tests.agents.positions import board_position
from turnier.agents.abi import new_scratch
from turnier.agents.expectimax.agent import Expectimax
from turnier.agents.expectimax.schedule2048 import depth_of
from turnier.agents.expectimax.search import is_enough, table_bits
from turnier.agents.expectimax.table2048 import mixed, new_slots, slot_of
from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import GOLDEN, stream
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.twenty48.rules import BOARD

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of evaluations")
PUBLISHED = (5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3)  # TDL2048+: depth by empty cells


def test_depth_falls_with_the_number_of_empty_cells() -> None:
    settings = np.array(expectimax(depth=5, empty_step=4, shallowest=3).settings(), float)
    game = make_game("2048")
    for empty, depth in enumerate(PUBLISHED):
        tiles = [2 ** (1 + cell) for cell in range(16 - empty)] + [0] * empty
        state = board_position(tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12))).state
        assert depth_of(game.kernels, settings, state, np.zeros(1)) == (depth, 0)


@pytest.mark.parametrize("kind", [Expectimax, Generic])
def test_a_board_is_searched_as_deep_as_its_empty_cells_say(kind: type[Expectimax]) -> None:
    for empty, depth in ((1, 2), (3, 1), (9, 1)) if JIT else ((3, 1),):
        tiles = [2, 4, 8, 16, 4, 8, 16, 32, 8, 16, 32, 64, 2, 4, 16, 8][: 16 - empty] + [0] * empty
        position = board_position(tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12)))
        by_empty = expectimax("rows2048", kind, depth=2, empty_step=2, shallowest=1)
        one, other = decide(by_empty, position), decide(expectimax("rows2048", kind, depth=depth), position)
        assert one.values.tolist() == other.values.tolist() and one.nodes == other.nodes
    # Never deeper than `depth`.
    more = expectimax("rows2048", kind, depth=1, empty_step=2, shallowest=3)
    assert decide(more, position).nodes == decide(expectimax("rows2048", kind, depth=1), position).nodes


def test_empty_cells_count_at_2048_and_with_the_fixed_schedule_only() -> None:
    with pytest.raises(UserError, match="empty_step counts the empty cells of 2048 only"):
        make_agent("expectimax(empty_step=4)").require(make_game("tictactoe"))
    with pytest.raises(UserError, match="empty_step shortens schedule=fixed, got schedule=empty"):
        make_agent("expectimax(empty_step=4,schedule=empty)")


def test_what_is_taken_from_a_table() -> None:
    """A tag is 2 x decisions left + a probability."""
    for found, tag, depth, deeper, enough in (
        (5.0, 5.0, 2, False, True),
        (7.0, 5.0, 2, False, False),
        (7.0, 5.0, 2, True, True),
        (3.0, 5.0, 2, True, False),
        (4.5, 4.25, 2, False, True),
        (4.25, 4.5, 2, True, False),
        (6.25, 4.5, 2, False, False),
        (6.25, 4.5, 2, True, False),  # deeper, but more was cut off
        (6.5, 4.5, 2, True, True),
        (7.0, 4.5, 2, True, True),
    ):
        assert is_enough(found, tag, depth, deeper) == enough, (found, tag)


class Searcher:
    """Expectimax with a table of slots as dictionary entries, by recursion over positions."""

    def __init__(self, agent: Expectimax, position: Position, deeper: bool) -> None:
        self.deeper, self.depth, self.game = deeper, agent.depth, position.game
        self.seat = agent.kernels(self.game)
        self.points_count = agent.evaluator.name == "ntuple"
        self.room = new_slots(table_bits(18, agent.depth))
        self.table: dict[int, tuple[int, int, float]] = {}
        self.scratch = new_scratch(self.game.kernels, position.state)
        self.taken = 0

    def leaf(self, position: Position) -> float:
        totals, evaluator = np.zeros(1), self.seat.evaluator
        arguments = (evaluator.weights, position.state, position.returns, 1, stream(1), totals, self.scratch)
        evaluator.evaluate(self.game.kernels, *arguments)
        return float(totals[0])

    def value(self, after: Position, depth: int) -> float:
        """The value of an afterstate with `depth` decisions left."""
        if depth == 0:
            return self.leaf(after)
        board = int(np.uint64(after.state[BOARD]))
        word = np.uint64(board)
        hashed = np.uint64(mixed(word)) if self.points_count else word * GOLDEN
        slot = slot_of(hashed, self.room)
        found = self.table.get(slot)
        if found and found[0] == board and (found[1] == depth or (self.deeper and found[1] > depth)):
            self.taken += found[1] > depth
            return found[2] + (4.0 * (found[1] - depth) / self.game.max_return if self.points_count else 0.0)
        total = 0.0
        for outcome, probability in after.outcomes():
            total += probability * self.best(after.stepped(outcome), depth)
        self.table[slot] = board, depth, total
        return total

    def best(self, position: Position, depth: int) -> float:
        if position.over:
            return self.leaf(position)
        return max(self.value(position.stepped(action), depth - 1) for action in position.legal_actions())

    def values(self, position: Position) -> list[float]:
        legal = position.legal_actions()
        found = {action: self.value(position.stepped(action), self.depth - 1) for action in legal}
        return [found.get(action, 0.0) for action in range(4)]


@needs_jit
@pytest.mark.parametrize("evaluator", ["plain", "stages", "rows2048"])
def test_values_of_deeper_searches_are_taken(evaluator: str, networks: dict[str, str]) -> None:
    """By the searches for packed boards: from the same board after fewer outcomes, of which more were 4s."""
    position = board_position(((0, 32, 128, 1024), (2, 0, 0, 16), (256, 16, 16, 2048), (512, 16, 64, 4)), 12_347.0)
    taken, values = [], []
    with np.errstate(over="ignore"):
        for deeper in (False, True):
            agent = expectimax(networks.get(evaluator, evaluator), depth=4, deeper=deeper)
            oracle = Searcher(agent, position, deeper)
            expected = oracle.values(position)
            values.append(decide(agent, position).values.tolist())
            assert values[-1] == pytest.approx(expected, rel=1e-12, abs=1e-15)
            taken.append(oracle.taken)
    assert taken[0] == 0 and taken[1] > 0
    assert values[0] != values[1]


@needs_jit
def test_the_general_search_takes_deeper_values_too() -> None:
    """Of nim, where three moves lead to what one leads to: fewer evaluations, and every win that it sees is one."""
    position = make_game("nim").position_of("1 3 5 7, seat 0 to move")
    plain, deeper = (decide(expectimax(depth=7, deeper=deeper), position) for deeper in (False, True))
    truth = make_agent("alphabeta(depth=20)").start(position.game).act(position).values
    assert deeper.nodes < plain.nodes
    assert all(value in (0.0, exact) for value, exact in zip(deeper.values, truth, strict=True))
