"""The fused search of 2048 with n-tuple networks against the generic one: the same values, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agents.expectimax.expectimax_searches import Generic, decide, expectimax, random_boards
from tests.agents.expectimax.networks import CELLS, NETWORKS
from tests.agents.positions import board_position
from tests.naive import Board
from turnier.agents.abi import ACT
from turnier.agents.expectimax.agent import Expectimax, act_expectimax
from turnier.agents.expectimax.ntuple2048 import act_expectimax2048_ntuple
from turnier.agents.expectimax.search import LIMIT, STOPPED
from turnier.agents.registry import make_agent
from turnier.core.kernel import JIT, pointer
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import make_game

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of evaluations")


def boards(count: int, seed: int, top: int = 11, fullest: int = 16) -> list[Position]:
    """Returns positions with points so far that no reward is a multiple of."""
    found = random_boards(count, seed=seed, top=top, fullest=fullest)
    for position in found:
        position.returns[0] = 12_347.0
    return found


def assert_same(evaluator: str, position: Position, *, visits: bool = False, **changes: float) -> None:
    one, other = (decide(expectimax(evaluator, kind, **changes), position) for kind in (Expectimax, Generic))
    assert one.action == other.action and np.array_equal(one.values, other.values)
    assert not visits or np.array_equal(one.visits, other.visits)


@pytest.mark.parametrize("name", NETWORKS)
def test_few_boards_are_valued_as_by_the_generic_search(name: str, networks: dict[str, str]) -> None:
    """Small enough for plain Python too."""
    for position in boards(3, seed=1):
        assert_same(networks[name], position, depth=1, visits=True)
    full: Board = ((2, 4, 8, 16), (4, 8, 16, 32), (2, 4, 8, 16), (4, 8, 16, 16))
    assert_same(networks[name], board_position(full, 500.0), depth=2, visits=True)


@needs_jit
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_fused_search_finds_the_same_bit_for_bit(depth: int, name: str, networks: dict[str, str]) -> None:
    """With a table of any size and without; equal numbers of evaluations without."""
    count = 60 if depth < 3 else 10
    for position in boards(count, depth) + boards(count // 2, depth, top=14) + boards(3, 9, fullest=8):
        for table in (0, 5, 18):
            assert_same(networks[name], position, depth=depth, table=table, visits=table == 0 or depth < 3)


@needs_jit
def test_deeper_searches_are_the_same_when_slots_are_taken_again(networks: dict[str, str]) -> None:
    for position in boards(2, seed=3, fullest=14):
        assert_same(networks["plain"], position, depth=4)


@needs_jit
def test_values_are_remembered_across_equal_boards_only(networks: dict[str, str]) -> None:
    """Lost and nearly lost boards have leaves that are over, which are worth the points so far."""
    lost_soon: Board = ((2, 4, 8, 16), (32, 64, 128, 256), (512, 1024, 4, 8), (16, 4, 2, 2))
    for name in NETWORKS:
        for depth in (1, 2, 3, 6):
            assert_same(networks[name], board_position(lost_soon, 777.0), depth=depth, table=0, visits=True)


@needs_jit
def test_the_cut_off_is_the_same_without_a_table(networks: dict[str, str]) -> None:
    for position in boards(6, seed=4):
        for cutoff in (1.0, 0.1, 0.01, 1e-9):
            assert_same(networks["plain"], position, depth=3, cutoff=cutoff, table=0, visits=True)


@needs_jit
def test_leaves_after_chance_and_schedules_are_the_same(networks: dict[str, str]) -> None:
    for position in boards(4, seed=6, fullest=15):
        for depth in (1, 2):
            assert_same(networks["plain"], position, depth=depth, leaf="state", visits=True)
        assert_same(networks["plain"], position, schedule="empty", deepest=3)


@needs_jit
def test_tiles_beyond_four_bits_are_searched_generically(networks: dict[str, str]) -> None:
    found: list[Board] = [
        ((32768, 32768, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
        ((65536, 16, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
        ((32768, 16384, 8192, 4096), (256, 512, 1024, 2048), (128, 64, 32, 16), (0, 4, 8, 8)),
    ]
    for board in found:
        for depth in (1, 2, 3):
            assert_same(networks["stages"], board_position(board), depth=depth, visits=depth < 3)


@needs_jit
def test_a_search_over_its_limit_stops(networks: dict[str, str]) -> None:
    position = boards(1, seed=0)[0]
    agent = expectimax(networks["plain"], depth=3, table=0)
    kernels, nodes = agent.kernels(position.game), decide(agent, position).nodes
    for limit, stops in ((nodes, False), (nodes - 1, True), (1, True)):
        settings = kernels.settings.copy()
        settings[LIMIT] = limit
        action = kernels.act(
            position.game.kernels,
            kernels.evaluator,
            settings,
            position.state,
            position.returns,
            stream(1),
            np.zeros((2, 4)),
        )
        assert (action == STOPPED) == stops, limit


@needs_jit
def test_deepening_ends_with_the_value_of_a_completed_depth(networks: dict[str, str]) -> None:
    position = boards(1, seed=2)[0]
    timed = decide(expectimax(networks["plain"], milliseconds=30), position)
    depths = [decide(expectimax(networks["plain"], depth=depth), position).values for depth in range(1, 6)]
    assert any(np.array_equal(timed.values, values) for values in depths)
    assert not np.array_equal(timed.values, depths[0])


def test_depth_one_is_greedy(networks: dict[str, str]) -> None:
    for evaluator in networks.values():
        greedy = make_agent(f"greedy(evaluator={evaluator})")
        for position in boards(10, seed=7):
            one, other = (
                decide(expectimax(evaluator, depth=1), position),
                greedy.start(position.game, 0, 1).act(position),
            )
            assert one.action == other.action
            assert len(position.legal_actions()) == 1 or np.array_equal(one.values, other.values)


def test_only_packed_boards_have_the_fused_search() -> None:
    for text, game, act in (
        (f"ntuple({CELLS})", "2048", act_expectimax2048_ntuple),
        (f"ntuple({CELLS},symmetric=false)", "2048", act_expectimax),
        (f"ntuple({CELLS},values=12)", "2048", act_expectimax),
        ("ntuple(network=cells,cells=0.1.2)", "2048(size=3)", act_expectimax),
        ("ntuple(network=cells,cells=0.1.2)", "tictactoe", act_expectimax),
    ):
        assert expectimax(text).kernels(make_game(game)).act is pointer(act, ACT), (text, game)
