"""Judges know the exact value of every legal action of a position.

The package bitbully judges connect four on its usual board, search to the end all other games with few boards.
"""

from __future__ import annotations

import functools
import threading
from typing import Protocol

from ...core.errors import UserError
from ...games.connect_four import ConnectFour
from ...games.game import Game, Position
from ...games.registry import game_of
from .bitbully_judge import BitBullyJudge, require_bitbully
from .solver import Solver

# Limit on the ways to fill the cells, possible or not, of games searched to the end: those of hex(size=4), which takes
# seconds from its start.
MAX_BOARDS = 3**16

_making = threading.Lock()


class Judge(Protocol):
    """Knows the value of every action; threads may share it."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def in_python(self) -> bool:
        """Whether it holds Python's lock while it computes, so that threads take turns."""

    def values(self, position: Position) -> dict[int, int]:
        """Returns the value of every legal action for the seat to move, ascending by action.

        With perfect play from there on, it is 1 if the seat wins, 0 if the game is drawn and -1 if the seat loses.
        Raises UserError if that takes too many positions.
        """


def cannot_judge(game: Game) -> str | None:
    """Returns why no judge knows the game, as a sentence, or None."""
    if game == ConnectFour():
        try:
            require_bitbully()
        except UserError as missing:
            return str(missing)
        return None
    if game.num_seats != 2:
        return f"a judge knows games of two seats, got {game} with {game.num_seats}; choose another."
    if game.has_chance:
        return f"a judge knows games without chance, got {game}; choose another."
    if game.hidden or game.kernels.has_observe:
        return f"a judge must see the whole game, got {game}, which hides some of it; choose another."
    if game.in_python:
        return f"a judge searches a game to its end, which takes too long in Python, got {game}; choose another."
    if game.num_cells < 1 or game.num_cell_values**game.num_cells > MAX_BOARDS:
        return (
            f"a judge searches a game to its end, but {game} has too many boards; choose"
            " connect_four, tictactoe, nim, or a small board such as hex(size=3)."
        )
    return None


def judge_of(game: Game) -> Judge:
    """Returns the judge of a game, one for the whole process; raises UserError if there is none."""
    if reason := cannot_judge(game):
        raise UserError(reason)
    with _making:  # once: a book takes a second to read, a table has megabytes
        return _judge(game.full_text())


@functools.lru_cache(maxsize=8)
def _judge(game: str) -> Judge:
    made = game_of(game)
    judge: Judge = BitBullyJudge() if made == ConnectFour() else Solver(made)
    judge.values(_late(made))  # the first call of compiled code takes long; no clock runs yet
    return judge


def _late(game: Game) -> Position:
    """Returns a position three plies before the end of a game, which is judged at once."""
    line = [game.start()]
    while not line[-1].over:
        line.append(line[-1].stepped(line[-1].legal_actions()[0]))
    return line[max(0, len(line) - 4)]
