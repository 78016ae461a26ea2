"""Yavalath boards from text, as `draw` prints them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from turnier.core.errors import UserError
from turnier.games.setup import boards
from turnier.games.setup.boards import BoardText
from turnier.games.yavalath.board import RANK

if TYPE_CHECKING:
    from turnier.games.game import Position
    from turnier.games.yavalath.game import Yavalath

MARKS = ".XO#"


def read_board(game: Yavalath, text: str, seed: int) -> Position:
    """Returns the position of a board; with three players one on which nobody has gone out yet."""
    board, n = boards.take_apart(game, text, game.players), game.size - 1
    letters = "".join(chr(ord("A") + column) for column in range(2 * n + 1))
    lengths = [2 * n + 1 - abs(r) for r in range(-n, n + 1)]
    marks = {**boards.STONES, **({"#": 3} if game.players == 3 else {})}
    tails = letters[n + 1 :]  # from the last row upwards
    values = boards.read_marks(game, board.rows, lengths, marks, (letters[: n + 1],), tails)
    counts = [values.count(1 + colour) for colour in range(game.players)]
    played = sum(counts)
    if counts != [played // game.players + (colour < played % game.players) for colour in range(game.players)]:
        raise UserError(
            f"the colours of {game} must have placed their stones in turn, got {counts}; correct the board."
        )
    boards.require_mover(game, played % game.players, board.mark)
    stones = [[cell for cell, value in enumerate(values) if value == 1 + colour] for colour in range(game.players)]
    return _in_some_order(game, stones, _is_swapped(game, played, board), seed)


def _is_swapped(game: Yavalath, played: int, board: BoardText) -> bool:
    """Returns whether the seats were swapped: the seat to move has another colour than its own."""
    if game.players == 3 or board.seat is None:
        return False
    swapped = board.seat != played % 2
    if swapped and not (game.swap and played):
        boards.require_mover(game, played % 2, board.seat)
    return swapped


def _in_some_order(game: Yavalath, stones: list[list[int]], swapped: bool, seed: int) -> Position:
    """Places stones in turn, such that none but the last one makes three or four: otherwise the game had ended."""
    last = (sum(map(len, stones)) - 1) % game.players
    for turn in range(max(1, len(stones[last]))):
        own = stones[last]
        ordered = [*stones[:last], own[turn + 1 :] + own[: turn + 1], *stones[last + 1 :]]
        rounds = itertools.zip_longest(*ordered)
        plies = [cell for one in rounds for cell in one if cell is not None]
        if swapped:
            plies.insert(1, game.num_cells)
        position = _placed(game, plies, seed)
        if position is not None:
            return position
    if game.players == 3:
        raise UserError(
            f"nobody of three players of {game} may have gone out on a board, got three or four in a row; write the"
            " moves that led to it: moves NAME NAME ..."
        )
    raise boards.impossible(game, "somebody had three or four in a row before the last stone")


def _placed(game: Yavalath, plies: list[int], seed: int) -> Position | None:
    """Returns the position after plies that need not be legal; None where somebody is out before the last one."""
    position = game.before_chance(seed)
    for ply in plies:
        if np.any(position.state[RANK : RANK + game.players]):
            return None
        position = position.stepped(ply)
    return position
