"""Judges: they know the exact value of every legal action of a position.

Connect four on its usual board is judged by the package bitbully, all other games by search to the end, as long as they
have few boards.
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

# Ways to fill the cells, possible or not, of games that are searched to their ends: those of hex(size=4), which takes
# seconds from its start.
MAX_BOARDS = 3**16

_making = threading.Lock()


class Judge(Protocol):
    """Knows what every action is worth; threads may share it."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def in_python(self) -> bool:
        """Whether threads take turns, since it holds Python's lock while it computes."""

    def values(self, position: Position) -> dict[int, int]:
        """Returns the value of every legal action for the seat to move, ascending by action.

        It is 1 where the seat wins, 0 if the game is drawn and -1 where the seat loses, if all seats play perfectly
        from there on. Raises UserError if that takes too many positions.
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
        return f"a judge must see all of a game, got {game}, which hides some of it; choose another."
    if game.in_python:
        return f"a judge searches a game to its end, which takes too long in Python, got {game}; choose another."
    if game.num_cells < 1 or game.num_cell_values**game.num_cells > MAX_BOARDS:
        return (
            f"a judge must be able to search a game to its end, got {game}, which has too many boards; choose"
            " connect_four, tictactoe, nim, or a small board such as hex(size=3)."
        )
    return None


def judge_of(game: Game) -> Judge:
    """Returns the judge of a game, the same one for the whole process; raises UserError if there is none."""
    if reason := cannot_judge(game):
        raise UserError(reason)
    with _making:  # once: a book takes a second to read, a table has megabytes
        return _judge(game.full_text())


@functools.lru_cache(maxsize=8)
def _judge(game: str) -> Judge:
    made = game_of(game)
    judge: Judge = BitBullyJudge() if made == ConnectFour() else Solver(made)
    judge.values(_late(made))  # the first call of compiled code takes long, and no clock has started yet
    return judge


def _late(game: Game) -> Position:
    """Returns a position three plies before the end of a game, which is judged at once."""
    line = [game.start()]
    while not line[-1].over:
        line.append(line[-1].stepped(line[-1].legal_actions()[0]))
    return line[max(0, len(line) - 4)]
