"""Connect four on 6 rows and 7 columns, solved by the package bitbully (Thill), with its book of the first 12 plies.

bitbully is under the AGPL: Turnier does not need it, and imports it only here, when its values are asked for.
"""

from __future__ import annotations

from typing import ClassVar

from ...core.errors import require_extra
from ...games.connect_four import ROWS, STONES
from ...games.game import Position

BOOK = "12-ply"  # has the winner; the book that also has the distance is three times as large and takes longer to read


def require_bitbully() -> None:
    """Raises UserError if bitbully is not installed; imports nothing."""
    require_extra("perfect play of connect_four", "judges", "bitbully", "bitbully_databases")


class BitBullyJudge:
    """Values positions by bitbully, which holds Python's lock: threads take turns.

    From 12 stones on, beyond the book, a position takes up to seconds; with 20 stones about a millisecond.
    """

    name: ClassVar[str] = "bitbully"
    in_python: ClassVar[bool] = True

    def __init__(self) -> None:
        require_bitbully()
        from bitbully import BitBully, Board

        self._board, self._solver = Board, BitBully(BOOK)

    def values(self, position: Position) -> dict[int, int]:
        """See `Judge.values`; an action is a column."""
        board, found = self._board(_columns(position)), {}
        for column in position.legal_actions():
            if board.can_win_next(column):
                found[column] = 1
            elif board.moves_left() == 1:
                found[column] = 0
            else:
                # Scores are those of the seat to move, positive if it wins. The window of -1 to 1 asks for the sign
                # only.
                score = self._solver.negamax(board.play_on_copy(column), alpha=-1, beta=1)
                found[column] = (score < 0) - (score > 0)
        return found


def _columns(position: Position) -> list[list[int]]:
    """Returns the board as bitbully reads it, 7 columns of 6 cells from below: 1 is a stone of seat 0, 2 of seat 1."""
    state = [int(word) for word in position.state]
    first, second, height = state[STONES], state[STONES + 1], state[ROWS] + 1
    bits = [range(column * height, column * height + state[ROWS]) for column in range(7)]
    return [[(first >> bit & 1) + 2 * (second >> bit & 1) for bit in column] for column in bits]
