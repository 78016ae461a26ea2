"""Boards of 2048 with lowered tiles, for networks that have rarely seen the largest ones and tables that end at 32,768.

The largest missing rank below the largest tile is a hole; every tile above it is lowered by one rank. Different tiles
stay different, so the same actions are legal and the same tiles merge. A search of the lowered board chooses the
action. Source: tile-downgrading of TDL2048+ (Guei and others 2021). Differs: it is repeated while the board is still
that large, as with tiles of 65,536 and more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...games.abi import Floats, State
from ...games.game import Game
from ...games.twenty48.board import exponent
from ...games.twenty48.rules import BOARD, HIGH, SIZE
from ..abi import VALUES, VISITS, Root
from ..evaluator import Evaluator
from ..evaluators.corner2048 import Corner2048
from ..evaluators.rows2048 import Rows2048
from ..ntuple.evaluator import NTuple

_U = np.uint64
_U64, _I64 = types.uint64, types.int64
MOST = 2 * (2**17 - 1)  # the sum of one tile of each rank


@kernel(types.Tuple((_U64, _U64, _I64))(_U64, _U64, _I64, _I64))
def lowered_board(board, high, cells, least):
    """Returns (board, high, points), the points being the difference in value of the tiles, made out of 2s.

    Args:
        cells: of the board, 4 bits each.
        least: the sum of the board's different tiles from which tiles are lowered; 0 = never.
    """
    points = 0
    while least > 0:
        ranks = 0  # a bit for each; as a number, the sum of the different tiles
        for cell in range(cells):
            ranks |= 1 << exponent(board, high, cell)
        ranks &= ~1
        if ranks < least:
            break
        hole = 17
        while ranks >> hole == 0:
            hole -= 1
        while ranks >> hole & 1:
            hole -= 1
        if hole == 0:
            break
        lower, lower_high = _U(0), _U(0)
        for cell in range(cells):
            rank, shift = exponent(board, high, cell), _U(4 * cell)
            if rank > hole:
                points += ((rank - 1) << rank) - ((rank - 2) << (rank - 1))
                rank -= 1
            lower |= _U(rank & 15) << shift
            lower_high |= _U(rank >> 4) << shift
        board, high = lower, lower_high
    return board, high, points


@kernel(types.Tuple([State, Floats, types.float64])(State, Floats, _I64))
def lowered(state, returns, least):
    """Returns (state, returns, points) for the search, the points being those missing in its returns.

    If nothing is lowered, these are the given arrays. With `least` = 0 the state may be of any game.
    """
    if least == 0:
        return state, returns, 0.0
    board, high, points = lowered_board(_U(state[BOARD]), _U(state[HIGH]), state[SIZE] * state[SIZE], least)
    if points == 0:
        return state, returns, 0.0
    lower, less = state.copy(), returns.copy()
    lower[BOARD], lower[HIGH] = np.int64(board), np.int64(high)
    less[0] -= float(points)
    return lower, less, float(points)


@kernel(types.void(Root, types.float64))
def raise_values(root, share):
    """Adds the missing points to the values of a lowered board, so that they are those of the game."""
    for action in range(root.shape[1]):
        if root[VISITS, action] > 0.0:
            root[VALUES, action] += share


def downgrade_parameter() -> Any:
    """Declares the boards on which large tiles are lowered."""
    text = "2048: lower large tiles in searches of boards whose different tiles sum up to this or more, 0 = never"
    return parameter(0, text, low=0, high=MOST, search=(0, 65536), later=True)


def cannot_downgrade(downgrade: int, evaluator: Evaluator, game: Game) -> str | None:
    """Returns why an agent cannot lower tiles, as a sentence, or None."""
    if downgrade == 0 or (game.name == "2048" and isinstance(evaluator, (NTuple, Rows2048, Corner2048))):
        return None
    return (
        "downgrade lowers tiles of 2048 for the evaluators ntuple, rows2048 and corner2048, got"
        f" {game} and evaluator={evaluator}; leave it out."
    )
