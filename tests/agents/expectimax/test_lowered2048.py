"""Lowered tiles: which they are by plain Python, and that agents choose by the lowered board in every way of play."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.agents.expectimax.networks import CELLS, NETWORKS
from tests.agents.positions import board_position
from tests.naive import Board, legal
from turnier.agents.agent import CompiledAgent
from turnier.agents.expectimax.lowered2048 import lowered_board
from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.registry import make_game
from turnier.games.twenty48.rules import BOARD, HIGH

AGENTS = ["greedy({}evaluator={})", "expectimax({}depth=1,evaluator={})", "expectimax({}depth=2,evaluator={})"]


def worth(tile: int) -> int:
    """Returns the points that making a tile out of 2s brings."""
    return 0 if tile <= 2 else tile + 2 * worth(tile // 2)


def lower(board: Board, least: int) -> Board:
    """Returns the board with large tiles lowered, by the rule's words."""
    tiles = {tile for row in board for tile in row if tile}
    missing = [tile for tile in (2**rank for rank in range(1, 18)) if tile < max(tiles) and tile not in tiles]
    if least == 0 or sum(tiles) < least or not missing:
        return board
    hole = max(missing)
    return lower(tuple(tuple(tile // 2 if tile > hole else tile for tile in row) for row in board), least)


def boards(count: int, top: int) -> list[Board]:
    draws, found = random.Random(1), []
    while len(found) < count:
        tiles = [draws.choice((0, 2 ** draws.randint(1, top), 2 ** draws.randint(top - 5, top))) for _ in range(16)]
        if any(tiles):
            found.append(tuple(tuple(tiles[i : i + 4]) for i in (0, 4, 8, 12)))
    return found


def test_cases_by_hand() -> None:
    for tiles, least, lowered in (
        ((32768, 16384, 4096, 2), 32768, (16384, 8192, 4096, 2)),
        ((32768, 16384, 8192, 2), 32768, (16384, 8192, 4096, 2)),
        ((32768, 4096, 4, 2), 49152, (32768, 4096, 4, 2)),
        ((32768, 16384, 8192, 4), 49152, (16384, 8192, 4096, 4)),
        ((65536, 32768, 4, 2), 32768, (16384, 8192, 4, 2)),
        ((65536, 32768, 4, 2), 0, (65536, 32768, 4, 2)),
        ((16, 8, 4, 2), 30, (16, 8, 4, 2)),  # no rank is missing
    ):
        board, expected = ((row, (0, 0, 0, 2), (0,) * 4, (0,) * 4) for row in (tiles, lowered))
        assert lower(board, least) == expected
        assert_lowered(board, least)


@pytest.mark.parametrize("top", [6, 17])
def test_the_kernel_lowers_as_plain_python_does_and_keeps_what_is_legal(top: int) -> None:
    changed = 0
    for board in boards(300 if JIT else 40, top):
        for least in (1, 2**top, 3 * 2 ** (top - 1)):
            changed += assert_lowered(board, least)
    assert changed > 40


def assert_lowered(board: Board, least: int) -> bool:
    expected, position = lower(board, least), board_position(board)
    state = board_position(expected).state
    words = (np.uint64(position.state[word]) for word in (BOARD, HIGH))
    got, high, points = lowered_board(*words, 16, least)
    assert (int(got), int(high)) == tuple(int(np.uint64(state[word])) for word in (BOARD, HIGH)), (board, least)
    assert points == sum(worth(tile) for row in board for tile in row) - sum(worth(t) for row in expected for t in row)
    assert legal(board) == legal(expected)
    return expected != board


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("text", AGENTS)
def test_agents_choose_by_the_lowered_board(text: str, name: str, networks: dict[str, str]) -> None:
    """Its values, and the points that the tiles are worth more: by the kernels for packed boards, and by the others."""
    game, count = make_game("2048"), 12 if JIT else 1
    downgraded, plain = (make_agent(text.format(changes, networks[name])) for changes in ("downgrade=96,", ""))
    assert isinstance(downgraded, CompiledAgent)
    differ = 0
    for board in [board for board in boards(40, 7) if lower(board, 96) != board and len(legal(board)) > 1][:count]:
        tiles = lower(board, 96)
        more = float(sum(worth(tile) for row in board for tile in row) - sum(worth(t) for row in tiles for t in row))
        position, lowered = board_position(board, 10_000.0), board_position(tiles, 10_000.0 - more)
        expected = plain.start(game).act(lowered)
        for kernels in (downgraded.kernels(game), CompiledAgent.kernels(downgraded, game)):
            root = np.zeros((2, 4))
            returns, rng = position.returns, np.zeros(4, np.uint64)
            action = kernels.act(game.kernels, kernels.evaluator, kernels.settings, position.state, returns, rng, root)
            assert int(action) == expected.action
            assert root[0].tolist() == expected.visits.tolist()
            raised = np.where(expected.visits > 0, expected.values + more / game.max_return, 0.0)
            assert root[1].tolist() == raised.tolist()
        differ += plain.start(game).act(position).action != expected.action
    assert differ > 0 or not JIT


@pytest.mark.parametrize("evaluator", ["rows2048", "corner2048(hopeless=2)"])
def test_searches_by_tables_of_lines_choose_by_the_lowered_board(evaluator: str) -> None:
    """A 65,536 becomes a 32,768, which their boards can hold."""
    for board in (
        ((65536, 16384, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
        ((65536, 32768, 256, 2), (128, 64, 32, 8), (2, 4, 2, 4), (0, 2, 0, 0)),
    ):
        one, other = (
            make_agent(f"expectimax(depth=2,{changes}evaluator={evaluator})").start(make_game("2048")).act(position)
            for changes, position in (
                ("downgrade=65536,", board_position(board)),
                ("", board_position(lower(board, 65536))),
            )
        )
        assert one.action == other.action and np.array_equal(one.visits, other.visits)


def test_other_boards_of_2048_are_lowered_too() -> None:
    """By the general kernel, which plays networks that are not packed."""
    board: Board = ((64, 0, 2), (4, 8, 2), (0, 0, 0))
    agent = make_agent("greedy(downgrade=64,evaluator=ntuple(tuples=2))")
    position = board_position(board, 300.0)
    decision = agent.start(position.game).act(position)
    right = position.play(1, draw_chance=False)
    assert decision.values[1] == pytest.approx(right.returns[0] / position.game.max_return)


def test_only_networks_and_tables_of_lines_lower_tiles_of_2048() -> None:
    for agent, game in (
        ("greedy(downgrade=32768)", "2048"),
        ("expectimax(downgrade=32768,evaluator=score)", "2048"),
        ("expectimax(downgrade=32768,evaluator=ntuple)", "tictactoe"),
    ):
        with pytest.raises(
            UserError, match="downgrade lowers tiles of 2048 for the evaluators ntuple, rows2048 and corner2048"
        ):
            make_agent(agent).require(make_game(game))
    make_agent(f"greedy(downgrade=49152,evaluator=ntuple({CELLS}))").require(make_game("2048"))


def test_texts_of_stored_agents_stay_what_they_were() -> None:
    for text in ("greedy(evaluator=ntuple)", "expectimax(evaluator=ntuple)"):
        full = make_agent(text).full_text()
        assert not any(f"{name}=" in full for name in ("downgrade", "empty_step", "shallowest", "deeper"))
