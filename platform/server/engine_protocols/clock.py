"""Shares of a clock for single moves."""

from __future__ import annotations

MOVES_LEFT = 30  # divisor of a clock for an unknown number of moves
SPENT_INCREMENT = 0.8
MARGIN = 30  # milliseconds that are never planned: for sending the answer


def share_of_clock(left: int, increment: int = 0, moves: int = 0) -> int:
    """Returns the milliseconds for a move.

    Args:
        left: milliseconds on the clock.
        increment: milliseconds that the clock gains with the move.
        moves: moves to the next time control, 0 = the clock is for the whole game.
    """
    planned = left / (moves or MOVES_LEFT) + SPENT_INCREMENT * increment
    return max(1, int(min(planned, left - MARGIN)))


def whole_move(milliseconds: int) -> int:
    """Returns the milliseconds to plan for a move that may take so many."""
    return max(1, milliseconds - min(MARGIN, milliseconds // 10))
