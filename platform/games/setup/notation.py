"""What a game says of the formats in which others' programs read records of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Pgn(NamedTuple):
    """PGN, the format of chess; the names of actions are UCI's."""

    fen: str = ""  # where games start; empty: as usual


class Sgf(NamedTuple):
    """SGF, the format of games whose moves are cells."""

    number: int  # of the game, SGF's property GM
    properties: Mapping[str, str]  # such as the size of the board, SZ
    move: Callable[[int], str]  # an action as SGF writes it
    margin: Callable[[npt.NDArray[np.int64]], str] = lambda state: ""  # by how much a finished game was won, if known


def cell_letters(row: int, column: int) -> str:
    """Returns a cell as SGF writes it: column and row from above, counted from 0, as letters."""
    return f"{chr(ord('a') + column)}{chr(ord('a') + row)}"
