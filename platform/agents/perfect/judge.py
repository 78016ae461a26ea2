"""Judges know the exact value of every legal action of a position.

The package bitbully judges connect four on its usual board, search to the end all other games with few boards.
"""

from __future__ import annotations

import functools
import threading
from typing import ClassVar, Protocol

from ...core.compilation.progress import compiled_together
from ...core.errors import UserError
from ...core.kernel import compile_kernel
from ...core.rng import stream
from ...games.connect_four import ConnectFour
from ...games.game import Game, Position
from ...games.registry import game_of
from ..alphabeta.agent import DEEPEST, AlphaBeta
from ..alphabeta.search import BEST, PROVEN, UNRESOLVED, deepen, new_stack
from ..transposition import new_table
from .bitbully_judge import BitBullyJudge, require_bitbully

TABLE_BITS = 20  # 2**20 entries, 24 MB
KEPT = 10_000  # positions whose values are kept
MAX_NODES = 30_000_000  # of an action; all actions at the start of hex(size=4) together take 5 million


class Solver:
    """Says who wins after every action in a position of a game for two seats, without chance or secrets.

    Where a game ends with other returns than 1, 0 and -1, the seat with the larger one wins. The table is kept from one
    position to the next. That is sound because an entry's value counts its plies from its own state, and because an
    entry that met the horizon answers only searches that are as deep (`alphabeta/search.py`).
    """

    name: ClassVar[str] = "search to the end"
    in_python: ClassVar[bool] = False

    def __init__(self, game: Game, max_nodes: int = MAX_NODES) -> None:
        self.game, self.max_nodes = game, max_nodes
        with compiled_together():  # before any clock starts
            self._search = AlphaBeta(depth=DEEPEST, table_bits=TABLE_BITS).kernels(game)
            compile_kernel(new_stack)
            compile_kernel(deepen)
        self._table = new_table(TABLE_BITS, 1)
        self._known: dict[bytes, dict[int, int]] = {}  # by state and returns: matches begin alike
        self._lock = threading.Lock()  # one thread at a time writes into the table, which saves the others their work

    def values(self, position: Position) -> dict[int, int]:
        """See `Judge.values`."""
        won = 1 if position.to_move == 0 else -1  # what seat 0's win is worth to the mover
        key = position.state.tobytes() + position.returns.tobytes()
        with self._lock:
            if key not in self._known:
                if len(self._known) == KEPT:
                    self._known.clear()
                legal = position.legal_actions()
                self._known[key] = {action: won * self._winner(position.stepped(action)) for action in legal}
            return dict(self._known[key])

    def _winner(self, after: Position) -> int:
        """Returns 1 where seat 0 wins, -1 where seat 1 does, 0 if nobody does."""
        lead = float(after.returns[0] - after.returns[1]) if after.over else self._searched(after)
        return (lead > 0) - (lead < 0)

    def _searched(self, after: Position) -> float:
        """Returns seat 0's value under perfect play, in units of the search; its sign says who wins."""
        kernels, evaluator, settings = self.game.kernels, self._search.evaluator, self._search.settings
        stack = new_stack(kernels, after.state, DEEPEST)
        found = stack.found.copy()  # which says nothing that is needed here
        rng, limit = stream(0), self.max_nodes
        done = deepen(kernels, evaluator, settings, stack, self._table, after.state, after.returns, rng, limit, found)
        value = float(stack.bounds[0, BEST])
        # What is not resolved depends on the horizon, unless a win is proven.
        if not done or (stack.counts[UNRESOLVED] and abs(value) <= PROVEN):
            raise UserError(
                f"a judge must be able to search {self.game} to its end, got more than {self.max_nodes:,} positions or"
                f" {DEEPEST} plies after an action; choose a smaller board."
            )
        return value


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
