"""Positions for agents' tests, made from the plain boards and marks of tests/naive.py."""

from __future__ import annotations

import numpy as np

from tests import naive
from turnier.games.game import Position
from turnier.games.registry import make_game

DIRECTION = {name: action for action, name in enumerate(naive.DIRECTIONS)}


def board_position(board: naive.Board, score: float = 0.0, seed: int = 0) -> Position:
    """Returns a 2048 position with the given tiles and points, the player to move."""
    game = make_game(f"2048(size={len(board)})")
    state = game.position_from_tiles([list(row) for row in board])  # type: ignore[attr-defined]
    return game.position(state, np.array([score]), seed)


def marks_position(marks: str) -> Position:
    """Returns a tic-tac-toe position from nine marks, played action by action, X and O in turn."""
    position = make_game("tictactoe").start()
    xs, os = ([cell for cell in range(9) if marks[cell] == mark] for mark in "XO")
    for i in range(len(xs) + len(os)):
        position = position.play((xs, os)[i % 2][i // 2])
    return position
