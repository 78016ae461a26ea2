"""A game's description of itself for record formats that other programs read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Pgn(NamedTuple):
    """PGN, the format of chess; action names are UCI's."""

    fen: str = ""  # start of games; empty: the usual one


class Sgf(NamedTuple):
    """SGF, the format of games whose moves are cells."""

    number: int  # of the game, SGF's property GM
    properties: Mapping[str, str]  # such as the size of the board, SZ
    move: Callable[[int], str]  # returns an action in SGF
    margin: Callable[[npt.NDArray[np.int64]], str] = lambda state: ""  # returns the margin of a finished game, if known


def cell_letters(row: int, column: int) -> str:
    """Returns a cell in SGF: column and row as letters, counted from 0, from the top."""
    return f"{chr(ord('a') + column)}{chr(ord('a') + row)}"
