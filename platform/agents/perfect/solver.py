"""The exact solver of small games: alpha-beta from every action to the end of the game.

Its table is kept between positions. That is sound because an entry's value counts plies from its own state, and an
entry that met the horizon answers only searches of the same depth (`alphabeta/search.py`).
"""

from __future__ import annotations

import threading
from typing import ClassVar

from ...core.compilation.progress import compiled_together
from ...core.errors import UserError
from ...core.kernel import compile_kernel
from ...core.rng import stream
from ...games.game import Game, Position
from ..alphabeta.agent import DEEPEST, AlphaBeta
from ..alphabeta.search import BEST, PROVEN, UNRESOLVED, deepen, new_stack
from ..transposition import new_table

TABLE_BITS = 20  # 2**20 entries, 24 MB
KEPT = 10_000  # positions whose values are kept
MAX_NODES = 30_000_000  # per action; all actions at the start of hex(size=4) together take 5 million


class Solver:
    """Finds the winner after every action of a position, for games of two seats without chance or secrets.

    If returns are other than 1, 0 and -1, the seat with the larger one wins.
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
        self._lock = threading.Lock()  # one thread at a time uses the table, which saves the others their work

    def values(self, position: Position) -> dict[int, int]:
        """See `Judge.values`."""
        won = 1 if position.to_move == 0 else -1  # the value of seat 0's win to the mover
        key = position.state.tobytes() + position.returns.tobytes()
        with self._lock:
            if key not in self._known:
                if len(self._known) == KEPT:
                    self._known.clear()
                legal = position.legal_actions()
                self._known[key] = {action: won * self._winner(position.stepped(action)) for action in legal}
            return dict(self._known[key])

    def _winner(self, after: Position) -> int:
        """Returns 1 if seat 0 wins, -1 if seat 1 does, 0 if nobody does."""
        lead = float(after.returns[0] - after.returns[1]) if after.over else self._searched(after)
        return (lead > 0) - (lead < 0)

    def _searched(self, after: Position) -> float:
        """Returns seat 0's value under perfect play, in units of the search; its sign tells the winner."""
        kernels, evaluator, settings = self.game.kernels, self._search.evaluator, self._search.settings
        stack = new_stack(kernels, after.state, DEEPEST)
        found = stack.found.copy()  # unused space
        rng, limit = stream(0), self.max_nodes
        done = deepen(kernels, evaluator, settings, stack, self._table, after.state, after.returns, rng, limit, found)
        value = float(stack.bounds[0, BEST])
        # Unresolved values depend on the horizon, unless a win is proven.
        if not done or (stack.counts[UNRESOLVED] and abs(value) <= PROVEN):
            raise UserError(
                f"a judge cannot search {self.game} to its end within {self.max_nodes:,} positions or"
                f" {DEEPEST} plies after an action; choose a smaller board."
            )
        return value
